// Complex numbers in every block and statement that takes them.
functions {
  complex shifted(complex z, data int n) { return z * n + 1i; }
  complex_vector doubled(complex_vector z) {
    complex_vector[size(z)] out = z;
    for (k in 1:size(z)) out[k] += z[k];
    return out;
  }
  real total(complex_matrix z) { return sum(get_real(z)) + sum(get_imag(z)); }
  real total(array[] complex z) { return get_real(sum(z)) - get_imag(sum(z)); }
  tuple(complex, real, complex_vector) parts(complex z) {
    return (z, abs(z), [z, conj(z)]');
  }
  real of_tuple(tuple(complex, complex_vector) t) {
    return norm(t.1) + get_real(dot_self(t.2));
  }
  tuple(real, vector) reals(real x) { return (x, [x, 2 * x]'); }
  complex overloaded(complex z) { return z; }
  complex overloaded(real z) { return 1000 * z; }
}
data {
  int N;
  complex z0;
  complex_vector[N] zv;
  complex_row_vector[N] zr;
  complex_matrix[2, N] zm;
  array[2] complex za;
  array[2] complex_matrix[1, 2] zam;
  tuple(complex, real) zt;
  complex_vector[0] nothing;
}
transformed data {
  complex q = 3;
  q += 2.5i;
  q *= 2;
  q /= 2i;
  q -= 1;
  if (q != 1.5 - 3i) reject("q is ", q);
  complex sum_of = 0;
  for (w in zm) sum_of += w;
  for (w in zv) sum_of += w;
  for (w in za) sum_of += w;
  if (abs(sum_of - sum(zm) - sum(zv) - sum(za)) > 1e-12) reject(sum_of);
  if (size(nothing) != 0 || sum(nothing) != 0) reject("nothing");
  if (zam[2][1, 2] != 4 - 4i || zm[2, 3] != 6 + 6.5i) reject("data");
  if (get_real(overloaded(1)) != 1000) reject("overloads");
  if (zt.1 != 1 - 1i || zt.2 != 2) reject("tuple ", zt);
}
parameters {
  real a;
  complex p;
  complex_vector[2] pv;
  complex_matrix[2, 3] pm;
  array[2] complex_row_vector[2] pa;
  array[2, 2] complex pz;
}
transformed parameters {
  complex t = shifted(a, 3) + p;
  complex_matrix[2, 3] tm = pm * 2;
  tm[1, 2] = a;
  tm[2] = [1, 2i, a];
  tm[, 3] .*= pv;
  complex_vector[2] twice = doubled(pv);
  array[2] complex_row_vector[2] ta = pa;
  ta[1][2] = p ^ 2;
  ta[2, 1:2] = [a, 1i];
  tuple(complex, real, complex_vector[2]) u = parts(p);
}
model {
  a ~ normal(0, 1);
  get_real(p) ~ normal(0, 1);
  get_imag(p) ~ normal(0, 1);
  get_real(pv) ~ normal(0, 2);
  get_imag(pv) ~ std_normal();
  to_vector(get_real(pm)) ~ normal(0, 1);
  to_vector(get_imag(pm)) ~ normal(0, 1);
  for (k in 1:2) {
    get_real(pa[k]) ~ normal(0, 1);
    get_imag(pa[k]) ~ normal(0, 1);
  }
  target += -sum(norm(to_array_1d(pz))); // @prior
  complex w = a > 0 ? t : a;
  complex_matrix[3, 2] back = tm';
  complex_row_vector[2] mixed = [w, a];
  array[2] complex both = {a, w};
  mixed[2] = sqrt(3 + w);
  target += -0.1 * norm(z0 * w - exp(0.1 * t)); // @likelihood
  target += -0.01 * norm(zv - twice[1])[1] - 0.02 * abs(sum(zm * back)); // @likelihood
  target += 0.01 * total(tm) + 0.01 * total(both) + 0.01 * total({a * za[1], za[2]}); // @likelihood
  target += -0.01 * of_tuple((a, twice)) - 0.01 * of_tuple(reals(a)); // @likelihood
  target += 0.01 * get_real(zr * (zv + p)) + 0.1 * arg(3 + mixed[2]); // @likelihood
  target += 0.01 * get_imag(ta[1] * to_vector(pz[2]) + u.1 * u.2); // @likelihood
  target += 0.01 * get_imag(sum(ta[2]) * prod(u.3)); // @likelihood
}
generated quantities {
  complex_vector[2] ev = eigenvalues([[0.0, 1], [-1, a]]);
  tuple(complex, array[2] complex) g = (a, {p, 1i});
  array[2] complex_matrix[2, 2] aa = {[[1, 2], [3, 4]], [[a, p], [1i, 2]]};
}
