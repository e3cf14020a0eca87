/* normal.h - the model that the misbehaving ones vary: y_i ~ N(mu, 1),
 * mu ~ N(0, 1), whose evidence is known. */
#ifndef TESTS_MODELS_NORMAL_H
#define TESTS_MODELS_NORMAL_H

#include "tempera.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct normal_data {
  size_t n;
  double *y;
} normal_data;

static const double half_log_2pi = 0.91893853320467274178;

static inline int normal_likelihood(const double *theta, double *value,
                                    void *user) {
  const normal_data *data = user;
  *value = 0;
  for (size_t i = 0; i < data->n; i++) {
    double z = data->y[i] - theta[0];
    *value -= half_log_2pi + 0.5 * z * z;
  }
  return 0;
}

static inline int normal_prior(const double *theta, double *value, void *user) {
  (void)user;
  *value = -half_log_2pi - 0.5 * theta[0] * theta[0];
  return 0;
}

static inline int normal_draw(tempera_random *random, double *theta,
                              void *user) {
  (void)user;
  theta[0] = tempera_random_normal(random);
  return 0;
}

static inline void normal_release(void *user) {
  normal_data *data = user;
  free(data->y);
  free(data);
}

/* A copy of the data's y. */
static inline tempera_status
normal_read(const tempera_data *data, normal_data **out, tempera_error *error) {
  const double *y = NULL;
  size_t n = 0;
  tempera_status status = tempera_data_reals(data, "y", &y, &n, error);
  if (status != TEMPERA_OK)
    return status;
  normal_data *made = malloc(sizeof *made);
  double *copy = malloc((n ? n : 1) * sizeof *copy);
  if (!made || !copy) {
    free(made);
    free(copy);
    return TEMPERA_ERROR_MEMORY;
  }
  memcpy(copy, y, n * sizeof *copy);
  *made = (normal_data){n, copy};
  *out = made;
  return TEMPERA_OK;
}

/* Open the model with these densities; prior_draw may be NULL. */
static inline tempera_status
normal_open(const tempera_data *data, const char *name,
            tempera_density_fn likelihood, tempera_density_fn prior,
            tempera_draw_fn prior_draw, tempera_model **model,
            tempera_error *error) {
  static const tempera_parameter mu = {
      .name = "mu", .lower = -INFINITY, .upper = INFINITY};
  normal_data *user = NULL;
  tempera_status status = normal_read(data, &user, error);
  if (status != TEMPERA_OK)
    return status;
  tempera_model_spec spec = {.name = name,
                             .parameters = &mu,
                             .parameter_count = 1,
                             .log_likelihood = likelihood,
                             .log_prior = prior,
                             .prior_draw = prior_draw,
                             .user = user,
                             .release = normal_release};
  status = tempera_model_create(&spec, model, error);
  if (status != TEMPERA_OK)
    normal_release(user);
  return status;
}

TEMPERA_DECLARE_MODEL;

#endif
