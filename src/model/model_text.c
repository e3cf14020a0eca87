/* model_text.c - what `tempera check` says of a model: its parameters, what is
 * known of its prior or which callbacks it has, and how its densities fare at
 * a few points. */
#include "base/text.h"
#include "model/model.h"

#include <math.h>
#include <stdio.h>

enum { POINTS = 100 };

static void add_support(tm_text *text, const tempera_parameter *p) {
  if (p->transform == TEMPERA_SIMPLEX) {
    tm_text_add(text, "simplex");
    return;
  }
  tm_text_printf(text, "%s ",
                 p->kind == TEMPERA_INTEGER ? "integers" : "reals");
  if (isinf(p->lower) && isinf(p->upper))
    tm_text_add(text, "without bounds");
  else if (isinf(p->upper))
    tm_text_printf(text, "from %g", p->lower);
  else if (isinf(p->lower))
    tm_text_printf(text, "up to %g", p->upper);
  else
    tm_text_printf(text, "from %g to %g", p->lower, p->upper);
}

static void add_parameters(tm_text *text, const tempera_model *model) {
  const tempera_model_spec *spec = &model->spec;
  tm_text_printf(text,
                 "model %s: %zu values, %zu unconstrained coordinates\n\n"
                 "parameters\n",
                 spec->name, model->size, model->dimension);
  for (size_t i = 0; i < spec->parameter_count; i++) {
    const tempera_parameter *p = &spec->parameters[i];
    char name[128];
    if (p->size)
      snprintf(name, sizeof name, "%s[%zu]", p->name, p->size);
    else
      snprintf(name, sizeof name, "%s", p->name);
    tm_text_printf(text, "  %-16s ", name);
    add_support(text, p);
    tm_text_printf(text, ", %zu unconstrained\n", model->blocks[i].u_count);
  }
}

static void add_callbacks(tm_text *text, const tempera_model_spec *s) {
  const struct {
    const char *name;
    bool there;
    const char *use;
  } callbacks[] = {
      {"log_likelihood", true, "tempered"},
      {"log_prior", true,
       s->prior_normalised ? "normalised, never tempered" : "never tempered"},
      {"log_likelihood_gradient", s->log_likelihood_gradient,
       "for faster optimisation"},
      {"log_prior_gradient", s->log_prior_gradient, "for faster optimisation"},
      {"prior_draw", s->prior_draw, "for starts and renewal"},
      {"optimum", s->optimum, "for the ridge"},
      {"gibbs", s->gibbs_count > 0, "exact conditional draws"},
      {"recipe", s->recipe, "for --paper and --kernel model"},
      {"clone", s->clone, "one copy of its data per chain"}};
  tm_text_add(text, "\ncallbacks\n");
  for (size_t i = 0; i < sizeof callbacks / sizeof *callbacks; i++)
    tm_text_printf(text, "  %-26s %-4s %s\n", callbacks[i].name,
                   callbacks[i].there ? "yes" : "no", callbacks[i].use);
}

/* What is known of a program's prior with these data, and what follows. */
static void add_prior(tm_text *text, const tempera_model_spec *s) {
  tm_text_add(text, "\nprior\n");
  if (s->prior_improper)
    tm_text_add(text, "  improper: there is no evidence\n");
  else if (s->prior_normalised)
    tm_text_printf(text,
                   "  drawn from exactly; the log of its integral is %.6g\n",
                   s->prior_log_integral);
  else if (s->prior_draw)
    tm_text_add(text, "  drawn from exactly; its integral is estimated\n");
  else
    tm_text_add(text, "  explored by a run of its own, which also estimates "
                      "its integral\n");
  if (s->no_likelihood)
    tm_text_add(
        text,
        "  nothing is likelihood with these data: there is no evidence\n");
}

tempera_status tempera_model_describe(const tempera_model *model,
                                      bool of_program, char **text,
                                      tempera_error *error) {
  tm_text said = {0};
  add_parameters(&said, model);
  if (of_program)
    add_prior(&said, &model->spec);
  else
    add_callbacks(&said, &model->spec);
  return tm_text_give(&said, text, error);
}

/* ---- points -------------------------------------------------------------- */

typedef struct points {
  const tempera_model *model;
  double *theta, likelihood[POINTS], prior[POINTS];
  int good, prior_zero, none;
  double lowest, highest; /* log likelihood */
} points;

