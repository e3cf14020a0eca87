parameters { real a; }
/* never closed
