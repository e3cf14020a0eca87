// counts of latent labels depend on the labels: this is their prior
data { int N; vector[N] y; }
parameters {
  array[N] int<lower=1, upper=2> z;
  simplex[2] theta;
}
model {
  array[2] int n = {0, 0};
  for (i in 1:N)
    n[z[i]] += 1;
  n ~ multinomial(theta);
  for (i in 1:N)
    y[i] ~ normal(z[i], 1);
}
