/* tempered.c - flat views, weights and coverage; see tempered.h.
 *
 * Coverage keeps estimators honest: under the profile prior in several
 * dimensions the chain hardly ever climbs to tau = 1 (method 3.4), and
 * estimates that reach there look fine and mean nothing. */
#include "estimate/evidence/evidence.h"

#include "numeric/sort.h"
#include "numeric/triangular.h"
#include "numeric/vector_exp.h"

#include <math.h>
#include <string.h>

enum {
  COVERAGE_BATCHES = 64,
  BISECTIONS = 8,
  CACHED = 1024 /* numbers that stay in the cache between two loops */
};

static double *copy_column(tm_arena *arena, const tempera_draws *draws,
                           tempera_role role, tm_column column, size_t stride,
                           size_t rows) {
  double *flat = TM_NEW(arena, double, draws->chains *rows);
  for (size_t c = 0; flat && c < draws->chains; c++) {
    const double *from =
        tm_draws_column(draws, role, c, draws->size + (size_t)column);
    for (size_t i = 0; i < rows; i++)
      flat[c * rows + i] = from[i * stride];
  }
  return flat;
}

static bool sort_by_tau(tm_tempered *view) {
  tm_ranked *pairs = tm_heap_alloc(2 * view->count, sizeof *pairs);
  view->order = TM_NEW(view->arena, size_t, view->count);
  if (!pairs || !view->order) {
    tm_heap_free(pairs);
    return false;
  }
  size_t n = 0;
  for (size_t i = 0; i < view->count; i++) {
    bool at_atom = view->has_atom && view->tau[i] == 0;
    if (!at_atom && isfinite(view->l[i]) && isfinite(view->tau[i]))
      pairs[n++] = (tm_ranked){view->tau[i], i};
  }
  tm_ranked_sort(pairs, pairs + view->count, n);
  for (size_t i = 0; i < n; i++)
    view->order[i] = pairs[i].index;
  view->ordered = n;
  tm_heap_free(pairs);
  return true;
}

/* A draw of zero likelihood has M = the atom; without an atom it is outside
 * the target, and M = infinity takes its weight away. */
static void fill_masses(tm_tempered *view) {
  for (size_t i = 0; i < view->count; i++) {
    double l = view->l[i];
    if (i > 0 && l == view->l[i - 1]) /* a held theta */
      view->log_mass[i] = view->log_mass[i - 1];
    else
      view->log_mass[i] = view->levels.count
                              ? tm_levels_log_mass(&view->levels, l)
                              : tm_loglinear_log_mass(&view->prior, l);
    if (view->log_mass[i] == -INFINITY || isnan(view->log_mass[i]))
      view->log_mass[i] = INFINITY;
  }
}

/* Lanes of the largest exponent, so that the comparisons need not wait for
 * each other. */
enum { LANES = 8 };

static double exponents(const tm_tempered *view, double tau) {
  double most[LANES], *x = view->weight;
  for (size_t k = 0; k < LANES; k++)
    most[k] = -INFINITY;
  for (size_t i = 0; i < view->count; i++)
    x[i] = (tau == 0 ? 0 : tau * view->l[i]) - view->log_mass[i];
  size_t i = 0;
  for (; i + LANES <= view->count; i += LANES)
    for (size_t k = 0; k < LANES; k++)
      most[k] = x[i + k] > most[k] ? x[i + k] : most[k];
  for (; i < view->count; i++)
    most[0] = x[i] > most[0] ? x[i] : most[0];
  for (size_t k = 1; k < LANES; k++)
    most[0] = most[k] > most[0] ? most[k] : most[0];
  return most[0];
}

double tm_tempered_weights(tm_tempered *view, double tau) {
  double shift = exponents(view, tau);
  if (shift == -INFINITY) {
    memset(view->weight, 0, view->count * sizeof(double));
    return shift;
  }
  for (size_t i = 0; i < view->count; i += CACHED) {
    double *x = view->weight + i;
    size_t n = view->count - i < CACHED ? view->count - i : CACHED;
    for (size_t k = 0; k < n; k++)
      x[k] -= shift;
    tm_vector_exp(x, n);
  }
  return shift;
}

double tm_tempered_log_mean(tm_tempered *view, double tau) {
  double shift = tm_tempered_weights(view, tau);
  return shift + log(tm_sum(view->weight, view->count) / (double)view->count);
}

/* Products first, then their sums: GCC 12 gets a condition inside of several
 * sums at once wrong. */
double tm_tempered_mean(const tm_tempered *view) {
  double product[CACHED], sum = 0;
  for (size_t i = 0; i < view->count; i += CACHED) {
    const double *w = view->weight + i, *l = view->l + i;
    size_t n = view->count - i < CACHED ? view->count - i : CACHED;
    for (size_t k = 0; k < n; k++)
      product[k] = w[k] == 0 ? 0 : w[k] * l[k];
    sum += tm_sum(product, n);
  }
  return sum / tm_sum(view->weight, view->count);
}

