/* multivariate.c - densities of vectors, categories and correlation
 * matrices; their random numbers. */
#include "language/runtime/fixed.h"

#include <cblas.h>

#define LOG_2PI 1.8378770664093453
#define LOG_PI 1.1447298858494002

/* Probabilities that do not sum to one would scale the likelihood unseen. */
void tm_check_simplex(tm_tape *tape, const double *p, long n,
                      const char *name) {
  double sum = 0, least = 0;
  for (long k = 0; k < n; k++) {
    sum += p[k];
    least = p[k] < least ? p[k] : least;
  }
  if (least < 0)
    tm_runtime_reject(tape, "%s: a probability is %g", name, least);
  if (!(fabs(sum - 1) <= 1e-8))
    tm_runtime_reject(tape, "%s: the probabilities sum to %.9g, not 1", name,
                      sum);
}

/* ---- categories --------------------------------------------------------- */

TM_F(categorical) {
  (void)count;
  tm_view y, p;
  tm_view_of(a, &y);
  tm_view_of(a + 1, &p);
  double value = 0, *slope = tm_room(tape, p.d, p.n);
  tm_check_simplex(tape, p.v, p.n, "categorical");
  for (long k = 0; k < y.n; k++) {
    long at = tm_at(tape, (long)y.v[k], (int)p.n, "");
    value += log(p.v[at]);
    if (slope)
      slope[at] += 1 / p.v[at];
  }
  return tm_scalar_result(tape, value, 1, &(tm_partial){p.d, slope, p.n});
}

TM_F(categorical_logit) {
  (void)count;
  tm_any logs = tm_f_log_softmax(tape, a + 1, 1);
  tm_view y, p;
  tm_view_of(a, &y);
  tm_view_of(&logs, &p);
  double value = 0, *slope = tm_room(tape, p.d, p.n);
  for (long k = 0; k < y.n; k++) {
    long at = tm_at(tape, (long)y.v[k], (int)p.n, "");
    value += p.v[at];
    if (slope)
      slope[at] += 1;
  }
  return tm_scalar_result(tape, value, 1, &(tm_partial){p.d, slope, p.n});
}

TM_F(multinomial) {
  (void)count;
  tm_view y, p;
  tm_view_of(a, &y);
  tm_view_of(a + 1, &p);
  double value = 0, total = 0, *slope = tm_room(tape, p.d, p.n);
  if (y.n != p.n)
    tm_runtime_fail(tape, "", "multinomial: %ld counts, %ld probabilities", y.n,
                    p.n);
  tm_check_simplex(tape, p.v, p.n, "multinomial");
  for (long k = 0; k < y.n; k++) {
    total += y.v[k];
    value += tm_xlogy(y.v[k], p.v[k]) - tm_lgamma(y.v[k] + 1);
    if (slope && y.v[k] != 0)
      slope[k] = y.v[k] / p.v[k];
  }
  return tm_scalar_result(tape, value + tm_lgamma(total + 1), 1,
                          &(tm_partial){p.d, slope, p.n});
}

TM_F(multinomial_logit) {
  (void)count;
  tm_any p = tm_f_softmax(tape, a + 1, 1);
  return tm_f_multinomial(tape, (tm_any[]){a[0], p}, 2);
}

TM_F(dirichlet_multinomial) {
  (void)count;
  tm_view y, al;
  tm_view_of(a, &y);
  tm_view_of(a + 1, &al);
  double value = 0, total = 0, sum = 0, *slope = tm_room(tape, al.d, al.n);
  if (y.n != al.n)
    tm_runtime_fail(tape, "", "dirichlet_multinomial: %ld counts, %ld weights",
                    y.n, al.n);
  for (long k = 0; k < y.n; k++) {
    if (!(al.v[k] > 0 && y.v[k] >= 0))
      return tm_any_real(-INFINITY);
    total += y.v[k];
    sum += al.v[k];
    value += tm_log_rise(al.v[k], y.v[k]) - tm_lgamma(y.v[k] + 1);
  }
  for (long k = 0; slope && k < y.n; k++)
    slope[k] = tm_digamma_rise(al.v[k], y.v[k]) - tm_digamma_rise(sum, total);
  value += tm_lgamma(total + 1) - tm_log_rise(sum, total);
  return tm_scalar_result(tape, value, 1, &(tm_partial){al.d, slope, al.n});
}

/* ---- simplexes ---------------------------------------------------------- */

