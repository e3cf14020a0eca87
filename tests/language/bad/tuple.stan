transformed data {
  tuple(real, int) t;
}
