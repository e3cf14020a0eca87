// Factor analysis: m series, k factors, loadings lower triangular with a
// positive diagonal.
data {
  int<lower=1> T;
  int<lower=1> m;
  int<lower=1> k;
  array[T] vector[m] Y;
}
transformed data {
  int r = m * k - k * (k + 1) %/% 2; // loadings below the diagonal
  vector[m] zeros = rep_vector(0, m);
}
parameters {
  vector[r] below;
  vector<lower=0>[k] diagonal;
  vector<lower=0>[m] sigma2;
}
model {
  matrix[m, k] beta = rep_matrix(0, m, k);
  int at = 1;
  for (j in 1 : k) {
    beta[j, j] = diagonal[j];
    for (i in (j + 1) : m) {
      beta[i, j] = below[at];
      at += 1;
    }
  }
  diagonal ~ normal(0, 1);
  below ~ normal(0, 1);
  sigma2 ~ inv_gamma(1.1, 0.05);
  Y ~ multi_normal(zeros, beta * beta' + diag_matrix(sigma2));
}
