// Elementwise and container functions, with gradients.
data { int N; vector[N] y; matrix[N, 2] X; }
parameters {
  vector[N] v;
  vector<lower=0.1, upper=0.9>[N] p;
  row_vector[2] w;
  matrix[3, 3] A;
  real<lower=0> r;
}
transformed parameters {
  matrix[3, 3] S = A * A' + diag_matrix(rep_vector(1 + r, 3));
  matrix[3, 3] L = cholesky_decompose(S);
  vector[3] z = mdivide_left_tri_low(L, [1, 2, r]');
  real lots = sum(exp(v)) + mean(v) + sd(v) + variance(v) + prod(p) + max(v)
    + min(v) + log_sum_exp(v) + dot_self(v) + dot_product(v, p)
    + distance(v, p) + squared_distance(v, p)
    + sum(softmax(v) .* p) + sum(log_softmax(v) .* p)
    + sum(cumulative_sum(v) .* p) + sum(v ./ p) + sum(p .^ 2) + sum(2 - v);
  real more = sum(log(p)) + sum(logit(p)) + sum(inv_logit(v)) + sum(square(v))
    + sum(sqrt(p)) + sum(tanh(v)) + sum(lgamma(p)) + sum(digamma(p))
    + sum(Phi(v)) + sum(inv_Phi(p)) + sum(log1p_exp(v)) + sum(erf(v))
    + sum(atan(v)) + sum(inv_sqrt(p)) + sum(log1m(p)) + sum(expm1(v))
    + fmax(v[1], p[1]) + pow(p[1], v[1]) + hypot(v[1], r) + atan2(v[1], r)
    + lbeta(p[1], r) + log_diff_exp(2 + r, v[1] - 5) + log_mix(p[1], v[1], v[2])
    + fma(v[1], v[2], r) + abs(v[1]) + lchoose(5, 2) + multiply_log(r, p[1]);
  real algebra = log_determinant(S) + determinant(S) + trace(S)
    + quad_form(S, z) + sum(inverse(S)) + sum(S \ z) + sum(z' / S)
    + sum(multiply_lower_tri_self_transpose(L)) + sum(crossprod(A))
    + sum(quad_form_diag(S, z)) + sum(diag_pre_multiply(z, A))
    + sum(diag_post_multiply(A, z)) + sum(columns_dot_product(A, S))
    + sum(rows_dot_self(A)) + sum(add_diag(A, r)) + sum(A * z) + z' * S * z
    + sum(z * z') + sum(transpose(A)) + sum(diagonal(S))
    + sum(append_row(A, S)) + sum(append_col(A, z)) + sum(to_vector(A)[2:4])
    + sum(head(z, 2)) + sum(tail(z, 1)) + sum(segment(z, 2, 2))
    + sum(block(A, 1, 2, 2, 2)) + sum(sub_col(A, 1, 2, 2)) + sum(col(A, 1))
    + sum(row(A, 2)) + sum(reverse(z) .* z) + sum(sort_asc(z) .* z)
    + sum(to_matrix(z, 3, 1)) + sum(rep_matrix(z, 2)) + sum(A[{1, 3}, 2:])
    + sum(gp_exp_quad_cov({0.1, 0.5}, r, 1 + r));
}
model {
  v ~ normal(0, 1);
  p ~ beta(2, 2);
  w ~ normal(0, 1);
  to_vector(A) ~ normal(0, 1);
  r ~ lognormal(0, 0.5);
  y ~ normal(X * w' + 0.01 * (lots + more) + 0.001 * algebra, 1 + r);
}
