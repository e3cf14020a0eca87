functions { int n_lp(real x) { target += x; return 2; } }
parameters { real a; }
model { a ~ normal(0, 1); vector[n_lp(a)] b = [a, a]'; b ~ normal(0, 1); }
