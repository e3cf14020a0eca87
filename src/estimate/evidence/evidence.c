/* evidence.c - from estimators to the evidence part of a summary: errors,
 * the headline, and every reason to distrust it (method 4.4). */
#include "estimate/evidence/evidence.h"

#include "estimate/estimate.h"
#include "estimate/evidence/levels.h"
#include "estimate/findings.h"
#include "estimate/summary.h"
#include "parallel/ranks.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { HEADLINE_DRAWS = 100000, HISTORY_DRAWS = 20000, HISTORY = 8 };

static const char biased_warning[] =
    "biased: every distinct tau gets one vote however long the chain held it, "
    "and more iterations do not cure it";

/* Everything at work on one summary. */
typedef struct work {
  const tempera_draws *draws;
  tm_tempered *view;
  tempera_summary *summary;
  double *scratch;
} work;

/* Estimators for the headline (the first there is) and for comparing. */
typedef enum kind { RB, TI, SS, VISITS, LADDER } kind;
static const char *const kind_names[] = {"rb", "ti", "ss", "st-weights", "ss"};
enum { MOST_KINDS = 3 };

/* What there is for a tau prior, for levels with weights, and for neither. */
static size_t kinds_of(const tm_tempered *view, const kind **kinds) {
  static const kind by_prior[] = {RB, TI, SS};
  static const kind by_levels[] = {RB, VISITS, LADDER};
  static const kind by_draws[] = {TI};
  *kinds = view->prior.count    ? by_prior
           : view->levels.count ? by_levels
                                : by_draws;
  return view->log_mass ? MOST_KINDS : 1;
}

static tempera_status estimate_in_bins(work *w, kind which, tm_evidence *e,
                                       tempera_error *error) {
  tm_bins bins;
  bool made =
      which == TI ? tm_bins_ti(w->view, &bins) : tm_bins_ss(w->view, &bins);
  if (!made)
    return tm_fail_memory(error);
  size_t from = tm_evidence_hot_end(w->draws, w->view, &bins, e);
  if (which == SS)
    tm_evidence_ss(w->view, &bins, from, w->scratch, e);
  else if (!tm_evidence_ti(w->view, &bins, from, w->scratch, e))
    return tm_fail_memory(error);
  return TEMPERA_OK;
}

static tempera_status estimate(work *w, kind which, tm_evidence *e,
                               tempera_error *error) {
  if (!tm_evidence_begin(w->view, e))
    return tm_fail_memory(error);
  if (which == TI || which == SS)
    return estimate_in_bins(w, which, e, error);
  if (which == RB)
    tm_evidence_rb(w->view, e);
  else if (which == VISITS)
    tm_evidence_visits(w->view, e);
  else
    tm_evidence_ladder(w->view, e);
  /* With an atom rb reaches tau = 0 itself, as does a ladder from 0. */
  if (!w->view->has_atom)
    tm_evidence_add_support(w->draws, w->view, e);
  return TEMPERA_OK;
}

static bool enough(const tm_tempered *view) {
  return view->count >= TM_FEWEST_DRAWS && view->rows >= 2 &&
         view->ordered > 0 && view->tau_min <= 0 && view->bottom &&
         view->weight_top > 0;
}

/* The estimators use the same draws, so the error of their difference comes
 * from the difference of their influences. */
static tempera_status compare_kinds(work *w, const tm_evidence *a,
                                    const tempera_estimate *first,
                                    const tm_evidence *b,
                                    tempera_estimate *second,
                                    tempera_error *error) {
  if (!isfinite(first->log_z) || !isfinite(second->log_z))
    return TEMPERA_OK;
  for (size_t i = 0; i < w->view->count; i++)
    w->scratch[i] = a->psi[i] - b->psi[i];
  double se = tm_influence_error(w->scratch, w->view->chains, w->view->rows).se;
  double difference = second->log_z - first->log_z;
  double tolerance = tm_apart_limit(w->summary->round_trips) * se;
  tolerance =
      fmax(fmax(TM_LEAST_APART, tolerance), 1.96 * fmax(first->se, second->se));
  if (fabs(difference) <= tolerance)
    return TEMPERA_OK;
  return tm_find_estimate(w->summary, second, TM_FIND_ESTIMATES_APART,
                          difference, tolerance, error, "%s", first->name);
}

