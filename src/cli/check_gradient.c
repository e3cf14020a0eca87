/* check_gradient.c - `tempera check --gradient`: gradients over the
 * unconstrained scale, Jacobians included, beside differences of values at a
 * few points. Two things limit differences: the rounding of large values, which
 * is allowed for, and how far the density is smooth, so that three steps are
 * tried; a wrong slope agrees with none of them. */
#include "cli/cli.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS = 5, TRIES = 40, COORDINATES = 60, STEPS = 3 };
static const double LARGEST = 1e-6; /* relative to 1 + |slope| */

typedef struct bench {
  const tempera_model *model;
  tempera_evaluator *evaluator;
  size_t size, free_size;
  double *theta, *u, *slopes, *slopes_of_prior;
  unsigned char *moves; /* which coordinates are not integers */
  tempera_error error;
} bench;

typedef struct worst {
  double error, slope, by_difference;
  size_t at, compared;
} worst;

static void release(bench *b) {
  tempera_evaluator_free(b->evaluator);
  free(b->theta);
  free(b->u);
  free(b->slopes);
  free(b->slopes_of_prior);
  free(b->moves);
}

size_t cli_free_size(const tempera_parameter *p) {
  size_t count = p->size ? p->size : 1;
  return p->transform == TEMPERA_SIMPLEX  ? count - 1
         : p->transform == TEMPERA_MAPPED ? p->map->unconstrained_size
                                          : count;
}

static void find_moving(bench *b) {
  const tempera_model_spec *s = tempera_model_spec_of(b->model);
  size_t at = 0;
  for (size_t i = 0; i < s->parameter_count; i++)
    for (size_t k = 0; k < cli_free_size(&s->parameters[i]); k++)
      b->moves[at++] = s->parameters[i].kind != TEMPERA_INTEGER;
}

static bool set_up(bench *b) {
  b->size = tempera_model_size(b->model);
  b->free_size = tempera_model_unconstrained_size(b->model);
  size_t bytes = (b->free_size + 1) * sizeof(double);
  b->theta = calloc(b->size + 1, sizeof(double));
  b->u = malloc(bytes);
  b->slopes = malloc(bytes);
  b->slopes_of_prior = malloc(bytes);
  b->moves = calloc(b->free_size + 1, 1);
  if (!b->theta || !b->u || !b->slopes || !b->slopes_of_prior || !b->moves)
    return fputs("tempera: out of memory\n", stderr), false;
  find_moving(b);
  return tempera_evaluator_create(b->model, &b->evaluator, &b->error) ==
         TEMPERA_OK;
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
      memset(b->u, 0, b->free_size * sizeof(double));
    for (size_t i = 0; i < b->free_size; i++)
      if (k < TRIES / 2 && b->moves[i])
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
  size_t stride = 1 + b->free_size / COORDINATES;
  for (size_t i = seed % stride; i < b->free_size; i += stride)
    if (b->moves[i])
      compare_slopes(b, i, values, w);
  return true;
}

/* "mu[2]", the second coordinate of mu. */
static void name_coordinate(const tempera_model_spec *s, size_t k, char *name,
                            size_t room) {
  for (size_t i = 0; i < s->parameter_count; i++) {
    const tempera_parameter *p = &s->parameters[i];
    size_t count = cli_free_size(p);
    if (k >= count) {
      k -= count;
      continue;
    }
    bool same = count == (p->size ? p->size : 1);
    if (same && p->value_names)
      snprintf(name, room, "%s", p->value_names[k]);
    else if (p->size)
      snprintf(name, room, "%s%s%zu%s", p->name, same ? "[" : ", coordinate ",
               k + 1, same ? "]" : "");
    else
      snprintf(name, room, "%s", p->name);
    return;
  }
}

static int report(const tempera_model_spec *s, const char *part,
                  const worst *w) {
  char name[256] = "?";
  name_coordinate(s, w->at, name, sizeof name);
  if (w->compared == 0)
    return printf("gradient of the log %s: no point to compare at\n", part),
           EXIT_BAD_INPUT;
  bool fine = w->error <= LARGEST;
  printf("gradient of the log %s: %zu slopes %s differences; largest relative "
         "error %.1e, of %s (%.8g, by differences %.8g)\n",
         part, w->compared, fine ? "agree with" : "DISAGREE with", w->error,
         name, w->slope, w->by_difference);
  return fine ? EXIT_DONE : EXIT_BAD_INPUT;
}

int cli_check_gradient(const tempera_model *model, const char *path) {
  const tempera_model_spec *s = tempera_model_spec_of(model);
  if (!s->log_likelihood_gradient || !s->log_prior_gradient)
    return printf("the model gives no gradient\n"), EXIT_DONE;
  bench b = {.model = model};
  worst w[2] = {{.error = -1}, {.error = -1}};
  bool fine = set_up(&b);
  for (uint64_t seed = 1; fine && seed <= POINTS; seed++)
    fine = compare(&b, seed, w);
  int code = EXIT_BAD_INPUT;
  if (fine) {
    code = report(s, "prior", &w[0]);
    int other = report(s, "likelihood", &w[1]);
    code = other > code ? other : code;
  } else if (b.error.message[0]) {
    code = cli_fail(path, &b.error);
  }
  release(&b);
  return code;
}
