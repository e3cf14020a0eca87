// proper: the regularised horseshoe
functions {
  vector horseshoe(vector zb, vector lambda, real tau, real c2) {
    int K = rows(zb);
    vector[K] lambda2 = square(lambda);
    vector[K] lambda_tilde = sqrt(c2 * lambda2 ./ (c2 + tau ^ 2 * lambda2));
    return zb .* lambda_tilde * tau;
  }
}
data {
  int<lower=1> N;
  vector[N] Y;
  int<lower=1> K;
  matrix[N, K] X;
  int<lower=1> Kc;
  real<lower=0> hs_df;
  real<lower=0> hs_df_global;
  real<lower=0> hs_df_slab;
  real<lower=0> hs_scale_global;
  real<lower=0> hs_scale_slab;
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
  vector[Kc] zb;
  vector<lower=0>[Kc] hs_local;
  real Intercept;
  real<lower=0> hs_global;
  real<lower=0> hs_slab;
  real<lower=0> sigma;
}
transformed parameters {
  vector[Kc] b;
  real lprior = 0;
  b = horseshoe(zb, hs_local, hs_global, hs_scale_slab ^ 2 * hs_slab);
  lprior += student_t_lpdf(Intercept | 3, 0, 2.5);                           // = prior
  lprior += student_t_lpdf(hs_global | hs_df_global, 0, hs_scale_global * sigma) // = prior
    - 1 * log(0.5);                                                          // = prior
  lprior += inv_gamma_lpdf(hs_slab | 0.5 * hs_df_slab, 0.5 * hs_df_slab);    // = prior
  lprior += student_t_lpdf(sigma | 3, 0, 2.5)                                // = prior
    - 1 * student_t_lccdf(0 | 3, 0, 2.5);                                    // = prior
}
model {
  if (!prior_only) {
    target += normal_id_glm_lpdf(Y | Xc, Intercept, b, sigma);               // = likelihood
  }
  target += lprior;
  target += std_normal_lpdf(zb);                                             // = prior
  target += student_t_lpdf(hs_local | hs_df, 0, 1)                           // = prior
    - rows(hs_local) * log(0.5);                                             // = prior
}
