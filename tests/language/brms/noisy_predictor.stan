// proper: a noisy predictor, me()
data {
  int<lower=1> N;
  vector[N] Y;
  int<lower=1> Ksp;
  vector[N] Xn_1;
  vector<lower=0>[N] noise_1;
  int<lower=0> Nme_1;
  int<lower=1> Mme_1;
  int prior_only;
}
parameters {
  real Intercept;
  vector[Ksp] bsp;
  vector[Mme_1] meanme_1;
  vector<lower=0>[Mme_1] sdme_1;
  array[Mme_1] vector[Nme_1] zme_1;
  real<lower=0> sigma;
}
transformed parameters {
  vector[Nme_1] Xme_1;
  real lprior = 0;
  Xme_1 = meanme_1[1] + sdme_1[1] * zme_1[1];
  lprior += student_t_lpdf(Intercept | 3, 0, 2.5);                           // = prior
  lprior += normal_lpdf(bsp | 0, 1);                                         // = prior
  lprior += normal_lpdf(meanme_1 | 0, 5);                                    // = prior
  lprior += student_t_lpdf(sdme_1 | 3, 0, 2.5)                               // = prior
    - 1 * student_t_lccdf(0 | 3, 0, 2.5);                                    // = prior
  lprior += student_t_lpdf(sigma | 3, 0, 2.5)                                // = prior
    - 1 * student_t_lccdf(0 | 3, 0, 2.5);                                    // = prior
}
model {
  if (!prior_only) {
    vector[N] mu = rep_vector(0.0, N);
    mu += Intercept;
    for (n in 1:N) {
      mu[n] += (bsp[1]) * Xme_1[n];
    }
    target += normal_lpdf(Y | mu, sigma);                                    // = likelihood
  }
  target += lprior;
  target += normal_lpdf(Xn_1 | Xme_1, noise_1);                              // = likelihood
  target += std_normal_lpdf(zme_1[1]);                                       // = prior
}
