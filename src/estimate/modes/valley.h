/* valley.h - is a cloud of draws one mode or two? A search for a direction in
 * which the projected draws have a valley that chance cannot explain. */
#ifndef TM_ESTIMATE_VALLEY_H
#define TM_ESTIMATE_VALLEY_H

#include "base/memory.h"

/* The draws to be split: chain after chain, `rows` each, `dims` coordinates
 * per draw, all on comparable scales. */
typedef struct tm_cloud {
  size_t chains, rows, dims;
  const double *x;
} tm_cloud;

/* Points with direction . x < cut are on one side. */
typedef struct tm_cut {
  double *direction; /* dims, the caller's */
  double cut;
} tm_cut;

typedef struct tm_valley_work tm_valley_work;
/* NULL when out of memory. The cloud's points must stay. */
tm_valley_work *tm_valley_work_create(tm_arena *arena, const tm_cloud *cloud);
/* Look for the clearest valley among these `count` points of the cloud. */
bool tm_valley_find(tm_valley_work *work, const size_t *members, size_t count,
                    tm_cut *cut);

#endif
