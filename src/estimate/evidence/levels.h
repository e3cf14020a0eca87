/* levels.h - draws at every one of T levels of tau in each sweep (method pt),
 * as estimators want them: sums over levels are sums over the rows of a sweep,
 * so one series per estimator carries the correlation in time and between
 * levels. */
#ifndef TM_ESTIMATE_LEVELS_H
#define TM_ESTIMATE_LEVELS_H

#include "estimate/evidence/evidence.h"
#include "estimate/summary.h"

typedef struct tm_levels {
  tm_arena *arena;
  const tempera_draws *draws;
  size_t chains, rows; /* sweeps */
  size_t count;        /* levels; 0: no draws */
  double *tau;
  double *l; /* chain, then sweep, then level */
  /* By level, over draws of finite l: */
  double *mean, *variance;
  double inside;      /* share of finite l at the first level */
  double *rejection;  /* between a level and the next; NaN at the last */
  double *barrier;    /* from the first level up */
  double *log_z;      /* relative to tau = 0, by ss */
  tm_evidence pooled; /* ss itself */
} tm_levels;

/* Are these draws of that kind? */
bool tm_levels_apply(const tempera_draws *draws);
/* Sweeps are thinned to `limit` draws in all. Free with tm_levels_free. */
TEMPERA_CHECKED tempera_status tm_levels_create(const tempera_draws *draws,
                                                size_t limit, tm_levels *levels,
                                                tempera_error *error);
void tm_levels_free(tm_levels *levels);

/* levels_evidence.c: how log z(1) - log z(0) is put together. */
typedef enum tm_levels_kind {
  TM_LEVELS_SS,       /* Bennett's ratio between neighbours: both directions */
  TM_LEVELS_FORWARD,  /* from each level up to the next */
  TM_LEVELS_BACKWARD, /* and down */
  TM_LEVELS_TI_B,     /* trapezoid plus half the difference of divergences */
  TM_LEVELS_TI_NB,    /* trapezoid */
  TM_LEVELS_TI_2,     /* trapezoid with the second-order correction */
  TM_LEVELS_KINDS
} tm_levels_kind;
const char *tm_levels_name(tm_levels_kind kind);
/* log_z (`count` numbers, or NULL) gets the curve of log z over the levels. */
TEMPERA_CHECKED tempera_status tm_levels_evidence(const tm_levels *levels,
                                                  tm_levels_kind kind,
                                                  tm_evidence *evidence,
                                                  double *log_z,
                                                  tempera_error *error);
/* log z at level `to` less that at `from`, by TM_LEVELS_SS; its influence joins
 * psi, sweep by sweep. */
double tm_levels_rise(const tm_levels *levels, size_t from, size_t to,
                      double *psi);

/* The evidence, curve, barrier, levels and trips of a summary. */
TEMPERA_CHECKED tempera_status tm_levels_fill(const tempera_draws *draws,
                                              tempera_summary *summary,
                                              tempera_error *error);
/* The barrier over tau, for trips; its arrays are the levels'. */
tm_barrier tm_levels_barrier(const tm_levels *levels);

#endif
