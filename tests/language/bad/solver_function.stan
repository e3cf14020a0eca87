functions { vector f(real t, vector y) { return y; } }
parameters { vector[2] a; }
model {
  array[3] vector[2] y = ode_rk45(g, a, 0, {1, 2, 3});
}
