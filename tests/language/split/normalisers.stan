// proper: terms that normalise go with what they normalise
data {
  int N;
  vector<lower=0>[N] y;
  int k;
  real lb;
}
parameters {
  real mu;
  real<lower=0> s;
  vector<lower=lb>[2] a;
}
model {
  target += normal_lpdf(s | 0, 1) - k * normal_lccdf(0 | 0, 1);          // = prior
  target += normal_lpdf(mu | 0, 2);                                      // = prior
  target += normal_lpdf(a | 0, 2) - 2 * normal_lccdf(lb | 0, 2);         // = prior
  target += normal_lpdf(y | mu, s) - N * normal_lccdf(0 | mu, s);        // = likelihood
  for (n in 1:N) {
    target += normal_lpdf(y[n] | a[1], 1) - log_diff_exp(normal_lcdf(9 | a[1], 1), normal_lcdf(0 | a[1], 1)); // = likelihood
  }
  target += normal_lccdf(1 | a[2], 1);                                   // = likelihood
}
