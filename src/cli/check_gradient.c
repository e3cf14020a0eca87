/* check_gradient.c - `tempera check --gradient`: the model's gradients beside
 * differences of its values, at a few points. */
#include "cli/cli.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS = 5 };
static const double LARGEST = 1e-5; /* relative to 1 + |slope| */

typedef int (*value_fn)(const double *theta, double *value, void *user);

/* By four values, with an error of order h^4. */
static double difference(value_fn value, void *user, double *theta, size_t i) {
  static const double steps[] = {-2, -1, 1, 2}, weights[] = {1, -8, 8, -1};
  double kept = theta[i], h = 1e-4 * fmax(1, fabs(kept)), sum = 0;
  for (int k = 0; k < 4; k++) {
    double found = NAN;
    theta[i] = kept + steps[k] * h;
    sum += value(theta, &found, user) == 0 ? weights[k] * found : (double)NAN;
  }
  theta[i] = kept;
  return sum / (12 * h);
}

typedef struct worst {
  double error, slope, by_difference;
  size_t at;
  size_t compared;
} worst;

static void compare(const tempera_model_spec *s, bool prior, double *theta,
                    double *gradient, const bool *integers, size_t size,
                    worst *w) {
  double value;
  if ((prior ? s->log_prior_gradient
             : s->log_likelihood_gradient)(theta, &value, gradient, s->user))
    return;
  for (size_t i = 0; i < size; i++) {
    if (integers[i])
      continue;
    double known =
        difference(prior ? s->log_prior : s->log_likelihood, s->user, theta, i);
    double error = fabs(gradient[i] - known) / (1 + fabs(known));
    if (isnan(error))
      continue; /* the end of the support is near */
    w->compared++;
    if (error > w->error)
      *w = (worst){error, gradient[i], known, i, w->compared};
  }
}

/* "mu[2]" of value k. */
static void name_value(const tempera_model_spec *s, size_t k, char *name,
                       size_t room) {
  for (size_t i = 0; i < s->parameter_count; i++) {
    const tempera_parameter *p = &s->parameters[i];
    size_t count = p->size ? p->size : 1;
    if (k >= count) {
      k -= count;
      continue;
    }
    if (p->value_names)
      snprintf(name, room, "%s", p->value_names[k]);
    else if (p->size)
      snprintf(name, room, "%s[%zu]", p->name, k + 1);
    else
      snprintf(name, room, "%s", p->name);
    return;
  }
}

static int report(const tempera_model_spec *s, const char *part,
                  const worst *w) {
  char name[256] = "?";
  name_value(s, w->at, name, sizeof name);
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

/* Which values are integers, and have no slope. */
static bool *find_integers(const tempera_model_spec *s, size_t size) {
  bool *integers = calloc(size + 1, sizeof *integers);
  size_t at = 0;
  for (size_t i = 0; integers && i < s->parameter_count; i++) {
    size_t count = s->parameters[i].size ? s->parameters[i].size : 1;
    for (size_t k = 0; k < count; k++)
      integers[at++] = s->parameters[i].kind == TEMPERA_INTEGER;
  }
  return integers;
}

static int compare_parts(const tempera_model_spec *s, double *theta,
                         const double *likelihood, const double *prior,
                         double *gradient, const bool *integers, size_t size) {
  int code = EXIT_DONE;
  for (int part = 0; part < 2; part++) {
    worst w = {.error = -1};
    for (size_t i = 0; i < POINTS; i++)
      if (isfinite(likelihood[i]) && isfinite(prior[i]))
        compare(s, part == 0, theta + i * size, gradient, integers, size, &w);
    int found = report(s, part ? "likelihood" : "prior", &w);
    code = found > code ? found : code;
  }
  return code;
}

int cli_check_gradient(const tempera_model *model, const char *path) {
  const tempera_model_spec *s = tempera_model_spec_of(model);
  size_t size = tempera_model_size(model);
  double likelihood[POINTS], prior[POINTS];
  double *theta = calloc(POINTS * size, sizeof *theta);
  double *gradient = calloc(size, sizeof *gradient);
  bool *integers = find_integers(s, size);
  tempera_error error = {0};
  int code = EXIT_DONE;
  if (!theta || !gradient || !integers)
    code = (fputs("tempera: out of memory\n", stderr), EXIT_BAD_INPUT);
  else if (!s->log_likelihood_gradient || !s->log_prior_gradient)
    printf("the model gives no gradient\n");
  else if (tempera_model_probe(model, 1, POINTS, theta, likelihood, prior,
                               &error))
    code = cli_fail(path, &error);
  else
    code = compare_parts(s, theta, likelihood, prior, gradient, integers, size);
  free(theta);
  free(gradient);
  free(integers);
  return code;
}
