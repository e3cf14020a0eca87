/* values.c - the parameter table: means, quantiles, probabilities of whole
 * values, and how well each was sampled.
 *
 * From the target chain when there is one. A method without one (stwnc) has
 * its tempered draws weighted to tau = 1 by p(1 | theta), in which case there
 * is no R-hat, and the effective sample size is Kish's. */
#include "estimate/summary.h"

#include "estimate/estimate.h"
#include "estimate/influence.h"
#include "estimate/mixing.h"

#include <math.h>
#include <string.h>

enum { LARGEST_SUPPORT = 50 };

typedef struct table {
  const tempera_draws *draws;
  double *const *columns; /* [chain * width + value]; NULL: the draws' own */
  size_t width;           /* values */
  size_t rows, count;
  tempera_role role;
  tm_arena *arena;
  tm_ranked *sorted, *room;
  tm_mixing_work *mixing; /* for target draws */
  double *weight;         /* for weighted ones: sums to 1 */
  double *influence;      /* workspace, weighted only */
} table;

static double weight_of(const table *t, size_t index) {
  return t->weight ? t->weight[index] : 1 / (double)t->count;
}

static const double *column_of(const table *t, size_t chain, size_t i) {
  return t->columns ? t->columns[chain * t->width + i]
                    : tm_draws_column(t->draws, t->role, chain, i);
}

/* False when there is a NaN, which has no place in an order. */
static bool sort_value(table *t, size_t i) {
  for (size_t c = 0; c < t->draws->chains; c++) {
    const double *x = column_of(t, c, i);
    for (size_t k = 0; k < t->rows; k++) {
      if (isnan(x[k]))
        return false;
      t->sorted[c * t->rows + k] = (tm_ranked){x[k], c * t->rows + k};
    }
  }
  tm_ranked_sort(t->sorted, t->room, t->count);
  return true;
}

static void fill_moments(const table *t, tempera_value_summary *v) {
  /* About the median: exact for constants, and little to cancel. */
  double middle = t->sorted[t->count / 2].value, off = 0, squares = 0;
  for (size_t k = 0; k < t->count; k++)
    off += weight_of(t, t->sorted[k].index) * (t->sorted[k].value - middle);
  double mean = middle + off;
  for (size_t k = 0; k < t->count; k++) {
    double d = t->sorted[k].value - mean;
    squares += weight_of(t, t->sorted[k].index) * d * d;
  }
  double n = (double)t->count;
  v->mean = mean;
  v->sd = n > 1 ? sqrt(t->weight ? squares : squares * n / (n - 1)) : NAN;
}

/* The smallest value whose share from below reaches p. */
static double weighted_quantile(const table *t, double p) {
  double below = 0;
  for (size_t k = 0; k < t->count; k++) {
    below += t->weight[t->sorted[k].index];
    if (below >= p)
      return t->sorted[k].value;
  }
  return t->sorted[t->count - 1].value;
}

static double quantile(const table *t, double p) {
  return t->weight ? weighted_quantile(t, p)
                   : tm_ranked_quantile(t->sorted, t->count, p);
}

static void fill_mixing(const table *t, tempera_value_summary *v) {
  if (!t->weight) {
    tm_mixing m = tm_mixing_measure(t->mixing, t->sorted);
    v->rhat = m.rhat;
    v->ess_bulk = m.ess_bulk;
    v->ess_tail = m.ess_tail;
    v->mcse = v->sd / sqrt(m.ess_mean);
    return;
  }
  double squares = 0, n = (double)t->count;
  for (size_t k = 0; k < t->count; k++) {
    size_t i = t->sorted[k].index;
    squares += t->weight[i] * t->weight[i];
    t->influence[i] = n * t->weight[i] * (t->sorted[k].value - v->mean);
  }
  v->ess_bulk = 1 / squares;
  v->mcse = tm_influence_error(t->influence, t->draws->chains, t->rows).se;
}

static size_t support_size(const table *t) {
  size_t distinct = 0;
  for (size_t k = 0; k < t->count; k++)
    distinct += k == 0 || t->sorted[k].value != t->sorted[k - 1].value;
  return distinct;
}

static tempera_status fill_pmf(const table *t, tempera_value_summary *v,
                               tempera_error *error) {
  size_t distinct = support_size(t);
  if (distinct > LARGEST_SUPPORT)
    return TEMPERA_OK;
  v->pmf = tm_heap_alloc(distinct, sizeof *v->pmf);
  if (!v->pmf)
    return tm_fail_memory(error);
  for (size_t k = 0; k < t->count; k++) {
    if (k == 0 || t->sorted[k].value != t->sorted[k - 1].value)
      v->pmf[v->pmf_count++].value = (int64_t)llround(t->sorted[k].value);
    v->pmf[v->pmf_count - 1].probability += weight_of(t, t->sorted[k].index);
  }
  return TEMPERA_OK;
}

