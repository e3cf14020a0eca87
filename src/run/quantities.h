/* quantities.h - a model's quantities (transformed parameters, generated
 * quantities) at the draws of a run.
 *
 * They are a function of theta and of a random stream named by seed, role,
 * chain and row: so they are computed when rows are written, and again when
 * they are summarised, and never kept. Runs with thousands of them need no
 * more memory, and threads cannot change them. */
#ifndef TM_RUN_QUANTITIES_H
#define TM_RUN_QUANTITIES_H

#include "draws/draws.h"
#include "model/model.h"
#include "run/sampler.h"

/* What one thread needs to compute them. */
typedef struct tm_quantities {
  tm_arena *arena;
  tm_evaluator evaluator;
  uint64_t seed;
  double *theta, *values; /* values: of the last row computed */
  size_t failures;        /* rows at which the model gave none */
  char reason[256];       /* of the first of them, or empty */
} tm_quantities;

TEMPERA_CHECKED tempera_status tm_quantities_create(const tempera_model *model,
                                                    uint64_t seed,
                                                    tm_quantities *quantities,
                                                    tempera_error *error);
void tm_quantities_free(tm_quantities *quantities);

/* Which row of which draws. */
typedef struct tm_draw_place {
  const tempera_draws *draws;
  bool warmup;
  tempera_role role;
  size_t chain, row;
} tm_draw_place;
/* All of a row's quantities; they are NaN where the model gave none. */
const double *tm_quantities_row(tm_quantities *quantities,
                                const tm_draw_place *place);

/* Quantities first .. first+count-1 over all kept rows: columns[c*count + i]
 * has a number for every row of chain c. */
TEMPERA_CHECKED tempera_status tm_quantities_columns(
    const tempera_sampler *sampler, tempera_role role, size_t first,
    size_t count, double *const *columns, tempera_error *error);
/* Which of them are drawn at random given the parameters (predictions), rather
 * than computed: those that another stream changes at some of the rows. */
TEMPERA_CHECKED tempera_status tm_quantities_random(
    const tempera_sampler *sampler, bool *random, tempera_error *error);
/* Fill summary->quantities, with a warning where some were not computed. */
TEMPERA_CHECKED tempera_status
tm_quantities_summarise(const tempera_sampler *sampler,
                        tempera_summary *summary, tempera_error *error);

#endif
