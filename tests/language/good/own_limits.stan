data {
  int N;
  int y;
}
parameters {
  real<lower=0, upper=1> p;
  real<lower=1> b;
  int<lower=0, upper=N> all;
  int<lower=1, upper=N> some;
  real<lower=0, upper=1> short_of;
  real<lower=0> above;
  real<lower=2> far_above;
}
model {
  p ~ beta(1, 1);
  b ~ pareto(1, 3);
  all ~ binomial(N, p);
  some ~ binomial(N, p);     // cuts zero off, by a factor of p
  short_of ~ uniform(0, b);  // cut by a factor of b
  above ~ pareto(b, 2);
  far_above ~ pareto(b, 2);  // cut by a factor of b
  y ~ poisson(all + some + short_of + above + far_above);
}
