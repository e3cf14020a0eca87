/* wiener.c - first passage times of a Wiener process between two boundaries:
 * y at the upper one, with separation alpha, non-decision time tau, start beta
 * and drift delta, and with normal variation of the drift and uniform variation
 * of start and time. Formulas of the Stan functions reference (Henrich et al.
 * 2024); series as in Navarro and Fuss (2009). */
#include "language/runtime/fixed.h"

#include <gsl/gsl_integration.h>

enum { Y, ALPHA, TAU, BETA, DELTA, VAR_DELTA, VAR_BETA, VAR_TAU, MOST };

/* log f(t | 0, 1, w) with t in units of alpha^2: for short times the sum over
 * images, for long ones the sum over modes. */
static double log_standard(double t, double w) {
  double sum = 0;
  if (t < 0.4) {
    /* largest image first, so that far ones may underflow */
    for (int k = -12; k <= 12; k++) {
      double z = w + 2 * k;
      sum += z * exp(-0.5 * (z * z - w * w) / t);
    }
    return log(sum) - 0.5 * w * w / t - 0.9189385332046727 - 1.5 * log(t);
  }
  for (int k = 1; k <= 40; k++)
    sum += k * exp(-0.5 * (k * (double)k - 1) * M_PI * M_PI * t) *
           sin(k * M_PI * w);
  return log(M_PI) + log(sum) - 0.5 * M_PI * M_PI * t;
}

/* The log density with normal variation of the drift. Stan's process ends at
 * the upper boundary, which is at distance 1 - beta: drift and start turn. */
static double log_density(const double *x) {
  double t = x[Y] - x[TAU], a = x[ALPHA], w = 1 - x[BETA], v = -x[DELTA];
  double s2 = x[VAR_DELTA] * x[VAR_DELTA];
  if (!(t > 0 && a > 0 && w > 0 && w < 1 && x[VAR_DELTA] >= 0))
    return -INFINITY;
  double spread = 1 + s2 * t;
  double drift =
      (s2 * a * a * w * w - 2 * a * v * w - v * v * t) / (2 * spread) -
      0.5 * log(spread);
  return drift - 2 * log(a) + log_standard(t / (a * a), w);
}

/* Slopes of f by differences, with steps that stay inside. */
static void differences(double (*f)(const double *x), const double *x, int n,
                        double *d) {
  static const double steps[] = {-2, -1, 1, 2};
  double at[MOST];
  memcpy(at, x, sizeof at);
  for (int i = 0; i < n; i++) {
    double room = i == BETA            ? fmin(x[BETA], 1 - x[BETA])
                  : i == TAU || i == Y ? x[Y] - x[TAU]
                                       : fmax(fabs(x[i]), 0.1);
    double h = 1e-3 * room, y[4];
    for (int k = 0; k < 4; k++) {
      at[i] = x[i] + steps[k] * h;
      if (i >= VAR_DELTA)
        at[i] = fabs(at[i]); /* even in them */
      y[k] = f(at);
    }
    at[i] = x[i];
    d[i] = (y[0] - 8 * y[1] + 8 * y[2] - y[3]) / (12 * h);
  }
}

static double plain(const double *x, double *d) {
  if (d)
    differences(log_density, x, VAR_DELTA + 1, d);
  return log_density(x);
}

/* ---- variation of start and time: Gauss-Legendre over a square ----------- */

enum { POINTS = 20 };

typedef struct nodes {
  double x[POINTS], w[POINTS];
  int count;
} nodes;

/* Over (0, 1), or one point when there is no variation. */
static nodes nodes_of(double variation) {
  nodes n = {{0.5}, {1}, 1};
  if (variation <= 0)
    return n;
  gsl_integration_glfixed_table *t =
      gsl_integration_glfixed_table_alloc(POINTS);
  n.count = t ? POINTS : 0;
  for (size_t i = 0; t && i < POINTS; i++)
    gsl_integration_glfixed_point(0, 1, i, &n.x[i], &n.w[i], t);
  if (t)
    gsl_integration_glfixed_table_free(t);
  return n;
}

/* Times within tau + var_tau that are later than y have no density: the
 * interval ends there, and its length is a part of var_tau. */
