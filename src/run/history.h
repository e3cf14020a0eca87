/* history.h - what was done to the landscape, in order.
 *
 * The store of optima and both ridges are a function of the calls below and of
 * what they were given, whatever the number of threads. So a checkpoint holds
 * the calls, and a run that is resumed makes them again: they are a few hundred
 * to some thousand likelihood evaluations at first, and later the share of the
 * run that looks for basins. Everything that changes a ridge or the store in a
 * run goes through tm_landscape_do. */
#ifndef TM_RUN_HISTORY_H
#define TM_RUN_HISTORY_H

#include "base/archive.h"

typedef enum tm_deed_kind {
  TM_DO_LAPLACE = 0,   /* make the Laplace ridge */
  TM_DO_RIDGE,         /* make the natural-scale ridge */
  TM_DO_IMPROVE,       /* tm_laplace_improve */
  TM_DO_SEARCH,        /* tm_laplace_search */
  TM_DO_IMPROVE_RIDGE, /* tm_ridge_improve */
  TM_DO_FREEZE,        /* tm_laplace_freeze */
  TM_DO_KINDS
} tm_deed_kind;

typedef struct tm_deed {
  tm_deed_kind kind;
  uint64_t looks, evaluations; /* of a search */
  size_t count;         /* of points: count x model size, natural scale */
  const double *points;
} tm_deed;

typedef struct tm_history {
  tm_deed *deeds; /* points are its own */
  size_t count, capacity;
} tm_history;

/* Do it, and remember that it was done. */
TEMPERA_CHECKED tempera_status tm_landscape_do(tempera_sampler *sampler,
                                               const tm_deed *deed,
                                               tempera_error *error);
/* Write the history; or read it, doing everything again. */
TEMPERA_CHECKED tempera_status tm_history_archive(tempera_sampler *sampler,
                                                  tm_archive *archive,
                                                  tempera_error *error);
void tm_history_free(tm_history *history);

#endif
