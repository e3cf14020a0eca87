/* predictive.c - see predictive.h. */
#include "model/predictive.h"

#include "model/data.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

bool tm_points_at(tm_evaluator *evaluator, const double *theta,
                  tm_points_wanted *wanted) {
  const tm_predictive_calls *calls = evaluator->model->predictive;
  return calls && calls->points(theta, wanted, evaluator->user) == 0;
}

bool tm_replicate_at(tm_evaluator *evaluator, const double *theta,
                     tempera_random *random, tm_replicas *replicas,
                     double *log_density) {
  const tm_predictive_calls *calls = evaluator->model->predictive;
  return calls && calls->replicate &&
         calls->replicate(theta, random, false, replicas, log_density,
                          evaluator->user) == 0;
}

/* The terms must add up to the likelihood. */
static void look_at_terms(tm_evaluator *e, const double *theta,
                          tm_predictive *p) {
  const tempera_model_spec *spec = &e->model->spec;
  tm_points_wanted w = {0};
  double value = NAN;
  if (!tm_points_at(e, theta, &w) ||
      spec->log_likelihood(theta, &value, e->user) != 0) {
    snprintf(p->no_terms, sizeof p->no_terms,
             "the likelihood has no terms at a draw");
    return;
  }
  double size = 1e-9 * (1 + fabs(value) + (double)w.count);
  if (!(fabs(w.sum - value) <= size) || fabs(w.extra) > size)
    snprintf(p->no_terms, sizeof p->no_terms,
             "the terms that the statements show do not add up to the "
             "likelihood; a generated quantity log_lik would say them");
  else
    p->term_count = w.count;
}

/* Numbers of terms: each must be there, and be one of the likelihood's. */
static tempera_status match_terms(tm_predictive *p, const double *numbers,
                                  tempera_error *error) {
  size_t n = p->replicas.size, seen = 0, most = 0;
  p->term = TM_NEW(p->arena, long, n + 1);
  if (!p->term)
    return tm_fail_memory(error);
  for (size_t k = 0; k < n; k++) {
    p->term[k] = isnan(numbers[k]) ? -1 : (long)numbers[k];
    if (p->term[k] >= 0 && (size_t)p->term[k] + 1 > most)
      most = (size_t)p->term[k] + 1;
  }
  char *found = TM_NEW(p->arena, char, most + 1);
  if (!found)
    return tm_fail_memory(error);
  for (size_t k = 0; k < n; k++)
    if (p->term[k] >= 0 && !found[p->term[k]]++)
      seen++;
  p->matched = seen == most && most == p->term_count;
  if (seen != most) {
    p->replicas.count = 0;
    snprintf(p->no_replicas, sizeof p->no_replicas,
             "an outcome is scored by two statements");
  }
  return TEMPERA_OK;
}

static tempera_status look_at_replicas(tm_evaluator *e, const double *theta,
                                       tm_predictive *p, tempera_error *error) {
  const tm_predictive_calls *calls = e->model->predictive;
  tempera_random random = tm_random(0, 0, TM_PURPOSE_START);
  double ignored;
  tm_replicas *r = &p->replicas;
  if (!calls->replicate) {
    snprintf(p->no_replicas, sizeof p->no_replicas, "%s", calls->unreplicated);
    return TEMPERA_OK;
  }
  bool seen = calls->replicate(theta, &random, true, r, &ignored, e->user) == 0;
  size_t n = r->size;
  r->observed = TM_NEW(p->arena, double, n + 1);
  double *numbers = TM_NEW(p->arena, double, n + 1);
  if (!r->observed || !numbers)
    return tm_fail_memory(error);
  r->drawn = numbers;
  r->room = n;
  r->count = r->size = 0;
  seen =
      seen && calls->replicate(theta, &random, true, r, &ignored, e->user) == 0;
  r->drawn = NULL;
  if (seen && n > 0)
    return match_terms(p, numbers, error);
  r->count = r->size = 0;
  snprintf(p->no_replicas, sizeof p->no_replicas,
           "the statements could not be followed at a draw%s%s",
           tm_reason(e)[0] ? ": " : "", tm_reason(e));
  return TEMPERA_OK;
}

tempera_status tm_predictive_create(tm_evaluator *evaluator,
                                    const double *theta,
                                    tm_predictive *predictive,
                                    tempera_error *error) {
  *predictive = (tm_predictive){.arena = tm_arena_create()};
  if (!predictive->arena)
    return tm_fail_memory(error);
  if (!evaluator->model->predictive) {
    snprintf(predictive->no_terms, sizeof predictive->no_terms,
             evaluator->model->spec.no_likelihood
                 ? "there is no likelihood, and so no data"
                 : "the model is not a program whose statements can be seen");
    memcpy(predictive->no_replicas, predictive->no_terms,
           sizeof predictive->no_terms);
    return TEMPERA_OK;
  }
  look_at_terms(evaluator, theta, predictive);
  tempera_status status = look_at_replicas(evaluator, theta, predictive, error);
  if (status != TEMPERA_OK)
    tm_predictive_free(predictive);
  return status;
}

