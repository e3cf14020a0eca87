/* calibration.h - what the runs of a calibration say together: read and judged
 * in calibration.c, shown in calibration_page.c. */
#ifndef TM_REPORT_CALIBRATION_H
#define TM_REPORT_CALIBRATION_H

#include "base/memory.h"
#include "base/text.h"

#include "tempera.h"

enum { TM_RANKS = TEMPERA_CALIBRATION_DRAWS, TM_MOST_CALIBRATED = 16 };

typedef struct tm_rank_series {
  char name[96];
  int *ranks;
  size_t count;
  double p, gamma; /* simultaneous p; pointwise level of the 95 % band */
  double covered[2], coverage_se[2];
} tm_rank_series;

typedef struct tm_calibration {
  tm_arena *arena;
  size_t runs, done, failed, unreliable;
  char why[200]; /* the first that failed */
  tm_rank_series *list;
  size_t count, capacity;
  char models[TM_MOST_CALIBRATED][96];
  size_t model_count;
  double *probability; /* [run * TM_MOST_CALIBRATED + model] */
  int *truth;          /* by run; -1: not known */
  double model_z[TM_MOST_CALIBRATED], mean[TM_MOST_CALIBRATED],
      share[TM_MOST_CALIBRATED];
  double worst; /* the smallest p of all, times their number */
  const char *culprit;
} tm_calibration;

/* tails[k * (n + 1) + j]: how likely a count of ranks below k + 1 is at least
 * as far out as j, on its side, twice; and minima of it over k, simulated. */
typedef struct tm_rank_law {
  size_t n;
  double *tails, *minima;
} tm_rank_law;

/* The tails of `law->n` ranks; `minima` is left alone. */
bool tm_rank_tails(tm_rank_law *law, tm_arena *arena);

bool tm_calibration_fine(const tm_calibration *calibration);
/* Is a p an alarm, by itself? */
bool tm_calibration_alarm(double p);
void tm_calibration_verdict(const tm_calibration *calibration, tm_text *out);
TEMPERA_CHECKED tempera_status
tm_calibration_page(const tm_calibration *calibration, const char *folder,
                    tempera_error *error);

#endif
