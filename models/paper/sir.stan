// The paper's third model: the plague of Eyam, 1666. Deaths y are binomial in
// R(t), the infected x of the last days in I(t); I0 is an integer.
//
// The states are log S, log I and R, and 1 - R/N is (S + I)/N, so that
// nothing cancels where nearly all or nearly none are infected. Rows at t = 0
// say nothing (R = 0, y = 0). I0 = 0 has likelihood zero.
functions {
  vector flow(real t, vector z, real alpha, real beta) {
    real S = exp(z[1]);
    real I = exp(z[2]);
    return [-beta * I, beta * S - alpha, alpha * I]';
  }
  real log_binomial(int k, int n, real log_p, real log_q) {
    return lchoose(n, k) + (k > 0 ? k * log_p : 0)
           + (k < n ? (n - k) * log_q : 0);
  }
}
data {
  int<lower=1> N;
  int<lower=1> n;
  array[n] real<lower=0> t;
  array[n] int<lower=0, upper=N> y;
  array[2] int<lower=0, upper=N> x;
}
transformed data {
  int m = size(x);
  int zero = 0; // rows at t = 0
  for (i in 1:n)
    if (t[i] == 0)
      zero = i;
}
parameters {
  real<lower=0> alpha;
  real<lower=0> beta;
  int<lower=0, upper=N> I0;
}
model {
  alpha ~ exponential(1);
  beta ~ exponential(1);
  I0 ~ binomial(N, 5.0 / N);
  if (I0 == 0) {
    target += negative_infinity(); // @likelihood
  } else {
    array[n - zero] vector[3] z
      = ode_rk45_tol(flow, [log(N - I0), log(I0), 0]', 0, t[(zero + 1):],
                     1e-9, 1e-9, 1000000, alpha, beta);
    for (i in (zero + 1):n) {
      vector[3] at = z[i - zero];
      target += log_binomial(y[i], N, log(at[3] / N),
                             log_sum_exp(at[1], at[2]) - log(N));
      if (i > n - m)
        target += log_binomial(x[i - (n - m)], N, at[2] - log(N),
                               log((exp(at[1]) + at[3]) / N));
    }
  }
}
