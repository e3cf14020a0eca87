/* hierarchy.c - moves along a family's orbits, see hierarchy.h. With e = (x -
 * m) / scale held, the scale's coordinate moves freely and x follows: a change
 * of variables with dx = scale^k de, so a walk that is symmetrical in the
 * coordinate has the acceptance ratio f(u') / f(u) x (scale' / scale)^k. */
#include "model/hierarchy.h"

#include <math.h>
#include <string.h>

static double middle(const tm_family *f, const double *theta, size_t i) {
  double sum = f->shift[i];
  for (size_t k = 0; k < f->centres; k++)
    sum += f->weight[i * f->centres + k] * theta[f->centre[k]];
  return sum;
}

/* The log of what the scale is a power of. */
static double log_scale(const tm_family *f, double u) {
  double value = NAN;
  if (f->bounds.form == TM_FORM_FREE)
    return u;
  (void)tm_constrain_block(&f->bounds, &u, &value);
  return log(value);
}

double tm_family_rescale(const tm_family *f, const tempera_model *model,
                         const tm_point *from, double step, double *u) {
  memcpy(u, from->u, model->dimension * sizeof(double));
  u[f->scale] += step;
  double growth =
      f->power * (log_scale(f, u[f->scale]) - log_scale(f, from->u[f->scale]));
  double factor = exp(growth);
  for (size_t i = 0; i < f->count; i++) {
    double m = middle(f, from->theta, i);
    u[f->member[i]] = m + factor * (from->u[f->member[i]] - m);
  }
  return (double)f->count * growth;
}

void tm_family_shift(const tm_family *f, const tempera_model *model,
                     size_t centre, const tm_point *from, double step,
                     double *u) {
  memcpy(u, from->u, model->dimension * sizeof(double));
  u[f->mover[centre]] += step;
  for (size_t i = 0; i < f->count; i++)
    u[f->member[i]] += f->weight[i * f->centres + centre] * step;
}
