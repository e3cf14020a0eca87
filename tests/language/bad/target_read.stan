parameters { real a; }
model { a ~ normal(0, 1); print(target()); }
