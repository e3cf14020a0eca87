// A spectral (Whittle) likelihood of an autoregression of order one.
data {
  int N;
  vector[N] y;
}
transformed data {
  int m = N %/% 2 - 1;
  vector[m] power = norm(fft(y))[2:(m + 1)] / N;
}
parameters {
  real<lower=-1, upper=1> phi;
  real<lower=0> sigma;
}
model {
  complex_vector[m] gain;
  for (k in 1:m) gain[k] = 1 / (1 - phi * exp(-2i * pi() * k / N));
  vector[m] density = square(sigma) * norm(gain);
  sigma ~ exponential(1);
  target += -sum(log(density) + power ./ density); // @likelihood
}
