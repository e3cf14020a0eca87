/* predicting.h - a run's predictions: see estimate/predictions.h. */
#ifndef TM_RUN_PREDICTING_H
#define TM_RUN_PREDICTING_H

#include "estimate/predictions.h"
#include "run/sampler.h"

/* Fill summary->loo and summary->predictions, as far as they can be had. */
TEMPERA_CHECKED tempera_status
tm_predictions_add(const tempera_sampler *sampler, tempera_summary *summary,
                   tempera_error *error);

#endif
