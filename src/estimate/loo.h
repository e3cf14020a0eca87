/* loo.h - leave-one-out predictive densities from draws of the posterior with
 * everything: by Pareto-smoothed importance sampling (Vehtari, Gelman & Gabry,
 * 2017), and the widely applicable information criterion (Watanabe 2010). */
#ifndef TM_ESTIMATE_LOO_H
#define TM_ESTIMATE_LOO_H

#include "base/memory.h"
#include "numeric/psis.h"

#include "tempera.h"

/* One term of the likelihood. `k`: of its Pareto tail. */
typedef struct tm_loo_term {
  double elpd, p, k, waic, waic_p;
} tm_loo_term;

/* What one thread needs, for `draws` draws. */
typedef struct tm_loo_work {
  double *weights; /* after a term: normalised log weights without it */
  double *values;
  tm_ranked *ranked, *room;
} tm_loo_work;

bool tm_loo_work_create(tm_arena *arena, size_t draws, tm_loo_work *work);
/* log_lik: of the term at every draw, chains one after another. */
tm_loo_term tm_loo_term_of(const double *log_lik, size_t chains, size_t rows,
                           tm_loo_work *work);
/* The sums with their errors; copies of elpd and k, `terms` each. */
TEMPERA_CHECKED tempera_status tm_loo_sum(const tm_loo_term *terms,
                                          size_t count, size_t draws,
                                          tempera_loo **loo,
                                          tempera_error *error);

/* Many terms, some of which were left out (Magnusson, Andersen, Jonasson &
 * Vehtari 2020): of all, mean m and variance v of the log likelihood over the
 * draws, of which m - v/2 is elpd to second order, and v is p. */
typedef struct tm_loo_near {
  double mean, variance;
} tm_loo_near;

typedef struct tm_loo_choice {
  size_t terms, used;
  size_t *term;      /* in order */
  tm_loo_near *near; /* of those used */
  /* over all terms */
  double elpd, squares, p;
} tm_loo_choice;

/* A random choice, which hangs on both numbers alone. */
bool tm_loo_choose(tm_arena *arena, size_t terms, size_t used,
                   tm_loo_choice *choice);
/* Of one term, in any order; `use` is its place among those used, SIZE_MAX: it
 * is not. */
void tm_loo_add_near(tm_loo_choice *choice, tm_loo_near near, size_t use);
TEMPERA_CHECKED tempera_status tm_loo_sum_chosen(const tm_loo_term *terms,
                                                 const tm_loo_choice *choice,
                                                 size_t draws,
                                                 tempera_loo **loo,
                                                 tempera_error *error);
void tm_loo_free(tempera_loo *loo);

#endif
