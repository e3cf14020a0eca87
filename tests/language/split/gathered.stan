// proper: terms that variables and functions gather
functions {
  real half_normal(real x, real s) {
    return normal_lpdf(x | 0, s) - normal_lccdf(0 | 0, s);
  }
}
data {
  int N;
  vector[N] y;
  real s0;
  int prior_only;
}
parameters {
  real b;
  real<lower=0> sigma;
  real<lower=0> tau;
  real mu;
  real d;
}
transformed parameters {
  real lprior = 0;
  lprior += normal_lpdf(b | 0, s0);                                      // = prior
  lprior += student_t_lpdf(sigma | 3, 0, s0)                             // = prior
    - 1 * student_t_lccdf(0 | 3, 0, s0);                                 // = prior
}
model {
  vector[2] lp;
  vector[N] ll;
  real both = 0;
  target += lprior;
  target += half_normal(tau, s0);                                        // = prior
  lp[1] = log(0.3) + normal_lpdf(mu | s0, 1);
  lp[2] = log(0.7) + normal_lpdf(mu | -s0, 1);
  target += log_sum_exp(lp);                                             // = prior
  if (!prior_only) {
    for (n in 1:N) {
      ll[n] = normal_lpdf(y[n] | mu + b, sigma);                         // = likelihood
    }
    for (n in 1:N) {
      target += ll[n];                                                   // = likelihood
    }
  }
  both += normal_lpdf(d | 0, s0);                                        // = prior
  both += normal_lpdf(y | d, tau);                                       // = likelihood
  target += both;
}
