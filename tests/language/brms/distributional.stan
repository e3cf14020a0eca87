// proper: a predicted scale
data {
  int<lower=1> N;
  vector[N] Y;
  int<lower=1> K;
  matrix[N, K] X;
  int<lower=1> Kc;
  int<lower=1> K_sigma;
  matrix[N, K_sigma] X_sigma;
  int prior_only;
}
transformed data {
  matrix[N, Kc] Xc;
  vector[Kc] means_X;
  for (i in 2:K) {
    means_X[i - 1] = mean(X[, i]);
    Xc[, i - 1] = X[, i] - means_X[i - 1];
  }
}
parameters {
  vector[Kc] b;
  real Intercept;
  vector[K_sigma] b_sigma;
  real Intercept_sigma;
}
transformed parameters {
  real lprior = 0;
  lprior += normal_lpdf(b | 0, 1);                                           // = prior
  lprior += student_t_lpdf(Intercept | 3, 0, 2.5);                           // = prior
  lprior += normal_lpdf(b_sigma | 0, 1);                                     // = prior
  lprior += student_t_lpdf(Intercept_sigma | 3, 0, 2.5);                     // = prior
}
model {
  if (!prior_only) {
    vector[N] mu = rep_vector(0.0, N);
    vector[N] sigma = rep_vector(0.0, N);
    mu += Intercept + Xc * b;
    sigma += Intercept_sigma + X_sigma * b_sigma;
    sigma = exp(sigma);
    target += normal_lpdf(Y | mu, sigma);                                    // = likelihood
  }
  target += lprior;
}
generated quantities {
  real b_Intercept = Intercept - dot_product(means_X, b);
}
