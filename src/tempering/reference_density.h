/* reference_density.h - q, where the reference leg starts (method 5.4): what
 * was fitted to target draws (model/fitted.h) with most of the mass, and a
 * small share of wide t's (integers: spread over their range), so that q is
 * positive wherever the posterior may be. Normalised. */
#ifndef TM_TEMPERING_REFERENCE_DENSITY_H
#define TM_TEMPERING_REFERENCE_DENSITY_H

#include "model/fitted.h"

/* Integers of the wide part: mass ~ fall^|x - centre| between bounds. */
typedef struct tm_wide_integer {
  double lower, upper, centre, fall, log_total;
} tm_wide_integer;

typedef struct tm_reference_density {
  tm_fitted fitted;
  tm_mixture wide;           /* of the reals */
  tm_wide_integer *integers; /* one per integer coordinate */
  double *mean, *work;       /* workspaces: one thread at a time */
  double *gradient;
} tm_reference_density;

/* u: rows of model->dimension, reals whitened (mean 0, covariance 1). */
TEMPERA_CHECKED tempera_status tm_reference_density_fit(
    const tempera_model *model, const tm_points *u, size_t most_components,
    tempera_random *random, tm_arena *arena, tm_reference_density *density,
    tempera_error *error);
/* See tm_fitted_make_room and tm_fitted_share. */
TEMPERA_CHECKED tempera_status tm_reference_density_make_room(
    const tempera_model *model, tm_arena *arena, tm_reference_density *room,
    tempera_error *error);
void tm_reference_density_share(const tm_reference_density *from,
                                tm_reference_density *room);

double tm_reference_density_log(const tm_reference_density *density,
                                const double *u);
/* The density of the fitted part over the whole's, less 1, from log q at u: its
 * mean under q is 0. */
double tm_reference_density_excess(const tm_reference_density *density,
                                   const double *u, double log_q);
/* log q with its gradient (zero for integers). */
double tm_reference_density_gradient(const tm_reference_density *density,
                                     const double *u, double *gradient);
void tm_reference_density_draw(const tm_reference_density *density,
                               tempera_random *random, double *u);
/* The Gaussian over the reals that u is from, drawn given u. */
tm_normal tm_reference_density_condition(const tm_reference_density *density,
                                         const double *u,
                                         tempera_random *random);

#endif
