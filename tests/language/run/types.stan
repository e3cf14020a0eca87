// Every type of parameter, with its Jacobian.
parameters {
  ordered[3] o;
  positive_ordered[2] po;
  array[2] ordered[2] ao;
  array[2] simplex[3] q;
  cholesky_factor_corr[3] Lc;
  cholesky_factor_cov[3] Lv;
  cholesky_factor_cov[3, 2] Lw;
  corr_matrix[3] R;
  cov_matrix[2] S;
  real<offset=2, multiplier=3> f;
  vector<offset=[1, 2]', multiplier=0.5>[2] g;
  matrix<lower=-1>[2, 2] B;
  array[2, 3] real<upper=4> c;
  vector<lower=[0, -1]'>[2] d;
  array[2] corr_matrix[2] RR;
  unit_vector[3] e;
  array[2, 2] unit_vector[2] ee;
  sum_to_zero_vector[4] z;
}
model {
  o ~ normal(0, 2);
  po ~ gamma(2, 1);
  for (i in 1:2) { ao[i] ~ normal(i, 1); q[i] ~ dirichlet([1, 2, 3]'); }
  Lc ~ lkj_corr_cholesky(2);
  to_vector(Lv) ~ normal(0.5, 1);
  to_vector(Lw * Lw') ~ normal(1, 1);
  R ~ lkj_corr(1.5);
  target += normal_lpdf(to_vector(S) | 0.3, 1) - log_determinant(S);
  f ~ normal(1, 2);
  g ~ normal(1, 2);
  to_vector(B) ~ normal(0, 1);
  for (i in 1:2) c[i] ~ normal(0, 1);
  d ~ normal(0, 1);
  for (i in 1:2) RR[i] ~ lkj_corr(3);
  target += R[1, 2] * Lc[2, 1] * S[1, 2] * c[1, 3] + B[1, 2] * RR[2][1, 2];
  target += 2 * e[1] * e[3] - ee[2, 1][1] + ee[1, 2][2] * e[2];
  z ~ normal([1, -1, 2, 0]', 2);
}
