functions {
  void both_lp(real a, real y) {
    a ~ normal(0, 1);
    y ~ normal(a, 1);
  }
}
data { real y; }
parameters { real a; }
model {
  both_lp(a, y);
}
