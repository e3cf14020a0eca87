// proper: three categories
data {
  int<lower=1> N;
  array[N] int Y;
  int<lower=2> ncat;
  int<lower=1> Kc;
  matrix[N, Kc] Xc;
  int prior_only;
}
parameters {
  vector[Kc] b_mu2;
  real Intercept_mu2;
  vector[Kc] b_mu3;
  real Intercept_mu3;
}
transformed parameters {
  real lprior = 0;
  lprior += normal_lpdf(b_mu2 | 0, 1);                                       // = prior
  lprior += student_t_lpdf(Intercept_mu2 | 3, 0, 2.5);                       // = prior
  lprior += normal_lpdf(b_mu3 | 0, 1);                                       // = prior
  lprior += student_t_lpdf(Intercept_mu3 | 3, 0, 2.5);                       // = prior
}
model {
  if (!prior_only) {
    vector[N] mu2 = rep_vector(0.0, N);
    vector[N] mu3 = rep_vector(0.0, N);
    array[N] vector[ncat] mu;
    mu2 += Intercept_mu2 + Xc * b_mu2;
    mu3 += Intercept_mu3 + Xc * b_mu3;
    for (n in 1:N) {
      mu[n] = transpose([0, mu2[n], mu3[n]]);
    }
    for (n in 1:N) {
      target += categorical_logit_lpmf(Y[n] | mu[n]);                        // = likelihood
    }
  }
  target += lprior;
}
