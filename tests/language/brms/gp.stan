// proper: a Gaussian process
functions {
  vector gp_exp_quad_c(data array[] vector x, real sdgp, vector lscale, vector zgp) {
    int N = size(x);
    matrix[N, N] cov;
    for (i in 1:N) {
      for (j in 1:N) {
        cov[i, j] = sdgp ^ 2 * exp(-0.5 * squared_distance(x[i], x[j]) / lscale[1] ^ 2);
      }
      cov[i, i] += 1e-8;
    }
    return cholesky_decompose(cov) * zgp;
  }
}
data {
  int<lower=1> N;
  vector[N] Y;
  int<lower=1> Kgp_1;
  int<lower=1> Nsubgp_1;
  array[Nsubgp_1] vector[1] Xgp_1;
  array[N] int<lower=1> Jgp_1;
  int prior_only;
}
parameters {
  real Intercept;
  vector<lower=0>[Kgp_1] sdgp_1;
  array[Kgp_1] vector<lower=0>[1] lscale_1;
  vector[Nsubgp_1] zgp_1;
  real<lower=0> sigma;
}
transformed parameters {
  real lprior = 0;
  lprior += student_t_lpdf(Intercept | 3, 0, 2.5);                           // = prior
  lprior += student_t_lpdf(sdgp_1 | 3, 0, 2.5)                               // = prior
    - 1 * student_t_lccdf(0 | 3, 0, 2.5);                                    // = prior
  lprior += inv_gamma_lpdf(lscale_1[1][1] | 1.49, 0.06);                     // = prior
  lprior += student_t_lpdf(sigma | 3, 0, 2.5)                                // = prior
    - 1 * student_t_lccdf(0 | 3, 0, 2.5);                                    // = prior
}
model {
  if (!prior_only) {
    vector[Nsubgp_1] gp_pred_1 = gp_exp_quad_c(Xgp_1, sdgp_1[1], lscale_1[1], zgp_1);
    vector[N] mu = rep_vector(0.0, N);
    mu += Intercept + gp_pred_1[Jgp_1];
    target += normal_lpdf(Y | mu, sigma);                                    // = likelihood
  }
  target += lprior;
  target += std_normal_lpdf(zgp_1);                                          // = prior
}
