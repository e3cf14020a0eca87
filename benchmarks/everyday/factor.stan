// Six series, two factors: 11 loadings and 6 variances. Loading [2, 2] is small,
// and which sign of the second factor makes it positive is nearly open: two
// modes, mirror images of each other but for that loading.
data {
  int<lower=0> N;
  matrix[6, 6] S; // sums of squares and products of N observations of mean 0
}
parameters {
  real<lower=0> first;
  vector[5] one;
  real<lower=0> second;
  vector[4] two;
  vector<lower=0>[6] variance;
}
model {
  matrix[6, 2] B;
  B[1, 1] = first;
  B[1, 2] = 0;
  for (i in 2:6) B[i, 1] = one[i - 1];
  B[2, 2] = second;
  for (i in 3:6) B[i, 2] = two[i - 2];
  first ~ normal(0, 1) T[0, ];
  one ~ normal(0, 1);
  second ~ normal(0, 1) T[0, ];
  two ~ normal(0, 1);
  variance ~ inv_gamma(1.1, 0.05);
  matrix[6, 6] V = add_diag(B * B', variance);
  target += -0.5 * N * (6 * log(2 * pi()) + log_determinant_spd(V))
            - 0.5 * trace(mdivide_left_spd(V, S)); // @likelihood
}
