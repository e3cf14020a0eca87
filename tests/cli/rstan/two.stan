data {
  int n;
  vector[n] y;
}
parameters {
  real mu;
  real<lower=0> sigma;
}
model {
  mu ~ normal(0.3, 1);
  sigma ~ exponential(1);
  y ~ normal(square(mu), sigma);
}
