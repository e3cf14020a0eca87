functions {
  real half(real x) { return 0.5 * x; }
}
parameters {
  vector[3] y;
  real z;
  vector[2] p;
}
transformed parameters {
  vector[4] s = simplex_jacobian(y);
  real<lower=1> b = lower_bound_jacobian(z, 1);
  matrix[3, 3] L = cholesky_factor_corr_jacobian(y, 3);
  vector[2] u = lower_upper_bound_jacobian(p, -1, 2);
}
model {
  s ~ dirichlet([2, 3, 1.5, 2]');
  b ~ exponential(1);
  L ~ lkj_corr_cholesky(2);
  u ~ normal(0, 1);
  target += half(sum(sin(y))); // @likelihood
}
