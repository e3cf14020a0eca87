// A mixture of two normals with its labels as integers: 82 of them.
data {
  int<lower=0> N;
  vector[N] y;
}
parameters {
  array[N] int<lower=1, upper=2> z;
  vector[2] mu;
}
model {
  mu ~ normal(0, 3);
  z ~ categorical([0.4, 0.6]');
  y ~ normal(mu[z], 1);
}
