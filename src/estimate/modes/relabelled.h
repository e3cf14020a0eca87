/* relabelled.h - a run's labels: whether they can change places, asked of the
 * density at target draws. */
#ifndef TM_ESTIMATE_RELABELLED_H
#define TM_ESTIMATE_RELABELLED_H

#include "draws/draws.h"
#include "model/labels.h"

/* tm_labels_find at target draws spread over all chains. */
TEMPERA_CHECKED tempera_status tm_draw_labels_find(tm_evaluator *evaluator,
                                                   const tempera_draws *draws,
                                                   tm_arena *arena,
                                                   tm_labels *labels,
                                                   tempera_error *error);

#endif
