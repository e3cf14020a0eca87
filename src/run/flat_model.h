/* flat_model.h - a model's prior made a posterior: its density over u is the
 * "likelihood" ratio f / r, and the "prior" is a normalised density r that is
 * far wider than any prior in use. Tempering it goes below tau = 0 of the
 * model itself, towards something flatter, and its evidence is the integral of
 * the model's prior.
 *
 * r is a product over coordinates. Reals: asinh(u) is normal with sd WIDTH, so
 * that u is spread over all scales from 1 to a thousand. Integers: uniform
 * between two bounds, else the whole part of such a u (from its bound). */
#ifndef TM_RUN_FLAT_MODEL_H
#define TM_RUN_FLAT_MODEL_H

#include "model/model.h"

/* Parameters are the coordinates u of `model`, which must outlive it. */
TEMPERA_CHECKED tempera_status tm_flat_model_create(const tempera_model *model,
                                                    tempera_model **flat,
                                                    tempera_error *error);

/* log r, and a draw of it. */
double tm_flat_log_density(const tempera_model *model, const double *u);
void tm_flat_draw(const tempera_model *model, tempera_random *random,
                  double *u);

#endif
