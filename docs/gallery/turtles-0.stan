// Survival of turtles by birth weight: a probit regression.
data {
  int<lower=1> N;
  array[N] int<lower=0, upper=1> y; // survived
  vector<lower=0>[N] x;             // birth weight in grams
}
parameters {
  real alpha0;
  real alpha1;
}
model {
  alpha0 ~ normal(0, sqrt(10));
  alpha1 ~ normal(0, sqrt(10));
  y ~ bernoulli(Phi(alpha0 + alpha1 * x));
}
