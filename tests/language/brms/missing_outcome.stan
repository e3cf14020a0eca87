// proper: missing outcomes, mi()
data {
  int<lower=1> N;
  vector[N] Y;
  int<lower=0> Nmi;
  array[Nmi] int<lower=1> Jmi;
  int<lower=1> K;
  matrix[N, K] X;
  int<lower=1> Kc;
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
  vector[Nmi] Ymi;
  vector[Kc] b;
  real Intercept;
  real<lower=0> sigma;
}
transformed parameters {
  real lprior = 0;
  lprior += normal_lpdf(b | 0, 1);                                           // = prior
  lprior += student_t_lpdf(Intercept | 3, 0, 2.5);                           // = prior
  lprior += student_t_lpdf(sigma | 3, 0, 2.5)                                // = prior
    - 1 * student_t_lccdf(0 | 3, 0, 2.5);                                    // = prior
}
model {
  vector[N] Yl = Y;
  Yl[Jmi] = Ymi;
  if (!prior_only) {
    vector[N] mu = rep_vector(0.0, N);
    mu += Intercept + Xc * b;
    target += normal_lpdf(Yl | mu, sigma); // = both
    //+ prior: target += normal_lpdf(Ymi | mu[Jmi], sigma);
    //+ likelihood: target += normal_lpdf(Yl | mu, sigma); target += -normal_lpdf(Ymi | mu[Jmi], sigma); // @likelihood
  }
  target += lprior;
}
