functions { real f_lp(real x) { target += x; return x; } }
parameters { real a; }
model { a ~ normal(0, 1); if (f_lp(a) > 0) target += 1; }
