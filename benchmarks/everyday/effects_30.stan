// Thirty groups with a random effect each, centred; noise unknown.
data {
  int<lower=0> N;
  int<lower=0> G;
  vector[N] y;
  array[N] int<lower=1, upper=G> group;
}
parameters {
  real mu;
  real<lower=0> tau;
  real<lower=0> sigma;
  vector[G] effect;
}
model {
  mu ~ normal(0, 5);
  tau ~ exponential(1);
  sigma ~ exponential(1);
  effect ~ normal(mu, tau);
  y ~ normal(effect[group], sigma);
}
