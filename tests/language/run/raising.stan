// Functions that raise the target and return values; truncated integers;
// the target printed.
functions {
  real half_lp(real x, real s) {
    x ~ normal(0, s);
    return 0.5 * x;
  }
  vector noise_lp(vector y, real m) {
    target += normal_lpdf(y | m, 1);
    return y - half_lp(m, 2);
  }
}
data { int N; array[N] int k; vector[N] y; }
parameters { real a; real<lower=0> b; real<lower=0, upper=1> p; }
model {
  real h = half_lp(a, 1.5);
  vector[N] r;
  b ~ exponential(1);
  r = noise_lp(y, h); // @likelihood
  target += half_lp(b, 2) - b; // @prior
  print("target ", target(), ", a ", a);
  for (n in 1:N) {
    k[n] ~ poisson(exp(h) + b) T[1, ];
    k[n] ~ binomial(9, p) T[, 6];
    k[n] ~ neg_binomial_2(b, 2) T[1, 8];
    y[n] ~ normal(r[n] * h, 1 + b);
  }
}
