parameters {
  complex z;
}
model {
  target += z;
}
