parameters { real a; }
model { a ~ normal(0, 1); if (target() < -5) reject("low"); }