bool tm_evidence_target_apart(tm_tempered *view, double *scratch,
                              double *tempered, double *target) {
  if (!view->target || !view->log_mass || view->weight_top < 1)
    return false;
  tm_tempered_weights(view, 1);
  double n = (double)view->count, sum = 0, mean = tm_tempered_mean(view);
  *target = 0;
  *tempered = mean;
  for (size_t i = 0; i < view->count; i++) {
    sum += view->weight[i] / n;
    *target += view->target[i] / n;
  }
  for (size_t i = 0; i < view->count; i++) {
    double part =
        view->weight[i] == 0 ? 0 : view->weight[i] * (view->l[i] - mean) / sum;
    scratch[i] = part - (view->target[i] - *target);
  }
  double se = tm_influence_error(scratch, view->chains, view->rows).se;
  if (!(fabs(mean - *target) > fmax(0.1, 5 * se)))
    return false;
  view->weight_top = fmin(view->weight_top, view->draw_top);
  return true;
}

static tempera_status warn_of_target(work *w, double tempered, double target,
                                     tempera_estimate *rb,
                                     tempera_error *error) {
  TM_TRY(tm_find(w->summary, TM_FIND_TARGET_APART, tempered, target, error));
  if (rb->warning)
    return TEMPERA_OK;
  return tm_estimate_warn(
      rb, tm_heap_format("disagrees with the target chain at tau = 1"), error);
}

static tempera_status fill_kinds(work *w, tempera_error *error) {
  tm_evidence e[MOST_KINDS];
  tempera_estimate *made[MOST_KINDS] = {NULL};
  const kind *kinds;
  size_t count = kinds_of(w->view, &kinds);
  double tempered, target;
  bool differs =
      tm_evidence_target_apart(w->view, w->scratch, &tempered, &target);
  for (size_t k = 0; k < count; k++) {
    TM_TRY(estimate(w, kinds[k], &e[k], error));
    TM_TRY(tm_evidence_record(w->summary, kind_names[kinds[k]], &e[k], &made[k],
                              error));
    if (k > 0)
      TM_TRY(compare_kinds(w, &e[0], made[0], &e[k], made[k], error));
  }
  tempera_estimate *best = made[0];
  if (differs)
    TM_TRY(warn_of_target(w, tempered, target, best, error));
  if (!isfinite(best->log_z))
    return TEMPERA_OK;
  return tm_estimate_take(w->summary, best, error);
}

static tempera_status fill_paper(work *w, tempera_error *error) {
  double log_z, se, between;
  if (w->view->levels.count || w->view->prior_steps)
    return TEMPERA_OK; /* another method than the paper's */
  if (!tm_evidence_ti_paper(w->view, &log_z, &se, &between))
    return tm_fail_memory(error);
  /* The printed error is of taus that were held; without any it says nothing.
   */
  se = se > 0 ? se : NAN;
  tempera_estimate *e =
      tm_estimate_add(w->summary, "ti-paper", log_z, isnan(se) ? between : se);
  e->se_within = se;
  e->se_between = between;
  if (!isfinite(log_z))
    tm_estimate_withdraw(e);
  return tm_estimate_warn(e, tm_heap_text(biased_warning), error);
}

/* Why there is no estimate, for the reader. */
static tempera_status explain(const work *w, tempera_error *error) {
  const tm_tempered *view = w->view;
  if (view->count < TM_FEWEST_DRAWS || view->rows < 2)
    return tm_find(w->summary, TM_FIND_FEW_FOR_EVIDENCE, (double)view->count,
                   TM_FEWEST_DRAWS, error);
  if (view->tau_min > 0)
    return tm_find(w->summary, TM_FIND_TAU_BOUNDED, view->tau_min, 0, error);
  return tm_find(w->summary, TM_FIND_HOT_END_UNSEEN, NAN, NAN, error);
}

double tm_zero_likelihood(const tempera_draws *draws, tm_tempered *view) {
  if (view && view->has_atom && view->count) {
    double all = 0, outside = 0;
    tm_tempered_weights(view, 0);
    for (size_t i = 0; i < view->count; i++) {
      all += view->weight[i];
      outside += view->l[i] == -INFINITY ? view->weight[i] : 0;
    }
    return outside / all;
  }
  return draws->prior_draws
             ? (double)draws->prior_zero / (double)draws->prior_draws
             : NAN;
}

