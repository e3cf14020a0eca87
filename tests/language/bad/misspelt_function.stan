parameters { real a; }
model { target += inv_logti(a); }
