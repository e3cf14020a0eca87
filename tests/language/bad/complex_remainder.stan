transformed data {
  complex z = 7 % 2i;
}
