transformed data {
  complex z = 1 + 2i;
  if (abs(z) < 3 && z < 1)
    print(z);
}
