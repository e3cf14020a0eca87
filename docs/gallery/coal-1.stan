// A rate that changes once, after year s.
data {
  int<lower=0> N;
  array[N] int<lower=0> y;
}
parameters {
  int<lower=1, upper=N - 1> s;
  real<lower=0> early;
  real<lower=0> late;
}
model {
  early ~ gamma(2, 1);
  late ~ gamma(2, 1);
  y[1 : s] ~ poisson(early);
  y[(s + 1) : N] ~ poisson(late);
}
