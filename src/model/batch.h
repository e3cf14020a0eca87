/* batch.h - models that take many points at once. */
#ifndef TM_MODEL_BATCH_H
#define TM_MODEL_BATCH_H

#include "model/model.h"

/* Put callbacks for one point into the model's spec that leave their work to
 * the thread that runs the sampler, which gives all points that wait to the
 * caller's batch functions. False when out of memory. */
bool tm_batch_install(tempera_model *model);
/* What is wrong with the spec of such a model, or NULL. */
const char *tm_batch_refuse(const tempera_model_spec *spec);

#endif
