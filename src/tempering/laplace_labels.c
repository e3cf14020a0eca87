/* laplace_labels.c - a mode seen under another labelling.
 *
 * With u = S(v) the change of coordinates that undoes it, the density of v is
 * that of u (relabelling has Jacobian one), and at a mode, where the gradient
 * is zero, its curvature is B'HB, B = dS/dv. In a simplex S is not linear. */
#include "tempering/laplace_parts.h"

#include "numeric/dense.h"

#include <math.h>
#include <string.h>

static const double STEP = 1e-4; /* of the differences that give B */

const double *tm_laplace_relabel(tm_laplace *laplace,
                                 const unsigned char *permutation,
                                 const double *u) {
  tm_constrain(laplace->model, u, laplace->theta, NULL);
  tm_labels_apply(laplace->model, &laplace->store->labels, permutation,
                  laplace->theta, laplace->other);
  tm_unconstrain(laplace->model, laplace->other, laplace->turned);
  return laplace->turned;
}

/* A column of B, over the reals: how u moves with v's coordinate j. */
static void column(tm_laplace *laplace, const unsigned char *back, double *v,
                   size_t j, double *b) {
  const tm_frame *frame = &laplace->store->frame;
  double at = v[j];
  v[j] = at + STEP;
  const double *u = tm_laplace_relabel(laplace, back, v);
  for (size_t k = 0; k < frame->reals; k++)
    b[k] = u[frame->real[k]];
  v[j] = at - STEP;
  u = tm_laplace_relabel(laplace, back, v);
  for (size_t k = 0; k < frame->reals; k++)
    b[k] = (b[k] - u[frame->real[k]]) / (2 * STEP);
  v[j] = at;
}

/* With H = LL', B'HB = W'W, W = L'B; `rows` is made of W's columns. */
static void turned_curvature(tm_laplace *laplace, const unsigned char *back,
                             const double *factor, double *v, double *rows,
                             double *h) {
  const tm_frame *frame = &laplace->store->frame;
  size_t d = frame->reals;
  for (size_t k = 0; k < d; k++) {
    column(laplace, back, v, frame->real[k], laplace->delta);
    tm_lower_transposed(factor, d, laplace->delta, rows + k * d);
  }
  for (size_t i = 0; i < d; i++)
    for (size_t j = 0; j <= i; j++)
      h[i * d + j] = tm_dot(rows + i * d, rows + j * d, d);
}

tempera_status tm_laplace_sort_labels(tm_laplace *laplace,
                                      tm_laplace_mode *mode,
                                      tempera_error *error) {
  const tm_labels *labels = &laplace->store->labels;
  unsigned char sort[TM_LABELS_MOST], back[TM_LABELS_MOST];
  tm_constrain(laplace->model, mode->u, laplace->theta, NULL);
  if (tm_labels_sorted(labels, laplace->theta))
    return TEMPERA_OK;
  tm_labels_sort(labels, laplace->theta, sort);
  for (size_t k = 0; k < labels->count; k++)
    back[sort[k]] = (unsigned char)k;
  size_t d = laplace->store->frame.reals;
  double *u = TM_NEW(laplace->arena, double, laplace->model->dimension);
  double *factor = TM_NEW(laplace->arena, double, d *d + 1);
  double *inverse = TM_NEW(laplace->arena, double, d *d + 1);
  if (!u || !factor || !inverse)
    return tm_fail_memory(error);
  memcpy(u, tm_laplace_relabel(laplace, sort, mode->u),
         laplace->model->dimension * sizeof(double));
  turned_curvature(laplace, back, mode->factor, u, inverse, factor);
  tm_cholesky_forced(factor, d, 1e-300, inverse);
  tm_triangular_inverse(factor, d, inverse);
  mode->half_log_det = 0;
  for (size_t k = 0; k < d; k++)
    mode->half_log_det += log(factor[k * d + k]);
  mode->u = u;
  mode->factor = factor;
  mode->inverse = inverse;
  return TEMPERA_OK;
}
