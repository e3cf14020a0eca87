/* binding.h - between a compiled program and the library: data in,
 * parameters laid out, quantities out. A program's entry points hand a
 * tm_binding back to the runtime's read, parameter and output. */
#ifndef TM_LANGUAGE_BINDING_H
#define TM_LANGUAGE_BINDING_H

#include "language/load/limits.h"

enum { TM_CONDITIONAL = 256 }; /* as many as parameter declarations */

typedef struct tm_binding {
  const tempera_data *data;
  const char *reading; /* the last variable asked for, or NULL */
  /* parameters, growing */
  tm_arena *arena;
  tempera_parameter *parameters;
  size_t parameter_count, parameter_capacity;
  size_t theta_count;
  tm_limits_pool *pool; /* made when a parameter's limits depend on others */
  bool improper;
  size_t first_improper; /* of the parameters */
  bool refused; /* statements over rows: not with these data */
  size_t *order; /* by coordinate: where Stan has it */
  size_t order_count, order_capacity;
  size_t first_coordinate; /* of the parameter that was added last */
  /* [from, to) of theta whose prior stands under conditions on data */
  size_t conditional[TM_CONDITIONAL][2];
  size_t conditional_count;
  /* quantities: names once, growing; then values at every point */
  const char **names;
  size_t name_count, name_capacity;
  size_t transformed_count; /* of them not generated; they come first */
  double *values;
  size_t value_count, value_room;
} tm_binding;

#endif
