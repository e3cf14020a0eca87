/* One of each construct. */
functions {
  real twice(real x);
  real twice(real x) { return 2 * x; }
  vector shifted(vector x, real by, data array[] real unused) {
    vector[rows(x)] y = x;
    for (i in 1:rows(x)) y[i] += by;
    return y;
  }
  real[] old_style(real[] x, int[,] k) { return x; }
  real odd_lpdf(real y, real mu) {
    if (y > mu) return -y; else return y;
  }
  void add_lp(real x) { target += -square(x); }
  int draw_rng(real p) { return bernoulli_rng(p); }
}
data {
  int<lower=0> N;
  array[N] real x;
  real y[N];
  int<lower=1, upper=N> g[N];
  matrix[N, 2] X;
}
transformed data {
  real m = mean(x);
  array[2, 2] int table = {{1, 2}, {3, 4}};
  row_vector[3] w = [1, 2.5, 3];
  matrix[2, 3] W = [w, w];
  int k <- 7 %/% 2 + 7 % 2;
  real c = 1e-3 + .5 * 2. - -2 ^ 2;
}
parameters {
  real<lower=-1, upper=twice(1)> a;
  vector[2] b;
  real<offset=m, multiplier=2> o;
  array[2] ordered[3] cuts;
  int<lower=0, upper=10> n;
  simplex[3] p;
  cholesky_factor_corr[2] L;
  real<lower=0> s, t;
}
transformed parameters {
  vector[N] eta = X * b + a;
  real z;
  { real local = 1; z = local + b' * b; }
}
model {
  vector[2] v;
  b[1] ~ normal(0, 1);
  b[2] ~ normal(0, 1);
  o ~ normal(m, 2);
  for (i in 1:2) cuts[i] ~ normal(0, 5);
  n ~ poisson(3);
  s ~ normal(0, 1) T[0, ];
  t ~ normal(0, 1) T[, 5];
  p ~ dirichlet(rep_vector(1, 3));
  L ~ lkj_corr_cholesky(2);
  a ~ odd(0.5);
  v[1:2] = b[{2, 1}];
  v[] = v[:];
  increment_log_prob(normal_lpdf(y | eta[g], s));
  target += normal_lupdf(x | X[:, 1] * n, t);
  if (N > 3 && !(a < 0) || z == 1) target += normal_log(y, m, 1);
  else if (N == 2) { print("two", N, a); }
  while (1) { break; }
}
generated quantities {
  array[N] real yrep;
  int d = draw_rng(0.3) ? 1 : 0;
  for (i in 1:N) {
    if (i == 2) continue;
    yrep[i] = normal_rng(eta[i], s);
  }
  for (e in x) { if (e < 0) reject("negative ", e); }
}
