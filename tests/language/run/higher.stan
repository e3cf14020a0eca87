functions {
  vector circle(vector y, vector theta, real r, data array[] real x_r) {
    return [square(y[1]) + square(y[2]) - r, y[1] - theta[1] * y[2] - x_r[1]]';
  }
  vector old_system(vector y, vector theta, array[] real x_r, array[] int x_i) {
    return [y[1] + exp(y[1]) - theta[1], y[2] * y[1] - theta[2] * x_r[x_i[1]]]';
  }
  real bell(real x, real xc, array[] real theta, array[] real x_r, array[] int x_i) {
    return exp(-0.5 * square((x - theta[1]) / theta[2])) * x_r[1];
  }
  real power_at_end(real x, real xc, real p) {
    return xc < 0 ? (-xc)^(p - 1) : x^(p - 1);
  }
  real smooth(real x, real xc, vector v, real s) {
    return exp(-s * x) * (v[1] + v[2] * x);
  }
  vector decay(real t, vector y, vector yp, real rate, vector w) {
    return [yp[1] + rate * y[1], y[2] - w[1] * y[1] - w[2]]';
  }
  vector oscillate(real t, vector y, real k) { return [y[2], -k * y[1]]'; }
  vector shard(vector phi, vector theta, data array[] real x_r, data array[] int x_i) {
    return [normal_lpdf(x_r | phi[1] + theta[1], exp(phi[2])), x_i[1] * theta[1]]';
  }
  real part_lpmf(array[] int y, int start, int end, vector eta) {
    return poisson_log_lupmf(y | eta[start:end]);
  }
}
data { int N; array[N] int y; }
transformed data {
  array[2, 3] real x_r = {{0.1, 0.4, -0.3}, {1.1, 0.2, 0.8}};
  array[2, 1] int x_i = {{2}, {3}};
}
parameters {
  vector[2] v;
  real<lower=0> s;
  vector<lower=0>[2] p;
  vector[N] eta;
}
model {
  v ~ normal(0, 1);
  s ~ gamma(3, 2);
  p ~ gamma(3, 2);
  eta ~ normal(0, 1);
  vector[2] r1 = solve_newton(circle, [1.0, 0.5]', v, s + 2, {0.1});
  vector[2] r2 = solve_powell(circle, [1.0, 0.5]', v, s + 2, {0.1});
  vector[2] r3 = solve_powell_tol(circle, [1.0, 0.5]', 1e-12, 1e-10, 100, v, s + 2, {0.1});
  vector[2] r4 = algebra_solver(old_system, [0.5, 0.5]', p + 1, {0.3, 0.7}, {2});
  vector[2] r5 = algebra_solver_newton(old_system, [0.5, 0.5]', p + 1, {0.3, 0.7}, {2}, 1e-4, 1e-9, 100);
  target += r1[1] + sin(r1[2]) + r2[2] * r3[1] + dot_self(r4) + r5[1]; // @likelihood
  target += integrate_1d(bell, negative_infinity(), positive_infinity(), {v[1], s}, {0.7}, {1}); // @likelihood
  target += integrate_1d(bell, v[2] - s, v[2] + p[1], {v[1], s}, {0.7}, {1}, 1e-10); // @likelihood
  target += integrate_1d_double_exponential(power_at_end, 0, 1, s); // @likelihood
  target += integrate_1d_gauss_kronrod(smooth, p[1], positive_infinity(), v, s + 0.5); // @likelihood
  target += integrate_1d_double_exponential_tol(smooth, 0, p[1], 1e-12, 1e-12, 15, v, s); // @likelihood
  array[2] vector[2] d1 = dae(decay, [s, v[1] * s + v[2]]', [-p[1] * s, -v[1] * p[1] * s]', 0, {0.5, 1.1}, p[1], v);
  array[2] vector[2] d2 = dae_tol(decay, [1, v[1] + v[2]]', [-p[2], -v[1] * p[2]]', 0, {0.5, 1.1}, 1e-12, 1e-12, 100000, p[2], v);
  target += 1e-3 * (sin(d1[1, 1]) + d1[2, 2]) + d2[2, 1] * d2[1, 2]; // @likelihood
  array[2] vector[2] o1 = ode_ckrk_tol(oscillate, v, 0, {0.5, 1.1}, 1e-11, 1e-11, 100000, p[1]);
  array[2] vector[2] o2 = ode_adjoint_tol_ctl(oscillate, v, 0, {0.5, 1.1}, 1e-11, [1e-11, 1e-11]', 1e-9, [1e-9, 1e-9]', 1e-9, 1e-9, 100000, 100, 1, 2, 2, p[1]);
  target += o1[2, 1] + o2[1, 2] + dot_product(o1[1], o2[2]); // @likelihood
  target += sum(map_rect(shard, v, {p[1:1], p[2:2]}, x_r, x_i)); // @likelihood
  target += reduce_sum(part_lupmf, y, 1, eta); // @likelihood
}
