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
void tm_loo_free(tempera_loo *loo);

#endif
