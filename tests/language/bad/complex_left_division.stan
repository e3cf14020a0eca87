data {
  complex_matrix[2, 2] A;
  complex_vector[2] b;
}
transformed data {
  complex_vector[2] x = A \ b;
}
