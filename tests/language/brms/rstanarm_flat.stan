// improper: the same with the flat prior chosen
data {
  int<lower=1> N;
  vector[N] Y;
  int<lower=1> K;
  matrix[N, K] X;
  int<lower=0> prior_dist;
  vector<lower=0>[K] prior_scale;
  vector[K] prior_mean;
  real<lower=0> prior_scale_for_aux;
  int prior_only;
}
parameters {
  vector[K] z_beta;
  real gamma;
  real<lower=0> aux_unscaled;
}
transformed parameters {
  vector[K] beta;
  real aux = prior_scale_for_aux * aux_unscaled;
  beta = z_beta .* prior_scale + prior_mean;
}
model {
  if (prior_only == 0) {
    vector[N] eta = gamma + X * beta;
    target += normal_lpdf(Y | eta, aux);                                     // = likelihood
  }
  if (prior_dist == 1) {
    target += normal_lpdf(z_beta | 0, 1);                                    // = prior
  }
  target += normal_lpdf(gamma | 0, 10);                                      // = prior
  target += normal_lpdf(aux_unscaled | 0, 1) - normal_lccdf(0 | 0, 1);       // = prior
}
