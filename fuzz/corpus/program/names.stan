// Words that mean something in C, and strings that look like C.
parameters { real<lower=0, upper=1> int_; real double_; real exit; real system; real F; real t; real I; real main; }
model {
  real return_ = 1;
  real x_ = 2;
  real NULL = 3;
  print("\", exit);
  print(")); system('touch x'); // %s %n ??/", exit);
  if (int_ > 2) reject("*/ #include <x> ??/ ", int_);
  double_ + exit + system + F + t + I + main ~ normal(return_ + x_ + NULL, 1);
  exit ~ normal(int_, 1);
}
