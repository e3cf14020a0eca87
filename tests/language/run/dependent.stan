// Bounds, offsets and multipliers that depend on parameters before them.
data { int N; vector[N] y; }
parameters {
  real<lower=0> s;
  vector[2] a;
  real<lower=0, upper=1 - inv_logit(a[1])> share;
  vector<lower=-s>[N] below;
  array[2] vector<upper=a[1]>[2] above;
  matrix<lower=-exp(a[2]), upper=s>[2, 2] between;
  vector<offset=a[2], multiplier=s>[N] scaled;
  real<multiplier=share + s> wide;
  real<lower=sum(below) + scaled[1]> chain;
}
model {
  s ~ exponential(1);
  a ~ normal(0, 1);
  share ~ beta(2, 3);
  below ~ normal(0, 2);
  for (i in 1:2) above[i] ~ normal(-1, 1);
  to_vector(between) ~ normal(0, 1);
  scaled ~ normal(a[2], s);
  wide ~ student_t(4, 0, 1);
  chain ~ normal(sum(below), 3);
  y ~ normal(scaled + above[1, 2] * between[1, 2] + wide, share + 1);
}
