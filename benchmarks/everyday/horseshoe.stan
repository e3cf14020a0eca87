// A regression with the horseshoe prior; the noise is known.
data {
  int<lower=0> N;
  int<lower=0> P;
  matrix[N, P] X;
  vector[N] y;
}
parameters {
  vector[P] z;
  vector<lower=0>[P] lambda;
  real<lower=0> tau;
}
model {
  z ~ normal(0, 1);
  lambda ~ cauchy(0, 1);
  target += P * log(2); // @prior
  tau ~ cauchy(0, 0.5) T[0, ];
  y ~ normal(X * (z .* lambda) * tau, 1);
}
