/* batch.h - models that take many points at once. */
#ifndef TM_MODEL_BATCH_H
#define TM_MODEL_BATCH_H

#include "model/model.h"

/* Put callbacks for one point into the model's spec that wait until all chains
 * ask, whose points then go to the caller's batch functions together. False
 * when out of memory. */
bool tm_batch_install(tempera_model *model);
/* For pieces of work that call the model: of batches they take turns on the
 * calling thread, as many as were to be threads (tm_parallel_for). */
int tm_model_threads(const tempera_model *model, int requested);
/* What is wrong with the spec of such a model, or NULL. */
const char *tm_batch_refuse(const tempera_model_spec *spec);

#endif
