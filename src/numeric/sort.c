/* sort.c - see sort.h. */
#include "numeric/sort.h"

#include <stdlib.h>

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

void tm_sort(double *values, size_t count) {
  qsort(values, count, sizeof *values, compare);
}
