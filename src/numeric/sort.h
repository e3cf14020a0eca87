/* sort.h - numbers in ascending order. None of them may be NaN. */
#ifndef TM_NUMERIC_SORT_H
#define TM_NUMERIC_SORT_H

#include <stddef.h>

/* A number and where it came from. */
typedef struct tm_ranked {
  double value;
  size_t index;
} tm_ranked;

void tm_sort(double *values, size_t count);
/* Equal values keep the order in which they come. `room` is for `count` of
 * them; what it holds in the end is nothing. */
void tm_ranked_sort(tm_ranked *values, tm_ranked *room, size_t count);
/* The quantile of sorted values that interpolates linearly (R's type 7). */
double tm_ranked_quantile(const tm_ranked *sorted, size_t count, double p);

#endif
