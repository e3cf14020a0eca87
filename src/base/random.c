/* random.c - Philox streams and the distributions callbacks may draw from.
 *
 * GSL's generators take a gsl_rng; a thin gsl_rng_type over a stream lets us
 * use its well-tested gamma, beta, binomial and Poisson algorithms. */
#include "base/random.h"

#include <Random123/philox.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <string.h>

tempera_random tm_random(uint64_t seed, uint32_t chain, tm_purpose purpose) {
  return (tempera_random){
      .key = {(uint32_t)seed, (uint32_t)(seed >> 32)},
      .counter = {0, 0, chain, (uint32_t)purpose},
      .used = TM_RANDOM_WORDS,
  };
}

tempera_random tm_random_part(uint64_t seed, uint32_t chain, tm_purpose purpose,
                              uint32_t part) {
  tempera_random random = tm_random(seed, chain, purpose);
  random.counter[1] = part;
  return random;
}

static void refill(tempera_random *random) {
  philox4x32_key_t key = {{random->key[0], random->key[1]}};
  philox4x32_ctr_t block[TM_RANDOM_BLOCKS];
  for (int i = 0; i < TM_RANDOM_BLOCKS; i++) {
    philox4x32_ctr_t counter = {{random->counter[0], random->counter[1],
                                 random->counter[2], random->counter[3]}};
    block[i] = philox4x32(counter, key);
    if (++random->counter[0] == 0)
      random->counter[1]++;
  }
  memcpy(random->block, block, sizeof random->block);
  random->used = 0;
}

uint64_t tm_random_bits(tempera_random *random) {
  if (random->used == TM_RANDOM_WORDS)
    refill(random);
  uint64_t low = random->block[random->used];
  uint64_t high = random->block[random->used + 1];
  random->used += 2;
  return high << 32 | low;
}

/* Midpoints of 2^53 equal cells: never 0 or 1. */
double tempera_random_uniform(tempera_random *random) {
  return ((double)(tm_random_bits(random) >> 11) + 0.5) * 0x1p-53;
}

/* Marsaglia's polar method; the second of each pair is kept. */
double tempera_random_normal(tempera_random *random) {
  if (random->has_spare) {
    random->has_spare = false;
    return random->spare;
  }
  double x, y, square;
  do {
    x = 2 * tempera_random_uniform(random) - 1;
    y = 2 * tempera_random_uniform(random) - 1;
    square = x * x + y * y;
  } while (square >= 1 || square == 0);
  double factor = sqrt(-2 * log(square) / square);
  random->spare = y * factor;
  random->has_spare = true;
  return x * factor;
}

double tempera_random_exponential(tempera_random *random) {
  return -log(tempera_random_uniform(random));
}

static unsigned long stream_get(void *state) {
  return (unsigned long)(tm_random_bits(*(tempera_random **)state) >> 32);
}

static double stream_get_double(void *state) {
  return tempera_random_uniform(*(tempera_random **)state);
}

static void stream_set(void *state, unsigned long seed) {
  (void)state;
  (void)seed; /* streams are named when created, never reseeded */
}

static const gsl_rng_type stream_type = {
    .name = "tempera",
    .max = UINT32_MAX,
    .min = 0,
    .size = sizeof(tempera_random *),
    .set = stream_set,
    .get = stream_get,
    .get_double = stream_get_double,
};

#define WITH_GSL(rng, random)                                                  \
  tempera_random *rng##_stream = (random);                                     \
  gsl_rng rng = {&stream_type, &rng##_stream}

double tempera_random_gamma(tempera_random *random, double shape) {
  WITH_GSL(rng, random);
  return gsl_ran_gamma(&rng, shape, 1.0);
}

double tempera_random_beta(tempera_random *random, double a, double b) {
  WITH_GSL(rng, random);
  return gsl_ran_beta(&rng, a, b);
}

int64_t tempera_random_binomial(tempera_random *random, int64_t trials,
                                double probability) {
  WITH_GSL(rng, random);
  return (int64_t)gsl_ran_binomial(&rng, probability, (unsigned)trials);
}

int64_t tempera_random_poisson(tempera_random *random, double mean) {
  WITH_GSL(rng, random);
  return (int64_t)gsl_ran_poisson(&rng, mean);
}

/* Lemire's method without bias: reject the few products that would favour
 * small values. */
uint64_t tempera_random_below(tempera_random *random, uint64_t bound) {
  if (bound < 2)
    return 0;
  __extension__ typedef unsigned __int128 wide;
  for (;;) {
    wide product = (wide)tm_random_bits(random) * bound;
    if ((uint64_t)product >= -bound % bound)
      return (uint64_t)(product >> 64);
  }
}
