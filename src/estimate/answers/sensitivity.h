/* sensitivity.h - how far a parameter's posterior moves when the prior, or the
 * likelihood, counts for more or less (power-scaling; Kallioinen, Paananen,
 * Buerkner & Vehtari 2023). */
#ifndef TM_ESTIMATE_SENSITIVITY_H
#define TM_ESTIMATE_SENSITIVITY_H

#include "draws/draws.h"

/* The summary's sensitivities, from the target draws; after the values. */
TEMPERA_CHECKED tempera_status
tm_estimate_sensitivity(const tempera_draws *draws, tempera_summary *summary,
                        tempera_error *error);

#endif
