transformed data {
  complex z = 2i;
}
