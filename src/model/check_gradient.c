/* check_gradient.c - for `tempera check --gradient`: gradients over the
 * unconstrained scale, Jacobians included, beside differences of values at a
 * few points. Two things limit differences: the rounding of large values, which
 * is allowed for, and how far the density is smooth, so that three steps are
 * tried; a wrong slope agrees with none of them. */
#include "base/memory.h"
#include "base/text.h"
#include "model/model.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { POINTS = 5, TRIES = 40, COORDINATES = 60, STEPS = 3 };
static const double LARGEST = 1e-6; /* relative to 1 + |slope| */

typedef struct bench {
  const tempera_model *model;
  tm_arena *arena;
  tempera_evaluator *evaluator;
  double *theta, *u, *slopes, *slopes_of_prior;
  tempera_error error;
} bench;

typedef struct worst {
  double error, slope, by_difference;
  size_t at, compared;
} worst;

static tempera_status set_up(bench *b, tempera_error *error) {
  size_t count = b->model->dimension + 1;
  b->theta = TM_NEW(b->arena, double, b->model->size + 1);
  b->u = TM_NEW(b->arena, double, count);
  b->slopes = TM_NEW(b->arena, double, count);
  b->slopes_of_prior = TM_NEW(b->arena, double, count);
  if (!b->theta || !b->u || !b->slopes || !b->slopes_of_prior)
    return tm_fail_memory(error);
  return tempera_evaluator_create(b->model, &b->evaluator, error);
}

/* Numbers in (-1, 1), always the same ones. */
static double number(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(*state >> 11) / (double)(1ull << 52) - 1;
}

static bool is_finite(bench *b, tempera_density *d) {
  return tempera_evaluator_at(b->evaluator, 1, b->u, d, NULL, &b->error) ==
             TEMPERA_OK &&
         isfinite(d->log_likelihood) && isfinite(d->log_prior);
}

/* A random point where there is a density: integers as the model draws them,
 * the rest near 0; after some tries, all as the model draws it. */
static bool find_point(bench *b, uint64_t seed, tempera_density *d) {
  uint64_t state = seed;
  for (uint64_t k = 0; k < TRIES; k++) {
    double likelihood, prior;
    if (tempera_model_probe(b->model, seed * TRIES + k, 1, b->theta,
                            &likelihood, &prior, &b->error) ||
        tempera_model_unconstrain(b->model, b->theta, b->u, &b->error))
      memset(b->u, 0, b->model->dimension * sizeof(double));
    for (size_t i = 0; i < b->model->dimension; i++)
      if (k < TRIES / 2 && !b->model->integer[i])
        b->u[i] = number(&state);
    if (is_finite(b, d))
      return true;
  }
  return false;
}

/* By six values, of prior (with Jacobian) and likelihood; NaN where the support
 * ends. */
static void difference(bench *b, size_t i, double h, double *out) {
  static const double steps[] = {-3, -2, -1, 1, 2, 3};
  static const double weights[] = {-1, 9, -45, 45, -9, 1};
  double kept = b->u[i];
  out[0] = out[1] = 0;
  for (int k = 0; k < 6; k++) {
    tempera_density d;
    b->u[i] = kept + steps[k] * h;
    double weight = is_finite(b, &d) ? weights[k] / (60 * h) : (double)NAN;
    out[0] += weight * (d.log_prior + d.log_jacobian);
    out[1] += weight * d.log_likelihood;
  }
  b->u[i] = kept;
}

