data { int N; vector[N] y; vector[N] x; matrix[N - 1, N] D; }
parameters { vector[N] b; real<lower=0> s; }
model {
  b ~ normal(0, 10);
  s ~ exponential(1);
  y - x .* b ~ normal(0, s);
  y ~ normal(b, s);
  D * b ~ normal(0, s);
}
