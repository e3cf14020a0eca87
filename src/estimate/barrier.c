/* barrier.c - the communication barrier (method 4.2),
 *   Lambda(tau) = integral over u of half E_u|l - l'|, l and l' independent.
 *
 * Half the mean difference of a weighted sample sorted by l is the sum over
 * neighbours of (gap in l) F (1 - F), F the weight up to there. */
#include "estimate/summary.h"

#include "estimate/evidence.h"
#include "numeric/vector_exp.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_DRAWS = 20000, PER_DECADE = 10 };

/* Draws sorted by l, with -log M_i where there are weights. */
typedef struct sorted_draw {
  double l, log_weight;
} sorted_draw;

typedef struct sample {
  size_t count;
  sorted_draw *draw;
  double *weight;
} sample;

static int compare_l(const void *a, const void *b) {
  double x = ((const sorted_draw *)a)->l, y = ((const sorted_draw *)b)->l;
  return x < y ? -1 : x > y;
}

static bool sample_make(const tm_tempered *view, const double *l,
                        const double *log_mass, sample *s) {
  size_t stride = (view->count + MOST_DRAWS - 1) / MOST_DRAWS;
  size_t most = view->count / stride + 1;
  s->count = 0;
  s->draw = TM_NEW(view->arena, sorted_draw, most);
  s->weight = TM_NEW(view->arena, double, most);
  if (!s->draw || !s->weight)
    return false;
  for (size_t i = 0; i < view->count; i += stride)
    if (isfinite(l[i]))
      s->draw[s->count++] = (sorted_draw){l[i], log_mass ? -log_mass[i] : 0};
  qsort(s->draw, s->count, sizeof(sorted_draw), compare_l);
  return true;
}

static double half_difference(sample *s, double tau) {
  double most = -INFINITY, total = 0, below = 0, sum = 0;
  for (size_t k = 0; k < s->count; k++) {
    s->weight[k] = tau * s->draw[k].l + s->draw[k].log_weight;
    most = s->weight[k] > most ? s->weight[k] : most;
  }
  for (size_t k = 0; k < s->count; k++)
    s->weight[k] -= most;
  tm_vector_exp(s->weight, s->count);
  for (size_t k = 0; k < s->count; k++)
    total += s->weight[k];
  for (size_t k = 0; k + 1 < s->count; k++) {
    below += s->weight[k];
    sum += (s->draw[k + 1].l - s->draw[k].l) * below * (total - below);
  }
  return sum / (total * total);
}

/* The integral of f over [a, b] as if f were a power of tau: exact for
 * constants and for 1/tau, between which barriers live. */
static double power_integral(double a, double b, double fa, double fb) {
  if (a <= 0 || fa <= 0 || fb <= 0)
    return (b - a) * (a <= 0 ? fb : (fa + fb) / 2);
  double power = log(fb / fa) / log(b / a) + 1;
  return fabs(power) < 1e-6 ? a * fa * log(b / a) : (b * fb - a * fa) / power;
}

/* Densities on the grid by weights; above what they cover, a straight line
 * to the target chain's value, or the last one known. */
static bool by_weights(tm_tempered *view, const double *tau, size_t n,
                       double *density) {
  sample s, target = {0};
  if (!sample_make(view, view->l, view->log_mass, &s))
    return false;
  if (view->target && !sample_make(view, view->target, NULL, &target))
    return false;
  double top = view->weight_top, at_top = half_difference(&s, top);
  double at_one = target.count ? half_difference(&target, 0) : at_top;
  for (size_t k = 0; k < n; k++)
    density[k] = tau[k] <= top
                     ? half_difference(&s, tau[k])
                     : at_top + (at_one - at_top) * (tau[k] - top) / (1 - top);
  return true;
}

/* Without weights: the sample of each bin of tau, at its centre. */
static bool by_bins(tm_tempered *view, tm_barrier *barrier) {
  tm_bins bins;
  sample s = {.draw = TM_NEW(view->arena, sorted_draw, view->count),
              .weight = view->weight};
  if (!s.draw || !tm_bins_ti(view, &bins))
    return false;
  barrier->tau = TM_NEW(view->arena, double, bins.count + 2);
  barrier->value = TM_NEW(view->arena, double, bins.count + 2);
  if (!barrier->tau || !barrier->value)
    return false;
  barrier->tau[0] = view->tau_min;
  double density = 0;
  for (size_t j = 0; j < bins.count; j++) {
    s.count = 0;
    for (size_t k = bins.first[j]; k < bins.first[j + 1]; k++)
      s.draw[s.count++] = (sorted_draw){view->l[view->order[k]], 0};
    qsort(s.draw, s.count, sizeof(sorted_draw), compare_l);
    density = half_difference(&s, 0);
    barrier->tau[j + 1] = bins.edge[j + 1];
    barrier->value[j + 1] =
        barrier->value[j] + density * (bins.edge[j + 1] - bins.edge[j]);
  }
  size_t n = bins.count + 1;
  if (bins.count && barrier->tau[n - 1] < 1) {
    barrier->tau[n] = 1;
    barrier->value[n] =
        barrier->value[n - 1] + density * (1 - barrier->tau[n - 1]);
    n++;
  }
  barrier->count = n;
  barrier->total = bins.count ? barrier->value[n - 1] : NAN;
  return true;
}

static bool on_grid(tm_tempered *view, tm_barrier *barrier) {
  size_t n;
  double *tau = tm_tau_grid(view->arena, view->tau_min, PER_DECADE, &n);
  if (!tau)
    return false;
  double *density = TM_NEW(view->arena, double, n);
  double *value = TM_NEW(view->arena, double, n);
  if (!density || !value || !by_weights(view, tau, n, density))
    return false;
  for (size_t k = 1; k < n; k++)
    value[k] = value[k - 1] +
               power_integral(tau[k - 1], tau[k], density[k - 1], density[k]);
  *barrier = (tm_barrier){n, tau, value, value[n - 1]};
  return true;
}

tempera_status tm_barrier_find(tm_tempered *view, tm_barrier *barrier,
                               tempera_error *error) {
  *barrier = (tm_barrier){.total = NAN};
  if (view->ordered < 2)
    return TEMPERA_OK;
  bool made = view->log_mass ? on_grid(view, barrier) : by_bins(view, barrier);
  return made ? TEMPERA_OK : tm_fail_memory(error);
}

double tm_barrier_share(const tm_barrier *barrier, double tau) {
  if (barrier->count < 2 || !(barrier->total > 0))
    return tau; /* nothing known: tau itself */
  tm_loglinear f = {barrier->count, barrier->tau, barrier->value, -INFINITY};
  return tm_loglinear_at(&f, tau) / barrier->total;
}
