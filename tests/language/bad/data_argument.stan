functions { real f(data real x) { return x; } }
parameters { real a; }
model { target += f(a); }
