/* load.h - a compiled program and data as a tempera_model, for those who need
 * to know that it is a program. */
#ifndef TM_LANGUAGE_LOAD_H
#define TM_LANGUAGE_LOAD_H

#include "language/emit/emit.h"
#include "language/runtime/runtime.h"

typedef struct tm_load {
  const tm_entry *entry;
  void *library; /* closed with the model; or NULL */
  const tempera_data *data;
  uint64_t seed; /* of random numbers in transformed data */
  tm_printer printer;
  bool
      *refused; /* set, and there is no model: compile it one by one; or NULL */
} tm_load;

/* The library is the callee's, also on failure. */
TEMPERA_CHECKED tempera_status tm_load_program(const tm_load *load,
                                               tempera_model **model,
                                               tempera_error *error);
/* The program one way; *refused: there is no model, with these data it has to
 * be one by one. */
TEMPERA_CHECKED tempera_status tm_load_way(const tempera_program *program,
                                           tm_way way, const tempera_data *data,
                                           bool *refused, tempera_model **model,
                                           tempera_error *error);
/* The plans of its statements over rows (tm_row_plan), the last first. */
const void *tm_load_plans(const tempera_model *model);
/* How many of the model's quantities are transformed parameters: the first. */
size_t tm_load_transformed(const tempera_model *model);
/* By coordinate: where Stan has it, unit vectors aside. */
const size_t *tm_load_order(const tempera_model *model);
/* The quantities function of such a model, without the generated ones. */
int tm_load_transform(const double *theta, double *quantities, void *user);

#endif
