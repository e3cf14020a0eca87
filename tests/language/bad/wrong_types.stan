data { matrix[2, 2] A; vector[2] v; }
transformed data {
  row_vector[2] r = v * A;
}
