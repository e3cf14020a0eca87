functions { real f_lp(real x) { target += x; return x; } }
parameters { real a; }
model { real b = f_lp(a); }
