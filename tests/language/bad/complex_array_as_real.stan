transformed parameters {
  array[2] complex_matrix[2, 2] z;
  array[2] matrix[2, 2] r;
  z = r;
  r = z;
}
