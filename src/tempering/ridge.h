/* ridge.h - the ridge s(tau) = max over theta of tau*l(theta) + log pi(theta),
 * on the natural scale, under the box bounds (method 2 and 4.1).
 *
 * s is convex: tangents at knots bound it from below, chords from above. A
 * table of (tau, height) on knots is kept; -height, interpolated linearly, is the
 * profile prior's log P(tau). */
#ifndef TM_TEMPERING_RIDGE_H
#define TM_TEMPERING_RIDGE_H

#include "tempering/store.h"

/* The gap to which `convex` is refined, in nats, unless the settings say
 * otherwise. */
#define TM_RIDGE_GAP 1e-3

typedef struct tm_ridge tm_ridge;

typedef struct tm_ridge_settings {
  double tau_min; /* 0 unless the prior is improper */
  double gap;     /* 0: TM_RIDGE_GAP */
} tm_ridge_settings;

/* What is known of a built ridge; arrays are owned by it. */
typedef struct tm_ridge_view {
  size_t knots;         /* entries of the table below */
  const double *tau;    /* increasing, first tau_min, last 1 */
  const double *height; /* s at the knots */
  const double *theta;  /* knots x model size: the optima */
  double gap;           /* certified upper - lower bound, given global optima
                           at the knots; NaN without */
  tm_work work;         /* of this measure alone */
  bool absent;          /* the density is unbounded: there is no ridge */
  char reason[256];     /* why absent, naming the parameter */
} tm_ridge_view;

/* Builds the ridge of the store's model, from the basins that the Laplace ridge
 * has put into the store, which must outlive it. Succeeds with view->absent set
 * when there is none. Deterministic for any number of threads. */
TEMPERA_CHECKED tempera_status
tm_ridge_create(tm_store *store, const tm_ridge_settings *settings,
                tm_ridge **ridge, tempera_error *error);
void tm_ridge_free(tm_ridge *ridge);
const tm_ridge_view *tm_ridge_look(const tm_ridge *ridge);

/* The table interpolated: the chord. */
double tm_ridge_height(const tm_ridge *ridge, double tau);
/* How far the line tau*l + log pi of a draw, whatever its tau, rises above the
 * knots (more than TM_RIDGE_GAP proves that one's optimum was not global). */
double tm_ridge_excess(const tm_ridge *ridge, double log_likelihood,
                       double log_prior);
/* Warmup only: from these natural-scale points (count x size), and from what
 * others have found since, raise every knot they beat, refine again. */
TEMPERA_CHECKED tempera_status tm_ridge_improve(tm_ridge *ridge,
                                                const double *points,
                                                size_t count,
                                                tempera_error *error);

#endif