static void count_points(points *p) {
  p->lowest = INFINITY;
  p->highest = -INFINITY;
  for (size_t i = 0; i < POINTS; i++) {
    p->prior_zero += !isfinite(p->prior[i]);
    p->none += isnan(p->likelihood[i]);
    if (!isfinite(p->prior[i]) || !isfinite(p->likelihood[i]))
      continue;
    p->good++;
    p->lowest = fmin(p->lowest, p->likelihood[i]);
    p->highest = fmax(p->highest, p->likelihood[i]);
  }
}

/* Why the density is zero at the first, where the model can tell. */
static void add_reason(tm_text *text, const points *p) {
  const tempera_model_spec *s = &p->model->spec;
  double value;
  if (!s->reason || (s->log_prior(p->theta, &value, s->user) == 0 &&
                     s->log_likelihood(p->theta, &value, s->user) == 0))
    return;
  const char *why = s->reason(s->user);
  if (why)
    tm_text_printf(text, "at the first of them: %s\n", why);
}

static void add_points(tm_text *text, const points *p) {
  bool draws = p->model->spec.prior_draw != NULL;
  tm_text_printf(text, "\n%d of %d %s have a finite density", p->good, POINTS,
                 draws ? "draws from the prior" : "random points");
  if (p->good)
    tm_text_printf(text, " (log likelihood from %g to %g)", p->lowest,
                   p->highest);
  tm_text_add(text, "\n");
  if (p->none)
    tm_text_printf(text,
                   "at %d the density is not a number, or infinite: runs "
                   "reject such points and count them\n",
                   p->none);
  if (p->prior_zero)
    tm_text_printf(text, "%d have prior density zero%s\n", p->prior_zero,
                   draws ? ": draws and density of the prior disagree" : "");
  if (p->good)
    return;
  add_reason(text, p);
  tm_text_add(text, "no start was found among them: a run looks further\n");
}

enum { TRIED = 10, REASON = 256 };

/* At the first points of finite density; at how many they fail, and why. */
static int try_quantities(tm_evaluator *evaluator, const points *p,
                          double *values, int *tried, char *why) {
  int failed = 0;
  for (uint32_t i = 0; i < POINTS && *tried < TRIED; i++) {
    if (!isfinite(p->prior[i]) || !isfinite(p->likelihood[i]))
      continue;
    tempera_random random = tm_random_part(1, 0, TM_PURPOSE_QUANTITIES, i);
    const double *theta = p->theta + i * p->model->size;
    ++*tried;
    if (!tm_quantities_at(evaluator, &random, theta, values) && failed++ == 0)
      snprintf(why, REASON, "%s", tm_reason(evaluator));
  }
  return failed;
}

/* A run goes on without them, so whoever checks first should know. */
static tempera_status add_quantities(tm_text *text, const points *p,
                                     tempera_error *error) {
  const tempera_model_spec *s = &p->model->spec;
  if (!s->quantities || !s->quantity_count || !p->good)
    return TEMPERA_OK;
  tm_arena *arena = tm_arena_create();
  double *values = arena ? TM_NEW(arena, double, s->quantity_count) : NULL;
  tm_evaluator evaluator;
  tempera_status status =
      values ? tm_evaluator_create(p->model, arena, &evaluator, error)
             : tm_fail_memory(error);
  if (status == TEMPERA_OK) {
    char why[REASON] = "";
    int tried = 0, failed = try_quantities(&evaluator, p, values, &tried, why);
    if (failed)
      tm_text_printf(text, "quantities cannot be computed at %d of %d%s%s\n",
                     failed, tried, why[0] ? ": " : "", why);
    tm_evaluator_release(&evaluator);
  }
  tm_arena_free(arena);
  return status;
}

tempera_status tempera_model_check_points(const tempera_model *model,
                                          char **text, bool *found,
                                          tempera_error *error) {
  tm_text said = {0};
  points p = {.model = model,
              .theta = tm_heap_alloc(POINTS * model->size, sizeof(double))};
  if (!p.theta)
    return tm_fail_memory(error);
  tempera_status status = tempera_model_probe(model, 1, POINTS, p.theta,
                                              p.likelihood, p.prior, error);
  if (status == TEMPERA_OK) {
    count_points(&p);
    add_points(&said, &p);
    *found = p.good > 0;
    status = add_quantities(&said, &p, error);
  }
  if (status == TEMPERA_OK)
    status = tm_text_give(&said, text, error);
  else
    tm_text_clear(&said);
  tm_heap_free(p.theta);
  return status;
}
