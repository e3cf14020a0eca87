/* ordered.c - ordered categories: the mass between two cuts of a logistic or
 * normal law around eta. */
#include "language/runtime/fixed.h"

#include <gsl/gsl_sf_erf.h>

long tm_pick(tm_tape *tape, const double *p, long n) {
  double u = tempera_random_uniform(tape->random), sum = 0;
  for (long k = 0; k < n; k++) {
    sum += p[k];
    if (u < sum)
      return k + 1;
  }
  return n;
}

/* A law around zero: log of the mass below z, and the log density. */
typedef struct law {
  const char *name;
  double (*log_below)(double z);
  double (*log_density)(double z);
} law;

static double logistic_below(double z) { return -tm_log1p_exp(-z); }
static double logistic_density(double z) {
  return -tm_log1p_exp(z) - tm_log1p_exp(-z);
}
static double normal_below(double z) {
  return gsl_sf_log_erfc(-z * M_SQRT1_2) - M_LN2;
}
static double normal_density(double z) {
  return -0.5 * z * z - 0.9189385332046727;
}
static const law LOGISTIC = {"ordered_logistic", logistic_below,
                             logistic_density},
                 PROBIT = {"ordered_probit", normal_below, normal_density};

/* log[F(c_k - eta) - F(c_{k-1} - eta)], by the tail that is not near one; and
 * its slopes in the cut below and the cut above. */
static double term(const law *l, double eta, const double *c, long cuts, long k,
                   double *below, double *above) {
  double lower = k > 0 ? c[k - 1] - eta : -INFINITY;
  double upper = k < cuts ? c[k] - eta : INFINITY;
  bool left = k < cuts && (k == 0 || lower + upper < 0);
  double value;
  if (left)
    value = k == 0 ? l->log_below(upper)
                   : tm_log_diff_exp(l->log_below(upper), l->log_below(lower));
  else
    value = k == cuts
                ? l->log_below(-lower)
                : tm_log_diff_exp(l->log_below(-lower), l->log_below(-upper));
  *below = k > 0 ? -exp(l->log_density(lower) - value) : 0;
  *above = k < cuts ? exp(l->log_density(upper) - value) : 0;
  return value;
}

/* Cuts in increasing order? */
static bool in_order(const double *c, long n) {
  for (long i = 1; i < n; i++)
    if (!(c[i] > c[i - 1]))
      return false;
  return true;
}

typedef struct sums {
  tm_view y, eta, c;
  long cuts, sets;
  double *eta_slope, *cut_slope;
} sums;

/* In place: the view of an int points into itself. */
static void set_up(tm_tape *tape, const law *l, const tm_any *a, sums *s) {
  tm_view_of(a, &s->y);
  tm_view_of(a + 1, &s->eta);
  tm_view_of(a + 2, &s->c);
  const tm_tensor *c = &a[2].u.t;
  s->cuts = c->dim[c->rank - 1];
  s->sets = c->rank == 2 ? c->dim[0] : 1;
  bool fits = (s->eta.scalar || s->eta.n == s->y.n || s->y.scalar) &&
              (c->rank == 1 || s->sets == s->y.n);
  if (!fits)
    tm_runtime_fail(tape, "",
                    "%s: %ld outcomes, %ld locations, %ld sets of "
                    "cuts",
                    l->name, s->y.n, s->eta.n, s->sets);
  s->eta_slope = tm_room(tape, s->eta.d, s->eta.n);
  s->cut_slope = tm_room(tape, s->c.d, s->c.n);
}

static tm_any ordered(tm_tape *tape, const law *l, const tm_any *a) {
  sums s = {0};
  set_up(tape, l, a, &s);
  double value = 0;
  long n = s.y.n > s.eta.n ? s.y.n : s.eta.n;
  for (long i = 0; i < s.sets; i++)
    if (!in_order(s.c.v + i * s.cuts, s.cuts))
      return tm_any_real(-INFINITY);
  for (long i = 0; i < n; i++) {
    long set = a[2].u.t.rank == 2 ? i * s.cuts : 0;
    long k = tm_at(tape, (long)s.y.v[i * s.y.stride], (int)s.cuts + 1, "");
    double below, above;
    value += term(l, s.eta.v[i * s.eta.stride], s.c.v + set, s.cuts, k, &below,
                  &above);
    if (s.eta_slope)
      s.eta_slope[i * s.eta.stride] -= below + above;
    if (s.cut_slope && k > 0)
      s.cut_slope[set + k - 1] += below;
    if (s.cut_slope && k < s.cuts)
      s.cut_slope[set + k] += above;
  }
  return tm_scalar_result(tape, value, 2,
                          (tm_partial[]){{s.eta.d, s.eta_slope, s.eta.n},
                                         {s.c.d, s.cut_slope, s.c.n}});
}

TM_F(ordered_logistic) {
  (void)count;
  return ordered(tape, &LOGISTIC, a);
}
TM_F(ordered_probit) {
  (void)count;
  return ordered(tape, &PROBIT, a);
}

static tm_any draw(tm_tape *tape, const law *l, const tm_any *a) {
  tm_view eta, c;
  tm_view_of(a, &eta);
  tm_view_of(a + 1, &c);
  double *p = tm_take(tape, (size_t)(c.n + 1) * sizeof(double)), below, above;
  for (long k = 0; k <= c.n; k++)
    p[k] = exp(term(l, *eta.v, c.v, c.n, k, &below, &above));
  return tm_any_int(tm_pick(tape, p, c.n + 1));
}

TM_F(ordered_logistic_rng) {
  (void)count;
  return draw(tape, &LOGISTIC, a);
}
TM_F(ordered_probit_rng) {
  (void)count;
  return draw(tape, &PROBIT, a);
}
