// The paper's second model: a mixture of K normals for the velocities of
// galaxies, with the labels summed out. equal = 1: one variance for all,
// written sigma2[1].
data {
  int<lower=0> n;
  vector[n] y;
  int<lower=2> K;
  int<lower=0, upper=1> equal;
}
transformed data {
  int variances = equal ? 1 : K;
}
parameters {
  vector[K] mu;
  vector<lower=0>[variances] sigma2;
  simplex[K] p;
}
model {
  vector[K] log_p = log(p);
  vector[variances] sigma = sqrt(sigma2);
  mu ~ normal(20, 10);
  sigma2 ~ inv_gamma(3, 20);
  p ~ dirichlet(rep_vector(1, K));
  for (i in 1:n) {
    vector[K] terms;
    for (k in 1:K)
      terms[k] = log_p[k] + normal_lpdf(y[i] | mu[k], sigma[equal ? 1 : k]);
    target += log_sum_exp(terms);
  }
}
