parameters { vector[3] a; }
model {
  a ~ normal(0, 1);
  target += quantile(a, 0.5);
}
