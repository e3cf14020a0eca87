// A hidden Markov model of two states with normal outcomes.
data {
  int<lower=1> N;
  vector[N] y;
}
parameters {
  simplex[2] stay[2];
  ordered[2] mu;
}
model {
  real gamma[N, 2];
  mu[1] ~ normal(3, 1);
  mu[2] ~ normal(10, 1);
  for (k in 1:2)
    stay[k] ~ dirichlet(rep_vector(2, 2));
  for (k in 1:2)
    gamma[1, k] = log(0.5) + normal_lpdf(y[1] | mu[k], 1);
  for (t in 2:N)
    for (k in 1:2)
      gamma[t, k] = log_sum_exp(gamma[t - 1, 1] + log(stay[1, k]),
                                gamma[t - 1, 2] + log(stay[2, k]))
                    + normal_lpdf(y[t] | mu[k], 1);
  target += log_sum_exp(gamma[N, 1], gamma[N, 2]);
}
