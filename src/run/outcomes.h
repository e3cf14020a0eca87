/* outcomes.h - a run's predictions while they are made, and which outcomes and
 * quantities of the program they are of. */
#ifndef TM_RUN_OUTCOMES_H
#define TM_RUN_OUTCOMES_H

#include "estimate/predictions.h"
#include "run/quantities.h"

typedef struct tm_maker {
  const tempera_sampler *sampler;
  const tempera_draws *draws;
  tm_arena *arena;
  size_t chains, rows, stride; /* of the draws used */
  tm_quantities *each;         /* one per chain */
  tm_predictive model;
  size_t own_first, own_count; /* its quantities log_lik */
  size_t *own_data; /* by element of the data: its quantity NAME_rep */
  size_t terms;
  bool choose; /* `choice` of them is used, else all are */
  tm_loo_choice choice;
  size_t *kept; /* elements of the data, NULL: all */
  /* the block at hand: terms, and which of those used are among them */
  size_t first, count;
  size_t use_first, use_count;
  double *log_lik;        /* use_count columns */
  tm_loo_near *near;      /* by chain and term of the block: sums so far */
  size_t *elements;       /* ordered by term */
  size_t element_count;   /* of those with a term */
  size_t at, block_count; /* the block's among them */
  double *replicated;     /* block_count columns */
  bool begin;             /* the first block */
  bool *failed;           /* by chain: some draw gave no terms */
  double **whole;         /* by chain: one draw's data */
  double *statistics;     /* by draw, variable and statistic */
  tm_loo_term *results;
  tm_loo_work *work; /* one per chain */
  tempera_predictions *out;
  size_t every; /* which draws are kept */
} tm_maker;

/* The program's own log_lik. */
void tm_find_own_terms(tm_maker *maker);
/* NAME_rep of the program itself, where it has all of the variable; false:
 * memory is short. */
bool tm_find_own_data(tm_maker *maker);
/* Of very many outcomes those of the terms used, or every so-manieth. */
bool tm_keep_elements(tm_maker *maker);

#endif
