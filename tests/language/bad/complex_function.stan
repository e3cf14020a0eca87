parameters {
  complex z;
}
model {
  target += get_real(lgamma(z));
}
