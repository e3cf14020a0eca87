/* random.h - counter-based random streams (Philox4x32-10 from Random123).
 *
 * A stream is named by (seed, chain, purpose); its numbers depend on nothing
 * else, so a run is the same for any number of threads or ranks. */
#ifndef TM_BASE_RANDOM_H
#define TM_BASE_RANDOM_H

#include "base/status.h"

/* What a stream is for. Values are part of what a seed means: append only. */
typedef enum tm_purpose {
  TM_PURPOSE_START = 1,
  TM_PURPOSE_RIDGE,
  TM_PURPOSE_PRIOR,
  TM_PURPOSE_TEMPERED,
  TM_PURPOSE_TARGET,
  TM_PURPOSE_TAU,
  TM_PURPOSE_EXCHANGE,
  TM_PURPOSE_TEST,
  TM_PURPOSE_BRIDGE,
  TM_PURPOSE_QUANTITIES, /* of target draws, ... */
  TM_PURPOSE_TEMPERED_QUANTITIES
} tm_purpose;

/* Philox blocks are made this many at a time: they do not wait for each
 * other in the processor. The stream is the same. */
enum { TM_RANDOM_BLOCKS = 4, TM_RANDOM_WORDS = 4 * TM_RANDOM_BLOCKS };

struct tempera_random {
  uint32_t key[2], counter[4], block[TM_RANDOM_WORDS];
  unsigned used; /* words of `block` already given out */
  bool has_spare;
  double spare; /* second normal of a pair */
};

tempera_random tm_random(uint64_t seed, uint32_t chain, tm_purpose purpose);
/* Stream number `part` of many with the same name: one for each draw, say.
 * Each has 2^34 words. */
tempera_random tm_random_part(uint64_t seed, uint32_t chain, tm_purpose purpose,
                              uint32_t part);
uint64_t tm_random_bits(tempera_random *random);

#endif
