data { int N; vector[N] y; vector[N] x; matrix[N - 1, N] D; array[N] int k; }
parameters { vector[N] b; real<lower=0> s; }
transformed parameters { vector[N - 1] d = D * b; }
model {
  b ~ normal(0, 10);
  s ~ exponential(1);
  y - x .* b ~ normal(0, s);
  (y - b) / s ~ std_normal();
  k[1:2] ~ poisson(s);
  y ~ normal(b, s);
  d ~ normal(0, s);
}
