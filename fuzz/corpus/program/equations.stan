// Differential equations, new and old calls.
functions {
  vector predator(real t, vector z, real a, vector b, data real c) {
    return [(a - b[1] * z[2]) * z[1], (-b[2] + c * z[1]) * z[2]]';
  }
  array[] real decay(real t, array[] real y, array[] real theta,
                     array[] real x_r, array[] int x_i) {
    return {-theta[1] * y[1] + theta[2] * cos(t), theta[1] * y[1] - y[2] * x_r[1]};
  }
}
data { int T; array[T] real ts; matrix[T, 2] y; }
transformed data { array[1] real x_r = {0.5}; array[0] int x_i; }
parameters {
  real<lower=0.2, upper=1> a;
  vector<lower=0.1, upper=1>[2] b;
  vector<lower=0.5, upper=2>[2] z0;
  array[2] real<lower=0> theta;
}
model {
  array[T] vector[2] z = ode_rk45_tol(predator, z0, 0, ts, 1e-10, 1e-10, 100000, a, b, 0.3);
  array[T, 2] real w = integrate_ode_rk45(decay, {z0[1], 1.0}, 0, ts, theta, x_r, x_i, 1e-10, 1e-10, 100000);
  a ~ normal(0.5, 0.5);
  b ~ normal(0.5, 0.5);
  z0 ~ normal(1, 1);
  theta ~ exponential(1);
  for (k in 1:T) {
    y[k, 1] ~ normal(z[k][1] + w[k, 1], 0.2);
    y[k, 2] ~ normal(z[k][2] * w[k, 2], 0.2);
  }
}
