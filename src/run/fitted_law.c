/* fitted_law.c - see fitted_law.h. */
#include "run/fitted_law.h"

#include "model/fitted.h"
#include "numeric/sums.h"
#include "run/flat_model.h"

#include <math.h>
#include <string.h>

enum { MEASURED = 20000 }; /* proposals, behind the bound and the integral */

/* The wide density's share of q. */
static const double WIDE_SHARE = 0.05;
/* Points beyond the highest of f/q seen have little mass (none among MEASURED
 * proposals and the prior's own points), and less excess than this. */
static const double MARGIN = 0.2;

typedef struct state {
  const tempera_model *model;
  tm_fitted fitted;
} state;

static void *copy(const void *opaque, tm_arena *arena) {
  const state *from = opaque;
  state *made = TM_NEW(arena, state, 1);
  if (!made ||
      tm_fitted_copy(&from->fitted, arena, &made->fitted, NULL) != TEMPERA_OK)
    return NULL;
  made->model = from->model;
  return made;
}

static double log_q(const state *q, const double *u) {
  double wide = log(WIDE_SHARE) + tm_flat_log_density(q->model, u);
  double fitted = log1p(-WIDE_SHARE) + tm_fitted_log_density(&q->fitted, u);
  return tm_log_add(wide, fitted);
}

static double propose(void *opaque, tempera_random *random, double *u) {
  state *q = opaque;
  if (tempera_random_uniform(random) < WIDE_SHARE)
    tm_flat_draw(q->model, random, u);
  else
    tm_fitted_draw(&q->fitted, random, u);
  return log_q(q, u);
}

/* ---- measuring ---------------------------------------------------------- */

typedef struct measure {
  tm_evaluator evaluator;
  tm_point point;
  bool restricted;
  double highest;   /* of log f - log q, wherever it was looked at */
  double log_z, se; /* of the prior, by weights of q's draws */
  const state *q;
} measure;

static double log_weight(measure *m, double log_density) {
  if (m->restricted)
    tm_evaluate(&m->evaluator, &m->point);
  else
    tm_evaluate_prior(&m->evaluator, &m->point);
  bool failed = m->evaluator.status != TEMPERA_OK;
  m->evaluator.status = TEMPERA_OK; /* overflow, far out */
  double w = m->point.log_prior + m->point.log_jacobian - log_density;
  if (failed || !isfinite(w) || !isfinite(m->point.log_likelihood))
    return -INFINITY;
  m->highest = fmax(m->highest, w);
  return w;
}

static void weigh_points(measure *m, const double *points, size_t count) {
  size_t d = m->q->model->dimension;
  for (size_t i = 0; i < count; i++) {
    memcpy(m->point.u, points + i * d, d * sizeof(double));
    (void)log_weight(m, log_q(m->q, m->point.u));
  }
}

static void weigh_proposals(measure *m, state *q, uint64_t seed, double *w) {
  tempera_random random = tm_random(seed, 0, TM_PURPOSE_PRIOR);
  double most = -INFINITY, sum = 0, squares = 0, n = MEASURED;
  for (size_t i = 0; i < MEASURED; i++) {
    double density = propose(q, &random, m->point.u);
    w[i] = log_weight(m, density);
    most = fmax(most, w[i]);
  }
  for (size_t i = 0; i < MEASURED; i++) {
    double x = exp(w[i] - most);
    sum += x;
    squares += x * x;
  }
  m->log_z = most + log(sum / n);
  m->se = sqrt(fmax(0, squares / (sum * sum) - 1 / n));
}

static tempera_status measure_law(measure *m, state *q, const double *points,
                                  size_t count, uint64_t seed, tm_arena *arena,
                                  tempera_error *error) {
  double *w = TM_NEW(arena, double, MEASURED);
  if (!w)
    return tm_fail_memory(error);
  TM_TRY(tm_evaluator_create(q->model, arena, &m->evaluator, error));
  tempera_status status = tm_point_create(q->model, arena, &m->point, error);
  if (status == TEMPERA_OK) {
    weigh_points(m, points, count);
    weigh_proposals(m, q, seed, w);
  }
  tm_evaluator_release(&m->evaluator);
  return status;
}

tempera_status tm_fitted_law_make(const tempera_model *model,
                                  const double *points, size_t count,
                                  bool restricted, uint64_t seed,
                                  tm_arena *arena, tm_fitted_law *made,
                                  tempera_error *error) {
  state *q = TM_NEW(arena, state, 1);
  if (!q)
    return tm_fail_memory(error);
  q->model = model;
  tm_points u = {count, model->dimension, points, NULL};
  tempera_random random = tm_random(seed, 1, TM_PURPOSE_PRIOR);
  TM_TRY(tm_fitted_fit(model, &u, NULL, &random, arena, &q->fitted, error));
  measure m = {.restricted = restricted, .highest = -INFINITY, .q = q};
  TM_TRY(measure_law(&m, q, points, count, seed, arena, error));
  double bound = m.highest + MARGIN;
  *made = (tm_fitted_law){.law = {.state = q,
                                  .copy = copy,
                                  .propose = propose,
                                  .log_bound = bound,
                                  .restricted = restricted},
                          .log_z = m.log_z,
                          .se = m.se,
                          .kept = exp(m.log_z - bound)};
  return TEMPERA_OK;
}
