// the embedded Laplace approximation: all families, blocks, options
functions {
  real pairs(vector theta, array[] int y, real eta, vector m) {
    return poisson_log_lpmf(y | theta[{1, 3}] + eta * sin(theta[{2, 4}]) + m[1]);
  }
  real noisy(vector theta, vector z, real sd) { return student_t_lpdf(z | 5, theta, sd); }
  matrix cov(array[] real x, real alpha, real rho) {
    return add_diag(gp_exp_quad_cov(x, alpha, rho), 1e-3);
  }
}
data {
  array[4] real x;
  array[6] int y;
  array[6] int<lower=0, upper=1> b;
  array[6] int g;
  vector[4] z;
}
transformed data {
  tuple(vector[4], real, int, int, int, int) options = generate_laplace_options(4);
  options.2 = 1e-9;
}
parameters {
  real<lower=0> alpha;
  real<lower=0> rho;
  real<lower=0> eta;
  vector[4] m;
}
model {
  alpha ~ normal(0, 1);
  rho ~ inv_gamma(5, 5);
  eta ~ lognormal(0, 1);
  m ~ normal(0, 1);
  y ~ laplace_marginal_poisson_log(g, m, 1, cov, (x, alpha, rho));
  b ~ laplace_marginal_bernoulli_logit(g, m, 1, cov, (x, alpha, rho));
  y ~ laplace_marginal_tol_neg_binomial_2_log(g, eta, m, 1, cov, (x, alpha, rho), options);
  target += laplace_marginal(pairs, (y[1:2], eta, m), 2, cov, (x, alpha, rho));
  target += laplace_marginal_tol(noisy, (z, eta), 1, cov, (x, alpha, rho), options);
}
generated quantities {
  vector[4] latent = laplace_latent_tol_rng(noisy, (z, eta), 1, cov, (x, alpha, rho), options);
  tuple(vector[4], matrix[4, 4]) solved
    = laplace_latent_solve(noisy, (z, eta), 1, cov, (x, alpha, rho));
  vector[4] mode;
  matrix[4, 4] factor;
  (mode, factor) = laplace_latent_solve_tol(noisy, (z, eta), 1, cov, (x, alpha, rho), options);
  vector[4] counts = laplace_latent_poisson_log_rng(y, g, m, 1, cov, (x, alpha, rho));
}
