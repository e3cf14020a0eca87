/* refining.c - the learned tau prior between warmup rounds (method 4.9).
 *
 * What is refined are differences of log z between neighbouring knots: a round
 * that has not been somewhere says nothing of it, and leaves it as it was. A
 * step between two knots is estimated by the tempered draws' Rao-Blackwell
 * weights and by the target chain's draws weighted back from tau = 1, whichever
 * have more support: the number of batches (Kish's) behind the weights at its
 * worse end. It goes the share m / (known + m) of the way, by MOST at most.
 *
 * log z is convex in tau; the result is made so again. */
#include "run/learner.h"

#include "estimate/summary.h"

#include <math.h>

enum { MOST_DRAWS = 20000 };
/* Batches at both ends without which a step stays as it is, and the farthest
 * it goes in a round, in nats. Measured (method 4.9): 10 and 1 learn too
 * slowly, 3 and no bound destroy good starts. */
static const double FEWEST = 5, MOST = 3;

/* By knot: log z up to a constant, and the batches behind it. */
typedef struct reading {
  double log_z[TM_KNOTS], batches[TM_KNOTS];
} reading;

static void read_tempered(const tm_learner *learner, tm_tempered *view,
                          reading *r) {
  for (size_t k = 0; k < learner->count; k++) {
    r->log_z[k] = tm_tempered_log_mean(view, learner->tau[k]);
    r->batches[k] =
        isfinite(r->log_z[k]) ? tm_tempered_support(view, learner->tau[k]) : 0;
  }
}

static void read_target(const tm_learner *learner, tm_tempered *view,
                        reading *r) {
  for (size_t k = 0; k < learner->count; k++)
    r->batches[k] = tm_target_support(view, learner->tau[k], &r->log_z[k]);
}

static double support(const reading *r, size_t step) {
  double least = fmin(r->batches[step], r->batches[step + 1]);
  return least >= FEWEST ? least : 0;
}

void tm_make_convex(const double *x, size_t count, const double *weight,
                    double *y, double *work) {
  double *slope = work, *mass = work + count, *members = work + 2 * count;
  size_t blocks = 0, k = 0;
  for (size_t i = 0; i + 1 < count; i++) {
    slope[blocks] = (y[i + 1] - y[i]) / (x[i + 1] - x[i]);
    mass[blocks] = (x[i + 1] - x[i]) * (weight ? weight[i] : 1);
    members[blocks++] = 1;
    for (; blocks > 1 && slope[blocks - 2] > slope[blocks - 1]; blocks--) {
      size_t a = blocks - 2, b = blocks - 1;
      double whole = mass[a] + mass[b];
      slope[a] = (slope[a] * mass[a] + slope[b] * mass[b]) / whole;
      mass[a] = whole;
      members[a] += members[b];
    }
  }
  for (size_t b = 0; b < blocks; b++)
    for (double m = 0; m < members[b]; m++, k++)
      y[k + 1] = y[k] + slope[b] * (x[k + 1] - x[k]);
}

static void refine(tm_learner *learner, const reading *tempered,
                   const reading *target) {
  double risen = 0; /* how much the knots so far have moved */
  for (size_t k = 0; k + 1 < learner->count; k++) {
    double before = learner->log_z[k + 1] - (learner->log_z[k] - risen);
    const reading *r =
        support(tempered, k) >= support(target, k) ? tempered : target;
    double m = support(r, k);
    if (m > 0) {
      double change = r->log_z[k + 1] - r->log_z[k] - before;
      learner->known[k] += m;
      learner->supported[k] = true;
      change *= m / learner->known[k];
      risen += fmax(-MOST, fmin(MOST, change));
    }
    learner->log_z[k + 1] += risen;
  }
  double work[3 * TM_KNOTS];
  tm_make_convex(learner->tau, learner->count, learner->known, learner->log_z,
                 work);
}

/* The barrier as measured, where it was; elsewhere as the curve has it. */
static tempera_status reweigh(tm_learner *learner, tm_tempered *view,
                              tempera_error *error) {
  tm_barrier barrier;
  TM_TRY(tm_barrier_find(view, &barrier, error));
  for (size_t k = 0; k + 1 < learner->count; k++) {
    double part =
        tm_barrier_between(&barrier, learner->tau[k], learner->tau[k + 1]);
    if (isfinite(part))
      learner->lambda[k] = part;
  }
  tm_learner_weigh(learner);
  return TEMPERA_OK;
}

tempera_status tm_learner_update(tm_learner *learner,
                                 const tempera_draws *draws,
                                 tempera_error *error) {
  tm_tempered view;
  TM_TRY(tm_tempered_create(draws, MOST_DRAWS, &view, error));
  tempera_status status = TEMPERA_OK;
  if (view.count && view.log_mass) {
    reading tempered, target;
    read_tempered(learner, &view, &tempered);
    read_target(learner, &view, &target);
    refine(learner, &tempered, &target);
    status = reweigh(learner, &view, error);
  }
  tm_tempered_free(&view);
  return status;
}

bool tm_learner_whole(const tm_learner *learner) {
  for (size_t k = 0; k + 1 < learner->count; k++)
    if (!learner->supported[k])
      return false;
  return true;
}
