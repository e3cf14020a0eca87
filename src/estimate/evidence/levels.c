/* levels.c - see levels.h. */
#include "estimate/evidence/levels.h"

#include "numeric/tau_ladder.h"

#include <math.h>
#include <string.h>

enum { MOST_DRAWS = 4000000 };

bool tm_levels_apply(const tempera_draws *draws) {
  return draws->has_role[TEMPERA_TEMPERED] && draws->levels.count > 1 &&
         !draws->levels.log_weight;
}

static void copy_likelihoods(const tempera_draws *draws, size_t stride,
                             tm_levels *v) {
  for (size_t c = 0; c < v->chains; c++) {
    const double *from =
        tempera_draws_log_likelihood(draws, TEMPERA_TEMPERED, c);
    for (size_t i = 0; i < v->rows; i++)
      for (size_t t = 0; t < v->count; t++)
        v->l[(c * v->rows + i) * v->count + t] =
            from[i * stride * v->count + t];
  }
}

/* Moments of level t over draws of L > 0; gives their share. */
static double find_moments(tm_levels *v, size_t t) {
  size_t draws = v->chains * v->rows;
  double n = 0, sum = 0, squares = 0;
  for (size_t i = 0; i < draws; i++) {
    double l = v->l[i * v->count + t];
    n += l > -INFINITY;
    sum += l > -INFINITY ? l : 0;
  }
  v->mean[t] = sum / n;
  for (size_t i = 0; i < draws; i++) {
    double d = v->l[i * v->count + t] - v->mean[t];
    squares += d > -INFINITY ? d * d : 0;
  }
  v->variance[t] = squares / n;
  return n / (double)draws;
}

static double find_rejection(const tm_levels *v, size_t t) {
  size_t draws = v->chains * v->rows;
  double accept = 0, d = v->tau[t + 1] - v->tau[t];
  for (size_t i = 0; i < draws; i++) {
    const double *l = v->l + i * v->count + t;
    accept += exp(fmin(0, d * (l[0] - l[1])));
  }
  return 1 - accept / (double)draws;
}

static bool allocate(tm_levels *v) {
  v->l = TM_NEW(v->arena, double, v->chains * v->rows * v->count);
  v->tau = TM_NEW(v->arena, double, v->count);
  v->mean = TM_NEW(v->arena, double, v->count);
  v->variance = TM_NEW(v->arena, double, v->count);
  v->rejection = TM_NEW(v->arena, double, v->count);
  v->barrier = TM_NEW(v->arena, double, v->count);
  v->log_z = TM_NEW(v->arena, double, v->count);
  return v->l && v->tau && v->mean && v->variance && v->rejection &&
         v->barrier && v->log_z;
}

static tempera_status fill(const tempera_draws *draws, size_t limit,
                           tm_levels *v, tempera_error *error) {
  size_t count = draws->levels.count;
  size_t total = draws->chains * draws->count * count;
  size_t stride = (total + limit - 1) / limit;
  v->chains = draws->chains;
  v->rows = (draws->count + stride - 1) / stride;
  v->count = count;
  if (!allocate(v))
    return tm_fail_memory(error);
  memcpy(v->tau, draws->levels.tau, count * sizeof(double));
  copy_likelihoods(draws, stride, v);
  for (size_t t = 0; t < count; t++) {
    double share = find_moments(v, t);
    v->inside = t ? v->inside : share;
    v->rejection[t] = t + 1 < count ? find_rejection(v, t) : NAN;
  }
  tm_ladder_barrier(v->rejection, count, v->barrier);
  return tm_levels_evidence(v, TM_LEVELS_SS, &v->pooled, v->log_z, error);
}

tempera_status tm_levels_create(const tempera_draws *draws, size_t limit,
                                tm_levels *levels, tempera_error *error) {
  *levels = (tm_levels){.arena = tm_arena_create(), .draws = draws};
  if (!levels->arena)
    return tm_fail_memory(error);
  tempera_status status = TEMPERA_OK;
  if (draws->count && draws->chains)
    status = fill(draws, limit, levels, error);
  if (status != TEMPERA_OK)
    tm_levels_free(levels);
  return status;
}

void tm_levels_free(tm_levels *levels) {
  tm_arena_free(levels->arena);
  *levels = (tm_levels){0};
}

tm_barrier tm_levels_barrier(const tm_levels *levels) {
  size_t n = levels->count;
  double total = n ? levels->barrier[n - 1] : NAN;
  return (tm_barrier){n, levels->tau, levels->barrier, total, 1, 2};
}

