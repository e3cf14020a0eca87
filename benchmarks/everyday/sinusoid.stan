// A sinusoid of unknown frequency: a comb of modes.
data {
  int<lower=0> N;
  vector[N] time;
  vector[N] y;
}
parameters {
  real<lower=0.05, upper=0.5> f; // cycles per unit
  real a;
  real b;
  real<lower=0> sigma;
}
model {
  a ~ normal(0, 2);
  b ~ normal(0, 2);
  sigma ~ exponential(1);
  y ~ normal(a * cos(2 * pi() * f * time) + b * sin(2 * pi() * f * time), sigma);
}
