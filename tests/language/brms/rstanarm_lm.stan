// proper: sufficient statistics, in the style of rstanarm
functions {
  real mvn_ols_lpdf(vector b, vector beta, matrix XtX, real SSR, real sigma, int N) {
    return -0.5 * (quad_form(XtX, beta - b) + SSR) / square(sigma)
           - N * (log(sigma) + 0.918938533204672742);
  }
}
data {
  int<lower=1> N;
  int<lower=1> K;
  vector[K] b_ols;
  matrix[K, K] XtX;
  real<lower=0> SSR;
  real<lower=0> prior_df;
  int prior_only;
}
parameters {
  vector[K] theta;
  real<lower=0> sigma;
}
transformed parameters {
  vector[K] beta = 2.5 * theta;
}
model {
  if (prior_only == 0) {
    target += mvn_ols_lpdf(b_ols | beta, XtX, SSR, sigma, N);                // = likelihood
  }
  target += normal_lpdf(theta | 0, 1);                                       // = prior
  target += exponential_lpdf(sigma | 1);                                     // = prior
}
