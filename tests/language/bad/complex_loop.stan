transformed data {
  complex z = 3;
  for (x in z) print(x);
}
