data { real a; }
parameters { real a; }
