/* gaussian.c - normal and t laws of vectors by precision, over Gaussian
 * processes and dynamic linear models. Put together from differentiable
 * pieces, which carry the gradients. */
#include "language/runtime/fixed.h"

#define LOG_2PI 1.8378770664093453
#define LOG_PI 1.1447298858494002

static tm_var scaled(tm_tape *tape, tm_var a, double factor) {
  return tm_linear1(tape, factor * a.v, a, factor);
}
static tm_var shifted(tm_tape *tape, tm_var a, double by) {
  return tm_linear1(tape, a.v + by, a, 1);
}
static tm_any sum_of(tm_tape *tape, tm_any x) { return tm_f_sum(tape, &x, 1); }

/* The sum of the logs of a factor's diagonal. */
static tm_var log_diagonal(tm_tape *tape, tm_any l) {
  tm_any d = tm_f_diagonal(tape, &l, 1);
  return sum_of(tape, tm_map1(tape, "log", d)).u.r;
}

static bool positive_diagonal(const tm_tensor *l) {
  for (int i = 0; i < l->dim[0]; i++)
    if (!(l->v[(long)i * l->dim[1] + i] > 0))
      return false;
  return true;
}

/* y - mu, one row for each pair; either may be one vector or many. */
static tm_any gaps(tm_tape *tape, tm_any y, tm_any mu, int n,
                   const char *name) {
  long ny = n ? tm_count(&y.u.t) / n : 0, nm = n ? tm_count(&mu.u.t) / n : 0;
  if (y.u.t.dim[y.u.t.rank - 1] != n || mu.u.t.dim[mu.u.t.rank - 1] != n ||
      (y.u.t.rank == 2 && mu.u.t.rank == 2 && ny != nm))
    tm_runtime_fail(tape, "", "%s: sizes do not match", name);
  long pairs = y.u.t.rank == 2 ? ny : nm;
  for (int i = 0; i < 2; i++) {
    tm_any *x = i ? &mu : &y;
    if (x->u.t.rank == 1)
      *x = tm_call2(tape, tm_f_rep, *x, tm_any_int(pairs));
  }
  return tm_map2(tape, "subtract", y, mu);
}

/* -(n log 2 pi + quadratic) / 2 over all pairs, and their log determinants */
TM_F(multi_normal_prec) {
  (void)count;
  const tm_tensor *omega = &a[2].u.t;
  tm_check_square(tape, omega, "multi_normal_prec");
  int n = omega->dim[0];
  tm_any d = gaps(tape, a[0], a[1], n, "multi_normal_prec");
  double pairs = d.u.t.dim[0];
  tm_any half = tm_call2(tape, tm_f_matmul, d, a[2]);
  tm_var square = sum_of(tape, tm_map2(tape, "elt_multiply", half, d)).u.r;
  tm_var value =
      scaled(tape, log_diagonal(tape, tm_f_cholesky(tape, a + 2, 1)), pairs);
  value = tm_v_add(tape, value, scaled(tape, square, -0.5));
  return tm_any_var(shifted(tape, value, -0.5 * pairs * n * LOG_2PI));
}

/* ---- Gaussian processes: rows of y, with precisions w ------------------- */

TM_F(multi_gp_cholesky) {
  (void)count;
  const tm_tensor *y = &a[0].u.t, *l = &a[1].u.t, *w = &a[2].u.t;
  int d = y->dim[0], n = y->dim[1];
  if (l->dim[0] != n || l->dim[1] != n || w->dim[0] != d)
    tm_runtime_fail(tape, "",
                    "multi_gp: y is %d x %d, the kernel %d x %d, w "
                    "has %d elements",
                    d, n, l->dim[0], l->dim[1], w->dim[0]);
  for (int i = 0; i < d; i++)
    if (!(w->v[i] > 0))
      return tm_any_real(-INFINITY);
  if (!positive_diagonal(l))
    return tm_any_real(-INFINITY);
  tm_any z = tm_call2(tape, tm_f_solve_lower, a[1], tm_f_transpose(tape, a, 1));
  tm_any squares = tm_f_columns_dot_self(tape, &z, 1);
  tm_var value =
      scaled(tape, tm_call2(tape, tm_f_dot_product, squares, a[2]).u.r, -0.5);
  tm_var logs = sum_of(tape, tm_map1(tape, "log", a[2])).u.r;
  value = tm_v_add(tape, value, scaled(tape, logs, 0.5 * n));
  value = tm_v_add(tape, value, scaled(tape, log_diagonal(tape, a[1]), -d));
  return tm_any_var(shifted(tape, value, -0.5 * d * n * LOG_2PI));
}

