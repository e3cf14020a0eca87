/* propriety.c - finds priors that cannot be normalised; see propriety.h.
 *
 * The test compares the density at |u| and at |u|/2 far out: an integrable
 * power tail falls faster than |u|^-1 (Cauchy: -2; flat: 0; 1/x on a positive
 * value: 0 on the log scale). */
#include "model/propriety.h"

#include <math.h>

/* Far enough that any practical scale is left behind, near enough that
 * densities do not underflow to -infinity by rounding. */
static const double FAR_IDENTITY = 0x1p60;
static const double FAR_TRANSFORMED = 600;

static double prior_at(tm_evaluator *evaluator, const tm_point *point,
                       tm_point *scratch, size_t j, double u) {
  tm_point_copy(evaluator->model, point, scratch);
  scratch->u[j] = u;
  tm_evaluate_prior(evaluator, scratch);
  return scratch->log_prior + scratch->log_jacobian;
}

static bool heavy_tail(tm_evaluator *evaluator, const tm_point *point,
                       tm_point *scratch, size_t j, double far) {
  double near = prior_at(evaluator, point, scratch, j, far / 2);
  double there = prior_at(evaluator, point, scratch, j, far);
  if (!isfinite(near) || !isfinite(there))
    return false; /* -infinity: lighter than any power */
  return (there - near) / log(2.0) > -1;
}

/* Along coordinate j, either way. */
static bool is_improper(tm_evaluator *evaluator, const tm_point *point,
                        tm_point *scratch, size_t j) {
  const tempera_model *model = evaluator->model;
  const tm_block *block = &model->blocks[model->block_of_u[j]];
  if (model->integer[j] || block->transform == TEMPERA_SIMPLEX)
    return false;
  bool identity = !isfinite(block->lower) && !isfinite(block->upper);
  double far = identity ? FAR_IDENTITY : FAR_TRANSFORMED;
  return heavy_tail(evaluator, point, scratch, j, far) ||
         heavy_tail(evaluator, point, scratch, j, -far);
}

size_t tm_improper_coordinate(tm_evaluator *evaluator, const tm_point *point,
                              tm_point *scratch) {
  size_t j = 0;
  while (j < evaluator->model->dimension &&
         !is_improper(evaluator, point, scratch, j))
    j++;
  return j;
}

size_t tm_improper_count(tm_evaluator *evaluator, const tm_point *point,
                         tm_point *scratch, size_t first[TM_IMPROPER_FIRST]) {
  size_t count = 0;
  for (size_t j = 0; j < evaluator->model->dimension; j++) {
    if (!is_improper(evaluator, point, scratch, j))
      continue;
    if (count < TM_IMPROPER_FIRST)
      first[count] = j;
    count++;
  }
  return count;
}

const char *tm_coordinate_name(const tempera_model *model, size_t j) {
  const tm_block *block = &model->blocks[model->block_of_u[j]];
  return model->names[block->theta + (j - block->u)];
}
