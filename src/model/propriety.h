/* propriety.h - can the prior be normalised? */
#ifndef TM_MODEL_PROPRIETY_H
#define TM_MODEL_PROPRIETY_H

#include "model/model.h"

/* Looks along every real coordinate from `point` (evaluated, on the
 * unconstrained scale with Jacobian): a proper joint density has a tail lighter
 * than 1/|u| along almost every line. Gives the index of a coordinate whose
 * tail is not, or model->dimension when none is seen. `scratch` is
 * overwritten. */
size_t tm_improper_coordinate(tm_evaluator *evaluator, const tm_point *point,
                              tm_point *scratch);
/* How many coordinates have such a tail, and the first few of them. */
enum { TM_IMPROPER_FIRST = 4 };
size_t tm_improper_count(tm_evaluator *evaluator, const tm_point *point,
                         tm_point *scratch, size_t first[TM_IMPROPER_FIRST]);
/* The name of the value that coordinate j belongs to. */
const char *tm_coordinate_name(const tempera_model *model, size_t j);

#endif