tempera_status tm_evidence_fill(const tempera_draws *draws, tm_tempered *view,
                                tempera_summary *summary,
                                tempera_error *error) {
  summary->zero_likelihood = tm_zero_likelihood(draws, view);
  if (!draws->evidence)
    return TEMPERA_OK;
  work w = {draws, view, summary, TM_NEW(view->arena, double, view->count)};
  if (!w.scratch)
    return tm_fail_memory(error);
  TM_TRY(tm_estimates_reserve(summary, error));
  if (enough(view))
    TM_TRY(fill_kinds(&w, error));
  else
    TM_TRY(explain(&w, error));
  if (view->count < TM_FEWEST_DRAWS || view->rows < 2 || view->tau_min > 0)
    return TEMPERA_OK;
  TM_TRY(fill_paper(&w, error));
  return tm_evidence_add_phm(draws, view, summary, error);
}

static void headline_of_levels(const tempera_draws *draws, size_t limit,
                               double *log_z, double *se) {
  tm_levels levels;
  tm_monte_carlo mc;
  if (!draws->evidence ||
      tm_levels_create(draws, limit, &levels, NULL) != TEMPERA_OK)
    return;
  double error = levels.count ? tm_evidence_se(&levels.pooled, &mc) : NAN;
  if (isfinite(error)) {
    *log_z = levels.pooled.log_z + draws->log_support;
    *se = hypot(error, draws->support_se);
  }
  tm_levels_free(&levels);
}

/* From at most `limit` of the tempered draws. */
static void find_headline(const tempera_draws *draws, size_t limit,
                          double *log_z, double *se) {
  *log_z = *se = NAN;
  if (tm_levels_apply(draws)) {
    headline_of_levels(draws, limit, log_z, se);
    return;
  }
  tm_tempered view;
  if (!draws->evidence ||
      tm_tempered_create(draws, limit, &view, NULL) != TEMPERA_OK)
    return;
  work w = {.draws = draws, .view = &view};
  w.scratch = TM_NEW(view.arena, double, view.count);
  tm_evidence e;
  const kind *kinds;
  double tempered, target;
  kinds_of(&view, &kinds);
  if (w.scratch && enough(&view))
    (void)tm_evidence_target_apart(&view, w.scratch, &tempered, &target);
  if (w.scratch && enough(&view) &&
      estimate(&w, kinds[0], &e, NULL) == TEMPERA_OK) {
    tm_monte_carlo mc;
    double error = tm_evidence_se(&e, &mc);
    if (isfinite(e.log_z) && isfinite(error)) {
      *log_z = e.log_z + draws->log_support;
      *se = hypot(error, draws->support_se);
    }
  }
  tm_tempered_free(&view);
}

void tm_estimate_headline(const tempera_draws *draws, double *log_z,
                          double *se) {
  find_headline(draws, HEADLINE_DRAWS, log_z, se);
}

/* The headline of a share of the draws each. */
typedef struct shares {
  const tempera_draws *draws;
  double log_z[HISTORY], se[HISTORY];
} shares;

static void find_share(size_t k, void *context) {
  shares *all = context;
  tempera_draws part = *all->draws;
  part.count = part.count * (k + 1) / HISTORY;
  find_headline(&part, HISTORY_DRAWS, &all->log_z[k], &all->se[k]);
}

static void pass_share(size_t k, tm_archive *archive, void *context) {
  shares *all = context;
  tm_archive_double(archive, &all->log_z[k]);
  tm_archive_double(archive, &all->se[k]);
}

tempera_status tm_estimate_history(const tempera_draws *draws, int threads,
                                   tempera_summary *summary,
                                   tempera_error *error) {
  shares all = {.draws = draws};
  if (!draws->evidence || draws->count < HISTORY || summary->history)
    return TEMPERA_OK;
  summary->history = tm_heap_alloc(HISTORY, sizeof *summary->history);
  if (!summary->history)
    return tm_fail_memory(error);
  tm_shared_outcomes(HISTORY, 1, threads, find_share, pass_share, &all);
  for (size_t k = 0; k < HISTORY; k++) {
    tempera_history_point *p = &summary->history[summary->history_count];
    p->log_z = all.log_z[k];
    p->se = all.se[k];
    p->share = (double)(draws->count * (k + 1) / HISTORY) / (double)draws->count;
    summary->history_count += isfinite(p->log_z) && isfinite(p->se);
  }
  return TEMPERA_OK;
}
