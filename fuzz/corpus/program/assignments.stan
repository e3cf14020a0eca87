// Storage that is read, overwritten and read again: the hard part of reverse
// mode on mutable variables.
functions {
  real same(real x) { return x; }
  vector first_two(vector x) { return x[1:2]; }
  real recursive(real x, int n) {
    if (n <= 0) return x;
    return recursive(x * 1.1 + sin(x), n - 1);
  }
}
data { int N; vector[N] y; array[N] int g; }
parameters { vector[3] a; real<lower=0> s; matrix[2, 3] M; array[2, 2] real c; }
transformed parameters {
  vector[3] b;
  real kept;
  for (i in 1:3) b[i] = a[i] * i;
  kept = b[1];
  b[1] = b[1] * kept + exp(b[2]);
  b[2] += kept * b[1];
  b[1:2] = b[{2, 1}];
  b[3] = same(b[3]) * b[1];
}
model {
  vector[3] local = b;
  matrix[2, 3] W = M;
  array[2] vector[2] u;
  real t = 0;
  local[2] = t;
  local[2] = same(b[2]);
  W[1] = W[2] .* W[1];
  W[, 2] = W[, 2] + W[, 3];
  W[1:2, 1] = first_two(local);
  u[1] = first_two(b);
  u[2] = u[1] * 2;
  u[1][2] = u[2][1];
  for (x in local) t += x ^ 2;
  for (row in u) t += sum(row);
  {
    int i = 0;
    while (1) {
      i += 1;
      if (i > 4) break;
      if (i == 2) continue;
      t += c[1, 1] * c[2, 2] / i;
      t = t < 0 ? t : 0.5 * t;
    }
  }
  a ~ normal(0, 1);
  s ~ gamma(2, 2);
  to_vector(M) ~ normal(0, 2);
  for (i in 1:2) c[i] ~ normal(0, 1);
  local ~ normal(0, 3);            // of parameters: prior
  local[1] = t;
  b ~ normal(a, s);
  y ~ normal(recursive(b[1], 3) + local[g] + sum(W * local), s);
}
