transformed data {
  complex z = 3;
  if (z) print(1);
}
