// Arrays of eight dimensions, in every block.
functions {
  real whole(array[,,,,,,,] matrix m) {
    return sum(m[1, 1, 1, 1, 1, 1, 1, 2]);
  }
  array[,,,,,,,] real twice(array[,,,,,,,] real a) {
    array[1, 1, 1, 1, 1, 1, 1, 2] real b = a;
    for (i in 1:2)
      b[1, 1, 1, 1, 1, 1, 1, i] *= 2;
    return b;
  }
}
data {
  array[1, 1, 1, 1, 1, 1, 1, 2] matrix[1, 2] x;
}
transformed data {
  array[1, 1, 1, 1, 1, 1, 1, 2] complex_matrix[1, 2] z = x;
  array[1, 1, 1, 1, 1, 1, 1, 2] int k = {{{{{{{{3, 4}}}}}}}};
}
parameters {
  array[1, 1, 1, 1, 1, 1, 1, 2] real a;
  array[2, 1, 1, 1, 1, 1, 1, 1] vector[2] b;
}
transformed parameters {
  array[1, 1, 1, 1, 1, 1, 1, 2] real c = twice(a);
}
model {
  a[1, 1, 1, 1, 1, 1, 1] ~ normal(0, 2);
  for (i in 1:2)
    b[i, 1, 1, 1, 1, 1, 1, 1] ~ normal(0, 3);
  x[1, 1, 1, 1, 1, 1, 1, 1][1, 2] ~ normal(sum(to_array_1d(c)) + whole(x), 1);
  k[1, 1, 1, 1, 1, 1, 1, 1:2] ~ poisson_log(get_real(z[1, 1, 1, 1, 1, 1, 1, 2][1, 1]) * b[2, 1, 1, 1, 1, 1, 1, 1][2]);
}
generated quantities {
  array[1, 1, 1, 1, 1, 1, 1, 2] complex_matrix[1, 2] w = z;
}
