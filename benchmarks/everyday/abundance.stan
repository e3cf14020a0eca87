// Animals counted on four visits to each of 24 sites; how many live there is not
// known, nor how many of them a visit sees.
data {
  int<lower=0> R;
  int<lower=0> V;
  array[R, V] int<lower=0> y;
}
transformed data {
  array[R] int most;
  for (i in 1:R) most[i] = max(y[i]);
}
parameters {
  real<lower=0> rate;
  real<lower=0, upper=1> p;
  array[R] int<lower=0> n;
}
model {
  rate ~ gamma(2, 0.5);
  n ~ poisson(rate);
  for (i in 1:R) {
    if (n[i] < most[i]) {
      target += negative_infinity(); // @likelihood
    } else {
      y[i] ~ binomial(n[i], p);
    }
  }
}
