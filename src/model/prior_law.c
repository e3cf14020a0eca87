/* prior_law.c - see prior_law.h. */
#include "model/prior_law.h"

#include <math.h>

/* The law is made only where one proposal in a few hundred is kept: none in so
 * many means that the model has changed. */
enum { MOST_PROPOSALS = 100000 };

int tm_prior_law_stands_in(tempera_random *random, double *theta, void *user) {
  (void)random;
  (void)theta;
  (void)user;
  return -1;
}

bool tm_prior_law_draw(tm_evaluator *evaluator, tempera_random *random,
                       tm_point *point) {
  const tm_prior_law *law = evaluator->model->law;
  for (size_t i = 0; i < MOST_PROPOSALS; i++) {
    double log_q = law->propose(evaluator->law_state, random, point->u);
    if (law->restricted)
      tm_evaluate(evaluator, point);
    else
      tm_evaluate_prior(evaluator, point);
    if (evaluator->status != TEMPERA_OK)
      return false;
    double log_f = point->log_prior + point->log_jacobian;
    double chance = exp(log_f - log_q - law->log_bound);
    if (point->log_likelihood > -INFINITY &&
        tempera_random_uniform(random) < chance)
      return true;
  }
  return false;
}
