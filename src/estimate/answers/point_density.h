/* point_density.h - the density of some coordinates at a point, from draws of
 * all of them and their joint density (Chen 1994):
 *   p(x0) = E[ w(x | psi) f(x0, psi) / f(x, psi) ],
 * x the coordinates that are fixed, psi the rest, f the joint density up to a
 * constant, w any conditional density. With w the true conditional every term
 * is the Rao-Blackwell p(x0 | psi); here it is that of a Gaussian mixture
 * fitted to the other half of the draws. */
#ifndef TM_ESTIMATE_POINT_DENSITY_H
#define TM_ESTIMATE_POINT_DENSITY_H

#include "model/model.h"

typedef struct tm_point_draws {
  size_t chains, rows;       /* rows: per chain, at least 4 */
  const double *u;           /* chain x row x model->dimension */
  const double *log_density; /* over u */
  const bool *counts;        /* draws where the other conditions hold */
} tm_point_draws;

typedef struct tm_point_question {
  tm_evaluator *evaluator;
  void (*evaluate)(tm_evaluator *evaluator, tm_point *point);
  bool likelihood; /* is in the density */
  size_t count;    /* coordinates fixed: */
  const size_t *coordinate;
  const double *at; /* their u */
  uint64_t seed;
} tm_point_question;

typedef struct tm_point_density {
  double log_density, se; /* over u; -infinity: f is zero at all of them */
  double pareto_k;        /* of the terms */
  double largest;         /* share of the sum that one of them has */
} tm_point_density;

TEMPERA_CHECKED tempera_status tm_point_density_estimate(
    const tm_point_question *question, const tm_point_draws *draws,
    tm_point_density *density, tempera_error *error);

#endif
