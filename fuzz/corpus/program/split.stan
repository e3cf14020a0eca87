data {
  int N;
  vector[N] y;
  array[N] int g;
  real scale;
}
transformed data {
  vector[N] centred = y - mean(y);
  real fixed = 3;
}
parameters {
  real mu;
  vector[N] theta;
  vector[3] u;
  real<lower=0> sigma;
  real<lower=0> tau;
  real<lower=0, upper=1> omega;
  real lost;
}
model {
  vector[N] lp;
  real prior_only = -square(mu);
  mu ~ normal(0, scale);          // data in a hyperparameter: prior
  sigma ~ normal(fixed, tau);     // cut by a bound, with a varying scale
  tau ~ exponential(1);
  theta[1] ~ normal(0, 1);
  theta[2:N] ~ normal(theta[1:(N - 1)], tau);
  u[1] ~ std_normal();
  centred ~ normal(mu, sigma);    // data through transformed data
  for (i in 1:N)
    lp[i] = normal_lpdf(y[i] | theta[i], sigma);
  target += sum(lp);
  target += prior_only;
  target += bernoulli_lpmf(1 | omega);
  for (i in 1:N)
    if (y[i] > 0)
      target += log1m(omega);
  target += -0.5 * dot_self(theta[g]); // @prior
  target += normal_lpdf(sigma | 0, 1) - normal_lccdf(0 | 0, 1);
}
