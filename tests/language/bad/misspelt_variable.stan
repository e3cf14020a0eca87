parameters { real sigma; }
model {
  sigma ~ normal(0, simga);
}
