/* barrier.c - the communication barrier (method 4.2),
 *   Lambda(tau) = integral over u of half E_u|l - l'|, l and l' independent.
 *
 * Half the mean difference of a weighted sample sorted by l is the sum over
 * neighbours of (gap in l) F (1 - F), F the weight up to there. */
#include "estimate/summary.h"

#include "estimate/evidence/evidence.h"
#include "numeric/sort.h"
#include "numeric/vector_exp.h"

#include <math.h>

enum { MOST_DRAWS = 20000, PER_DECADE = 10, LANES = 4 };
/* Without weights, bins that reach up to here are continued to tau = 1: the
 * density falls like 1/tau at most. */
static const double NEAR_ONE = 0.5;

/* Draws sorted by l, with -log M_i where there are weights. */
typedef struct sorted_draw {
  double l, log_weight;
} sorted_draw;

typedef struct sample {
  size_t count;
  sorted_draw *draw;
  double *weight;          /* LANES for each draw */
  double *given;           /* log weights as they came */
  tm_ranked *order, *room; /* for sorting */
} sample;

static void put(sample *s, double l, double log_weight) {
  s->order[s->count] = (tm_ranked){l, s->count};
  s->given[s->count++] = log_weight;
}

static void put_in_order(sample *s) {
  tm_ranked_sort(s->order, s->room, s->count);
  for (size_t k = 0; k < s->count; k++)
    s->draw[k] = (sorted_draw){s->order[k].value, s->given[s->order[k].index]};
}

static bool sample_create(tm_arena *arena, size_t most, sample *s) {
  *s = (sample){.draw = TM_NEW(arena, sorted_draw, most),
                .weight = TM_NEW(arena, double, most *LANES),
                .given = TM_NEW(arena, double, most),
                .order = TM_NEW(arena, tm_ranked, most),
                .room = TM_NEW(arena, tm_ranked, most)};
  return s->draw && s->weight && s->given && s->order && s->room;
}

static bool sample_make(const tm_tempered *view, const double *l,
                        const double *log_mass, sample *s) {
  size_t stride = (view->count + MOST_DRAWS - 1) / MOST_DRAWS;
  if (!sample_create(view->arena, view->count / stride + 1, s))
    return false;
  for (size_t i = 0; i < view->count; i += stride)
    if (isfinite(l[i]))
      put(s, l[i], log_mass ? -log_mass[i] : 0);
  put_in_order(s);
  return true;
}

/* For LANES taus together, as each sum would wait for its own last addition:
 * weight k of lane j is at k * LANES + j. */
static void lane_weights(const sample *s, const double *tau) {
  double most[LANES], *w = s->weight;
  for (size_t j = 0; j < LANES; j++)
    most[j] = -INFINITY;
  for (size_t k = 0; k < s->count; k++)
    for (size_t j = 0; j < LANES; j++) {
      double x = tau[j] * s->draw[k].l + s->draw[k].log_weight;
      w[k * LANES + j] = x;
      most[j] = x > most[j] ? x : most[j];
    }
  for (size_t k = 0; k < s->count; k++)
    for (size_t j = 0; j < LANES; j++)
      w[k * LANES + j] -= most[j];
  tm_vector_exp(w, s->count * LANES);
}

static void half_differences(const sample *s, const double *tau, double *out) {
  double total[LANES] = {0}, below[LANES] = {0}, sum[LANES] = {0};
  const double *w = s->weight;
  lane_weights(s, tau);
  for (size_t k = 0; k < s->count; k++)
    for (size_t j = 0; j < LANES; j++)
      total[j] += w[k * LANES + j];
  for (size_t k = 0; k + 1 < s->count; k++) {
    double gap = s->draw[k + 1].l - s->draw[k].l;
    for (size_t j = 0; j < LANES; j++) {
      below[j] += w[k * LANES + j];
      sum[j] += gap * below[j] * (total[j] - below[j]);
    }
  }
  for (size_t j = 0; j < LANES; j++)
    out[j] = sum[j] / (total[j] * total[j]);
}

static double half_difference(const sample *s, double tau) {
  double taus[LANES], out[LANES];
  for (size_t j = 0; j < LANES; j++)
    taus[j] = tau;
  half_differences(s, taus, out);
  return out[0];
}

/* At the first n taus of a grid. */
static void fill_differences(const sample *s, const double *tau, size_t n,
                             double *out) {
  for (size_t k = 0; k < n; k += LANES) {
    double taus[LANES], values[LANES];
    for (size_t j = 0; j < LANES; j++)
      taus[j] = tau[k + j < n ? k + j : k];
    half_differences(s, taus, values);
    for (size_t j = 0; j < LANES && k + j < n; j++)
      out[k + j] = values[j];
  }
}

/* The integral of f over [a, b] as if f were a power of tau: exact for
 * constants and for 1/tau, between which barriers live. */
