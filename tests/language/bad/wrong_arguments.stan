parameters { real a; }
model { a ~ normal(0); }
