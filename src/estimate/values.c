/* values.c - the parameter table: means, quantiles, probabilities of integers,
 * and how well each was sampled.
 *
 * From the target chain when there is one. A method without one (stwnc) has
 * its tempered draws weighted to tau = 1 by p(1 | theta), in which case there
 * is no R-hat, and the effective sample size is Kish's.
 *
 * Values are taken one after another by workers, each on a thread of its own:
 * what comes out for a value does not depend on who took it. */
#include "estimate/findings.h"
#include "estimate/summary.h"

#include "estimate/estimate.h"
#include "estimate/evidence/influence.h"
#include "estimate/mixing/mixing.h"
#include "parallel/threads.h"

#include <math.h>
#include <stdatomic.h>

enum { LARGEST_SUPPORT = 50 };

/* What all workers look at, and what is theirs to fill. */
typedef struct table {
  const tempera_draws *draws;
  double *const *columns; /* [chain * width + value]; NULL: the draws' own */
  size_t width;           /* values */
  size_t rows, count;
  tempera_role role;
  double *weight; /* for weighted draws: sums to 1; else all are equal */
  double equal;
  tempera_value_summary *values;
  atomic_size_t next; /* value that nobody has taken yet */
} table;

/* One thread's workspace. */
typedef struct worker {
  table *table;
  tm_arena *arena;
  tm_ranked *sorted, *room;
  tm_mixing_work *mixing; /* for target draws */
  double *influence;      /* for weighted ones */
  tempera_status status;
} worker;

struct tm_values {
  tm_arena *arena;
  table table;
  worker worker[TM_MOST_WORKERS];
};

static double weight_of(const table *t, size_t index) {
  return t->weight ? t->weight[index] : t->equal;
}

static const double *column_of(const table *t, size_t chain, size_t i) {
  return t->columns ? t->columns[chain * t->width + i]
                    : tm_draws_column(t->draws, t->role, chain, i);
}

/* False when there is a NaN, which has no place in an order. */
static bool sort_value(worker *w, size_t i) {
  const table *t = w->table;
  for (size_t c = 0; c < t->draws->chains; c++) {
    const double *x = column_of(t, c, i);
    for (size_t k = 0; k < t->rows; k++) {
      if (isnan(x[k]))
        return false;
      w->sorted[c * t->rows + k] = (tm_ranked){x[k], c * t->rows + k};
    }
  }
  tm_ranked_sort(w->sorted, w->room, t->count);
  return true;
}

static void fill_moments(const worker *w, tempera_value_summary *v) {
  /* About the median: exact for constants, and little to cancel. */
  const table *t = w->table;
  double middle = w->sorted[t->count / 2].value, off = 0, squares = 0;
  for (size_t k = 0; k < t->count; k++)
    off += weight_of(t, w->sorted[k].index) * (w->sorted[k].value - middle);
  double mean = middle + off;
  for (size_t k = 0; k < t->count; k++) {
    double d = w->sorted[k].value - mean;
    squares += weight_of(t, w->sorted[k].index) * d * d;
  }
  double n = (double)t->count;
  v->mean = mean;
  v->sd = n > 1 ? sqrt(t->weight ? squares : squares * n / (n - 1)) : NAN;
}

/* The smallest value whose share from below reaches p. */
static double weighted_quantile(const worker *w, double p) {
  const table *t = w->table;
  double below = 0;
  for (size_t k = 0; k < t->count; k++) {
    below += t->weight[w->sorted[k].index];
    if (below >= p)
      return w->sorted[k].value;
  }
  return w->sorted[t->count - 1].value;
}

static double quantile(const worker *w, double p) {
  return w->table->weight ? weighted_quantile(w, p)
                          : tm_ranked_quantile(w->sorted, w->table->count, p);
}

