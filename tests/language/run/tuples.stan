// Tuples everywhere: data, parameters, functions, arrays, nested, assigned.
functions {
  tuple(real, vector) shifted(vector x, real by) {
    return (sum(x) + by, x + by);
  }
  real both(tuple(real, array[] int) t, tuple(real, real) u) {
    return t.1 * t.2[1] + u.1 - u.2;
  }
  tuple(int, tuple(real, vector)) nested(vector x) {
    tuple(int, tuple(real, vector[size(x)])) r = (size(x), (x[1], 2 * x));
    return r;
  }
  real total(array[] tuple(real, vector) ts) {
    real sum_ = 0;
    for (n in 1:size(ts)) sum_ += ts[n].1 * sum(ts[n].2);
    return sum_;
  }
}
data {
  int N;
  tuple(int, vector[N]) d;
  array[2] tuple(real, array[2] int) arr;
}
transformed data {
  tuple(real, real) both_sums = (sum(d.2), arr[1].1 + arr[2].1);
  int first = arr[2].2[1];
}
parameters {
  tuple(real, vector<lower=0>[2]) p;
  array[2] tuple(real<lower=0>, vector[2]) q;
}
transformed parameters {
  tuple(real, vector[2]) s = shifted(p.2, p.1);
  real a;
  vector[2] b;
  (a, b) = shifted(q[1].2, 1);
  (b[1], b[2]) = (b[2], b[1]);
}
model {
  tuple(int, tuple(real, vector[2])) m = nested(q[2].2);
  array[2] tuple(real, vector[2]) ts = {(a, b), s};
  ts[1].2[2] = 3 * p.1;
  ts[2] = (q[1].1, q[2].2);
  p.1 ~ normal(0, 1);
  p.2 ~ lognormal(0, 1);
  q.1 ~ gamma(2, 2);
  for (i in 1:2) q[i].2 ~ normal(0, 1);
  d.2 ~ normal(s.1 + both((a, arr[1].2), (1, 2)) + both_sums.1, 1 + q[1].1);
  d.1 ~ poisson(exp(m.2.1 + 0.1 * sum(m.2.2)) + square(total(ts)) + first);
}
generated quantities {
  tuple(real, array[2] real) g = (a, {p.1, q[2].1});
  print("g = ", g);
}
