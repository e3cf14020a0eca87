parameters { tuple(real) p; }
