// proper: hurdle_gamma
functions {
  real hurdle_gamma_lpdf(real y, real alpha, real beta, real hu) {
    if (y == 0) {
      return bernoulli_lpmf(1 | hu);
    } else {
      return bernoulli_lpmf(0 | hu) + gamma_lpdf(y | alpha, beta);
    }
  }
}
data {
  int<lower=1> N;
  vector[N] Y;
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
  vector[Kc] b;
  real Intercept;
  real<lower=0> shape;
  real<lower=0, upper=1> hu;
}
transformed parameters {
  real lprior = 0;
  lprior += normal_lpdf(b | 0, 1);                                           // = prior
  lprior += student_t_lpdf(Intercept | 3, 0, 2.5);                           // = prior
  lprior += gamma_lpdf(shape | 0.01, 0.01);                                  // = prior
  lprior += beta_lpdf(hu | 1, 1);                                            // = prior
}
model {
  if (!prior_only) {
    vector[N] mu = rep_vector(0.0, N);
    mu += Intercept + Xc * b;
    mu = exp(mu);
    for (n in 1:N) {
      target += hurdle_gamma_lpdf(Y[n] | shape, shape / mu[n], hu);          // = likelihood
    }
  }
  target += lprior;
}
generated quantities {
  real b_Intercept = Intercept - dot_product(means_X, b);
}
