// proper: a predictor with missing values, mi(x)
data {
  int<lower=1> N;
  vector[N] Y_y;
  vector[N] Y_x;
  int<lower=0> Nmi_x;
  array[Nmi_x] int<lower=1> Jmi_x;
  int prior_only;
}
parameters {
  real Intercept_y;
  vector[1] bsp_y;
  real<lower=0> sigma_y;
  vector[Nmi_x] Ymi_x;
  real Intercept_x;
  real<lower=0> sigma_x;
}
transformed parameters {
  real lprior = 0;
  lprior += normal_lpdf(Intercept_y | 0, 2.5);                               // = prior
  lprior += normal_lpdf(bsp_y | 0, 1);                                       // = prior
  lprior += exponential_lpdf(sigma_y | 1);                                   // = prior
  lprior += normal_lpdf(Intercept_x | 0, 2.5);                               // = prior
  lprior += exponential_lpdf(sigma_x | 1);                                   // = prior
}
model {
  vector[N] Yl_x = Y_x;
  Yl_x[Jmi_x] = Ymi_x;
  if (!prior_only) {
    vector[N] mu_y = rep_vector(0.0, N);
    vector[N] mu_x = rep_vector(0.0, N);
    mu_y += Intercept_y;
    mu_x += Intercept_x;
    for (n in 1:N) {
      mu_y[n] += (bsp_y[1]) * Yl_x[n];
    }
    target += normal_lpdf(Y_y | mu_y, sigma_y);                              // = likelihood
    target += normal_lpdf(Yl_x | mu_x, sigma_x); // = both
    //+ prior: target += normal_lpdf(Ymi_x | mu_x[Jmi_x], sigma_x);
    //+ likelihood: target += normal_lpdf(Yl_x | mu_x, sigma_x); target += -normal_lpdf(Ymi_x | mu_x[Jmi_x], sigma_x); // @likelihood
  }
  target += lprior;
}