double tm_tempered_batches(const tm_tempered *view) {
  double total = 0, squares = 0;
  size_t per_chain = view->chain_batches;
  for (size_t j = 0; j < view->chains * per_chain; j++) {
    size_t chain = j / per_chain, k = j % per_chain;
    size_t first = k * view->rows / per_chain;
    size_t last = (k + 1) * view->rows / per_chain;
    double sum =
        tm_sum(view->weight + chain * view->rows + first, last - first);
    total += sum;
    squares += sum * sum;
  }
  return squares > 0 ? total * total / squares : 0;
}

/* How far down draws may speak. */
static const double REACH = 2;

double tm_tempered_support(tm_tempered *view, double tau) {
  if (tm_tempered_weights(view, tau) == -INFINITY)
    return 0;
  double reach = fmax(REACH * tau, view->lowest);
  for (size_t i = 0; i < view->count; i++)
    if (view->tau[i] > reach)
      view->weight[i] = 0;
  return tm_tempered_batches(view);
}

double tm_target_support(tm_tempered *view, double tau, double *log_mean) {
  double most = -INFINITY;
  *log_mean = NAN;
  for (size_t i = 0; i < view->count && view->target; i++)
    most = fmax(most, view->weight[i] = (tau - 1) * view->target[i]);
  if (!isfinite(most))
    return 0;
  for (size_t i = 0; i < view->count; i++)
    view->weight[i] = exp(view->weight[i] - most);
  *log_mean =
      most + log(tm_sum(view->weight, view->count) / (double)view->count);
  return tau * REACH >= 1 ? tm_tempered_batches(view) : 0;
}

static bool covered(tm_tempered *view, double tau) {
  tm_tempered_weights(view, tau);
  return tm_tempered_batches(view) >= TM_FEWEST_BATCHES;
}

static bool cover_by_weights(tm_tempered *view) {
  size_t n;
  double *grid = tm_tau_grid(view->arena, view->tau_min, 3, &n);
  if (!grid)
    return false;
  view->bottom = covered(view, view->tau_min);
  view->weight_top = view->tau_min;
  size_t k = 1;
  while (view->bottom && k < n && covered(view, grid[k]))
    view->weight_top = grid[k++];
  if (!view->bottom || k == n)
    return true;
  double low = view->weight_top, high = grid[k];
  for (int i = 0; i < BISECTIONS; i++) {
    double middle = (low + high) / 2;
    *(covered(view, middle) ? &low : &high) = middle;
  }
  view->weight_top = low;
  return true;
}

/* The largest tau such that the draws above it come from enough batches. */
static bool cover_by_draws(tm_tempered *view) {
  size_t batches = view->chains * view->chain_batches;
  double *visits = TM_NEW(view->arena, double, batches);
  if (!visits)
    return false;
  double total = 0, squares = 0;
  view->draw_top = view->tau_min;
  for (size_t k = view->ordered; k-- > 0;) {
    size_t i = view->order[k], chain = i / view->rows, row = i % view->rows;
    double *v = visits + chain * view->chain_batches +
                row * view->chain_batches / view->rows;
    squares += 2 * *v + 1;
    total += 1;
    *v += 1;
    if (total * total >= TM_FEWEST_BATCHES * squares) {
      view->draw_top = view->tau[i];
      break;
    }
  }
  return true;
}

/* Without weights: do the lowest draws (1 %, at least 100) reach down to
 * tau_min, or stop short of it? Enough must lie in the lower half. */
static bool bottom_by_draws(tm_tempered *view) {
  if (view->ordered == 0)
    return false;
  size_t k = view->ordered / 100, lower = 0;
  k = k < 100 ? 100 : k;
  k = k < view->ordered ? k : view->ordered - 1;
  double half = (view->tau_min + view->tau[view->order[k]]) / 2;
  while (lower < k && view->tau[view->order[lower]] <= half)
    lower++;
  bool reached = lower >= TM_FEWEST_BATCHES;
  if (reached && !view->has_atom)
    view->lowest = view->tau[view->order[k]];
  return reached;
}

/* The reference leg's, where the draws were not read from files, which lack
 * them. */
static bool copy_excess(const tempera_draws *draws, size_t stride,
                        tm_tempered *view) {
  size_t column = draws->size + TM_EXCESS;
  double first = tm_draws_column(draws, TEMPERA_TEMPERED, 0, column)[0];
  if (!view->target || first == 0 || isnan(first))
    return true;
  view->excess = copy_column(view->arena, draws, TEMPERA_TEMPERED, TM_EXCESS,
                             stride, view->rows);
  view->target_excess = copy_column(view->arena, draws, TEMPERA_TARGET,
                                    TM_EXCESS, stride, view->rows);
  return view->excess && view->target_excess;
}

