functions {
  real f(tuple(real, vector) t) { t.1 = 2; return t.1; }
}
parameters { real a; }
model { a ~ normal(0, 1); }
