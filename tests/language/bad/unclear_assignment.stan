functions { real f_lp(real x) { target += x; return x; } }
data { int i; }
parameters { vector[3] a; }
model { real b; a ~ normal(0, 1); b = f_lp(a[i]); }