/* The step that agrees best, beyond what rounding explains. */
static void compare_slopes(bench *b, size_t i, const double *values, worst *w) {
  static const double steps[STEPS] = {1e-2, 1e-3, 1e-5};
  double prior = b->slopes_of_prior[i];
  worst least[2] = {{.error = NAN}, {.error = NAN}};
  for (int k = 0; k < STEPS; k++) {
    double found[2];
    difference(b, i, steps[k], found);
    for (int part = 0; part < 2; part++) {
      double slope = part ? b->slopes[i] - prior : prior;
      double rounding = 4 * DBL_EPSILON * fabs(values[part]) / steps[k];
      double error = fmax(0, fabs(slope - found[part]) - rounding) /
                     (1 + fabs(found[part]));
      if (!isnan(found[part]) && !(error >= least[part].error))
        least[part] = (worst){error, slope, found[part], i, 0};
    }
    if (least[0].error <= 1e-9 && least[1].error <= 1e-9)
      break;
  }
  for (int part = 0; part < 2; part++) {
    if (isnan(least[part].error))
      continue; /* the end of the support is near */
    least[part].compared = ++w[part].compared;
    if (least[part].error > w[part].error)
      w[part] = least[part];
  }
}

/* Up to COORDINATES of them, spread over all. */
static bool compare(bench *b, uint64_t seed, worst *w) {
  tempera_density d, at_0;
  if (!find_point(b, seed, &d))
    return true;
  if (tempera_evaluator_at(b->evaluator, 1, b->u, &d, b->slopes, &b->error) ||
      tempera_evaluator_at(b->evaluator, 0, b->u, &at_0, b->slopes_of_prior,
                           &b->error))
    return false;
  double values[] = {d.log_prior + d.log_jacobian, d.log_likelihood};
  size_t stride = 1 + b->model->dimension / COORDINATES;
  for (size_t i = seed % stride; i < b->model->dimension; i += stride)
    if (!b->model->integer[i])
      compare_slopes(b, i, values, w);
  return true;
}

/* "mu[2]", the second coordinate of mu. */
static void name_coordinate(const tempera_model *model, size_t k, char *name,
                            size_t room) {
  const tm_block *block = &model->blocks[model->block_of_u[k]];
  const tempera_parameter *p = &model->spec.parameters[model->block_of_u[k]];
  size_t at = k - block->u;
  bool same = block->u_count == block->theta_count;
  if (same)
    snprintf(name, room, "%s", model->names[block->theta + at]);
  else
    snprintf(name, room, "%s, coordinate %zu", p->name, at + 1);
}

static bool report(const tempera_model *model, const char *part,
                   const worst *w, tm_text *text) {
  char name[256];
  if (w->compared == 0) {
    tm_text_printf(text, "gradient of the log %s: no point to compare at\n",
                   part);
    return false;
  }
  bool fine = w->error <= LARGEST;
  name_coordinate(model, w->at, name, sizeof name);
  tm_text_printf(text,
                 "gradient of the log %s: %zu slopes %s differences; largest "
                 "relative error %.1e, of %s (%.8g, by differences %.8g)\n",
                 part, w->compared, fine ? "agree with" : "DISAGREE with",
                 w->error, name, w->slope, w->by_difference);
  return fine;
}

static tempera_status compare_all(bench *b, worst *w, tempera_error *error) {
  TM_TRY(set_up(b, error));
  for (uint64_t seed = 1; seed <= POINTS; seed++)
    if (!compare(b, seed, w)) {
      if (error)
        *error = b->error;
      return TEMPERA_ERROR_MODEL;
    }
  return TEMPERA_OK;
}

tempera_status tempera_model_check_gradient(const tempera_model *model,
                                            char **text, bool *agree,
                                            tempera_error *error) {
  worst w[2] = {{.error = -1}, {.error = -1}};
  tm_text said = {0};
  bench b = {.model = model, .arena = tm_arena_create()};
  bool gradients = tm_has_gradients(model), fine = true;
  tempera_status status = b.arena ? TEMPERA_OK : tm_fail_memory(error);
  if (status == TEMPERA_OK && gradients)
    status = compare_all(&b, w, error);
  tempera_evaluator_free(b.evaluator);
  tm_arena_free(b.arena);
  if (status != TEMPERA_OK)
    return status;
  if (gradients) {
    fine = report(model, "prior", &w[0], &said);
    fine &= report(model, "likelihood", &w[1], &said);
  } else
    tm_text_add(&said, "the model gives no gradient\n");
  *agree = fine;
  return tm_text_give(&said, text, error);
}
