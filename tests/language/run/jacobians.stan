// Jacobians in transformed parameters, by a function and by a statement, and
// truncated containers.
functions {
  real positive_jacobian(real x) {
    jacobian += x;
    return exp(x);
  }
  void centred_lp(real x) {
    target += normal_lpdf(x | 0, 1);
  }
}
data {
  int N;
  vector[N] y;
  vector<lower=0>[N] s;
}
parameters {
  real a, b;
  vector<lower=1>[3] z;
}
transformed parameters {
  real c = positive_jacobian(a);
  real d = exp(b);
  jacobian += b;
  centred_lp(b);
}
model {
  array[2] vector[N] w = {y, 2 * y};
  c ~ exponential(1);
  d ~ exponential(2);
  y ~ normal(c, s) T[0, ];
  z ~ normal(0, 2) T[1, ];
  for (k in 1:2) w[k] ~ normal(d, 1) T[-1, rep_vector(9, N)];
}
