parameters { real sigma; }
modle { sigma ~ normal(0, 1); }