void tm_predictive_free(tm_predictive *predictive) {
  tm_arena_free(predictive->arena);
  *predictive = (tm_predictive){0};
}

/* ---- how many terms -------------------------------------------------------
 */

enum { PROBES = 8 };

size_t tempera_model_terms(const tempera_model *model) {
  size_t count = 0;
  double none[2 * PROBES];
  tm_arena *arena = model->predictive ? tm_arena_create() : NULL;
  tm_evaluator e = {0};
  double *theta =
      arena ? TM_NEW(arena, double, PROBES * model->size + 1) : NULL;
  if (theta && tm_evaluator_create(model, arena, &e, NULL) == TEMPERA_OK) {
    if (!tempera_model_probe(model, 1, PROBES, theta, none, none + PROBES,
                             NULL))
      for (size_t i = 0; i < PROBES && !count; i++) {
        tm_predictive p = {0};
        if (isfinite(none[i]))
          look_at_terms(&e, theta + i * model->size, &p);
        count = p.term_count;
      }
    tm_evaluator_release(&e);
  }
  tm_arena_free(arena);
  return count;
}

/* ---- simulated data -------------------------------------------------------
 */

static tempera_status replace_all(const tm_replicas *r, tempera_data *data,
                                  tempera_error *error) {
  for (size_t i = 0; i < r->count; i++)
    TM_TRY(tm_data_replace(data, r->each[i].name, r->each[i].whole,
                           r->drawn + r->each[i].first, r->each[i].count,
                           error));
  return TEMPERA_OK;
}

/* Where data cannot be drawn at a draw of the prior, leaving it out would
 * simulate another prior: that is an error. */
static tempera_status draw_data(tm_evaluator *e, const tm_predictive *p,
                                const double *theta, tempera_random *random,
                                double *log_likelihood, tempera_data *data,
                                tempera_error *error) {
  double *drawn = TM_NEW(p->arena, double, p->replicas.size + 1);
  tm_replicas r = {.drawn = drawn, .room = p->replicas.size};
  if (!drawn)
    return tm_fail_memory(error);
  if (!p->replicas.count)
    return tm_fail(error, TEMPERA_ERROR_INPUT, "data cannot be simulated: %s",
                   p->no_replicas);
  if (!tm_replicate_at(e, theta, random, &r, log_likelihood))
    return tm_fail(error, TEMPERA_ERROR_MODEL,
                   "data could not be drawn at a draw of the prior%s%s",
                   tm_reason(e)[0] ? ": " : "", tm_reason(e));
  return replace_all(&r, data, error);
}

static tempera_status simulate(tm_evaluator *e, uint64_t seed, double *theta,
                               double *log_likelihood, tempera_data *data,
                               tempera_error *error) {
  const tempera_model_spec *spec = &e->model->spec;
  tempera_random random = tm_random(seed, 0, TM_PURPOSE_PRIOR_PREDICTIVE);
  tm_predictive p = {0};
  if (!spec->prior_draw || spec->prior_improper)
    return tm_fail(error, TEMPERA_ERROR_INPUT,
                   "parameters cannot be drawn from the prior: %s",
                   spec->prior_improper
                       ? "it is improper"
                       : "its statements cannot be put in an order in which "
                         "each draws what later ones need");
  if (spec->prior_draw(&random, theta, e->user) != 0)
    return tm_fail(error, TEMPERA_ERROR_MODEL, "the prior gave no draw: %s",
                   tm_reason(e));
  TM_TRY(tm_predictive_create(e, theta, &p, error));
  tempera_status status =
      draw_data(e, &p, theta, &random, log_likelihood, data, error);
  tm_predictive_free(&p);
  return status;
}

tempera_status tempera_model_simulate(const tempera_model *model,
                                      const tempera_data *data, uint64_t seed,
                                      double *theta, double *log_likelihood,
                                      tempera_data **simulated,
                                      tempera_error *error) {
  tempera_status status = TEMPERA_OK;
  tm_evaluator e = {0};
  tempera_data *copy = NULL;
  tm_arena *arena = tm_arena_create();
  TM_TRY_DONE(arena ? TEMPERA_OK : tm_fail_memory(error));
  TM_TRY_DONE(tm_evaluator_create(model, arena, &e, error));
  TM_TRY_DONE(tm_data_copy(data, &copy, error));
  TM_TRY_DONE(simulate(&e, seed, theta, log_likelihood, copy, error));
  *simulated = copy;
  copy = NULL;
done:
  tempera_data_free(copy);
  if (e.model)
    tm_evaluator_release(&e);
  tm_arena_free(arena);
  return status;
}
