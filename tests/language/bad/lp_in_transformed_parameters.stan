functions { void f_lp(real x) { target += x; } }
parameters { real a; }
transformed parameters { f_lp(a); }
