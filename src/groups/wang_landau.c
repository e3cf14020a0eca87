/* wang_landau.c - see wang_landau.h. */
#include "groups/wang_landau.h"

#include <math.h>

/* A histogram of fewer visits per bin than this says nothing. */
enum { FEWEST_PER_BIN = 40 };
static const double FLATNESS = 0.5;

tempera_status tm_wang_landau_create(tm_arena *arena, size_t capacity,
                                     tm_wang_landau *made,
                                     tempera_error *error) {
  *made = (tm_wang_landau){.visits = TM_NEW(arena, size_t, capacity)};
  return made->visits ? TEMPERA_OK : tm_fail_memory(error);
}

double tm_wang_landau_visit(tm_wang_landau *w, size_t bin, size_t count,
                            size_t walkers) {
  double share = (double)count / (double)walkers;
  w->visits[bin] += count;
  w->total += count;
  return log1p(share / (1 + (double)w->flats));
}

bool tm_wang_landau_is_flat(const tm_wang_landau *w) {
  double even = (double)w->total / (double)w->bins;
  if (even < FEWEST_PER_BIN)
    return false;
  for (size_t b = 0; b < w->bins; b++)
    if (fabs((double)w->visits[b] - even) > FLATNESS * even)
      return false;
  return true;
}

void tm_wang_landau_forget(tm_wang_landau *w) {
  for (size_t b = 0; b < w->bins; b++)
    w->visits[b] = 0;
  w->total = 0;
}

bool tm_wang_landau_settle(tm_wang_landau *w) {
  if (!tm_wang_landau_is_flat(w))
    return false;
  w->flats++;
  tm_wang_landau_forget(w);
  return true;
}

void tm_wang_landau_archive(tm_wang_landau *w, size_t capacity,
                            tm_archive *archive) {
  tm_archive_count(archive, &w->bins, capacity);
  tm_archive_sizes(archive, w->visits, w->bins);
  tm_archive_size(archive, &w->total);
  tm_archive_unsigned(archive, &w->flats);
}
