/* splitting.h - the mass of a set that prior draws hardly ever meet, and points
 * of it, by nested level sets (multilevel splitting).
 *
 * The model says how far a point is from the set (`shortfall`, S). With levels
 * s_1 > s_2 > ... > 0 the mass is the product of P(S <= s_k | S <= s_{k-1}).
 * Particles start as prior draws; of each level the best three tenths go on,
 * are copied to the full number, and move within their level set, by slices and
 * by differences of other particles. Independent repeats, each with an unbiased
 * estimate, give the mean and its error: what one of them misses shows as a
 * spread. */
#ifndef TM_RUN_SPLITTING_H
#define TM_RUN_SPLITTING_H

#include "model/model.h"

enum { TM_SPLIT_REPEATS = 8, TM_SPLIT_PARTICLES = 250 };

typedef struct tm_splitting {
  bool found;         /* in every repeat; else nothing below is set */
  double log_p, se;   /* log P(L > 0), with its Student factor */
  size_t point_count; /* with L > 0, of all repeats: */
  double *points;     /* point_count x dimension, u; in the arena */
  uint64_t evaluations;
} tm_splitting;

/* For a model with prior_draw and shortfall. */
TEMPERA_CHECKED tempera_status tm_split(const tempera_model *model,
                                        uint64_t seed, tm_arena *arena,
                                        tm_splitting *splitting,
                                        tempera_error *error);

#endif