static void fill_mixing(const worker *w, tempera_value_summary *v) {
  const table *t = w->table;
  if (!t->weight) {
    tm_mixing m = tm_mixing_measure(w->mixing, w->sorted);
    v->rhat = m.rhat;
    v->ess_bulk = m.ess_bulk;
    v->ess_tail = m.ess_tail;
    v->mcse = v->sd / sqrt(m.ess_mean);
    return;
  }
  double squares = 0, n = (double)t->count;
  for (size_t k = 0; k < t->count; k++) {
    size_t i = w->sorted[k].index;
    squares += t->weight[i] * t->weight[i];
    w->influence[i] = n * t->weight[i] * (w->sorted[k].value - v->mean);
  }
  v->ess_bulk = 1 / squares;
  v->mcse = tm_influence_error(w->influence, t->draws->chains, t->rows).se;
}

static size_t support_size(const worker *w) {
  size_t distinct = 0;
  for (size_t k = 0; k < w->table->count; k++)
    distinct += k == 0 || w->sorted[k].value != w->sorted[k - 1].value;
  return distinct;
}

static tempera_status fill_pmf(const worker *w, tempera_value_summary *v) {
  size_t distinct = support_size(w);
  if (distinct > LARGEST_SUPPORT)
    return TEMPERA_OK;
  v->pmf = tm_heap_alloc(distinct, sizeof *v->pmf);
  if (!v->pmf)
    return TEMPERA_ERROR_MEMORY;
  for (size_t k = 0; k < w->table->count; k++) {
    if (k == 0 || w->sorted[k].value != w->sorted[k - 1].value)
      v->pmf[v->pmf_count++].value = (int64_t)llround(w->sorted[k].value);
    v->pmf[v->pmf_count - 1].probability +=
        weight_of(w->table, w->sorted[k].index);
  }
  return TEMPERA_OK;
}

static tempera_status fill_value(worker *w, size_t i) {
  const table *t = w->table;
  tempera_value_summary *v = &t->values[i];
  if (!sort_value(w, i))
    return TEMPERA_OK;
  fill_moments(w, v);
  v->q5 = quantile(w, 0.05);
  v->q50 = quantile(w, 0.5);
  v->q95 = quantile(w, 0.95);
  fill_mixing(w, v);
  bool integer = !t->columns && t->draws->integer && t->draws->integer[i];
  return integer ? fill_pmf(w, v) : TEMPERA_OK;
}

tempera_status tm_estimate_name_values(const char *const *names, size_t count,
                                       tempera_value_summary **values,
                                       size_t *value_count,
                                       tempera_error *error) {
  *values = count ? tm_heap_alloc(count, sizeof **values) : NULL;
  if (count && !*values)
    return tm_fail_memory(error);
  for (size_t i = 0; i < count; i++) {
    tempera_value_summary *v = &(*values)[(*value_count)++];
    *v = (tempera_value_summary){.mean = NAN,
                                 .sd = NAN,
                                 .mcse = NAN,
                                 .q5 = NAN,
                                 .q50 = NAN,
                                 .q95 = NAN,
                                 .ess_bulk = NAN,
                                 .ess_tail = NAN,
                                 .rhat = NAN};
    v->name = tm_heap_text(names[i]);
    if (!v->name)
      return tm_fail_memory(error);
  }
  return TEMPERA_OK;
}

/* Weights p(1 | theta) for tempered draws; t->weight stays NULL when there is
 * no tau prior to have them from. */
static tempera_status weigh(tm_arena *arena, table *t, tempera_error *error) {
  tm_tempered view;
  TM_TRY(tm_tempered_create(t->draws, t->count, &view, error));
  tempera_status status = TEMPERA_OK;
  if (view.log_mass && tm_tempered_weights(&view, 1) > -INFINITY) {
    t->weight = TM_NEW(arena, double, t->count);
    double sum = 0;
    for (size_t i = 0; t->weight && i < t->count; i++)
      sum += view.weight[i];
    for (size_t i = 0; t->weight && i < t->count; i++)
      t->weight[i] = view.weight[i] / sum;
    if (!t->weight)
      status = tm_fail_memory(error);
  }
  tm_tempered_free(&view);
  return status;
}

