// What Stan's compiler takes and its manual does not dwell on; a wrong value is fatal when the data are read.
functions {
  void must(int fact, int number) { if (!fact) fatal_error("fact ", number, " does not hold"); }
  real first(real second) { return second; } // an argument with a function's name
  real second(real first) { return first(first) + 1; }
  real early() { for (i in 1:3) { return i; } }
  real pairs_lpdf(tuple(real, real) x, tuple(real, real) y) { return normal_lpdf(x.1 | y.1, exp(y.2)) - 0 * x.2; }
  real pairs_lpmf(tuple(int, int) x, real y) { return x.1 * y - exp(y) + 0 * x.2; }
  tuple(array[] real, vector) both() { return ({1.0, 2.0}, [3, 4]'); }
  array[] tuple(int, real) listed() { return {(1, 2.0), (3, 4.0)}; }
  real of_item(tuple(array[] tuple(real, int), int) t) {
    real s = 0;
    for (x in t.1) s += x.1 * x.2;
    return s;
  }
  vector decay(real t, vector y, tuple(real, vector) p) { return -p.1 * y + p.2; }
  vector grown(real t, vector y, array[] tuple(real, tuple(int, matrix)) p) {
    return p[1].1 * (p[1].2.2 * y) * p[1].2.1;
  }
  vector zero(vector y, tuple(int, real) a) { return y^2 - a.1 * a.2; }
  real part(array[] real slice, int from, int to, tuple(real, array[] int) m) {
    return normal_lpdf(slice | m.1 * to_vector(m.2[from:to]), 1);
  }
  real data_only(data real x) { return 2 * x; }
}
data {
  ;
  int N;;
  array[N] real y;
}
transformed data {
  must(first(2) + second(2) == 5 && early() == 1, 1);
  row_vector[0] nothing = [ ];
  vector[0] no_column = [ ]';
  must(size(nothing) + size(no_column) == 0, 2);
  tuple(array[2] tuple(int, real), int) t = ({(1, 2.5), (2, 3.5)}, 7);
  array[2, 2] tuple(int, real) q;
  for (i in 1:2) for (j in 1:2) q[i, j] = (i, 1.0 * j);
  real s = 0;
  for (x in t.1) s += x.1 * x.2;
  for (x in both().1) s += x;
  for (x in listed()) s += x.2;
  for (row in q) for (x in row) s += x.1 * x.2;
  for (x in q[2]) s += x.2;
  for (x in t.1[2:2]) s += x.2;
  for (x in {(1, 2.0), (2, 3.0)}) s += x.2;
  must(s == 39 && of_item(({(1.0, 2), (3.0, 4)}, 1)) == 14, 3);
  array[2] tuple(real, real) mixed = {(1, 2.5), (2.5, 1)};
  must(mixed[1].1 + mixed[2].2 == 2, 4);
  vector[2] state = ode_rk45_tol(decay, [1, 2]', 0, {1.0}, 1e-10, 1e-10, 1000, (2, [0, 0]'))[1];
  must(abs(state[2] - 2 * exp(-2)) < 1e-8, 5);
  must(abs(solve_newton(zero, [1.5]', (2, 4.5))[1] - 3) < 1e-6, 6);
}
parameters {
  ;
  real a;
  vector<lower=0>[2] b;
  array[2] tuple(real, real<lower=0>) p;
}
transformed parameters {
  array[N] vector[2] moved = ode_rk45_tol(grown, b, 0, y, 1e-9, 1e-9, 1000, {(a, (1, [[-1, 0.3], [0.1, -2]]))});
  array[1] vector[2] fallen = ode_bdf_tol(decay, b, 0, {1.5}, 1e-9, 1e-9, 1000, (b[1], b));
}
model {
  a ~ normal(0, 1);
  b ~ exponential(1);
  for (x in p) { x.1 ~ normal(0, 1); x.2 ~ exponential(x.1^2 + 1); }
  moved[:, 1] ~ normal(y, 1); // @likelihood
  y ~ normal(fallen[1, 2], 1);
  target += reduce_sum(part, y, 1, (a, {3, 1, 2}));
  (1.5, 2) ~ pairs((a, b[1]));
  (1, 3) ~ pairs(a);
  2 ~ normal(a, 1) T[1, 2.5]; // an int under a density
  for (x in mixed) x.2 ~ normal(a, x.1);
  y[1:2] ~ normal(solve_newton(zero, [1.5]', (2, b[2]))[1], linspaced_array(size(b), 1, 2));
}
generated quantities {
  ;
  real twice = data_only(a); // draws are data
}
