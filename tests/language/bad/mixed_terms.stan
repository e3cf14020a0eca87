data { real y; }
parameters { real a; }
model {
  target += normal_lpdf(a | 0, 1) + normal_lpdf(y | a, 1);
}
