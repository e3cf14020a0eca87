// A regression that chooses among ten covariates.
data {
  int<lower=0> N;
  int<lower=0> P;
  matrix[N, P] X;
  vector[N] y;
}
parameters {
  array[P] int<lower=0, upper=1> g;
  vector[P] b;
}
model {
  g ~ bernoulli(0.3);
  b ~ normal(0, 1);
  y ~ normal(X * (to_vector(g) .* b), 1);
}
