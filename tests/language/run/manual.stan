// Stan's reference manual, construct by construct; a wrong value is fatal when the data are read.
// unicode in comments: äöü λ 中文
functions {
  void must(int fact, int number) { if (!fact) fatal_error("fact ", number, " does not hold: λ %s"); }
  real plain(data array[,] int x, data real y, vector v, row_vector r, matrix m, array[] vector av,
             array[,,] real a3) {
    vector[num_elements(v)] w = v;
    w[1] = 2;
    return sum(w) + a3[1, 1, 1] + x[1, 1] + y + r[1] + m[1, 1] + av[1][1];
  }
  real total(array[] real x) { return sum(x); }
  real first(array[,] real x) { return x[1, 1]; }
  real early(int n) { for (i in 1:n) { if (i == 3) return i; } return -1; }
  real endless(real x) { while (1) { if (x > 0) return x; return 2; } return 0; }
  real factorial_of(int n);
  real factorial_of(int n) { return n <= 1 ? 1 : n * factorial_of(n - 1); }
  real over(int x) { return x; }
  real over(real x) { return 2 * x; }
  real over(vector x) { return sum(x); }
  tuple(real, vector) two(vector x) { return (sum(x), x * 2); }
  tuple(int, tuple(real, real)) nested() { return (1, (2.0, 3.0)); }
  tuple(real, ) single(real x) { return (x, ); }
  real of_tuple(tuple(real, vector) t) { return t.1 + sum(t.2); }
  void prior_lp(real x) { x ~ normal(0, 1); }
  real scored_lp(real x) { target += normal_lpdf(x | 0, 1); return x; }
  real scaled_jacobian(real x) { jacobian += x; return exp(x); }
  real mine_lpdf(real y, real m) { return normal_lpdf(y | m, 1); }
  real mine_lpmf(int y, real m) { return poisson_lpmf(y | m); }
  real mine_cdf(real y, real m) { return normal_cdf(y | m, 1); }
  real mine_lcdf(real y, real m) { return normal_lcdf(y | m, 1); }
  real mine_lccdf(real y, real m) { return normal_lccdf(y | m, 1); }
  real mine_rng(real m) { return normal_rng(m, 1); }
}
data {
  int<lower=1> N;
  vector[N] y;
  array[N] real z;
  row_vector[N] w;
  array[N] int k;
}
transformed data {
  // numbers, operators, precedence
  must(7 %/% 2 == 3 && 7 % 3 == 1 && -7 %/% 2 == -3 && 1_000 == 1000, 1);
  must(2 ^ 3 ^ 2 == 512 && -2 ^ 2 == -4 && 7 - 2 - 1 == 4 && 8.0 / 4 / 2 == 1, 2);
  must(1E+2 == 100. && .5 == 5.e-1 && 1 < 2 < 3 && 3 > 2 == 1 && !0 && !(1 && 0), 3);
  must((1 ? 2 : 3.5) == 2 && (0 ? 2 : 0 ? 3 : 4) == 4, 4);
  // literals, promotion, compound assignment
  array[3] int ints = {1, 2, 3};
  array[3] real reals = ints;
  array[2] real mixed = 1 ? {1, 2} : {1.5, 2};
  real r1 = 3, r2, r3 = 1;
  r1 += 1; r1 -= 2; r1 *= 3; r1 /= 4; r2 = r1;
  must(total(ints) == 6 && reals[3] == 3 && mixed[2] == 2 && r2 == 1.5 && r3 == 1, 5);
  must(first({{1, 2}, {3, 4}}) == 1 && over(2) == 2 && over(2.5) == 5 && over([1, 2]') == 3, 6);
  matrix[2, 2] M = [[1, 2], [3, 4]];
  vector[2] e = [1, 2]';
  e .*= e; e ./= [1, 2]'; e += 1; e[1] *= 3; M[1] += 1; M *= 2;
  must(e[1] == 6 && e[2] == 3 && M[1, 2] == 6 && (M')[2, 1] == 6 && e' * e == 45, 7);
  must(sum(2 ./ e) == 1. / 3 + 2. / 3 && sum(e .^ 2) == 45 && sum(2 .^ [1, 2]) == 6 && sum(-e) == -9, 8);
  must(abs(sum(M \ [1, 2]') - sum(inverse(M) * [1, 2]')) < 1e-12, 9);
  // indices on both sides
  array[5] int a = {1, 2, 3, 4, 5};
  array[2] int ix = {3, 1};
  matrix[3, 4] m = to_matrix(linspaced_vector(12, 1, 12), 3, 4);
  must(sum(a[2:3]) == 5 && sum(a[:2]) == 3 && sum(a[4:]) == 9 && sum(a[ix]) == 4 && size(a[3:2]) == 0, 10);
  must(sum(m[ix, 1:2]) == 14 && sum(m[, 2]) == 15 && m[ix][1, 2] == 6 && sum(m[{1, 1}, 2]) == 8, 11);
  array[2, 3] vector[4] A = rep_array(rep_vector(0, 4), 2, 3);
  A[1, 2, 3] = 5; A[1][2][1] = 6; A[2, , 1] = {1.0, 2.0, 3.0}; A[1, 2:3, 2] = {7.0, 8.0};
  must(A[1, 2, 3] == 5 && A[1, 2, 1] == 6 && A[2, 3, 1] == 3 && A[1, 3, 2] == 8, 12);
  m[1] = [9, 9, 9, 9]; m[, 2] = [1, 2, 3]'; m[2:3, 1:2] = [[0, 0], [0, 0]]; m[ix, 3] = [5, 6]';
  must(m[1, 1] == 9 && m[1, 2] == 1 && m[3, 2] == 0 && m[3, 3] == 5 && m[1, 3] == 6, 13);
  vector[5] v = linspaced_vector(5, 1, 5);
  v[2:4] = v[1:3]; // the right side first
  must(v[4] == 3 && v[3] == 2, 14);
  // loops and conditions
  int n = 0;
  real s = 0;
  for (x in ints) n += x;
  for (x in e) s += x;
  for (x in M) s += x;
  for (x in {[1, 2]', [3, 4]'}) s += sum(x);
  for (i in 1:3) { if (i == 2) continue; n += i; }
  for (i in 3:1) n += 100;
  while (n < 20) { n += 1; if (n == 15) break; }
  if (n > 100) n = 0; else if (n == 15) { n += 1; } else n = -1;
  { int local = 4; n += local; }
  ;
  profile("a part") { n += 1; }
  must(n == 21 && s == 9 + sum(M) + 10, 15);
  must(early(5) == 3 && early(2) == -1 && endless(3) == 3 && factorial_of(5) == 120, 16);
  must(plain({{1}}, 2, [1, 2]', [1], [[1]], {[1]'}, {{{1.0}}}) == 11, 17);
  // tuples
  tuple(real, vector[2]) t = two([1, 2]');
  real ta;
  vector[2] tb;
  (ta, tb) = two([3, 4]');
  t.1 = 5; t.2[1] = 9;
  tuple(int, tuple(real, real)) tn = nested();
  array[2] tuple(int, real) at;
  at[1] = (1, 2.0); at[2].1 = 3; at[2].2 = 4;
  tuple(real, ) one = single(3);
  real sum_at = 0;
  for (x in at) sum_at += x.1 * x.2;
  must(ta == 7 && tb[2] == 8 && t.2[1] + t.2[2] == 13 && tn.2.1 == 2 && one.1 == 3, 18);
  must(sum_at == 14 && of_tuple(t) == 18 && size(at) == 2 && sum(at.1) == 4, 19);
  if (N < 0) reject("N is ", N, [1, 2], {1, 2}, (1, 2.5));
}
parameters {
  real mu;
  vector[N] beta;
  real<lower=0> sd;
  real c;
  array[2] tuple(real, real<lower=0>) q;
  vector<lower=-1, upper=to_vector({1, 2, 3})>[3] bounded;
  array[2, 2] vector<lower=-1, upper=mu + 5>[3] boxes;
  array[2] real<offset=mu, multiplier=sd> shifted;
  simplex[1] sure;
  array[2] sum_to_zero_matrix[2, 3] zero;
  array[1, 2] row_stochastic_matrix[2, 2] rows_;
}
transformed parameters {
  real positive = scaled_jacobian(c);
  real scored = scored_lp(c);
  real<lower=0> same = sd, twice = 2 * sd;
  jacobian += 0.1 * c;
}
model {
  real t1 = 1, t2;
  t2 = t1 * 2;
  prior_lp(mu);
  beta ~ std_normal();
  sd ~ exponential(1);
  shifted ~ normal(mu, sd);
  for (x in q) { x.1 ~ normal(0, x.2); x.2 ~ exponential(1); }
  {mu, sd} ~ normal(0, 10);
  [mu, sd] ~ normal(0, 10);
  (mu + sd) ~ normal(0, 10);
  for (i in 1:2) for (j in 1:2) to_vector(zero[i]) ~ normal(0, j);
  y ~ normal(beta, sd);
  z ~ normal(beta, sd) T[-50, 50];
  w ~ normal(mu, sd);
  k ~ poisson_log(beta);
  k[1] ~ mine(positive);
  3 ~ mine(exp(mu)); // an int: mine_lpmf
  y[1] ~ mine(mu) T[-20, 20];
  target += mine_lupdf(y[1] | mu);
  target += {mu * y[1], sd * y[2]} ; // @likelihood
  target += normal_lpdf(y | N > 1 ? beta : rep_vector(mu, N), t2);
}
generated quantities {
  real drawn = mine_rng(mu), below = mine_cdf(y[1] | mu);
  tuple(int, real) gt = (1, 2.0);
  array[2] tuple(real, vector[2]) ga = {(1.0, [1, 2]'), (2.0, [3, 4]')};
}