TM_F(multi_gp) {
  (void)count;
  tm_any l = tm_f_cholesky(tape, a + 1, 1);
  return tm_f_multi_gp_cholesky(tape, (tm_any[]){a[0], l, a[2]}, 3);
}

/* ---- dynamic linear models ---------------------------------------------- */

static tm_any times(tm_tape *tape, tm_any x, tm_any y) {
  return tm_call2(tape, tm_f_matmul, x, y);
}
static tm_any turn(tm_tape *tape, tm_any x) {
  return tm_f_transpose(tape, &x, 1);
}
/* x y x' */
static tm_any around(tm_tape *tape, tm_any x, tm_any y) {
  return times(tape, times(tape, x, y), turn(tape, x));
}

static void check_dlm(tm_tape *tape, const tm_any *a) {
  int r = a[0].u.t.dim[0], n = a[2].u.t.dim[0];
  bool fits =
      a[1].u.t.dim[0] == n && a[1].u.t.dim[1] == r && a[2].u.t.dim[1] == n &&
      a[3].u.t.dim[0] == r && a[4].u.t.dim[0] == n && a[4].u.t.dim[1] == n &&
      a[5].u.t.dim[0] == n && a[6].u.t.dim[0] == n && a[6].u.t.dim[1] == n;
  if (!fits)
    tm_runtime_fail(tape, "", "gaussian_dlm_obs: sizes do not match");
}

/* One step of the Kalman filter: m and C become those after seeing y. */
static tm_var kalman(tm_tape *tape, const tm_any *a, tm_any v, tm_any y,
                     tm_any *m, tm_any *c) {
  tm_any turned = turn(tape, a[1]);
  tm_any ahead = times(tape, a[2], *m);
  tm_any r = tm_map2(tape, "add", around(tape, a[2], *c), a[4]);
  tm_any e = tm_map2(tape, "subtract", y, times(tape, turned, ahead));
  tm_any q = tm_map2(tape, "add", around(tape, turned, r), v);
  tm_any l = tm_f_cholesky(tape, &q, 1);
  tm_any z = tm_call2(tape, tm_f_solve_lower, l, e);
  /* gain R F Q^-1 = (Q^-1 (R F)')' */
  tm_any rf = times(tape, r, a[1]);
  tm_any gain = tm_call2(tape, tm_f_solve, q, turn(tape, rf));
  *m = tm_map2(tape, "add", ahead, times(tape, turn(tape, gain), e));
  *c = tm_map2(tape, "subtract", r, times(tape, rf, gain));
  tm_var value = scaled(tape, tm_f_dot_self(tape, &z, 1).u.r, -0.5);
  value = tm_v_subtract(tape, value, log_diagonal(tape, l));
  return shifted(tape, value, -0.5 * y.u.t.dim[0] * LOG_2PI);
}

/* y, F, G, V, W, m0, C0 */
TM_F(gaussian_dlm_obs) {
  (void)count;
  check_dlm(tape, a);
  tm_any m = a[5], c = a[6];
  tm_any v = a[3].u.t.rank == 1 ? tm_f_diag_matrix(tape, a + 3, 1) : a[3];
  tm_var sum = tm_constant(0);
  for (int t = 0; t < a[0].u.t.dim[1]; t++) {
    tm_any y = tm_call2(tape, tm_f_col, a[0], tm_any_int(t + 1));
    sum = tm_v_add(tape, sum, kalman(tape, a, v, y, &m, &c));
  }
  return tm_any_var(sum);
}

/* ---- the multivariate t ------------------------------------------------- */

