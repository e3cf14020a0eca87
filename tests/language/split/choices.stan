// proper: elements of a simplex that data choose are outcomes
data {
  int N;
  int K;
  array[N] int<lower=1, upper=K> z;
  array[N] int<lower=1, upper=2> group;
}
parameters {
  array[2] simplex[K] theta;
  simplex[2] share;
}
model {
  for (g in 1:2)
    theta[g] ~ dirichlet(rep_vector(2, K));                              // = prior
  for (k in 1:2) {
    target += 2 * log(share[k]);                                         // = prior
  }
  for (i in 1:N) {
    vector[2] gamma;
    target += log(theta[group[i]][z[i]]);                                // = likelihood
    for (g in 1:2) {
      gamma[g] = log(share[g]) + log(theta[g, z[i]]);
    }
    target += log_sum_exp(gamma);                                        // = likelihood
  }
}
