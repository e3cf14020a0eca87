data { int N; vector[N] y; real lambda; real given; }
transformed data { vector[N] z = y - mean(y); }
parameters { vector[N] b; real<lower=0> s; simplex[3] p; }
model {
  b ~ normal(0, 10);
  s ~ exponential(1);
  y ~ normal(b, s);
  target += -0.5 * square(mean(z) - b[1]);
  if (given > 0)
    target += -given * s;
  target += -lambda * sum(abs(b));
}
