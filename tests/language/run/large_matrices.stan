// Matrices beyond one block: Cholesky factors, products, covariances of
// points in the plane, gathers with repeated indices.
data {
  int<lower=1> N;
  array[N] vector[2] place;
  array[N] int<lower=1, upper=N> pick;
  vector[N] y;
}
transformed data {
  matrix[N, N] mixing;
  for (i in 1:N)
    for (j in 1:N)
      mixing[i, j] = sin(i * 3.0 + j * j) / N;
}
parameters {
  real<lower=0> rho;
  real<lower=0> alpha;
  real<lower=0> sigma;
  vector[N] z;
  array[N] vector[2] moved;
}
model {
  matrix[N, N] K = gp_exp_quad_cov(moved, alpha, rho);
  matrix[N, N] L;
  for (n in 1:N)
    K[n, n] = K[n, n] + square(sigma) + 0.1;
  L = cholesky_decompose(K + crossprod(mixing * K));
  rho ~ gamma(4, 4);
  alpha ~ normal(0, 1);
  sigma ~ normal(0, 1);
  z ~ std_normal();
  for (n in 1:N)
    moved[n] ~ normal(place[n], 0.5);
  y ~ multi_normal_cholesky((L * z)[pick], L);
  y ~ normal(mdivide_left_tri_low(L, z) .* z[pick] - z / sigma, 1 + sigma);
}
