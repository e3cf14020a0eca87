/* wishart.c - Wishart and inverse Wishart densities, and the random
 * numbers of matrices and counts. Densities are put together from
 * differentiable pieces, which carry the gradients. */
#include "language/runtime/fixed.h"

#define LOG_PI 1.1447298858494002

static tm_var scaled(tm_tape *tape, tm_var a, double factor) {
  return tm_linear1(tape, factor * a.v, a, factor);
}
static tm_var shifted(tm_tape *tape, tm_var a, double by) {
  return tm_linear1(tape, a.v + by, a, 1);
}

static int check_matrices(tm_tape *tape, const tm_tensor *w, const tm_tensor *s,
                          const char *name) {
  int k = w->dim[0];
  if (w->dim[1] != k || s->dim[0] != k || s->dim[1] != k)
    tm_runtime_fail(tape, "", "%s: sizes %d x %d and %d x %d", name, k,
                    w->dim[1], s->dim[0], s->dim[1]);
  return k;
}

/* log Gamma_k(x), the multivariate gamma function. */
static tm_var log_gamma_of(tm_tape *tape, int k, tm_var x) {
  double value = 0.25 * k * (k - 1) * LOG_PI, slope = 0;
  for (int j = 0; j < k; j++) {
    value += tm_lgamma(x.v - 0.5 * j);
    slope += x.d ? tm_digamma(x.v - 0.5 * j) : 0;
  }
  return tm_linear1(tape, value, x, slope);
}

/* 2 sum log diag of the Cholesky factor: rejects what is not positive. */
static tm_var log_determinant(tm_tape *tape, const tm_any *m) {
  tm_any l = tm_f_cholesky(tape, m, 1);
  tm_any d = tm_f_diagonal(tape, &l, 1);
  d = tape->runtime->find("log", "R")(tape, &d, 1);
  return scaled(tape, tm_f_sum(tape, &d, 1).u.r, 2);
}

/* tr(A^-1 B) */
static tm_var trace_of(tm_tape *tape, tm_any a, tm_any b) {
  tm_any x = tm_call2(tape, tm_f_solve, a, b);
  return tm_f_trace(tape, &x, 1).u.r;
}

/* The terms of both: (p log|W| - tr + q log|S| - nu k log 2) / 2 - log Gamma */
static tm_any wishart(tm_tape *tape, const tm_any *a, bool inverse) {
  const char *name = inverse ? "inv_wishart" : "wishart";
  int k = check_matrices(tape, &a[0].u.t, &a[2].u.t, name);
  tm_var nu = tm_as_var(&a[1]);
  if (!(nu.v > k - 1))
    return tm_any_real(-INFINITY);
  tm_var power = inverse ? shifted(tape, scaled(tape, nu, -1), -k - 1)
                         : shifted(tape, nu, -k - 1);
  tm_var of_scale = inverse ? nu : scaled(tape, nu, -1);
  tm_var trace =
      inverse ? trace_of(tape, a[0], a[2]) : trace_of(tape, a[2], a[0]);
  tm_var sum = tm_v_elt_multiply(tape, power, log_determinant(tape, &a[0]));
  sum =
      tm_v_add(tape, sum,
               tm_v_elt_multiply(tape, of_scale, log_determinant(tape, &a[2])));
  sum = tm_v_subtract(tape, sum, trace);
  sum = tm_v_subtract(tape, sum, scaled(tape, nu, k * M_LN2));
  return tm_any_var(
      tm_v_subtract(tape, scaled(tape, sum, 0.5),
                    log_gamma_of(tape, k, scaled(tape, nu, 0.5))));
}

TM_F(wishart) {
  (void)count;
  return wishart(tape, a, false);
}
TM_F(inv_wishart) {
  (void)count;
  return wishart(tape, a, true);
}

/* ---- densities of Cholesky factors: W = L L' has the Jacobian 2^k prod
 * L_ii^(k - i + 1) ------------------------------------------------------- */

static tm_any of_factor(tm_tape *tape, const tm_any *a, bool inverse) {
  int k = check_matrices(tape, &a[0].u.t, &a[2].u.t, "wishart_cholesky");
  tm_any full[] = {tm_f_multiply_lower(tape, a, 1), a[1],
                   tm_f_multiply_lower(tape, a + 2, 1)};
  tm_any diagonal = tm_f_diagonal(tape, a, 1);
  tm_tensor powers = tm_tensor_new(tape, 1, &k, 0);
  for (int i = 0; i < k; i++) {
    powers.v[i] = k - i;
    if (!(diagonal.u.t.v[i] > 0))
      return tm_any_real(-INFINITY);
  }
  tm_var jacobian = tm_call2(tape, tm_f_dot_product, tm_any_tensor(powers, 1),
                             tm_map1(tape, "log", diagonal))
                        .u.r;
  tm_any density = wishart(tape, full, inverse);
  return tm_any_var(
      shifted(tape, tm_v_add(tape, tm_as_var(&density), jacobian), k * M_LN2));
}

