/* plane.h - the density of points (t, u) on a grid, and whether a way at some
 * height leads from its peaks to a line. */
#ifndef TM_ESTIMATE_PLANE_H
#define TM_ESTIMATE_PLANE_H

#include "base/memory.h"

enum {
  TM_PLANE_PER_WIDTH = 2, /* cells per bandwidth */
  TM_PLANE_MOST = 1 << 18 /* cells */
};

/* A grid of cells, column after column, each of equal t. The caller lays it. */
typedef struct tm_plane {
  double t, u, wide, tall; /* its lower corner, the sides of a cell */
  size_t columns, rows;    /* TM_PLANE_MOST cells at most */
  double *density;
  size_t *open; /* cells to go on from */
} tm_plane;

/* False when out of memory. */
bool tm_plane_create(tm_arena *arena, tm_plane *plane);
/* Normal kernels at all points whose t is inside; u must be. */
void tm_plane_fill(tm_plane *plane, const double *t, const double *u,
                   size_t count);
/* Does the highest place at t = peak or at t = other lead to t = cut, nowhere
 * below `share` of the lower of the two? Uses the density up. */
bool tm_plane_leads(tm_plane *plane, double peak, double other, double cut,
                    double share);

#endif