static bool fill(const tempera_draws *draws, size_t stride, tm_tempered *view) {
  tm_arena *arena = view->arena;
  view->tau =
      copy_column(arena, draws, TEMPERA_TEMPERED, TM_TAU, stride, view->rows);
  view->l = copy_column(arena, draws, TEMPERA_TEMPERED, TM_LOG_LIKELIHOOD,
                        stride, view->rows);
  view->weight = TM_NEW(arena, double, view->count);
  if (!view->tau || !view->l || !view->weight || !sort_by_tau(view))
    return false;
  view->highest = -INFINITY;
  for (size_t i = 0; i < view->count; i++)
    view->highest = fmax(view->highest, view->l[i]);
  if (draws->has_role[TEMPERA_TARGET] && draws->width == 1) {
    view->target = copy_column(arena, draws, TEMPERA_TARGET, TM_LOG_LIKELIHOOD,
                               stride, view->rows);
    for (size_t i = 0; view->target && i < view->count; i++)
      view->highest = fmax(view->highest, view->target[i]);
    if (!view->target)
      return false;
  }
  if (!copy_excess(draws, stride, view) || !cover_by_draws(view))
    return false;
  view->weight_top = view->draw_top;
  view->bottom = bottom_by_draws(view);
  if (!view->prior.count && !view->levels.count)
    return true;
  view->log_mass = TM_NEW(arena, double, view->count);
  if (!view->log_mass)
    return false;
  fill_masses(view);
  return cover_by_weights(view);
}

/* An empty view; gives the stride at which it takes rows of a role, 0 when
 * there are none. */
static tempera_status begin(const tempera_draws *draws, tempera_role role,
                            size_t limit, tm_tempered *view, size_t *stride,
                            tempera_error *error) {
  *view = (tm_tempered){.arena = tm_arena_create(),
                        .tau_min = draws->tau_min,
                        .highest = -INFINITY};
  *stride = 0;
  if (!view->arena)
    return tm_fail_memory(error);
  size_t rows = draws->has_role[role] ? tm_draws_rows(draws, role) : 0;
  if (!rows || !draws->chains)
    return TEMPERA_OK;
  *stride = (draws->chains * rows + limit - 1) / limit;
  view->chains = draws->chains;
  view->rows = (rows + *stride - 1) / *stride;
  view->count = view->chains * view->rows;
  return TEMPERA_OK;
}

tempera_status tm_tempered_create_target(const tempera_draws *draws,
                                         size_t limit, tm_tempered *view,
                                         tempera_error *error) {
  size_t stride;
  TM_TRY(begin(draws, TEMPERA_TARGET, limit, view, &stride, error));
  if (!stride)
    return TEMPERA_OK;
  view->target = copy_column(view->arena, draws, TEMPERA_TARGET,
                             TM_LOG_LIKELIHOOD, stride, view->rows);
  if (view->target)
    return TEMPERA_OK;
  tm_tempered_free(view);
  return tm_fail_memory(error);
}

tempera_status tm_tempered_create(const tempera_draws *draws, size_t limit,
                                  tm_tempered *view, tempera_error *error) {
  size_t stride;
  TM_TRY(begin(draws, TEMPERA_TEMPERED, limit, view, &stride, error));
  if (!stride)
    return TEMPERA_OK;
  size_t batches = (COVERAGE_BATCHES + view->chains - 1) / view->chains;
  view->chain_batches = batches < view->rows ? batches : view->rows;
  view->prior = (tm_loglinear){draws->prior.knots, draws->prior.tau,
                               draws->prior.log_prior, draws->prior.log_atom};
  if (view->prior.count < 2)
    view->prior.count = 0;
  view->prior_steps = draws->prior.steps;
  view->has_atom = view->prior.count && draws->prior.log_atom > -INFINITY;
  if (draws->levels.log_weight) {
    view->levels = draws->levels;
    view->has_atom = draws->levels.tau[0] == 0;
  }
  if (fill(draws, stride, view))
    return TEMPERA_OK;
  tm_tempered_free(view);
  return tm_fail_memory(error);
}

void tm_tempered_free(tm_tempered *view) {
  tm_arena_free(view->arena);
  *view = (tm_tempered){0};
}

double *tm_tau_grid(tm_arena *arena, double tau_min, size_t per_decade,
                    size_t *count) {
  const double linear = 0.1; /* log-spaced below, even above */
  double lowest = tau_min > 0 ? tau_min : 1e-8;
  double decades = lowest < linear ? log10(linear / lowest) : 0;
  size_t logs = (size_t)ceil(decades * (double)per_decade), n = 0;
  size_t evens = 5 * per_decade;
  double *grid = TM_NEW(arena, double, logs + evens + 2);
  if (!grid)
    return NULL;
  if (tau_min <= 0)
    grid[n++] = 0;
  for (size_t k = 0; k < logs; k++)
    grid[n++] = lowest * pow(10, decades * (double)k / (double)logs);
  double from = lowest < linear ? linear : lowest;
  for (size_t k = 0; k <= evens && from < 1; k++)
    grid[n++] = from + (1 - from) * (double)k / (double)evens;
  if (n == 0)
    n = 1; /* tau_min = 1: nothing to resolve */
  grid[n - 1] = 1;
  *count = n;
  return grid;
}
