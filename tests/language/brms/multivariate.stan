// proper: two outcomes with residual correlation
data {
  int<lower=1> N;
  vector[N] Y_y1;
  vector[N] Y_y2;
  int<lower=1> nresp;
  int prior_only;
}
transformed data {
  array[N] vector[nresp] Y;
  for (n in 1:N) {
    Y[n] = transpose([Y_y1[n], Y_y2[n]]);
  }
}
parameters {
  real Intercept_y1;
  real<lower=0> sigma_y1;
  real Intercept_y2;
  real<lower=0> sigma_y2;
  cholesky_factor_corr[nresp] Lrescor;
}
transformed parameters {
  real lprior = 0;
  lprior += student_t_lpdf(Intercept_y1 | 3, 0, 2.5);                        // = prior
  lprior += student_t_lpdf(sigma_y1 | 3, 0, 2.5)                             // = prior
    - 1 * student_t_lccdf(0 | 3, 0, 2.5);                                    // = prior
  lprior += student_t_lpdf(Intercept_y2 | 3, 0, 2.5);                        // = prior
  lprior += student_t_lpdf(sigma_y2 | 3, 0, 2.5)                             // = prior
    - 1 * student_t_lccdf(0 | 3, 0, 2.5);                                    // = prior
  lprior += lkj_corr_cholesky_lpdf(Lrescor | 1);                             // = prior
}
model {
  if (!prior_only) {
    vector[N] mu_y1 = rep_vector(0.0, N);
    vector[N] mu_y2 = rep_vector(0.0, N);
    array[N] vector[nresp] Mu;
    vector[nresp] sigma = transpose([sigma_y1, sigma_y2]);
    matrix[nresp, nresp] LSigma = diag_pre_multiply(sigma, Lrescor);
    mu_y1 += Intercept_y1;
    mu_y2 += Intercept_y2;
    for (n in 1:N) {
      Mu[n] = transpose([mu_y1[n], mu_y2[n]]);
    }
    target += multi_normal_cholesky_lpdf(Y | Mu, LSigma);                    // = likelihood
  }
  target += lprior;
}
generated quantities {
  matrix[nresp, nresp] Rescor = multiply_lower_tri_self_transpose(Lrescor);
}
