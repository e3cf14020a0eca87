// A rate that changes once, at a real time; counts in equal intervals.
data {
  int<lower=0> N;
  array[N] int<lower=0> y; // in the interval that ends at i
}
parameters {
  real<lower=0, upper=N> at;
  real<lower=0> early;
  real<lower=0> late;
}
model {
  early ~ gamma(2, 1);
  late ~ gamma(2, 1);
  for (i in 1:N) {
    real before = fmin(fmax(at - (i - 1), 0), 1);
    y[i] ~ poisson(before * early + (1 - before) * late);
  }
}