static double varied(const double *x, double *d) {
  nodes starts = nodes_of(x[VAR_BETA]), times = nodes_of(x[VAR_TAU]);
  double cut = x[VAR_TAU] > 0 ? fmin(1, (x[Y] - x[TAU]) / x[VAR_TAU]) : 1;
  double sum = 0, slopes[MOST] = {0}, inner[MOST];
  if (!(cut > 0 && x[VAR_BETA] < 1))
    return -INFINITY;
  double most = -INFINITY, logs[POINTS * POINTS], parts[POINTS * POINTS][MOST];
  int n = 0;
  for (int i = 0; i < starts.count; i++)
    for (int j = 0; j < times.count; j++, n++) {
      double at[MOST] = {x[0], x[1], x[2], x[3], x[4], x[5]};
      double shift = starts.x[i] - 0.5, delay = cut * times.x[j];
      at[BETA] += shift * x[VAR_BETA];
      at[TAU] += delay * x[VAR_TAU];
      logs[n] = plain(at, d ? inner : NULL) + log(starts.w[i]) +
                log(times.w[j]) + log(cut);
      for (int k = 0; d && k <= VAR_DELTA; k++)
        parts[n][k] = inner[k];
      if (d) {
        parts[n][VAR_BETA] = shift * inner[BETA];
        parts[n][VAR_TAU] = cut < 1 ? -1 / x[VAR_TAU] : delay * inner[TAU];
      }
      most = fmax(most, logs[n]);
    }
  for (int i = 0; i < n; i++) {
    double p = exp(logs[i] - most);
    sum += p;
    for (int k = 0; d && k < MOST; k++)
      slopes[k] += p > 0 ? p * parts[i][k] : 0;
  }
  for (int k = 0; d && k < MOST; k++)
    d[k] = slopes[k] / sum;
  return most + log(sum);
}

/* ---- over containers ---------------------------------------------------- */

static double density(const double *x, double *d) {
  return x[VAR_BETA] > 0 || x[VAR_TAU] > 0 ? varied(x, d) : plain(x, d);
}

static tm_any vectorised(tm_tape *tape, const tm_any *a, int arity,
                         tm_kernel f) {
  tm_view v[MOST];
  tm_partial kept[MOST];
  bool active = false;
  for (int i = 0; i < arity; i++) {
    tm_view_of(&a[i], &v[i]);
    kept[i] = (tm_partial){v[i].d, tm_room(tape, v[i].d, v[i].n), v[i].n};
    active = active || v[i].d;
  }
  long n = tm_common_length(tape, v, arity, "wiener");
  double total = 0;
  for (long k = 0; k < (n < 0 ? 1 : n) && total > -INFINITY; k++) {
    double x[MOST] = {0}, d[MOST] = {0};
    for (int i = 0; i < arity; i++)
      x[i] = v[i].v[k * v[i].stride];
    total += f(x, active ? d : NULL);
    for (int i = 0; i < arity; i++)
      if (kept[i].partial)
        kept[i].partial[k * v[i].stride] += d[i];
  }
  return tm_scalar_result(tape, total, arity, kept);
}

/* The precision that may come last is not needed: series and integrals are
 * taken as far as they go. */
TM_F(wiener) {
  int arity = count & (TM_DIRECT - 1);
  bool precise = arity == MOST - 1 || arity == MOST + 1;
  return vectorised(tape, a, arity - precise, density);
}

/* ---- masses at the upper boundary, before and after y ------------------- */

typedef struct integrand {
  double x[MOST];
} integrand;

static double at_time(double t, void *of) {
  double x[MOST];
  memcpy(x, ((const integrand *)of)->x, sizeof x);
  x[Y] = t;
  return exp(density(x, NULL));
}

static double mass(const double *x, bool upper) {
  enum { INTERVALS = 200 };
  integrand of;
  memcpy(of.x, x, sizeof of.x);
  gsl_function f = {at_time, &of};
  gsl_integration_workspace *w = gsl_integration_workspace_alloc(INTERVALS);
  double value = NAN, error;
  if (w && upper)
    gsl_integration_qagiu(&f, fmax(x[Y], x[TAU]), 0, 1e-10, INTERVALS, w,
                          &value, &error);
  else if (w && x[Y] > x[TAU])
    gsl_integration_qag(&f, x[TAU], x[Y], 0, 1e-10, INTERVALS,
                        GSL_INTEG_GAUSS31, w, &value, &error);
  else if (w)
    value = 0;
  if (w)
    gsl_integration_workspace_free(w);
  return log(value);
}
static double log_before(const double *x) { return mass(x, false); }
static double log_after(const double *x) { return mass(x, true); }

static double before(const double *x, double *d) {
  if (d)
    differences(log_before, x, MOST, d);
  return log_before(x);
}
static double after(const double *x, double *d) {
  if (d)
    differences(log_after, x, MOST, d);
  return log_after(x);
}

enum { PLAIN = 5 };
TM_F(wiener_before) {
  return vectorised(tape, a, count > PLAIN && count != MOST ? count - 1 : count,
                    before);
}
TM_F(wiener_after) {
  return vectorised(tape, a, count > PLAIN && count != MOST ? count - 1 : count,
                    after);
}
