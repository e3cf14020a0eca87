// Item response with two parameters for each item.
data {
  int<lower=1> I;
  int<lower=1> J;
  int<lower=0, upper=1> y[I, J];
}
parameters {
  vector[J] theta;
  vector<lower=0>[I] a;
  vector[I] b;
  real<lower=0> sigma_a;
  real mu_b;
  real<lower=0> sigma_b;
}
model {
  theta ~ normal(0, 1);
  sigma_a ~ normal(0, 1);
  a ~ lognormal(0, sigma_a);
  mu_b ~ normal(0, 2);
  sigma_b ~ normal(0, 1);
  b ~ normal(mu_b, sigma_b);
  for (i in 1:I)
    y[i] ~ bernoulli_logit(a[i] * (theta - b[i]));
}
