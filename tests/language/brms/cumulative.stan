// proper: ordinal model with thresholds
data {
  int<lower=1> N;
  array[N] int Y;
  int<lower=2> nthres;
  int<lower=1> Kc;
  matrix[N, Kc] Xc;
  int prior_only;
}
parameters {
  vector[Kc] b;
  ordered[nthres] Intercept;
}
transformed parameters {
  real disc = 1;
  real lprior = 0;
  lprior += normal_lpdf(b | 0, 1);                                           // = prior
  lprior += student_t_lpdf(Intercept | 3, 0, 2.5);                           // = prior
}
model {
  if (!prior_only) {
    vector[N] mu = rep_vector(0.0, N);
    mu += Xc * b;
    for (n in 1:N) {
      target += ordered_logistic_lpmf(Y[n] | mu[n], Intercept);              // = likelihood
    }
  }
  target += lprior;
}
