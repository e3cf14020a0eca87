transformed data { real b = a; }
parameters { real a; }
