// proper: ordinal model with a function of its own
functions {
  real cumulative_probit_lpmf(int y, real mu, real disc, vector thres) {
    int nthres = num_elements(thres);
    real p;
    if (y == 1) {
      p = Phi(disc * (thres[1] - mu));
    } else if (y == nthres + 1) {
      p = 1 - Phi(disc * (thres[nthres] - mu));
    } else {
      p = Phi(disc * (thres[y] - mu)) - Phi(disc * (thres[y - 1] - mu));
    }
    return log(p);
  }
}
data {
  int<lower=1> N;
  array[N] int Y;
  int<lower=2> nthres;
  int<lower=1> Kc;
  matrix[N, Kc] Xc;
  int prior_only;
}
parameters {
  vector[Kc] b;
  ordered[nthres] Intercept;
}
transformed parameters {
  real disc = 1;
  real lprior = 0;
  lprior += normal_lpdf(b | 0, 1);                                           // = prior
  lprior += student_t_lpdf(Intercept | 3, 0, 2.5);                           // = prior
}
model {
  if (!prior_only) {
    vector[N] mu = rep_vector(0.0, N);
    mu += Xc * b;
    for (n in 1:N) {
      target += cumulative_probit_lpmf(Y[n] | mu[n], disc, Intercept);       // = likelihood
    }
  }
  target += lprior;
}
