/* at_tau.h - draws of the power posterior at a chosen tau, out of the tempered
 * draws of a run. */
#ifndef TM_ESTIMATE_AT_TAU_H
#define TM_ESTIMATE_AT_TAU_H

#include "draws/draws.h"

/* As draws of the target role (their TM_TAU is `tau`), equally many of every
 * chain; NULL where they cannot be had, with the reason in `why`. The seed and
 * tau name the coins. Free with tm_draws_free, before `draws`. */
TEMPERA_CHECKED tempera_status
tm_at_tau_draws(const tempera_draws *draws, double tau, uint64_t seed,
                tempera_draws **made, char why[160], tempera_error *error);

/* summary->at_tau, for each of these. */
TEMPERA_CHECKED tempera_status tm_estimate_at_tau(
    const tempera_draws *draws, const double *tau, size_t count, uint64_t seed,
    int threads, tempera_summary *summary, tempera_error *error);

void tm_at_tau_free(tempera_power_posterior *each, size_t count);

#endif
