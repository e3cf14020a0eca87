/* bridge.h - the evidence by bridge sampling between a run's target draws and
 * a density fitted to them (method 4.4, `bridge`).
 *
 * Half of each chain's draws is fitted, the other half bridged, and the other
 * way round; the two estimates are averaged. In many dimensions halves are too
 * few to fit to; a run's reference leg has a better density, which takes their
 * place (run/leg_bridge.c). Interchangeable labels are moved
 * to one copy (model/labels.h). What is estimated is the integral of L pi with
 * the literal pi; unless the model says that its prior is normalised, the
 * integral of pi is estimated the same way from prior draws and taken off. */
#ifndef TM_ESTIMATE_BRIDGE_H
#define TM_ESTIMATE_BRIDGE_H

#include "draws/draws.h"
#include "estimate/bridge/bridge_ratio.h"
#include "model/model.h"

typedef struct tm_bridge_settings {
  uint64_t seed;
  int threads; /* 0: all cores; the estimate does not depend on it */
  /* NULL: halves are fitted. Else log f/q at draws of a density q that owes
   * nothing to the target draws, and at these, f the density L pi over what q
   * is a density of. */
  const tm_bridge_terms *terms;
  /* Likelihood evaluations spent on each of the two halves; 0: as many as there
   * are draws in a half, at most 2000. A few more go into looking for
   * interchangeable labels. */
  size_t proposal_draws;
} tm_bridge_settings;

/* Where there can be no such estimate (no target draws, an improper prior, a
 * prior of unknown mass without prior_draw, too few draws), log_z is NaN and
 * the warning says why; that is not a failure. What speaks against the estimate
 * becomes a finding of the summary (may be NULL) and the estimate's warning,
 * which the caller frees with tm_heap_free. */
TEMPERA_CHECKED tempera_status
tm_bridge_estimate(const tempera_model *model, const tempera_draws *draws,
                   const tm_bridge_settings *settings, tempera_summary *summary,
                   tempera_estimate *estimate, uint64_t *likelihood_evaluations,
                   tempera_error *error);

#endif
