// Matrices whose rows or columns make a promise, and types of one value.
data {
  int N;
  array[N] int y;
  row_stochastic_matrix[2, 2] D;
  sum_to_zero_matrix[2, 2] S;
}
parameters {
  row_stochastic_matrix[2, 3] P;
  column_stochastic_matrix[3, 2] Q;
  sum_to_zero_matrix[3, 4] Z;
  array[2] row_stochastic_matrix[2, 2] R;
  simplex[1] one;
}
transformed parameters {
  row_stochastic_matrix[2, 2] M = R[1] * D;
}
model {
  to_vector(Z) ~ normal(0, 1);
  for (i in 1:2) Q[, i] ~ dirichlet([1.5, 2, 3]');
  y ~ categorical(P[1]');
  target += log(M[1, 2] + R[2, 1, 1] * one[1]) + dot_product(Z[1], Z[2] + S[1, 1]); // @likelihood
}
