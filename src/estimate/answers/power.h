/* power.h - what the tempered draws say of one tau: the mean log likelihood
 * there, and how far log z rises from there to tau = 1. WBIC and the fractional
 * evidence are made of these.
 *
 * All draws speak, by their Rao-Blackwell weights (tempered.h); what no draw
 * was made near is not answered. */
#ifndef TM_ESTIMATE_POWER_H
#define TM_ESTIMATE_POWER_H

#include "estimate/evidence/tempered.h"

/* E_tau[l]; NaN where draws do not cover tau. Uses view->weight. */
tempera_path_answer tm_power_mean(tm_tempered *view, double tau);
/* log z(1) - log z(tau); NaN where draws do not cover all of [tau, 1].
 * `scratch` holds view->count doubles. */
tempera_path_answer tm_power_rise(tm_tempered *view, double tau,
                                  double *scratch);

/* Both, from draws at every level (level_power.c). */
TEMPERA_CHECKED tempera_status
tm_level_power(const tempera_draws *draws, double tau,
               tempera_path_answer *mean, tempera_path_answer *rise,
               tempera_error *error);

/* The summary's wbic and fractional, the tau prior and observations (0: not
 * known); after the headline. */
TEMPERA_CHECKED tempera_status tm_estimate_power(const tempera_draws *draws,
                                                 size_t observations,
                                                 tempera_summary *summary,
                                                 tempera_error *error);

#endif
