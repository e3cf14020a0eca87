// A bound that is another bounded parameter.
data { real y; }
parameters {
  real<lower=0> a;
  real<lower=a> b;
}
model {
  a ~ exponential(1);
  b ~ exponential(1);
  y ~ normal(b, 1);
}
