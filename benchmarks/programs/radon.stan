// A hierarchical regression of radon's kind: intercepts and slopes that vary
// by county, a predictor of the counties.
data {
  int<lower=0> N;
  int<lower=0> J;
  int<lower=1, upper=J> county[N];
  vector[N] floor_measure;
  vector[J] uranium;
  vector[N] log_radon;
}
parameters {
  vector[J] alpha;
  vector[J] beta;
  vector[2] gamma;
  real mu_beta;
  real<lower=0> sigma_alpha;
  real<lower=0> sigma_beta;
  real<lower=0> sigma_y;
}
model {
  gamma ~ normal(0, 10);
  mu_beta ~ normal(0, 10);
  sigma_alpha ~ normal(0, 1);
  sigma_beta ~ normal(0, 1);
  sigma_y ~ normal(0, 1);
  alpha ~ normal(gamma[1] + gamma[2] * uranium, sigma_alpha);
  beta ~ normal(mu_beta, sigma_beta);
  log_radon ~ normal(alpha[county] + beta[county] .* floor_measure, sigma_y);
}
