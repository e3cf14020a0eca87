// proper: a series with gaps, as in the Stan user's guide
data {
  int N_obs;
  int N_mis;
  array[N_obs] int ii_obs;
  array[N_mis] int ii_mis;
  array[N_obs] real y_obs;
}
transformed data {
  int N = N_obs + N_mis;
}
parameters {
  array[N_mis] real y_mis;
  real<lower=0> sigma;
}
transformed parameters {
  array[N] real y;
  y[ii_obs] = y_obs;
  y[ii_mis] = y_mis;
}
model {
  sigma ~ gamma(2, 1);                                                   // = prior
  y[1] ~ normal(0, 10);                                                  // = both
  //+ likelihood: y[1] ~ normal(0, 10);
  y[2:N] ~ normal(y[1:(N - 1)], sigma);                                  // = both
  //+ prior: y[3] ~ normal(y[2], sigma); y[5] ~ normal(y[4], sigma);
  //+ likelihood: y[2] ~ normal(y[1], sigma); y[4] ~ normal(y[3], sigma); y[6] ~ normal(y[5], sigma);
}