/* Weights of their own for each outcome. */
static tm_any dirichlets(tm_tape *tape, const tm_any *a) {
  const tm_tensor *p = &a[0].u.t, *alpha = &a[1].u.t;
  tm_var sum = tm_constant(0);
  if (p->rank == 2 && p->dim[0] != alpha->dim[0])
    tm_runtime_fail(tape, "", "dirichlet: %d outcomes, %d sets of weights",
                    p->dim[0], alpha->dim[0]);
  for (int i = 0; i < alpha->dim[0]; i++) {
    tm_any one[] = {p->rank == 2 ? tm_any_tensor(tm_sub(*p, i, 1), a[0].steady)
                                 : a[0],
                    tm_any_tensor(tm_sub(*alpha, i, 1), a[1].steady)};
    tm_any term = tm_f_dirichlet(tape, one, 2);
    sum = tm_v_add(tape, sum, tm_as_var(&term));
  }
  return tm_any_var(sum);
}

TM_F(dirichlet) {
  (void)count;
  if (a[1].u.t.rank == 2)
    return dirichlets(tape, a);
  tm_view p, al;
  tm_view_of(a, &p);
  tm_view_of(a + 1, &al);
  long n = al.n, times = n ? p.n / n : 0;
  double value = 0, sum = 0;
  double *sp = tm_room(tape, p.d, p.n), *sa = tm_room(tape, al.d, n);
  if (n == 0 || p.n % n)
    tm_runtime_fail(tape, "", "dirichlet: %ld values, %ld weights", p.n, n);
  for (long k = 0; k < n; k++) {
    if (!(al.v[k] > 0))
      return tm_any_real(-INFINITY);
    sum += al.v[k];
    value -= (double)times * tm_lgamma(al.v[k]);
  }
  value += (double)times * tm_lgamma(sum);
  for (long i = 0; i < times; i++)
    tm_check_simplex(tape, p.v + i * n, n, "dirichlet");
  for (long i = 0; i < p.n; i++) {
    value += tm_xlogy(al.v[i % n] - 1, p.v[i]);
    if (sp)
      sp[i] = (al.v[i % n] - 1) / p.v[i];
    if (sa)
      sa[i % n] += log(p.v[i]);
  }
  for (long k = 0; sa && k < n; k++)
    sa[k] += (double)times * (tm_digamma(sum) - tm_digamma(al.v[k]));
  return tm_scalar_result(tape, value, 2,
                          (tm_partial[]){{p.d, sp, p.n}, {al.d, sa, n}});
}

/* ---- multivariate normal ------------------------------------------------ */

typedef struct normal_sums {
  tm_view y, mu;
  const double *l;
  double *sy, *smu, *sl;
  long n;
} normal_sums;

/* x becomes L^-1 x, or L^-T x. */
static void solve_triangle(const double *l, long n, bool transposed,
                           double *x) {
  enum { SMALL = 12 };
  if (n > SMALL) {
    cblas_dtrsv(CblasRowMajor, CblasLower,
                transposed ? CblasTrans : CblasNoTrans, CblasNonUnit, (int)n, l,
                (int)n, x, 1);
    return;
  }
  for (long k = 0; k < n; k++) {
    long i = transposed ? n - 1 - k : k;
    x[i] /= l[i * n + i];
    for (long j = 0; transposed && j < i; j++)
      x[j] -= l[i * n + j] * x[i];
    for (long j = i + 1; !transposed && j < n; j++)
      x[j] -= l[j * n + i] * x[i];
  }
}

/* One pair: z = L^-1 (y - mu), w = L^-T z. */
static double one_normal(const normal_sums *s, long iy, long im, double *z,
                         double *w) {
  long n = s->n;
  double squares = 0;
  for (long i = 0; i < n; i++)
    z[i] = s->y.v[iy * n + i] - s->mu.v[im * n + i];
  solve_triangle(s->l, n, false, z);
  for (long i = 0; i < n; i++)
    squares += z[i] * z[i];
  if (!s->sy && !s->smu && !s->sl)
    return -0.5 * squares;
  memcpy(w, z, (size_t)n * sizeof(double));
  solve_triangle(s->l, n, true, w);
  for (long i = 0; i < n; i++) {
    if (s->sy)
      s->sy[iy * n + i] -= w[i];
    if (s->smu)
      s->smu[im * n + i] += w[i];
    for (long j = 0; s->sl && j <= i; j++)
      s->sl[i * n + j] += w[i] * z[j];
  }
  return -0.5 * squares;
}

