// Eight schools, centred: a funnel.
data {
  int<lower=0> J;
  vector[J] y;
  vector<lower=0>[J] s;
}
parameters {
  real mu;
  real<lower=0> tau;
  vector[J] theta;
}
model {
  mu ~ normal(0, 5);
  tau ~ cauchy(0, 5) T[0, ];
  theta ~ normal(mu, tau);
  y ~ normal(theta, s);
}
