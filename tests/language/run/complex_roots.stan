// An autoregression of order two, its priors on the roots of its polynomial.
data {
  int N;
  vector[N] y;
}
parameters {
  real<lower=-1, upper=1> phi1;
  real<lower=-1, upper=-0.3> phi2;
  real<lower=0.1, upper=5> sigma;
}
transformed parameters {
  complex_vector[2] roots = eigenvalues([[phi1, phi2], [1, 0]]);
  complex_matrix[2, 2] modes = eigenvectors([[phi1, phi2], [1, 0]]);
}
model {
  target += beta_lpdf(abs(roots[1]) | 4, 2); // @prior
  target += normal_lpdf(abs(arg(roots[1])) | 1, 0.5); // @prior
  target += normal_lpdf(norm(modes[1, 1]) | 0, 1); // @prior
  y[3:N] ~ normal(phi1 * y[2:(N - 1)] + phi2 * y[1:(N - 2)], sigma);
}
