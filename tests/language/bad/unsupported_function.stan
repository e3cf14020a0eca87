parameters { vector[2] a; }
model {
  a ~ normal(0, 1);
  target += sum(poisson_binomial_lpmf({1, 0} | a));
}
