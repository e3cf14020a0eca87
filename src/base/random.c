/* random.c - Philox streams and the distributions callbacks may draw from.
 *
 * GSL's generators take a gsl_rng; a thin gsl_rng_type over a stream lets us
 * use its well-tested gamma, beta, binomial and Poisson algorithms. */
#include "base/random.h"

#include <Random123/philox.h>
#include <gsl/gsl_randist.h>
#ifdef __AVX2__
#include <immintrin.h>
#endif
#include <math.h>

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

#ifdef __AVX2__
/* Philox4x32-10 in four lanes of 64 bits, of which the low halves count. What
 * is left in the high halves does no harm: the products do not look at it. */
typedef __m256i lanes;

static lanes same(uint32_t x) { return _mm256_set1_epi64x(x); }

static lanes high_half(lanes x) { return _mm256_srli_epi64(x, 32); }

static lanes mixed(lanes product, lanes word, lanes key) {
  return _mm256_xor_si256(_mm256_xor_si256(high_half(product), word), key);
}

static lanes joined(lanes low, lanes high) {
  return _mm256_blend_epi32(low, _mm256_slli_epi64(high, 32), 0xaa);
}

enum { SETS = 2, TOGETHER = 4 * SETS };

static void store_words(lanes a, lanes b, lanes c, lanes d, uint64_t words[8]) {
  lanes even = joined(a, b), odd = joined(c, d);
  lanes low = _mm256_unpacklo_epi64(even, odd);
  lanes high = _mm256_unpackhi_epi64(even, odd);
  _mm256_storeu_si256((lanes *)words,
                      _mm256_permute2x128_si256(low, high, 0x20));
  _mm256_storeu_si256((lanes *)(words + 4),
                      _mm256_permute2x128_si256(low, high, 0x31));
}

/* The words of the counters from `first` on. The sets go side by side, since a
 * round waits for its products. */
static void make_words(const tempera_random *random, uint64_t first,
                       uint64_t words[2 * TOGETHER]) {
  lanes a[SETS], b[SETS], c[SETS], d[SETS];
  for (int s = 0; s < SETS; s++) {
    a[s] = _mm256_add_epi64(_mm256_set1_epi64x((long long)first + 4 * s),
                            _mm256_set_epi64x(3, 2, 1, 0));
    b[s] = high_half(a[s]);
    c[s] = same(random->counter[2]);
    d[s] = same(random->counter[3]);
  }
  uint32_t key[2] = {random->key[0], random->key[1]};
  for (int round = 0; round < 10; round++) {
    for (int s = 0; s < SETS; s++) {
      lanes p = _mm256_mul_epu32(a[s], same(PHILOX_M4x32_0));
      lanes q = _mm256_mul_epu32(c[s], same(PHILOX_M4x32_1));
      a[s] = mixed(q, b[s], same(key[0]));
      b[s] = q;
      c[s] = mixed(p, d[s], same(key[1]));
      d[s] = p;
    }
    key[0] += PHILOX_W32_0;
    key[1] += PHILOX_W32_1;
  }
  for (int s = 0; s < SETS; s++)
    store_words(a[s], b[s], c[s], d[s], words + 8 * s);
}
#else
enum { TOGETHER = 1 };

static void make_words(const tempera_random *random, uint64_t first,
                       uint64_t words[2 * TOGETHER]) {
  philox4x32_key_t key = {{random->key[0], random->key[1]}};
  for (uint64_t i = 0; i < TOGETHER; i++) {
    philox4x32_ctr_t counter = {{(uint32_t)(first + i),
                                 (uint32_t)((first + i) >> 32),
                                 random->counter[2], random->counter[3]}};
    philox4x32_ctr_t block = philox4x32(counter, key);
    words[2 * i] = (uint64_t)block.v[1] << 32 | block.v[0];
    words[2 * i + 1] = (uint64_t)block.v[3] << 32 | block.v[2];
  }
}
#endif

void tm_random_refill(tempera_random *random) {
  uint64_t first = (uint64_t)random->counter[1] << 32 | random->counter[0];
  for (int i = 0; i < TM_RANDOM_BLOCKS; i += TOGETHER)
    make_words(random, first + (uint64_t)i, random->word + 2 * i);
  first += TM_RANDOM_BLOCKS;
  random->counter[0] = (uint32_t)first;
  random->counter[1] = (uint32_t)(first >> 32);
  random->used = 0;
}

double tempera_random_uniform(tempera_random *random) {
  return tm_random_uniform(random);
}

double tempera_random_normal(tempera_random *random) {
  return tm_random_normal(random);
}

/* Beyond the last edge (Marsaglia, Technometrics 6, 1964). */
static double normal_tail(tempera_random *random) {
  double edge = tm_normal_edge[1], x, y;
  do {
    x = -log(tm_random_uniform(random)) / edge;
    y = -log(tm_random_uniform(random));
  } while (2 * y < x * x);
  return edge + x;
}

double tm_random_normal_edge(tempera_random *random, unsigned layer, double x) {
  if (layer == 0)
    return normal_tail(random);
  const double *edge = tm_normal_edge + layer;
  double low = exp(-0.5 * edge[0] * edge[0]);
  double high = exp(-0.5 * edge[1] * edge[1]);
  if (low + tm_random_uniform(random) * (high - low) < exp(-0.5 * x * x))
    return x;
  return fabs(tm_random_normal(random));
}

double tempera_random_exponential(tempera_random *random) {
  return -log(tm_random_uniform(random));
}

static unsigned long stream_get(void *state) {
  return (unsigned long)(tm_random_bits(*(tempera_random **)state) >> 32);
}

static double stream_get_double(void *state) {
  return tm_random_uniform(*(tempera_random **)state);
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

/* A pair of squared normals is -2 log of a uniform; of many, one logarithm. */
double tm_random_chi_square(tempera_random *random, unsigned freedom) {
  enum { MOST = 32 }; /* 16 uniforms do not underflow */
  if (freedom > MOST)
    return 2 * tempera_random_gamma(random, freedom / 2.);
  double product = 1, normal = freedom % 2 ? tm_random_normal(random) : 0;
  for (unsigned i = 0; i < freedom / 2; i++)
    product *= tm_random_uniform(random);
  return normal * normal - 2 * log(product);
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
    uint64_t low = (uint64_t)product; /* seldom below bound: no division */
    if (low >= bound || low >= -bound % bound)
      return (uint64_t)(product >> 64);
  }
}
