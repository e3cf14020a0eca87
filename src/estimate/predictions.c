/* predictions.c - see predictions.h. */
#include "estimate/predictions.h"

#include <math.h>

const char *const tm_statistic_names[TM_STATISTICS] = {"mean", "sd", "min",
                                                       "max"};

void tm_statistics(const double *values, const long *term, size_t count,
                   double statistics[TM_STATISTICS]) {
  double sum = 0, squares = 0, least = INFINITY, most = -INFINITY, n = 0;
  for (size_t e = 0; e < count; e++) {
    if (term && term[e] < 0)
      continue;
    sum += values[e];
    least = fmin(least, values[e]);
    most = fmax(most, values[e]);
    n++;
  }
  for (size_t e = 0; e < count; e++)
    if (!term || term[e] >= 0)
      squares += (values[e] - sum / n) * (values[e] - sum / n);
  statistics[0] = sum / n;
  statistics[1] = n > 1 ? sqrt(squares / (n - 1)) : NAN;
  statistics[2] = n ? least : NAN;
  statistics[3] = n ? most : NAN;
}

void tm_predictions_free(tempera_predictions *predictions) {
  if (predictions)
    tm_arena_free(predictions->arena);
}
