/* normal.c - a well-behaved model: y_i ~ N(mu, 1), mu ~ N(0, 1). */
#include "normal.h"

tempera_status tempera_model_open(const tempera_data *data,
                                  tempera_model **model, tempera_error *error) {
  return normal_open(data, "normal", normal_likelihood, normal_prior,
                     normal_draw, model, error);
}
