model { }
parameters { real a; }
