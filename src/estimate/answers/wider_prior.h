/* wider_prior.h - how log Z moves when the prior of a parameter is stretched. */
#ifndef TM_ESTIMATE_WIDER_PRIOR_H
#define TM_ESTIMATE_WIDER_PRIOR_H

#include "draws/draws.h"
#include "model/model.h"

/* summary->wider: one for each parameter whose prior can be stretched; after
 * the headline. Calls the prior only. */
TEMPERA_CHECKED tempera_status tm_estimate_wider(const tempera_model *model,
                                                 const tempera_draws *draws,
                                                 uint64_t seed,
                                                 tempera_summary *summary,
                                                 tempera_error *error);
void tm_wider_free(tempera_wider_prior *each, size_t count);

#endif
