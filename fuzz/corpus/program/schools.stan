// Eight schools, not centred.
data {
  int<lower=0> J;
  array[J] real y;
  array[J] real<lower=0> sigma;
}
parameters {
  vector[J] eta;
  real mu;
  real<lower=0> tau;
}
transformed parameters {
  vector[J] theta = mu + tau * eta;
}
model {
  eta ~ std_normal();
  mu ~ normal(0, 5);
  tau ~ cauchy(0, 5);
  y ~ normal(theta, sigma);
}
generated quantities {
  vector[J] log_lik;
  for (j in 1:J)
    log_lik[j] = normal_lpdf(y[j] | theta[j], sigma[j]);
}
