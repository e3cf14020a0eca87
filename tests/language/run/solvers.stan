// Stiff and Adams solvers, and times that depend on parameters.
functions {
  vector relax(real t, vector y, real a, vector b) {
    return [-20 * a * (y[1] - cos(b[1] * t)), y[1] - b[2] * y[2]]';
  }
  array[] real decay(real t, array[] real y, array[] real theta,
                     array[] real x_r, array[] int x_i) {
    return {-theta[1] * y[1], theta[1] * y[1] - y[2] * t};
  }
}
data { int T; array[T] real ts; vector[T] y; }
transformed data { array[0] real x_r; array[0] int x_i; }
parameters {
  real<lower=0.5, upper=2> a;
  vector<lower=0.5, upper=2>[2] b;
  real y0;
  real<lower=-0.1, upper=0> begin;
  real<lower=0, upper=0.1> later;
}
model {
  array[T] vector[2] u = ode_bdf_tol(relax, [y0, 1]', begin, ts, 1e-12, 1e-12, 100000, a, b);
  array[T] vector[2] v = ode_adams_tol(relax, [y0, 1]', 0, ts, 1e-12, 1e-12, 100000, 0.05, b);
  array[T] vector[2] w = ode_rk45_tol(relax, [1, 1]', begin, {0.2 + later, 0.5}, 1e-12, 1e-12, 100000, 0.02, b);
  array[T, 2] real x = integrate_ode_bdf(decay, {y0, 1.0}, 0, ts, {a}, x_r, x_i, 1e-12, 1e-12, 100000);
  a ~ normal(1, 0.5);
  b ~ normal(1, 0.5);
  y0 ~ normal(1, 1);
  for (k in 1:T)
    y[k] ~ normal(u[k][1] + u[k][2] * v[k][1] + v[k][2] + w[k][1] * w[k][2] + x[k, 1] + x[k, 2], 0.5);
}
