// Wishart, inverse Wishart, multivariate t.
data { int N; array[N] vector[2] y; cov_matrix[2] V; }
parameters {
  cov_matrix[2] W;
  cov_matrix[2] S;
  real<lower=2> nu;
  vector[2] mu;
  cholesky_factor_cov[2] L;
}
model {
  W ~ wishart(nu + 1, S);
  S ~ inv_wishart(nu, V);
  nu ~ gamma(2, 0.5);
  mu ~ multi_student_t(nu, [0, 1]', W);
  to_vector(L) ~ normal(0.5, 1);
  y ~ multi_student_t(4, mu, S);
  y ~ multi_student_t_cholesky(nu, mu, L);
  V ~ wishart(nu, W);
}
generated quantities {
  matrix[2, 2] w = wishart_rng(nu, S);
  matrix[2, 2] v = inv_wishart_rng(nu, S);
  matrix[3, 3] r = lkj_corr_rng(3, 2.0);
  vector[2] t = multi_student_t_rng(nu, mu, S);
  array[2] int m = multinomial_rng([0.3, 0.7]', 5);
}
