// The paper's first model: y_i ~ N(|mu|, 1), mu ~ N(0, 1). The posterior has
// two modes, at +-mean(y) shrunk.
data {
  int<lower=0> n;
  vector[n] y;
}
parameters {
  real mu;
}
model {
  mu ~ normal(0, 1);
  y ~ normal(abs(mu), 1);
}
