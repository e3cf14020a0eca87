// A line through complex numbers.
data {
  int N;
  complex_vector[N] x;
  complex_vector[N] y;
}
parameters {
  complex a;
  complex b;
  real<lower=0> sigma;
}
model {
  complex_vector[N] rest = y - (a + b * x);
  get_real(a) ~ normal(0, 2);
  get_imag(a) ~ normal(1, 2);
  abs(b) ~ exponential(1);
  sigma ~ exponential(1);
  get_real(rest) ~ normal(0, sigma);
  get_imag(rest) ~ normal(0, sigma);
}
