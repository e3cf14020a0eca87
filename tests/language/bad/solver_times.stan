functions { vector f(real t, vector y) { return y; } }
parameters { vector[2] a; real b; }
model {
  array[1] vector[2] y = ode_rk45(f, a, 0, {b});
}
