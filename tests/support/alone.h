/* alone.h - a ridge of either measure on a store of its own, searched from
 * given starts, without a run around it. */
#ifndef TM_TESTS_ALONE_H
#define TM_TESTS_ALONE_H

#include "paper/paper_ridge.h"
#include "tempering/laplace.h"

static inline tempera_status laplace_alone(const tempera_model *model,
                                           const tm_store_settings *settings,
                                           double tau_min, const double *starts,
                                           size_t count, tm_laplace **laplace,
                                           tempera_error *error) {
  tm_store *store = NULL;
  TM_TRY(tm_store_create(model, settings, starts, count, &store, error));
  tempera_status status = tm_laplace_create(store, tau_min, laplace, error);
  if (status != TEMPERA_OK)
    tm_store_free(store);
  return status;
}

static inline void laplace_alone_free(tm_laplace *laplace) {
  tm_store *store = laplace->store;
  tm_laplace_free(laplace);
  tm_store_free(store);
}

/* The other measure finds the basins first, as in a run. */
static inline tempera_status
ridge_alone(const tempera_model *model, const tm_store_settings *settings,
            const tm_ridge_settings *own, tempera_ridge kind,
            const double *starts, size_t count, tm_ridge **ridge,
            tempera_error *error) {
  tm_laplace *laplace = NULL;
  TM_TRY(laplace_alone(model, settings, own->tau_min, starts, count, &laplace,
                       error));
  tm_store *store = laplace->store;
  tm_laplace_free(laplace);
  tm_ridge *made = NULL;
  tempera_status status = tm_ridge_create(store, own, &made, error);
  if (status == TEMPERA_OK)
    status = tm_paper_ridge(made, kind, error);
  if (status == TEMPERA_OK) {
    *ridge = made;
    return status;
  }
  tm_ridge_free(made);
  tm_store_free(store);
  return status;
}

/* The usual one. */
static const tm_ridge_settings ALL_OF_IT __attribute__((unused)) = {0};

static inline void ridge_alone_free(tm_ridge *ridge) {
  tm_store *store = ridge->store;
  tm_ridge_free(ridge);
  tm_store_free(store);
}

/* The most for any one integer value. */
static inline size_t most_optimisations(const tm_ridge *ridge) {
  size_t most = 0;
  for (size_t v = 0; v < ridge->value_count; v++)
    if (ridge->values[v].optimisations > most)
      most = ridge->values[v].optimisations;
  return most;
}

#endif
