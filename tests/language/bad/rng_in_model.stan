parameters { real a; }
model {
  a ~ normal(normal_rng(0, 1), 1);
}
