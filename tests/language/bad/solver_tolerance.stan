functions { vector f(real t, vector y) { return y; } }
parameters { vector[2] a; real b; }
model {
  array[1] vector[2] y = ode_bdf_tol(f, a, 0, {1.0}, b, 1e-6, 1000);
}
