parameters { real a; }
model { jacobian += a; }
