// the cases of the split that were wrong once, as `tempera check` shows them
functions {
  real half_normal(real x, real s) {
    return normal_lpdf(x | 0, s) - normal_lccdf(0 | 0, s);
  }
  void weak_lp(real x, real s) {
    x ~ normal(0, s);
  }
}
data {
  int N;
  int K;
  array[N] int<lower=1, upper=K> z;
  vector[N] y;
  real s0;
  int flat;
}
transformed data {
  array[K] int n = rep_array(0, K);
  array[3] real table = {1, 2, 3};
  for (i in 1:N)
    n[z[i]] += 1;
}
parameters {
  simplex[K] theta;
  real b;
  real<lower=0> sigma;
  real<lower=0> tau;
  real c;
  real mu;
}
transformed parameters {
  real lprior = 0;
  lprior += normal_lpdf(b | 0, s0);
  lprior += normal_lpdf(sigma | 0, s0) - N * normal_lccdf(0 | 0, s0);
}
model {
  vector[2] lp;
  n ~ multinomial(theta);
  table[z] ~ normal(b, sigma);
  target += lprior;
  target += half_normal(tau, s0);
  weak_lp(c, s0);
  lp[1] = log(0.5) + normal_lpdf(mu | s0, 1);
  lp[2] = log(0.5) + normal_lpdf(mu | -s0, 1);
  target += log_sum_exp(lp);
  if (!flat)
    target += normal_lpdf(y | mu, sigma) + normal_lpdf(c | 0, 2);
  mu ~ normal(0, 9); b ~ normal(c, 1); // @likelihood
}
