// calls that raise the target inside of statements, conditions and loops
functions {
  real near_lp(real x) { x ~ normal(0, 3); return 2 * x; }
  real fits_lp(real x, vector z) {
    z ~ normal(x, 2); return exp(-abs(x)); }
  vector few_lp(vector x) { x ~ normal(1, 2); return x; }
  int side_lp(real x, int y) { y ~ bernoulli_logit(x); return x > 0; }
  int high_lp(real x) {
    x ~ double_exponential(0, 4); return x > 0 ? 2 : 1; }
  real scale_lp(real x) {
    if (near_lp(x) > 1) return x + 1; else return exp(near_lp(x)); }
}
data { int N; vector[N] x; array[N] int y; }
parameters { vector[8] d; vector[3] e; }
model {
  int k = 0;
  for (z in few_lp(e)) target += -square(z);
  x ~ normal(near_lp(d[1]), 1);
  d[2] ~ normal(0, 1 + fits_lp(d[2], x));
  if (near_lp(d[3]) > 0) x ~ normal(1, 2);
  else if (side_lp(d[4], y[1])) x ~ cauchy(0, 1);
  while (k < 3 && high_lp(d[4]) > 0) {
    k += 1;
    if (k == 2) continue;
    x[k] ~ cauchy(d[4], 1);
  }
  for (i in 1:high_lp(d[5])) x[i] ~ cauchy(d[5], i);
  target += normal_lpdf(d[7] | 0, exp(near_lp(d[6])));
  target += normal_lpdf(x | 0, d[8] > 0 ? scale_lp(d[8]) : 1.5);
}
