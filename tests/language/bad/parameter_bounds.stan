parameters { real<lower=0> a; int<lower=0, upper=to_int(a)> b; }
