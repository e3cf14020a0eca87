functions { void f_lp(real x) { target += x; } }
parameters { real<lower=0, upper=1> a; }
model { }
generated quantities { f_lp(a); }
