/* random.h - counter-based random streams (Philox4x32-10 from Random123).
 *
 * A stream is named by (seed, chain, purpose); its numbers depend on nothing
 * else, so a run is the same for any number of threads or ranks. */
#ifndef TM_BASE_RANDOM_H
#define TM_BASE_RANDOM_H

#include "base/status.h"

#include <math.h>

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
  TM_PURPOSE_TEMPERED_QUANTITIES,
  TM_PURPOSE_ANNEAL,
  TM_PURPOSE_REFERENCE, /* of the reference leg */
  TM_PURPOSE_REFERENCE_TAU,
  TM_PURPOSE_REFERENCE_EXCHANGE,
  TM_PURPOSE_REFERENCE_FIT,
  TM_PURPOSE_ABSORPTION,
  TM_PURPOSE_SEARCH,   /* looks at the prior, ... */
  TM_PURPOSE_EXCURSION, /* ... and starts of climbs */
  TM_PURPOSE_REPLICATE = 64, /* data given a target draw, ... */
  TM_PURPOSE_PRIOR_PREDICTIVE, /* ... and a prior draw with its data */
  TM_PURPOSE_AT_TAU, /* which tempered draws are of a chosen tau */
  TM_PURPOSE_WIDER,  /* draws by which priors are known */
  TM_PURPOSE_TERMS,  /* which of very many terms are left out */
  TM_PURPOSE_LEVEL = 1024 /* of pt: this and as many more as there are */
} tm_purpose;

/* Philox blocks of two words are made this many at a time: they do not wait
 * for each other in the processor. The stream is the same. */
enum {
  TM_RANDOM_BLOCKS = 16,
  TM_RANDOM_WORDS = 2 * TM_RANDOM_BLOCKS,
  TM_NORMAL_LAYERS = 256
};

struct tempera_random {
  uint32_t key[2], counter[4];
  uint64_t word[TM_RANDOM_WORDS];
  unsigned used; /* words already given out */
};

tempera_random tm_random(uint64_t seed, uint32_t chain, tm_purpose purpose);
/* Stream number `part` of many with the same name: one for each draw, say.
 * Each has 2^33 words. */
tempera_random tm_random_part(uint64_t seed, uint32_t chain, tm_purpose purpose,
                              uint32_t part);

double tm_random_chi_square(tempera_random *random, unsigned freedom);

/* ------------------------------------------------------------------------
 * Inlined, since sweeps make dozens of these calls
 */

void tm_random_refill(tempera_random *random);

static inline uint64_t tm_random_bits(tempera_random *random) {
  if (random->used == TM_RANDOM_WORDS)
    tm_random_refill(random);
  return random->word[random->used++];
}

/* Midpoints of 2^53 equal cells: never 0 or 1. */
static inline double tm_random_uniform(tempera_random *random) {
  return ((double)(int64_t)(tm_random_bits(random) >> 11) + 0.5) * 0x1p-53;
}

extern const double tm_normal_edge[TM_NORMAL_LAYERS + 1];
/* |x| of a draw in `layer` that is not surely under the density. */
double tm_random_normal_edge(tempera_random *random, unsigned layer, double x);

/* The ziggurat (ziggurat.c): from one word the layer, the sign and, with other
 * bits, how far into the layer; 99 of 100 draws need no more. Else false. */
static inline bool tm_normal_of(uint64_t bits, double *normal) {
  unsigned layer = bits % TM_NORMAL_LAYERS;
  double sign = 1 - 2 * (double)(int)(bits / TM_NORMAL_LAYERS % 2);
  double x = (double)(int64_t)(bits >> 11) * 0x1p-53 * tm_normal_edge[layer];
  *normal = sign * x; /* no branch: it is random */
  return x < tm_normal_edge[layer + 1];
}

static inline double tm_random_normal(tempera_random *random) {
  uint64_t bits = tm_random_bits(random);
  double normal;
  if (tm_normal_of(bits, &normal))
    return normal;
  double x =
      tm_random_normal_edge(random, bits % TM_NORMAL_LAYERS, fabs(normal));
  return copysign(x, normal);
}

/* So many of them; quicker, since the place in the stream is not written back
 * after each. */
static inline void tm_random_normals(tempera_random *random, size_t count,
                                     double *out) {
  for (size_t i = 0; i < count;) {
    const uint64_t *word = random->word + random->used;
    size_t here = TM_RANDOM_WORDS - random->used, k = 0;
    here = here < count - i ? here : count - i;
    while (k < here && tm_normal_of(word[k], out + i + k))
      k++;
    random->used += (unsigned)k;
    i += k;
    if (i < count) /* at the edge of a layer, or of the words */
      out[i++] = tm_random_normal(random);
  }
}

#endif
