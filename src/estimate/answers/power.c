/* power.c - WBIC and the fractional evidence; see power.h.
 *
 * WBIC (Watanabe 2013) is -E_tau[l] at tau = 1/log n: by the mean value theorem
 * log Z is the slope of log z at some tau, and that one is right up to
 * O(sqrt(log n)). The fractional evidence (O'Hagan 1995) is z(1)/z(b): with an
 * improper prior neither exists alone, and the prior's missing constant leaves
 * their ratio. */
#include "estimate/answers/power.h"

#include "base/locale.h"
#include "estimate/answers/at_tau.h"
#include "estimate/estimate.h"
#include "estimate/evidence/evidence.h"
#include "estimate/evidence/influence.h"
#include "estimate/evidence/levels.h"

#include <math.h>

enum { MOST_DRAWS = 400000, PER_DECADE = 3 };

static const tempera_path_answer NONE = {NAN, NAN, NAN};

static double error_of(const tm_tempered *view, const double *psi) {
  double se = tm_influence_error(psi, view->chains, view->rows).se;
  return fmax(se, tm_least_se(view->count));
}

static bool has_weights(const tm_tempered *view) {
  return view->count >= TM_FEWEST_DRAWS && view->rows >= 2 && view->log_mass;
}

static tempera_path_answer answer(double value, double se, double tau) {
  return isfinite(value) && isfinite(se) ? (tempera_path_answer){value, se, tau}
                                         : NONE;
}

tempera_path_answer tm_power_mean(tm_tempered *view, double tau) {
  if (!has_weights(view) || !(tau > 0) || tau < view->tau_min || tau > 1 ||
      tm_tempered_support(view, tau) < TM_FEWEST_BATCHES)
    return NONE;
  tm_tempered_weights(view, tau);
  double mean = tm_tempered_mean(view), sum = 0;
  for (size_t i = 0; i < view->count; i++)
    sum += view->weight[i];
  double scale = (double)view->count / sum;
  for (size_t i = 0; i < view->count; i++)
    if (view->weight[i] != 0)
      view->weight[i] *= scale * (view->l[i] - mean);
  return answer(mean, error_of(view, view->weight), tau);
}

/* Enough batches carry the weights at every tau on the way. */
static bool covers(tm_tempered *view, double tau) {
  size_t n;
  double *grid = tm_tau_grid(view->arena, view->tau_min, PER_DECADE, &n);
  if (!grid || tm_tempered_support(view, tau) < TM_FEWEST_BATCHES)
    return false;
  for (size_t k = 0; k < n; k++) {
    if (grid[k] < tau)
      continue;
    tm_tempered_weights(view, grid[k]);
    if (tm_tempered_batches(view) < TM_FEWEST_BATCHES)
      return false;
  }
  return true;
}

/* log of the mean weight at tau; sign * weight/mean joins the influence. */
static double log_mean(tm_tempered *view, double tau, double sign,
                       double *psi) {
  double value = tm_tempered_log_mean(view, tau), sum = 0;
  for (size_t i = 0; i < view->count; i++)
    sum += view->weight[i];
  for (size_t i = 0; i < view->count; i++)
    psi[i] += sign * (double)view->count / sum * view->weight[i];
  return value;
}

tempera_path_answer tm_power_rise(tm_tempered *view, double tau,
                                  double *scratch) {
  double tempered, target;
  if (!has_weights(view) || !(tau >= view->tau_min && tau < 1) ||
      !covers(view, tau) ||
      tm_evidence_target_apart(view, scratch, &tempered, &target))
    return NONE;
  for (size_t i = 0; i < view->count; i++)
    scratch[i] = 0;
  double rise =
      log_mean(view, 1, 1, scratch) - log_mean(view, tau, -1, scratch);
  return answer(rise, error_of(view, scratch), tau);
}

/* ---- a summary ---------------------------------------------------------- */

static tempera_status copy_tau_prior(const tempera_draws *draws,
                                     tempera_summary *s, tempera_error *error) {
  const tm_draws_prior *prior = &draws->prior;
  if (s->tau_prior || prior->knots < 2)
    return TEMPERA_OK;
  s->tau_prior = tm_heap_alloc(prior->knots, sizeof *s->tau_prior);
  if (!s->tau_prior)
    return tm_fail_memory(error);
  s->tau_prior_count = prior->knots;
  s->tau_prior_atom = prior->log_atom;
  s->tau_prior_steps = prior->steps;
  for (size_t k = 0; k < prior->knots; k++)
    s->tau_prior[k] =
        (tempera_tau_knot){prior->tau[k], prior->log_prior[k]};
  return TEMPERA_OK;
}

