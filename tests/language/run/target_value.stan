data { real y; }
parameters { real a; real b; }
model {
  real before = target();
  real now;
  b ~ normal(0, 2);
  print("prior of b ", target() - before);
  a ~ normal(0, 1);
  y ~ normal(a + b, 1);
  now = target();
  print("all ", now - before);
  if (is_nan(target())) reject("not a number");
  if (is_inf(now - before)) { reject("infinite"); }
  if (target() > 1e10) print("large");
}
