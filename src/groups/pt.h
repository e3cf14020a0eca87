/* pt.h - parallel tempering: a point at each of T levels of tau, which mutate
 * and exchange (method 2, 4.5).
 *
 * Three ways to exchange: `even-odd` tries the even neighbours in one sweep and
 * the odd ones in the next, which is not reversible and carries states in one
 * direction (Okabe et al. 2001; Syed et al. 2022); `reversible` tosses a coin
 * between the two; `random-pair` is the paper's: with probability rho one pair
 * of any two levels instead of a mutation.
 *
 * Levels mutate without each other, each on a stream of its own and with what
 * it has learned itself, so that they may do so at the same time (the parts of
 * the group). In many dimensions, where a kernel is large, neighbours share
 * one. */
#ifndef TM_SAMPLERS_PT_H
#define TM_SAMPLERS_PT_H

#include "groups/group.h"

typedef struct tm_pt_settings {
  tempera_swaps swaps;
  double exchange; /* probability rho that a sweep exchanges */
  tempera_kernel kernel;
} tm_pt_settings;

typedef struct tm_pt {
  tm_group group;
  tm_pt_settings settings;
  size_t count, room;        /* levels; and how many there is memory for */
  double *tau;               /* ascending */
  tm_point *points, *others; /* by level; `others` is for changes of level */
  double *walker;            /* by level: which lineage is there */
  bool odd;                  /* even-odd: the turn of the odd pairs */
  uint64_t seed;
  uint32_t chain;          /* of the streams */
  tempera_random *streams; /* by level */
  tempera_random exchange_stream;
  bool exchanging; /* this sweep */
  /* Since the last change of levels: mean acceptance probabilities between
   * level t and t + 1 are accept[t] / sweeps. */
  double *accept;
  double sweeps;
} tm_pt;

/* All levels start at `start` (natural scale). Levels are to be set before
 * the first sweep. Sweep and free it as a group. */
TEMPERA_CHECKED tempera_status tm_pt_create(const tempera_model *model,
                                            const tm_pt_settings *settings,
                                            uint64_t seed, uint32_t chain,
                                            const double *start, tm_pt **pt,
                                            tempera_error *error);
/* Between sweeps: these levels from now on. Where their number changes, a new
 * level at position wanted[t] takes the point of the nearest old one at
 * place[s]; otherwise points stay, and both may be NULL, as for the first
 * levels. */
TEMPERA_CHECKED tempera_status tm_pt_set_levels(tm_pt *pt, const double *tau,
                                                size_t count,
                                                const double *place,
                                                const double *wanted,
                                                tempera_error *error);

#endif