TM_F(wishart_cholesky) {
  (void)count;
  return of_factor(tape, a, false);
}
TM_F(inv_wishart_cholesky) {
  (void)count;
  return of_factor(tape, a, true);
}

/* ---- random numbers ----------------------------------------------------- */

/* Bartlett: W = (L A)(L A)' with A triangular. */
static tm_tensor draw_wishart(tm_tape *tape, double nu, const tm_any *scale) {
  int k = scale->u.t.dim[0];
  if (!(nu > k - 1))
    tm_runtime_fail(tape, "", "wishart_rng: %g degrees of freedom for %d rows",
                    nu, k);
  tm_any l = tm_cholesky_of_lower(tape, scale);
  tm_tensor a = tm_tensor_new(tape, 2, (int[]){k, k}, 0);
  for (int i = 0; i < k; i++) {
    for (int j = 0; j < i; j++)
      a.v[(long)i * k + j] = tempera_random_normal(tape->random);
    a.v[(long)i * k + i] =
        sqrt(2 * tempera_random_gamma(tape->random, 0.5 * (nu - i)));
  }
  tm_any root = tm_call2(tape, tm_f_matmul, l, tm_any_tensor(a, 1));
  return tm_f_tcrossprod(tape, &root, 1).u.t;
}

TM_F(wishart_rng) {
  (void)count;
  tm_check_symmetric(tape, &a[1].u.t, "wishart_rng");
  return tm_any_tensor(draw_wishart(tape, tm_as_var(&a[0]).v, a + 1), 1);
}
TM_F(inv_wishart_rng) {
  (void)count;
  tm_check_symmetric(tape, &a[1].u.t, "inv_wishart_rng");
  tm_any precision = tm_f_inverse(tape, a + 1, 1);
  tm_any w =
      tm_any_tensor(draw_wishart(tape, tm_as_var(&a[0]).v, &precision), 1);
  return tm_f_inverse(tape, &w, 1);
}

TM_F(wishart_cholesky_rng) {
  (void)count;
  tm_any scale = tm_f_multiply_lower(tape, a + 1, 1);
  tm_any w = tm_f_wishart_rng(tape, (tm_any[]){a[0], scale}, 2);
  return tm_cholesky_of_lower(tape, &w);
}
TM_F(inv_wishart_cholesky_rng) {
  (void)count;
  tm_any scale = tm_f_multiply_lower(tape, a + 1, 1);
  tm_any w = tm_f_inv_wishart_rng(tape, (tm_any[]){a[0], scale}, 2);
  return tm_cholesky_of_lower(tape, &w);
}

/* Partial correlations of a vine are symmetric betas. */
TM_F(lkj_corr_cholesky_rng) {
  (void)count;
  int k = (int)a[0].u.i;
  double eta = tm_as_var(&a[1]).v;
  if (k < 1 || !(eta > 0))
    tm_runtime_fail(tape, "", "lkj_corr_rng: size %d, shape %g", k, eta);
  tm_tensor l = tm_tensor_new(tape, 2, (int[]){k, k}, 0);
  for (int i = 0; i < k; i++) {
    double rest = 1;
    for (int j = 0; j < i; j++) {
      double shape = eta + 0.5 * (k - 2 - j);
      double z = 2 * tempera_random_beta(tape->random, shape, shape) - 1;
      l.v[(long)i * k + j] = z * sqrt(rest);
      rest *= 1 - z * z;
    }
    l.v[(long)i * k + i] = sqrt(rest);
  }
  return tm_any_tensor(l, 1);
}
TM_F(lkj_corr_rng) {
  tm_any l = tm_f_lkj_corr_cholesky_rng(tape, a, count);
  return tm_f_tcrossprod(tape, &l, 1);
}

TM_F(multinomial_rng) {
  (void)count;
  const tm_tensor *p = &a[0].u.t;
  long left = a[1].u.i;
  double rest = 1;
  tm_tensor out = tm_tensor_new(tape, 1, p->dim, 0);
  for (int i = 0; i < p->dim[0]; i++) {
    double share = i + 1 == p->dim[0] || p->v[i] >= rest ? 1 : p->v[i] / rest;
    long drawn =
        left > 0 ? tempera_random_binomial(tape->random, left, share) : 0;
    out.v[i] = (double)drawn;
    left -= drawn;
    rest -= p->v[i];
  }
  return tm_any_tensor(out, 1);
}
