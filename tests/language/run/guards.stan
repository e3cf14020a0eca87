parameters { vector[2] x; }
model {
  x ~ normal(0, 1);
  if (x[1] > 4 || x[2] < -4) reject("far");
  if (!(x[1] < 5 && x[2] < 6)) {
    target += negative_infinity(); // @likelihood
  }
  target += -x[1]^2; // @likelihood
}
