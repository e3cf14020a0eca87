// Multivariate and truncated densities, generalised linear models, mixtures.
data {
  int N;
  array[N] int<lower=0, upper=1> k;
  array[N] int<lower=1, upper=3> c;
  vector[N] y;
  matrix[N, 2] X;
  array[N] vector[2] z;
}
parameters {
  real a;
  vector[2] b;
  real<lower=0> s;
  simplex[3] q;
  real<lower=0, upper=1> m;
  vector[2] mu;
  real<lower=0.5, upper=2> nu;
}
transformed parameters {
  matrix[2, 2] Sigma = [[1 + s, 0.3], [0.3, 1]];
}
model {
  a ~ student_t(4, 0, 1);
  b ~ normal(0, 1);
  s ~ normal(0.5, nu) T[0, 4];
  nu ~ normal(1, 1) T[0.5, 2];
  q ~ dirichlet([2, 2, 2]');
  mu ~ multi_normal(rep_vector(0, 2), Sigma);
  k ~ bernoulli_logit_glm(X, a, b);
  k ~ poisson_log_glm(X, a, b);
  y ~ normal_id_glm(X, a, b, s);
  c ~ categorical(q);
  c ~ categorical_logit(log(q) * a);
  c[1] ~ ordered_logistic(a, append_row(-1, [s]'));
  z ~ multi_normal_cholesky(mu, cholesky_decompose(Sigma));
  for (n in 1:N) {
    target += log_mix(m, normal_lpdf(y[n] | mu[1], s), normal_lpdf(y[n] | mu[2], 1));
    target += log_sum_exp(log(m) + normal_lpdf(y[n] | mu[1], s), log1m(m) + cauchy_lpdf(y[n] | a, nu));
    target += normal_lcdf(y[n] | a, s) + gamma_lccdf(exp(y[n]) | nu, s);
  }
}
