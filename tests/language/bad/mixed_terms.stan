data { real y; }
parameters { real a; }
model {
  target += -0.5 * square(a) - 0.5 * square(y - a);
}