TM_F(multi_normal_cholesky) {
  (void)count;
  normal_sums s = {0};
  const tm_tensor *l = &a[2].u.t;
  tm_view_of(a, &s.y);
  tm_view_of(a + 1, &s.mu);
  s.l = l->v;
  s.n = l->dim[0];
  if (s.n == 0 || l->dim[1] != s.n || s.y.n % s.n || s.mu.n % s.n)
    tm_runtime_fail(tape, "", "multi_normal: sizes %ld, %ld and %d x %d", s.y.n,
                    s.mu.n, l->dim[0], l->dim[1]);
  long ny = s.y.n / s.n, nm = s.mu.n / s.n, pairs = ny > nm ? ny : nm;
  if (ny > 1 && nm > 1 && ny != nm)
    tm_runtime_fail(tape, "", "multi_normal: %ld outcomes, %ld means", ny, nm);
  if (ny == 0 || nm == 0)
    return tm_any_real(0);
  s.sy = tm_room(tape, s.y.d, s.y.n);
  s.smu = tm_room(tape, s.mu.d, s.mu.n);
  s.sl = tm_room(tape, l->d, s.n * s.n);
  double *work = tm_take(tape, 2 * (size_t)s.n * sizeof(double));
  double value = -0.5 * (double)(pairs * s.n) * LOG_2PI;
  for (long i = 0; i < s.n; i++) {
    double d = s.l[i * s.n + i];
    if (!(d > 0))
      return tm_any_real(-INFINITY);
    value -= (double)pairs * log(d);
    if (s.sl)
      s.sl[i * s.n + i] -= (double)pairs / d;
  }
  for (long k = 0; k < pairs; k++)
    value += one_normal(&s, ny > 1 ? k : 0, nm > 1 ? k : 0, work, work + s.n);
  return tm_scalar_result(tape, value, 3,
                          (tm_partial[]){{s.y.d, s.sy, s.y.n},
                                         {s.mu.d, s.smu, s.mu.n},
                                         {l->d, s.sl, s.n * s.n}});
}

TM_F(multi_normal) {
  (void)count;
  tm_any l = tm_f_cholesky(tape, a + 2, 1);
  return tm_f_multi_normal_cholesky(tape, (tm_any[]){a[0], a[1], l}, 3);
}

/* ---- LKJ ---------------------------------------------------------------- */

/* The log normalising constant of LKJ(eta) over k x k matrices. */
static double lkj_constant(double eta, int k, double *slope) {
  int k1 = k - 1;
  double value = k1 * tm_lgamma(eta + 0.5 * k1);
  *slope = k1 * tm_digamma(eta + 0.5 * k1);
  for (int i = 1; i <= k1; i++) {
    value -= 0.5 * i * LOG_PI + tm_lgamma(eta + 0.5 * (k1 - i));
    *slope -= tm_digamma(eta + 0.5 * (k1 - i));
  }
  return value;
}

/* Over factors, the Jacobian adds k - i to the power of diagonal i. */
static tm_any lkj(tm_tape *tape, const tm_any *l, const tm_any *eta,
                  bool factor) {
  const tm_tensor *t = &l->u.t;
  tm_view e;
  tm_view_of(eta, &e);
  int k = t->dim[0];
  double shape = *e.v, slope, *sl = tm_room(tape, t->d, (long)k * k);
  double *se = tm_room(tape, e.d, 1);
  if (!(shape > 0))
    return tm_any_real(-INFINITY);
  double value = lkj_constant(shape, k, &slope);
  for (int i = 1; i < k; i++) {
    double d = t->v[(long)i * k + i];
    double power = 2 * shape - 2 + (factor ? k - i - 1 : 0);
    value += power * log(d);
    slope += 2 * log(d);
    if (sl)
      sl[(long)i * k + i] = power / d;
  }
  if (se)
    *se = slope;
  return tm_scalar_result(
      tape, value, 2, (tm_partial[]){{t->d, sl, (long)k * k}, {e.d, se, 1}});
}

TM_F(lkj_corr_cholesky) {
  (void)count;
  const tm_tensor *l = &a->u.t;
  tm_check_square(tape, l, "lkj_corr_cholesky");
  for (int i = 0; i < l->dim[0]; i++)
    for (int j = i + 1; j < l->dim[0]; j++)
      if (l->v[(long)i * l->dim[0] + j] != 0)
        tm_runtime_reject(tape, "lkj_corr_cholesky: not lower triangular");
  return lkj(tape, a, a + 1, true);
}
TM_F(lkj_corr) {
  (void)count;
  const tm_tensor *t = &a->u.t;
  tm_check_square(tape, t, "lkj_corr");
  for (int i = 0; i < t->dim[0]; i++) {
    double one = t->v[(long)i * (t->dim[0] + 1)];
    if (!(fabs(one - 1) <= 1e-8))
      tm_runtime_reject(tape, "lkj_corr: no correlation matrix: [%d, %d] is %g",
                        i + 1, i + 1, one);
  }
  tm_any l = tm_f_cholesky(tape, a, 1);
  return lkj(tape, &l, a + 1, false);
}