/* -(nu + n) / 2 sum log(1 + |L^-1 (y - mu)|^2 / nu), and constants */
static tm_any student(tm_tape *tape, const tm_any *a, tm_any factor) {
  tm_check_square(tape, &factor.u.t, "multi_student_t");
  int n = factor.u.t.dim[0];
  tm_var nu = tm_as_var(&a[1]);
  tm_any d = gaps(tape, a[0], a[2], n, "multi_student_t");
  double pairs = d.u.t.dim[0];
  if (!(nu.v > 0) || !positive_diagonal(&factor.u.t))
    return tm_any_real(-INFINITY);
  tm_any z = tm_call2(tape, tm_f_solve_lower, factor, turn(tape, d));
  tm_any squares = tm_f_columns_dot_self(tape, &z, 1);
  tm_any ratios = tm_map2(tape, "elt_divide", squares, tm_any_var(nu));
  tm_var logs = sum_of(tape, tm_map1(tape, "log1p", ratios)).u.r;
  tm_var half = scaled(tape, nu, 0.5);
  tm_var constant = tm_v_log_rising_factorial(tape, half, tm_constant(0.5 * n));
  constant = tm_v_subtract(
      tape, constant,
      scaled(tape, shifted(tape, tm_v_log(tape, nu), LOG_PI), 0.5 * n));
  constant = tm_v_subtract(tape, constant, log_diagonal(tape, factor));
  tm_var power = scaled(tape, shifted(tape, nu, n), -0.5);
  return tm_any_var(tm_v_add(tape, scaled(tape, constant, pairs),
                             tm_v_elt_multiply(tape, power, logs)));
}

TM_F(multi_student_t) {
  (void)count;
  return student(tape, a, tm_f_cholesky(tape, a + 3, 1));
}
TM_F(multi_student_t_cholesky) {
  (void)count;
  return student(tape, a, a[3]);
}

/* ---- random numbers ----------------------------------------------------- */

static void draw(tm_tape *tape, const double *mu, const tm_tensor *l,
                 double scale, double *out) {
  int n = l->dim[0];
  memcpy(out, mu, (size_t)n * sizeof(double));
  for (int j = 0; j < n; j++) {
    double z = scale * tempera_random_normal(tape->random);
    for (int i = j; i < n; i++)
      out[i] += l->v[(long)i * n + j] * z;
  }
}

/* One vector, or one for each of an array; nu is infinite for the normal. */
static tm_any drawn(tm_tape *tape, const tm_tensor *mu, const tm_tensor *l,
                    double nu) {
  int n = l->dim[0];
  if (l->dim[1] != n || mu->dim[mu->rank - 1] != n)
    tm_runtime_fail(tape, "", "multi_normal_rng: sizes do not match");
  if (!(nu > 0))
    tm_runtime_fail(tape, "", "multi_student_t_rng: %g degrees of freedom", nu);
  tm_tensor out = tm_tensor_new(tape, mu->rank, mu->dim, 0);
  for (int i = 0; i < (mu->rank == 2 ? mu->dim[0] : 1); i++) {
    double scale = 1;
    if (isfinite(nu))
      scale = sqrt(0.5 * nu / tempera_random_gamma(tape->random, 0.5 * nu));
    draw(tape, mu->v + (long)i * n, l, scale, out.v + (long)i * n);
  }
  return tm_any_tensor(out, 1);
}

TM_F(multi_normal_cholesky_rng) {
  (void)count;
  return drawn(tape, &a[0].u.t, &a[1].u.t, INFINITY);
}
TM_F(multi_normal_rng) {
  (void)count;
  tm_any l = tm_f_cholesky(tape, a + 1, 1);
  return drawn(tape, &a[0].u.t, &l.u.t, INFINITY);
}
TM_F(multi_student_t_cholesky_rng) {
  (void)count;
  return drawn(tape, &a[1].u.t, &a[2].u.t, tm_as_var(&a[0]).v);
}
TM_F(multi_student_t_rng) {
  (void)count;
  tm_any l = tm_f_cholesky(tape, a + 2, 1);
  return drawn(tape, &a[1].u.t, &l.u.t, tm_as_var(&a[0]).v);
}
