// Two modes in ten dimensions, at -4 and 4 in every one, of weights 1 : 4;
// log Z is 10 log(1/40).
data {
  int<lower=1> D;
  vector[D] zero;
}
parameters {
  vector<lower=-20, upper=20>[D] x;
}
model {
  x ~ uniform(-20, 20);
  target += log_sum_exp(log(0.2) + normal_lpdf(zero | x + 4, 1),
                        log(0.8) + normal_lpdf(zero | x - 4, 1));
}
