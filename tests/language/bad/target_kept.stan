parameters { real a; }
model { real x = target(); a ~ normal(x, 1); }
