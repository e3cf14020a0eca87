transformed data {
  tuple(real, int) t = (1, 2);
  real x = t.3;
}