/* ------------------------------------------------------------------------
 * The summary
 */

static tempera_status fill_levels(const tm_levels *v, tempera_summary *summary,
                                  tempera_error *error) {
  bool evidence = v->draws->evidence;
  summary->levels = tm_heap_alloc(v->count, sizeof *summary->levels);
  summary->curve = tm_heap_alloc(v->count + 1, sizeof *summary->curve);
  if (!summary->levels || !summary->curve)
    return tm_fail_memory(error);
  if (evidence && v->tau[0] > 0)
    summary->curve[summary->curve_count++] =
        (tempera_curve_point){0, 0, NAN, NAN};
  for (size_t t = 0; t < v->count; t++) {
    double log_z = v->log_z[t] - (evidence ? 0 : v->log_z[0]);
    summary->levels[t] = (tempera_level){v->tau[t], log_z, v->mean[t],
                                         v->rejection[t], v->barrier[t]};
    summary->curve[summary->curve_count++] =
        (tempera_curve_point){v->tau[t], log_z, v->mean[t], v->barrier[t]};
  }
  summary->level_count = v->count;
  return TEMPERA_OK;
}

/* Is this estimate off, by more than the errors of both and of their
 * difference allow? Then it names its own weakness. */
static tempera_status compare(const tm_levels *v, tm_levels_kind kind,
                              const tm_evidence *e, double limit,
                              const tempera_estimate *pooled,
                              tempera_estimate *made, tempera_error *error) {
  for (size_t i = 0; i < e->chains * e->rows; i++)
    e->psi[i] -= v->pooled.psi[i];
  double se = tm_influence_error(e->psi, e->chains, e->rows).se;
  double difference = made->log_z - pooled->log_z;
  double most =
      fmax(TM_LEAST_APART, fmax(limit * se, 1.96 * fmax(made->se, pooled->se)));
  if (!isfinite(difference) || fabs(difference) <= most)
    return TEMPERA_OK;
  bool integral = kind == TM_LEVELS_TI_NB || kind == TM_LEVELS_TI_2;
  return tm_estimate_warn(
      made,
      tm_heap_format("off by %.2g from ss: %s", difference,
                     integral ? "the levels are too few for this integral"
                              : "between some levels, draws of one hardly "
                                "reach the other"),
      error);
}

static tempera_status fill_kinds(const tm_levels *v, tempera_summary *summary,
                                 tempera_error *error) {
  tempera_estimate *pooled = NULL, *made;
  TM_TRY(tm_evidence_record(summary, tm_levels_name(TM_LEVELS_SS), &v->pooled,
                            &pooled, error));
  for (int k = TM_LEVELS_SS + 1; k < TM_LEVELS_KINDS; k++) {
    tm_evidence e;
    TM_TRY(tm_levels_evidence(v, (tm_levels_kind)k, &e, NULL, error));
    TM_TRY(tm_evidence_record(summary, tm_levels_name((tm_levels_kind)k), &e,
                              &made, error));
    TM_TRY(compare(v, (tm_levels_kind)k, &e,
                   tm_apart_limit(summary->round_trips), pooled, made, error));
  }
  return isfinite(pooled->log_z) ? tm_estimate_take(summary, pooled, error)
                                 : TEMPERA_OK;
}

static tempera_status fill_evidence(const tm_levels *v,
                                    tempera_summary *summary,
                                    tempera_error *error) {
  summary->zero_likelihood =
      v->tau[0] > 0 ? tm_zero_likelihood(v->draws, NULL) : 1 - v->inside;
  if (!v->draws->evidence)
    return TEMPERA_OK;
  TM_TRY(tm_estimates_reserve(summary, error));
  if (v->chains * v->rows >= TM_FEWEST_DRAWS)
    TM_TRY(fill_kinds(v, summary, error));
  return tm_evidence_fill_untempered(v->draws, summary, error);
}

tempera_status tm_levels_fill(const tempera_draws *draws,
                              tempera_summary *summary, tempera_error *error) {
  tm_levels v;
  TM_TRY(tm_levels_create(draws, MOST_DRAWS, &v, error));
  tempera_status status = TEMPERA_OK;
  if (v.count) {
    tm_barrier barrier = tm_levels_barrier(&v);
    summary->barrier = barrier.total;
    status = tm_trips_count(draws, &barrier, &summary->round_trips,
                            &summary->restarts, error);
    if (status == TEMPERA_OK)
      status = fill_levels(&v, summary, error);
    if (status == TEMPERA_OK)
      status = fill_evidence(&v, summary, error);
  }
  tm_levels_free(&v);
  return status;
}
