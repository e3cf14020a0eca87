// Functions that raise the target, and densities of the user's own.
functions {
  void add_prior_lp(real x, vector v) {
    x ~ normal(0, 2);
    target += -dot_self(v);
  }
  void add_data_lp(vector y, real m) { y ~ normal(m, 1.5); }
  real twisted_lpdf(real y, real m, real s) {
    return normal_lpdf(y | m + sin(m), s) - 0.1 * square(y);
  }
  real count_lpmf(int k, real p) { return bernoulli_lpmf(k | p); }
}
data { int N; vector[N] y; array[N] int k; }
parameters { real a; vector[2] v; real<lower=0, upper=1> p; }
model {
  add_prior_lp(a, v);
  add_data_lp(y, a * v[1]);
  p ~ beta(2, 2);
  for (n in 1:N) {
    y[n] ~ twisted(a, 1 + p);
    k[n] ~ count(p);
  }
}
