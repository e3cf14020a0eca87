data { int N; vector[N] y; int M; real U; }
parameters { real mu; real<lower=0> s; vector<lower=U>[M] c; real<lower=U> p; }
model {
  mu ~ normal(0, 1);
  s ~ exponential(1);
  p ~ pareto(U, s);
  y ~ normal(mu, s);
  c ~ normal(mu, s);
}
