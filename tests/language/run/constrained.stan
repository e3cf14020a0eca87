parameters {
  vector[3] v;
  vector[6] w;
  matrix[3, 2] A;
}
model {
  v ~ normal(0, 1);
  w ~ normal(0, 1);
  to_vector(A) ~ normal(0, 1);
  target += sum(sin(simplex_unconstrain(softmax(v)))); // @likelihood
  target += sum(sin(sum_to_zero_unconstrain(v - mean(v)))); // @likelihood
  target += sum(sin(ordered_unconstrain(cumulative_sum(exp(v))))); // @likelihood
  matrix[3, 3] L = cholesky_factor_corr_constrain(v, 3);
  target += dot_product(sin(cholesky_factor_corr_unconstrain(L)), w[1:3]); // @likelihood
  matrix[3, 3] S = cov_matrix_constrain(w, 3);
  target += dot_self(cov_matrix_unconstrain(S + tcrossprod(A))); // @likelihood
  target += sum(corr_matrix_unconstrain(tcrossprod(L)) .* v); // @likelihood
  target += sum(sin(cholesky_factor_cov_unconstrain(cholesky_decompose(S)))); // @likelihood
  matrix[3, 2] P = append_col(softmax(A[, 1]), softmax(A[, 2]));
  target += sum(sin(stochastic_column_unconstrain(P))); // @likelihood
  target += sum(sin(stochastic_row_unconstrain(stochastic_row_constrain(A)))); // @likelihood
  target += sum(sin(sum_to_zero_unconstrain(sum_to_zero_constrain(A)))) + sum(simplex_constrain({v, w[1:3]})[2]); // @likelihood
}
