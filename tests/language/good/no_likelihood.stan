data { int N; vector[N] y; }
parameters { real mu; }
model {
  for (i in 1:N)
    mu ~ normal(y[i], 1);
}