static tempera_status by_path(const tempera_draws *draws, tempera_summary *s,
                              tempera_error *error) {
  tm_tempered view;
  TM_TRY(tm_tempered_create(draws, MOST_DRAWS, &view, error));
  double n = (double)s->observations;
  double *scratch = TM_NEW(view.arena, double, view.count + 1);
  tempera_status status = scratch ? TEMPERA_OK : tm_fail_memory(error);
  if (scratch && n > M_E) {
    s->wbic = tm_power_mean(&view, 1 / log(n));
    s->wbic.value = -s->wbic.value;
  }
  if (scratch && draws->tau_min > 0)
    s->fractional = tm_power_rise(&view, draws->tau_min, scratch);
  tm_tempered_free(&view);
  return status;
}

/* ---- is it proper at b? -------------------------------------------------- */

/* Where the power posterior at b cannot be normalised, chains there wander off
 * and never agree, while weights of the draws that there are look fine. Mean
 * and log sd, 20 observations, 8 short runs each: at b = 0.03 (improper) R-hat
 * was 1.21 to 2.12, at 0.1 (barely proper) 1.02 to 1.37, at 0.2 up to 1.01. */
static const double LARGEST_RHAT = 1.1;

static double worst_rhat(const tempera_draws *at_b, double *const *columns,
                         tempera_value_summary *values, tempera_error *error) {
  double worst = NAN;
  size_t count = at_b->size + 1;
  if (tm_estimate_values(at_b, columns, count, 1, values, error) != TEMPERA_OK)
    return NAN;
  for (size_t i = 0; i < count; i++)
    if (!(at_b->fixed && i < at_b->size && at_b->fixed[i]))
      worst = fmax(worst, values[i].rhat);
  for (size_t i = 0; i < count; i++)
    tm_heap_free(values[i].pmf);
  return worst;
}

static tempera_status check_proper(const tempera_draws *draws,
                                   tempera_summary *s, tempera_error *error) {
  tempera_draws *at_b = NULL;
  double rhat = NAN;
  TM_TRY(tm_at_tau_draws(draws, s->fractional.tau, 0, &at_b,
                         s->fractional_why, error));
  if (at_b) {
    size_t width = at_b->size + 1;
    tm_arena *arena = tm_arena_create();
    double **columns =
        arena ? TM_NEW(arena, double *, at_b->chains * width) : NULL;
    tempera_value_summary *values =
        arena ? TM_NEW(arena, tempera_value_summary, width) : NULL;
    for (size_t c = 0; columns && c < at_b->chains; c++)
      for (size_t i = 0; i < width; i++)
        columns[c * width + i] = tm_draws_column(
            at_b, TEMPERA_TARGET, c,
            i < at_b->size ? i : at_b->size + TM_LOG_LIKELIHOOD);
    if (columns && values)
      rhat = worst_rhat(at_b, columns, values, error);
    tm_arena_free(arena);
    tm_draws_free(at_b);
    if (rhat <= LARGEST_RHAT)
      return TEMPERA_OK;
    tm_snprintf(s->fractional_why, sizeof s->fractional_why,
                "draws at b = %.3g do not mix (R-hat %.2f): the posterior with "
                "so little of the data may be improper; raise --tau-min",
                s->fractional.tau, rhat);
  }
  s->fractional = NONE;
  return TEMPERA_OK;
}

static tempera_status by_levels(const tempera_draws *draws, tempera_summary *s,
                                tempera_error *error) {
  tempera_path_answer mean, rise;
  double n = (double)s->observations;
  if (n > M_E) {
    TM_TRY(tm_level_power(draws, 1 / log(n), &s->wbic, &rise, error));
    s->wbic.value = -s->wbic.value;
  }
  return draws->tau_min > 0 ? tm_level_power(draws, draws->levels.tau[0], &mean,
                                             &s->fractional, error)
                            : TEMPERA_OK;
}

tempera_status tm_estimate_power(const tempera_draws *draws,
                                 size_t observations, tempera_summary *summary,
                                 tempera_error *error) {
  tempera_summary *s = summary;
  s->wbic = s->fractional = NONE;
  s->observations = observations;
  if (!draws->likelihood)
    return TEMPERA_OK;
  TM_TRY(copy_tau_prior(draws, s, error));
  if (draws->evidence && isfinite(s->log_z))
    s->fractional = answer(s->log_z, s->se, 0);
  if (!draws->has_role[TEMPERA_TEMPERED])
    return TEMPERA_OK;
  TM_TRY(tm_levels_apply(draws) ? by_levels(draws, s, error)
                                : by_path(draws, s, error));
  return s->fractional.tau > 0 ? check_proper(draws, s, error) : TEMPERA_OK;
}
