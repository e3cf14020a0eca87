parameters { real model; }
