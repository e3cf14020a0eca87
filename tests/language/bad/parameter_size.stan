parameters {
  real a;
  int<lower=1, upper=3> k;
  vector[k] b;
}
