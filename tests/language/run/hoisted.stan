// Much of this is data alone: computed when the data are read.
data {
  int<lower=1> N;
  array[N] int<lower=0> counts;
  array[N] int<lower=1, upper=2> group;
  vector<lower=0>[N] amount;
  vector[N] x;
  vector<lower=0>[N] error;
}
transformed data {
  matrix[N, 2] design;
  design[, 1] = rep_vector(1, N);
  design[, 2] = x;
}
parameters {
  vector[2] b;
  real<lower=0> phi;
  real<lower=0> sigma;
}
transformed parameters {
  vector[N] level = design * b + log(amount) / N;
}
model {
  b ~ normal(0, 2);
  phi ~ exponential(1);
  sigma ~ gamma(2, 1);
  vector[2] xx = (design' * design) \ (design' * x);
  xx[1] += sum(log1p(amount)) / N;
  counts ~ poisson_log(level);
  counts ~ neg_binomial_2_log(level + x[{1, 2, 3, 4, 5, 6}] / N, phi);
  amount ~ lognormal(b[group] + xx[1], sigma);
  x ~ normal(level, error);
  x ~ student_t(4, level[group], error);
  amount ~ gamma(phi, 1.5);
  target += normal_lpdf(x | 0, error) + poisson_lpmf(counts | 2) + sigma * x[2];
  target += -dot_self(design * (b - xx)) / 9;
  target += log(amount) * (N > 5 ? 0.1 : x[99]);
}
