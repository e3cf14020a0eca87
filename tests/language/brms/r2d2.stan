// proper: the R2D2 prior
data {
  int<lower=1> N;
  vector[N] Y;
  int<lower=1> K;
  matrix[N, K] X;
  int<lower=1> Kc;
  real<lower=0> R2D2_mean_R2;
  real<lower=0> R2D2_prec_R2;
  vector<lower=0>[Kc] R2D2_cons_D2;
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
  real Intercept;
  real<lower=0, upper=1> R2D2_R2;
  simplex[Kc] R2D2_phi;
  real<lower=0> sigma;
}
transformed parameters {
  vector[Kc] b;
  vector<lower=0>[Kc] sdb;
  real R2D2_tau2;
  vector<lower=0>[Kc] scales;
  real lprior = 0;
  R2D2_tau2 = sigma ^ 2 * R2D2_R2 / (1 - R2D2_R2);
  scales = sqrt(R2D2_phi * R2D2_tau2);
  sdb = scales[(1):(Kc)];
  b = zb .* sdb;
  lprior += student_t_lpdf(Intercept | 3, 0, 2.5);                           // = prior
  lprior += beta_lpdf(R2D2_R2 | R2D2_mean_R2 * R2D2_prec_R2, (1 - R2D2_mean_R2) * R2D2_prec_R2); // = prior
  lprior += student_t_lpdf(sigma | 3, 0, 2.5)                                // = prior
    - 1 * student_t_lccdf(0 | 3, 0, 2.5);                                    // = prior
}
model {
  if (!prior_only) {
    target += normal_id_glm_lpdf(Y | Xc, Intercept, b, sigma);               // = likelihood
  }
  target += lprior;
  target += std_normal_lpdf(zb);                                             // = prior
  target += dirichlet_lpdf(R2D2_phi | R2D2_cons_D2);                         // = prior
}
