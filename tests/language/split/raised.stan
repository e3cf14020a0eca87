// proper
functions {
  real prior_lp(vector b) {
    target += normal_lupdf(b | 0, 2);
    return 0;
  }
  real fit_lpmf(array[] int y, vector eta) {
    return bernoulli_logit_lpmf(y | eta);
  }
}
data {
  int N;
  array[N] int y;
  vector[N] x;
}
parameters {
  vector[2] b;
  real c;
}
model {
  real none;
  real unused = prior_lp(b); // = prior
  none = prior_lp([c]'); // = prior
  y ~ fit(b[1] + c + b[2] * x); // = likelihood
}
