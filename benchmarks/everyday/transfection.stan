// Fluorescence after mRNA is brought into a cell. Its decay and that of the
// protein enter alike: two modes of equal weight.
data {
  int<lower=0> N;
  vector[N] time;
  vector[N] y;
}
parameters {
  real<lower=-2, upper=1> log_start;     // all to base 10
  real<lower=-5, upper=5> log_product;
  real<lower=-5, upper=5> log_beta;
  real<lower=-5, upper=5> log_delta;
  real<lower=-2, upper=2> log_sigma;
}
model {
  real start = 10 ^ log_start;
  real product = 10 ^ log_product;
  real beta = 10 ^ log_beta;
  real delta = 10 ^ log_delta;
  real sigma = 10 ^ log_sigma;
  for (i in 1:N) {
    real mean = 0;
    if (time[i] > start) {
      real since = time[i] - start;
      real gap = beta - delta;
      mean = product * (abs(gap * since) > 1e-4
        ? (exp(-delta * since) - exp(-beta * since)) / gap
        : since * exp(-(beta + delta) * since / 2));
    }
    y[i] ~ normal(mean, sigma);
  }
}
