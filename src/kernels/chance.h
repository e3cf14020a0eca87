/* chance.h - how often to attempt a move whose success depends on tau: by the
 * acceptance measured in warmup, fixed afterwards. */
#ifndef TM_KERNELS_CHANCE_H
#define TM_KERNELS_CHANCE_H

#include "kernels/scale.h"

/* Attempt with probability `most` where the acceptance is above `good`, with
 * `seldom` below `poor`, and more often than `most` where nearly all attempts
 * succeed (chance.c); in warmup with `curious` at least, to learn. */
typedef struct tm_chance_rule {
  double good, poor, most, seldom, curious;
} tm_chance_rule;

typedef struct tm_chance {
  const tm_chance_rule *rule;
  double mean[TM_TAU_NODES], count[TM_TAU_NODES]; /* of acceptance */
  double share[TM_TAU_NODES];                     /* by the rule */
} tm_chance;

void tm_chance_start(tm_chance *chance, const tm_chance_rule *rule);
double tm_chance_at(const tm_chance *chance, tm_tau_place place, bool learning);
void tm_chance_learn(tm_chance *chance, tm_tau_place place, double acceptance);
/* Nodes never visited take the acceptance of the nearest one that was. */
void tm_chance_freeze(tm_chance *chance);
void tm_chance_archive(tm_chance *chance, tm_archive *archive);

#endif
