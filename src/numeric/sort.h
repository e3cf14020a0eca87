/* sort.h - numbers in ascending order. */
#ifndef TM_NUMERIC_SORT_H
#define TM_NUMERIC_SORT_H

#include <stddef.h>

/* None of them NaN. */
void tm_sort(double *values, size_t count);

#endif
