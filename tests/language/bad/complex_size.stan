transformed data {
  complex z = 3;
  vector[z] v;
}
