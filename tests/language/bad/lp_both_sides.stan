functions { real f_lp(real x) { x ~ normal(0, 1); return x; } }
data { vector[3] y; }
parameters { real a; }
model {
  real t = normal_lpdf(y | f_lp(a), 1);
  target += t;
}
