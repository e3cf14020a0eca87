/* point_density.h - the density of some coordinates at a point, from draws of
 * all of them and their joint density. With x the coordinates that are fixed,
 * psi the rest, f the joint density up to a constant, T_x a shift of psi for
 * each x and w any density of x:
 *   p(x0) = E[ w(x | psi') f(x0, psi') / f(x, psi) ],  psi' = T_x(psi),
 * as is seen by taking psi' as the variable of the integral. Without the shift
 * this is Chen's (1994) estimate, which fails where psi has to follow x: what
 * goes with x is far from what goes with x0. Of a Gaussian, T along the
 * regression of psi on x and w the law of x make all terms equal. Here f is
 * taken for a mixture of Gaussians, fitted to the other half of the draws: each
 * component k has a shift and a w of its own, and its terms count for the part
 * of f(x0, psi') that is its by the mixture, parts that add up to one. */
#ifndef TM_ESTIMATE_POINT_DENSITY_H
#define TM_ESTIMATE_POINT_DENSITY_H

#include "model/model.h"

typedef struct tm_point_draws {
  size_t chains, rows;       /* rows: per chain, at least 4 */
  const double *u;           /* chain x row x model->dimension */
  const double *log_density; /* over u */
  const bool *counts;        /* draws where the other conditions hold; they
                              * choose what the mixture is fitted to */
} tm_point_draws;

typedef struct tm_point_question {
  tm_evaluator *evaluator;
  void (*evaluate)(tm_evaluator *evaluator, tm_point *point);
  bool likelihood; /* is in the density */
  /* do the other conditions hold at a point that was evaluated? */
  bool (*counts)(const tm_point *point, void *context);
  void *context;
  size_t count;    /* coordinates fixed: */
  const size_t *coordinate;
  const double *at; /* their u */
  uint64_t seed;
} tm_point_question;

typedef struct tm_point_density {
  double log_density, se; /* over u; -infinity: f is zero at all of them */
  double pareto_k;        /* of the terms */
  double largest;         /* share of the sum that one of them has */
  double effective;       /* so many equal terms would be as good (Kish) */
} tm_point_density;

TEMPERA_CHECKED tempera_status tm_point_density_estimate(
    const tm_point_question *question, const tm_point_draws *draws,
    tm_point_density *density, tempera_error *error);

#endif
