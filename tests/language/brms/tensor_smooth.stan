// proper: two penalties on one smooth
data {
  int<lower=1> N;
  vector[N] Y;
  int nb_1;
  array[nb_1] int knots_1;
  matrix[N, knots_1[1]] Zs_1_1;
  matrix[N, knots_1[2]] Zs_1_2;
  int prior_only;
}
parameters {
  real Intercept;
  vector[knots_1[1]] zs_1_1;
  vector[knots_1[2]] zs_1_2;
  vector<lower=0>[nb_1] sds_1;
  real<lower=0> sigma;
}
transformed parameters {
  vector[knots_1[1]] s_1_1;
  vector[knots_1[2]] s_1_2;
  real lprior = 0;
  s_1_1 = sds_1[1] * zs_1_1;
  s_1_2 = sds_1[2] * zs_1_2;
  lprior += student_t_lpdf(Intercept | 3, 0, 2.5);                           // = prior
  lprior += student_t_lpdf(sds_1 | 3, 0, 2.5)                                // = prior
    - 2 * student_t_lccdf(0 | 3, 0, 2.5);                                    // = prior
  lprior += student_t_lpdf(sigma | 3, 0, 2.5)                                // = prior
    - 1 * student_t_lccdf(0 | 3, 0, 2.5);                                    // = prior
}
model {
  if (!prior_only) {
    vector[N] mu = rep_vector(0.0, N);
    mu += Intercept + Zs_1_1 * s_1_1 + Zs_1_2 * s_1_2;
    target += normal_lpdf(Y | mu, sigma);                                    // = likelihood
  }
  target += lprior;
  target += std_normal_lpdf(zs_1_1);                                         // = prior
  target += std_normal_lpdf(zs_1_2);                                         // = prior
}
