// Hares and lynxes: an ordinary differential equation.
functions {
  real[] change(real t, real[] z, real[] theta, real[] x_r, int[] x_i) {
    real d[2];
    d[1] = (theta[1] - theta[2] * z[2]) * z[1];
    d[2] = (-theta[3] + theta[4] * z[1]) * z[2];
    return d;
  }
}
data {
  int<lower=0> N;
  real ts[N];
  real<lower=0> y_init[2];
  real<lower=0> y[N, 2];
}
parameters {
  real<lower=0> theta[4];
  real<lower=0> z_init[2];
  real<lower=0> sigma[2];
}
transformed parameters {
  real z[N, 2] = integrate_ode_rk45(change, z_init, 0, ts, theta,
                                    rep_array(0.0, 0), rep_array(0, 0),
                                    1e-6, 1e-6, 1000);
}
model {
  theta[1] ~ normal(1, 0.5);
  theta[3] ~ normal(1, 0.5);
  theta[2] ~ normal(0.05, 0.05);
  theta[4] ~ normal(0.05, 0.05);
  sigma ~ lognormal(-1, 1);
  z_init ~ lognormal(log(10), 1);
  for (k in 1:2) {
    y_init[k] ~ lognormal(log(z_init[k]), sigma[k]);
    y[, k] ~ lognormal(log(z[, k]), sigma[k]);
  }
}
