// The paper's first model with unknown variance: sigma2 ~ IG(1, scale 1).
data {
  int<lower=0> n;
  vector[n] y;
}
parameters {
  real mu;
  real<lower=0> sigma2;
}
model {
  mu ~ normal(0, 1);
  sigma2 ~ inv_gamma(1, 1);
  y ~ normal(abs(mu), sqrt(sigma2));
}
