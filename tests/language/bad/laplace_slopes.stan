functions {
  real lik(vector theta, vector y) { return normal_lpdf(y | theta, 1); }
  matrix cov(vector x, real rho) { return add_diag(rho * x * x', 1); }
}
data { int N; vector[N] x; vector[N] y; }
parameters { real<lower=0> rho; }
model {
  rho ~ exponential(1);
  y ~ normal(laplace_latent_solve(lik, (y, ), 1, cov, (x, rho)).1, 1);
}
