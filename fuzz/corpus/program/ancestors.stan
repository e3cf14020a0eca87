// Prior statements in no order, in loops, through target +=, and flat ones.
data { int J; }
parameters {
  vector[J] theta;
  array[J] real<lower=0> s;
  matrix[2, J] M;
  real<lower=0> tau;
  real mu;
  simplex[3] q;
  simplex[2] flat_q;
  real<lower=-1, upper=3> flat;
  vector[J] walk;
  int<lower=0> n;
  int<lower=2, upper=4> flat_n;
}
transformed parameters { real sum_theta = sum(theta); }
model {
  theta ~ normal(mu, tau);
  for (j in 1:J) {
    s[j] ~ normal(0, 1);
    for (i in 1:2) M[i, j] ~ normal(0, 1);
  }
  tau ~ exponential(2);
  target += normal_lpdf(mu | 10, 1);
  q ~ dirichlet([1, 2, 7]');
  walk[1] ~ normal(0, 1);
  for (j in 2:J) walk[j] ~ normal(walk[j - 1], 1);
  n ~ poisson(4);
}
generated quantities {
  matrix[2, 2] G = [[1, 2], [3, 4]];
  int drawn = poisson_rng(3);
}
