transformed data {
  array[1, 1, 1, 1, 1, 1, 1, 1, 1] complex_matrix[1, 1] z;
}
