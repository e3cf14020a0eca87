parameters { real a; }
model { target += normal_lpdf(a, 0, 1); }
