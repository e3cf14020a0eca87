// A probit regression with a random effect for each of 31 groups: 34 parameters.
data {
  int<lower=0> N;
  int<lower=0> G;
  array[N] int<lower=0, upper=1> y;
  vector[N] x;
  array[N] int<lower=1, upper=G> group;
}
parameters {
  real a;
  real b;
  real<lower=0> variance;
  vector[G] effect;
}
model {
  a ~ normal(0, sqrt(10));
  b ~ normal(0, sqrt(10));
  variance ~ pareto_type_2(0, 1, 1); // (1 + variance)^-2
  effect ~ normal(0, sqrt(variance));
  y ~ bernoulli(Phi(a + b * x + effect[group]));
}