/* Standard deviations are lognormal, correlations LKJ(eta): the density that
 * Stan has by this name, without the Jacobian of their product. With
 * y = L L', log det of the correlations is sum 2 log L_ii - log y_ii. */
TM_F(lkj_cov) {
  (void)count;
  tm_any factor = tm_f_cholesky(tape, a, 1);
  const tm_tensor *l = &factor.u.t, *y = &a[0].u.t;
  tm_view mu, sigma, eta;
  tm_view_of(a + 1, &mu);
  tm_view_of(a + 2, &sigma);
  tm_view_of(a + 3, &eta);
  int k = y->dim[0];
  long size = (long)k * k;
  if (mu.n != k || sigma.n != k)
    tm_runtime_fail(tape, "", "lkj_cov: %d rows, %ld locations, %ld scales", k,
                    mu.n, sigma.n);
  double shape = *eta.v, slope = 0, *sl = tm_room(tape, l->d, size);
  double *sy = tm_room(tape, y->d, size), *sm = tm_room(tape, mu.d, k);
  double *ss = tm_room(tape, sigma.d, k), *se = tm_room(tape, eta.d, 1);
  double value = shape > 0 ? lkj_constant(shape, k, &slope) : -INFINITY;
  for (int i = 0; i < k && value > -INFINITY; i++) {
    long at = (long)i * k + i;
    double variance = y->v[at], d = l->v[at], x = 0.5 * log(variance);
    double s = sigma.v[i], z = (x - mu.v[i]) / s;
    double log_share = 2 * (log(d) - x);
    value += s > 0 ? -x - log(s) - 0.5 * (LOG_2PI + z * z) : -INFINITY;
    value += (shape - 1) * log_share;
    slope += log_share;
    if (sl)
      sl[at] = 2 * (shape - 1) / d;
    if (sy)
      sy[at] = (-0.5 - 0.5 * z / s - (shape - 1)) / variance;
    if (sm)
      sm[i] = z / s;
    if (ss)
      ss[i] = (z * z - 1) / s;
  }
  if (se)
    *se = slope;
  return tm_scalar_result(tape, value, 5,
                          (tm_partial[]){{l->d, sl, size},
                                         {y->d, sy, size},
                                         {mu.d, sm, k},
                                         {sigma.d, ss, k},
                                         {eta.d, se, 1}});
}

/* ---- random numbers ----------------------------------------------------- */

TM_F(categorical_rng) {
  (void)count;
  tm_check_simplex(tape, a->u.t.v, a->u.t.dim[0], "categorical_rng");
  return tm_any_int(tm_pick(tape, a->u.t.v, a->u.t.dim[0]));
}
TM_F(categorical_logit_rng) {
  tm_any p = tm_f_softmax(tape, a, count);
  return tm_any_int(tm_pick(tape, p.u.t.v, p.u.t.dim[0]));
}
static void draw_dirichlet(tm_tape *tape, const tm_tensor *alpha, double *out) {
  double sum = 0;
  int n = alpha->dim[0];
  for (int k = 0; k < n; k++)
    sum += out[k] = tempera_random_gamma(tape->random, alpha->v[k]);
  for (int k = 0; k < n; k++)
    out[k] /= sum;
}

TM_F(dirichlet_rng) {
  (void)count;
  tm_tensor out = tm_tensor_new(tape, 1, a->u.t.dim, 0);
  draw_dirichlet(tape, &a->u.t, out.v);
  return tm_any_tensor(out, 1);
}

/* Prior draws: the simplex in the first argument, once. */
TM_F(dirichlet_fill) {
  (void)count;
  const tm_tensor *to = &a[0].u.t;
  if (to->rank != 1 || to->dim[0] != a[1].u.t.dim[0])
    tm_runtime_fail(tape, "", "dirichlet: sizes do not match");
  if (!isnan(to->v[0]))
    tm_runtime_fail(tape, "", "an element has two prior statements");
  draw_dirichlet(tape, &a[1].u.t, to->v);
  return tm_any_int(0);
}

TM_F(multinomial_logit_rng) {
  (void)count;
  tm_any p = tm_f_softmax(tape, a, 1);
  return tm_f_multinomial_rng(tape, (tm_any[]){p, a[1]}, 2);
}
TM_F(dirichlet_multinomial_rng) {
  (void)count;
  tm_any p = tm_f_dirichlet_rng(tape, a, 1);
  return tm_f_multinomial_rng(tape, (tm_any[]){p, a[1]}, 2);
}
