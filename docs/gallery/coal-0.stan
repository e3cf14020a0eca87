// Disasters per year at one rate.
data {
  int<lower=0> N;
  array[N] int<lower=0> y;
}
parameters {
  real<lower=0> rate;
}
model {
  rate ~ gamma(2, 1);
  y ~ poisson(rate);
}
