/* advice.h - what to try, fitted to what was asked for. */
#ifndef TM_RUN_ADVICE_H
#define TM_RUN_ADVICE_H

#include "run/sampler.h"

/* After the verdict: where that says to run longer, look first at what the
 * caller has chosen away from the defaults, which may be why. */
TEMPERA_CHECKED tempera_status tm_advise(const tempera_sampler *sampler,
                                         tempera_summary *summary,
                                         tempera_error *error);

#endif