static bool worker_create(table *t, worker *w) {
  *w = (worker){.table = t, .arena = tm_arena_create()};
  if (!w->arena)
    return false;
  if (t->weight)
    w->influence = TM_NEW(w->arena, double, t->count);
  else
    w->mixing = tm_mixing_work_create(w->arena, t->draws->chains, t->rows);
  w->sorted = TM_NEW(w->arena, tm_ranked, t->count);
  w->room = TM_NEW(w->arena, tm_ranked, t->count);
  return w->sorted && w->room && (w->mixing || w->influence);
}

void tm_values_work(tm_values *values, size_t k) {
  worker *w = &values->worker[k];
  table *t = &values->table;
  size_t i;
  if (t->role == TEMPERA_TEMPERED && !t->weight)
    return;
  if (!worker_create(t, w))
    w->status = TEMPERA_ERROR_MEMORY;
  while (w->status == TEMPERA_OK &&
         (i = atomic_fetch_add(&t->next, 1)) < t->width)
    w->status = fill_value(w, i);
  tm_arena_free(w->arena);
}

tempera_status tm_values_begin(const tempera_draws *draws,
                               double *const *columns, size_t width,
                               tempera_value_summary *summaries,
                               tm_values **values, tempera_error *error) {
  bool target = draws->has_role[TEMPERA_TARGET];
  *values = NULL;
  if (draws->count == 0 || draws->chains == 0 ||
      (!target && !draws->has_role[TEMPERA_TEMPERED]))
    return TEMPERA_OK;
  tm_arena *arena;
  tm_values *made = TM_BEGIN(&arena, tm_values);
  tempera_status status = made ? TEMPERA_OK : tm_fail_memory(error);
  if (made) {
    table *t = &made->table;
    made->arena = arena;
    t->draws = draws;
    t->columns = columns;
    t->width = width;
    t->values = summaries;
    t->role = target ? TEMPERA_TARGET : TEMPERA_TEMPERED;
    t->rows = tm_draws_rows(draws, t->role);
    t->count = t->rows * draws->chains;
    t->equal = 1 / (double)t->count;
    if (!target)
      status = weigh(arena, t, error);
  }
  if (status != TEMPERA_OK)
    tm_arena_free(arena);
  else
    *values = made;
  return status;
}

size_t tm_values_workers(const tm_values *values, int threads) {
  size_t most = threads > 0 ? (size_t)threads : 1;
  size_t width = values ? values->table.width : 0;
  most = most < TM_MOST_WORKERS ? most : TM_MOST_WORKERS;
  return most < width ? most : width;
}

tempera_status tm_values_end(tm_values *values, tempera_summary *summary,
                             tempera_error *error) {
  if (!values)
    return TEMPERA_OK;
  const table *t = &values->table;
  tempera_status status = TEMPERA_OK;
  for (size_t k = 0; k < TM_MOST_WORKERS; k++)
    if (values->worker[k].status != TEMPERA_OK)
      status = TEMPERA_ERROR_MEMORY;
  const char *how = t->weight
                        ? ": parameters are the tempered draws weighted to "
                          "tau = 1"
                        : ", and no tau prior to weight the tempered draws by: "
                          "parameters are not estimated";
  if (summary && t->role == TEMPERA_TEMPERED && status == TEMPERA_OK)
    status =
        tm_find_about(summary, TM_FIND_NO_TARGET, NAN, NAN, NULL, "%s", how);
  tm_arena_free(values->arena);
  return status == TEMPERA_OK ? TEMPERA_OK : tm_fail_memory(error);
}

static void work(size_t k, void *context) { tm_values_work(context, k); }

tempera_status tm_estimate_values(const tempera_draws *draws,
                                  double *const *columns, size_t count,
                                  int threads, tempera_value_summary *values,
                                  tempera_error *error) {
  tm_values *made;
  TM_TRY(tm_values_begin(draws, columns, count, values, &made, error));
  tm_parallel_for(tm_values_workers(made, threads), threads, work, made);
  return tm_values_end(made, NULL, error);
}
