parameters { real a; }
model { a ~ normal(0, 1); target += target() > 0; }
