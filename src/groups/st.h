/* st.h - standard simulated tempering: one point that moves over a ladder of
 * levels tau_0 < ... < tau_{T-1} = 1. The target over (theta, t) is
 *   w_t e^{tau_t l} pi,
 * whose level has mass proportional to w_t z(tau_t): any weights are correct,
 * w_t = 1/z(tau_t) makes all levels equally likely (Marinari & Parisi 1992,
 * Geyer & Thompson 1995). */
#ifndef TM_SAMPLERS_ST_H
#define TM_SAMPLERS_ST_H

#include "groups/group.h"
#include "groups/wang_landau.h"

typedef struct tm_st_settings {
  tempera_kernel kernel;
  tempera_tau_move move; /* gibbs, uniform, neighbour or lifted */
  size_t levels;
} tm_st_settings;

typedef struct tm_st {
  tm_group group;
  tm_st_settings settings;
  tm_point point;
  size_t level;
  double *tau, *log_weight, *conditional; /* one per level */
  bool downward;                          /* lifted: the direction */
  bool learning;                          /* do visits change the weights? */
  tm_wang_landau visits;                  /* while learning */
  tempera_random theta_stream, level_stream;
} tm_st;

/* The ladder comes with tm_st_set_ladder, before the first sweep. */
TEMPERA_CHECKED tempera_status tm_st_create(const tempera_model *model,
                                            const tm_st_settings *settings,
                                            uint64_t seed, uint32_t chain,
                                            const double *start, tm_st **st,
                                            tempera_error *error);
/* Copies as many taus (ascending, the last 1) and log weights as there are
 * levels; the point keeps its place on the ladder. */
void tm_st_set_ladder(tm_st *st, const double *tau, const double *log_weight);

#endif
