parameters { real<lower=0> a; real<lower=a> b; }
