functions { void f_jacobian(real x) { target += x; } }
parameters { real a; }
model { a ~ normal(0, 1); }
