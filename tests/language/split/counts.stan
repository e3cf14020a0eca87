// proper: outcomes without parameters, however their values came about
data {
  int N;
  int K;
  array[N] int<lower=1, upper=K> z;
}
transformed data {
  array[K] int n = rep_array(0, K);
  array[3] real table = {1, 2.5, 3};
  for (i in 1:N)
    n[z[i]] += 1;
}
parameters {
  simplex[K] theta;
  real mu;
}
model {
  theta ~ dirichlet(rep_vector(2, K));                                   // = prior
  mu ~ normal(0, 3);                                                     // = prior
  n ~ multinomial(theta);                                                // = likelihood
  for (i in 1:N) {
    table[z[i]] ~ normal(mu, 1);                                         // = likelihood
  }
}