static double power_integral(double a, double b, double fa, double fb) {
  if (a <= 0 || fa <= 0 || fb <= 0)
    return (b - a) * (a <= 0 ? fb : (fa + fb) / 2);
  double power = log(fb / fa) / log(b / a) + 1;
  return fabs(power) < 1e-6 ? a * fa * log(b / a) : (b * fb - a * fa) / power;
}

/* What the draws support: taus[0 .. below) of the grid by the tempered ones,
 * from the bottom, and taus[above .. n) by the target's, from the top. */
static void find_support(tm_tempered *view, const double *tau, size_t n,
                         size_t *below, size_t *above) {
  double unused;
  *below = 0;
  while (*below < n &&
         tm_tempered_support(view, tau[*below]) >= TM_FEWEST_BATCHES)
    ++*below;
  *above = n;
  while (*above > *below &&
         tm_target_support(view, tau[*above - 1], &unused) >= TM_FEWEST_BATCHES)
    --*above;
}

/* Densities on the grid: by weights where they cover, else by the target draws
 * where these do. Nothing is carried to where no draw has been. */
static bool by_weights(tm_tempered *view, size_t n, tm_barrier *barrier,
                       double *density) {
  sample s, target = {0};
  const double *tau = barrier->tau;
  size_t below, above;
  if (!sample_make(view, view->l, view->log_mass, &s))
    return false;
  if (view->target && !sample_make(view, view->target, NULL, &target))
    return false;
  find_support(view, tau, n, &below, &above);
  barrier->bottom_end = below ? tau[below - 1] : -1;
  barrier->top_start = above < n ? tau[above] : 2;
  fill_differences(&s, tau, below, density);
  for (size_t k = below; k < above; k++)
    density[k] = NAN;
  for (size_t k = above; k < n; k++)
    density[k] = half_difference(&target, tau[k] - 1);
  return true;
}

/* Without weights: the sample of each bin of tau, at its centre. */
static bool by_bins(tm_tempered *view, tm_barrier *barrier) {
  tm_bins bins;
  sample s;
  if (!sample_create(view->arena, view->count, &s) || !tm_bins_ti(view, &bins))
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
      put(&s, view->l[view->order[k]], 0);
    put_in_order(&s);
    density = half_difference(&s, 0);
    barrier->tau[j + 1] = bins.edge[j + 1];
    barrier->value[j + 1] =
        barrier->value[j] + density * (bins.edge[j + 1] - bins.edge[j]);
  }
  size_t n = bins.count + 1;
  barrier->bottom_end = barrier->tau[n - 1];
  if (bins.count && barrier->tau[n - 1] >= NEAR_ONE) {
    barrier->tau[n] = barrier->bottom_end = 1;
    barrier->value[n] =
        barrier->value[n - 1] + density * (1 - barrier->tau[n - 1]);
    n++;
  }
  barrier->count = n;
  barrier->total =
      bins.count && barrier->bottom_end == 1 ? barrier->value[n - 1] : NAN;
  barrier->top_start = 2;
  return true;
}

static bool on_grid(tm_tempered *view, tm_barrier *barrier) {
  size_t n;
  double *tau = tm_tau_grid(view->arena, view->tau_min, PER_DECADE, &n);
  if (!tau)
    return false;
  double *density = TM_NEW(view->arena, double, n);
  double *value = TM_NEW(view->arena, double, n);
  *barrier = (tm_barrier){.count = n, .tau = tau, .value = value};
  if (!density || !value || !by_weights(view, n, barrier, density))
    return false;
  bool whole = true;
  for (size_t k = 1; k < n; k++) {
    bool known = isfinite(density[k - 1]) && isfinite(density[k]);
    whole = whole && known;
    value[k] = value[k - 1];
    if (known)
      value[k] +=
          power_integral(tau[k - 1], tau[k], density[k - 1], density[k]);
  }
  barrier->total = whole ? value[n - 1] : NAN;
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

static double value_at(const tm_barrier *barrier, double tau) {
  tm_loglinear f = {barrier->count, barrier->tau, barrier->value, -INFINITY};
  return tm_loglinear_at(&f, tau);
}

double tm_barrier_share(const tm_barrier *barrier, double tau) {
  if (barrier->count >= 2 && barrier->total > 0)
    return value_at(barrier, tau) / barrier->total;
  if (barrier->count < 2)
    return tau; /* nothing known: tau itself */
  return tau <= barrier->tau[0] ? 0 : tau >= 1 ? 1 : 0.5;
}

double tm_barrier_between(const tm_barrier *barrier, double a, double b) {
  bool known = b <= barrier->bottom_end || a >= barrier->top_start;
  return barrier->count >= 2 && known
             ? value_at(barrier, b) - value_at(barrier, a)
             : NAN;
}
