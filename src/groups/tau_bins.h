/* tau_bins.h - a prior of tau that is constant on bins, with an atom at tau =
 * 0: what PAWL learns. */
#ifndef TM_SAMPLERS_TAU_BINS_H
#define TM_SAMPLERS_TAU_BINS_H

#include "tempering/tau_prior.h"

/* Bin b is [edge[b], edge[b+1]); the first edge is tau_min, the last 1. Arrays
 * have room for `capacity` bins. */
typedef struct tm_tau_bins {
  size_t count, capacity;
  double *edge, *log_density;
  double log_atom; /* -infinity: no atom */
  /* The same as knots: two per bin, so that a step between bins is a very
   * steep slope. Kept up by tm_tau_bins_tabulate. */
  double *knot, *value;
} tm_tau_bins;

TEMPERA_CHECKED tempera_status tm_tau_bins_create(tm_arena *arena,
                                                  size_t capacity,
                                                  tm_tau_bins *made,
                                                  tempera_error *error);
void tm_tau_bins_copy(const tm_tau_bins *from, tm_tau_bins *to);
/* The bin of a tau off the atom. */
size_t tm_tau_bins_find(const tm_tau_bins *bins, double tau);
/* Halve bin b, over which log z rises by `slope` per tau. The heavier half
 * keeps the density, the other is raised to what its part of z then asks for.
 * False when there is no room or the bin is too narrow. */
bool tm_tau_bins_split(tm_tau_bins *bins, size_t b, double slope);
/* Edges and densities; tabulate after reading. */
void tm_tau_bins_archive(tm_tau_bins *bins, tm_archive *archive);
/* After any change: the knots, and the prior that borrows them. */
void tm_tau_bins_tabulate(tm_tau_bins *bins, tm_tau_prior *prior);
/* Centre the logarithms on zero: only their differences matter. */
void tm_tau_bins_centre(tm_tau_bins *bins);
/* The mean of several: on all their edges (those of the first where they are
 * too many), the mean log density of those who resolve a place best. They are
 * brought to one level first, by the bins (and the atom) that all share. */
void tm_tau_bins_average(tm_tau_bins *const *list, size_t count,
                         tm_tau_bins *mean);

#endif
