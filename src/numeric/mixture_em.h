/* mixture_em.h - one EM fit of a mixture to whitened points: the inner part of
 * tm_mixture_fit, which prepares the points and chooses among such fits. */
#ifndef TM_NUMERIC_MIXTURE_EM_H
#define TM_NUMERIC_MIXTURE_EM_H

#include "numeric/mixture.h"

enum { TM_EM_BLOCK = 128 }; /* points whose distances are computed together */

/* Points and workspaces. Points are stored by coordinate, so that the loops
 * over them vectorise. */
typedef struct tm_em {
  /* Components are chosen on points [0, train) against [train, chosen); in
   * the end all are fitted. */
  size_t count, train, chosen, dimension;
  double *z;                 /* dimension x count, whitened */
  double *weight;            /* count; sums to the number of points */
  double *centre, *whitener; /* x = centre + whitener z */
  double *floor; /* least variance of a whitened coordinate: 1 if constant */
  size_t capacity;
  double *share;   /* capacity x count: log terms, then responsibilities */
  double *square;  /* capacity x count: squared distances */
  double *points;  /* dimension x max(count, BLOCK): centred coordinates */
  double *scaled;  /* max(count, BLOCK) */
  double *size;    /* capacity: effective points of a component */
  double *pooled;  /* d x d */
  double *scratch; /* d x d */
  size_t *nearest; /* count: k-means labels */
  double strength; /* a single component counts so many points of N(0, I) */
  tempera_random *random;
} tm_em;

/* The share by which off-diagonal entries of a covariance of n points shrink:
 * nothing much while n >> d, everything when n <= d. */
double tm_em_shrinkage(double n, size_t d);
/* A start for this many components on the training points, by k-means++. */
void tm_em_start(tm_em *f, tm_mixture *m, size_t components, double df);
/* EM on points [0, to) until the fit stops improving; the mean log density
 * reached. Components may be lost on the way, never all. */
double tm_em_improve(tm_em *f, tm_mixture *m, size_t to, int steps);
/* The mean log density of points [from, to). */
double tm_em_expectation(tm_em *f, const tm_mixture *m, size_t from, size_t to);

#endif
