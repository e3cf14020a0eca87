/* ee.h - the equi-energy sampler (Kou, Zhou & Wong 2006), on the path from the
 * prior: chain k has the law
 *   pi(theta) exp(tau_k min(l(theta), cap_k)),
 * tau falling with k and chain 0 the target (tau 1, no cap). The caps cut the
 * log likelihood into rings; every chain but the target remembers its past in
 * rings, and with probability `jump` a chain proposes, in place of a move, a
 * past point of the next hotter chain out of its own ring: accepted with
 *   exp(f_k(y) - f_k(x) - f_{k+1}(y) + f_{k+1}(x)), f_k = tau_k min(l, cap_k),
 * without a likelihood call. Hotter chains start earlier (the cascade).
 *
 * Since the memory is finite at any time, the target's law is reached only as
 * it grows: not a Markov chain, and exact in the limit only. */
#ifndef TM_SAMPLERS_EE_H
#define TM_SAMPLERS_EE_H

#include "groups/group.h"

typedef struct tm_ee_settings {
  tempera_kernel kernel;
  double jump;   /* probability of an equi-energy proposal */
  bool cut;      /* are there caps? (else they only part the rings) */
  size_t chains; /* temperatures, and rings */
  size_t memory; /* points kept of each ring of each chain */
  size_t stage;  /* sweeps by which a chain starts later than the hotter */
} tm_ee_settings;

/* Doubles that a remembered point takes. */
size_t tm_ee_record(const tempera_model *model);

/* The ladder comes with tm_ee_set_ladder, before the first sweep. */
TEMPERA_CHECKED tempera_status tm_ee_create(const tempera_model *model,
                                            const tm_ee_settings *settings,
                                            uint64_t seed, uint32_t chain,
                                            const double *start,
                                            tm_group **group,
                                            tempera_error *error);
/* tau[0] = 1, falling; the caps, edge[0] = infinity, falling. Copied. */
void tm_ee_set_ladder(tm_group *group, const double *tau, const double *edge);
/* Adds the target chain's equi-energy proposals so far, and those accepted. */
void tm_ee_jumps(const tm_group *group, size_t *proposed, size_t *accepted);

#endif
