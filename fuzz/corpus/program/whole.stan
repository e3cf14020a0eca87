// An integer parameter, scalar and array.
data { int y; }
parameters { int<lower=0, upper=9> n; array[2] int<lower=1, upper=3> k; real<lower=0, upper=1> p; }
model {
  n ~ poisson(3);
  k ~ binomial(3, 0.5);
  y ~ binomial(n + sum(k), p);
}
