// Regression with a Gaussian process: squared exponential, noise integrated.
data {
  int<lower=1> N;
  real x[N];
  vector[N] y;
}
transformed data {
  vector[N] zero = rep_vector(0, N);
}
parameters {
  real<lower=0> rho;
  real<lower=0> alpha;
  real<lower=0> sigma;
}
model {
  matrix[N, N] K = cov_exp_quad(x, alpha, rho);
  matrix[N, N] L;
  for (n in 1:N)
    K[n, n] = K[n, n] + square(sigma);
  L = cholesky_decompose(K);
  rho ~ inv_gamma(5, 5);
  alpha ~ normal(0, 1);
  sigma ~ normal(0, 1);
  y ~ multi_normal_cholesky(zero, L);
}
