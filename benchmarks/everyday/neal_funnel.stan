// Neal's funnel, with an observation of each coordinate.
data {
  int<lower=0> D;
  vector[D] y;
}
parameters {
  real v;
  vector[D] x;
}
model {
  v ~ normal(0, 3);
  x ~ normal(0, exp(v / 2));
  y ~ normal(x, 1);
}
