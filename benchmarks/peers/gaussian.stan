// A hundred normal means, each seen once: log Z is known.
data {
  int<lower=1> D;
  vector[D] y;
}
parameters {
  vector[D] x;
}
model {
  x ~ normal(0, 1);
  y ~ normal(x, 0.5);
}