static tempera_status fill_value(table *t, size_t i, tempera_value_summary *v,
                                 tempera_error *error) {
  if (!sort_value(t, i))
    return TEMPERA_OK;
  fill_moments(t, v);
  v->q5 = quantile(t, 0.05);
  v->q50 = quantile(t, 0.5);
  v->q95 = quantile(t, 0.95);
  fill_mixing(t, v);
  bool whole = !t->columns && t->draws->integer && t->draws->integer[i];
  return whole ? fill_pmf(t, v, error) : TEMPERA_OK;
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
 * no tau prior to have them from. The summary, if any, says which. */
static tempera_status weigh(table *t, tempera_summary *summary,
                            tempera_error *error) {
  tm_tempered view;
  TM_TRY(tm_tempered_create(t->draws, t->count, &view, error));
  tempera_status status = TEMPERA_OK;
  if (view.log_mass && tm_tempered_weights(&view, 1) > -INFINITY) {
    t->weight = TM_NEW(t->arena, double, t->count);
    t->influence = TM_NEW(t->arena, double, t->count);
    double sum = 0;
    for (size_t i = 0; t->weight && i < t->count; i++)
      sum += view.weight[i];
    for (size_t i = 0; t->weight && i < t->count; i++)
      t->weight[i] = view.weight[i] / sum;
    if (!t->weight || !t->influence)
      status = tm_fail_memory(error);
  }
  tm_tempered_free(&view);
  if (status != TEMPERA_OK || !summary)
    return status;
  const char *how = t->weight
                        ? "There is no target chain: parameters are the "
                          "tempered draws weighted to tau = 1."
                        : "There is no target chain, and no tau prior to "
                          "weight the tempered draws by: parameters are not "
                          "estimated.";
  return tm_summary_warn(summary, "%s", how) == TEMPERA_OK
             ? TEMPERA_OK
             : tm_fail_memory(error);
}

static tempera_status fill_table(table *t, tempera_summary *summary,
                                 tempera_value_summary *values,
                                 tempera_error *error) {
  if (t->role == TEMPERA_TEMPERED) {
    TM_TRY(weigh(t, summary, error));
    if (!t->weight)
      return TEMPERA_OK;
  } else {
    t->mixing = tm_mixing_work_create(t->arena, t->draws->chains, t->rows);
  }
  t->sorted = TM_NEW(t->arena, tm_ranked, t->count);
  t->room = TM_NEW(t->arena, tm_ranked, t->count);
  if (!t->sorted || !t->room || (!t->mixing && !t->weight))
    return tm_fail_memory(error);
  for (size_t i = 0; i < t->width; i++)
    TM_TRY(fill_value(t, i, &values[i], error));
  return TEMPERA_OK;
}

static tempera_status fill(const tempera_draws *draws, double *const *columns,
                           size_t width, tempera_summary *summary,
                           tempera_value_summary *values,
                           tempera_error *error) {
  bool target = draws->has_role[TEMPERA_TARGET];
  if (draws->count == 0 || draws->chains == 0 ||
      (!target && !draws->has_role[TEMPERA_TEMPERED]))
    return TEMPERA_OK;
  tempera_role role = target ? TEMPERA_TARGET : TEMPERA_TEMPERED;
  table t = {.draws = draws,
             .columns = columns,
             .width = width,
             .rows = tm_draws_rows(draws, role),
             .count = tm_draws_rows(draws, role) * draws->chains,
             .role = role,
             .arena = tm_arena_create()};
  if (!t.arena)
    return tm_fail_memory(error);
  tempera_status status = fill_table(&t, summary, values, error);
  tm_arena_free(t.arena);
  return status;
}

tempera_status tm_values_fill(const tempera_draws *draws,
                              tempera_summary *summary, tempera_error *error) {
  TM_TRY(tm_estimate_name_values(draws->names, draws->size, &summary->values,
                                 &summary->value_count, error));
  return fill(draws, NULL, draws->size, summary, summary->values, error);
}

tempera_status tm_estimate_values(const tempera_draws *draws,
                                  double *const *columns, size_t count,
                                  tempera_value_summary *values,
                                  tempera_error *error) {
  return fill(draws, columns, count, NULL, values, error);
}
