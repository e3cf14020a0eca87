// The same, with a random effect for each of 31 clutches.
data {
  int<lower=1> N;
  int<lower=1> C;
  array[N] int<lower=0, upper=1> y;
  vector<lower=0>[N] x;
  array[N] int<lower=1, upper=C> clutch;
}
parameters {
  real alpha0;
  real alpha1;
  vector[C] b_raw;
  real<lower=0> sigma2;
}
model {
  sigma2 ~ pareto_type_2(0, 1, 1); // 1 / (1 + sigma2)^2
  alpha0 ~ normal(0, sqrt(10));
  alpha1 ~ normal(0, sqrt(10));
  b_raw ~ std_normal();
  y ~ bernoulli(Phi(alpha0 + alpha1 * x + sqrt(sigma2) * b_raw[clutch]));
}
