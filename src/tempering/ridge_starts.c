/* ridge_starts.c - where optimisers start (method 4.1 asks for global optima;
 * several starts are how we look for them).
 *
 * Draws from a prior may all lie in one basin, and the best of them often do
 * (on SIR the "everyone infected at once" basin ranks first), so most
 * pilots start from points scattered over a wide box, unranked. With
 * integers, each pilot keeps its own value, and the basins it finds are tried
 * at all the others: that takes a few optimisations per value, not a
 * multi-start for each. */
#include "tempering/ridge_parts.h"

#include <math.h>
#include <string.h>

enum {
  PILOTS = 24,     /* at tau = 1, where there are most basins .. */
  MORE_PILOTS = 4, /* .. and for each real coordinate, without integers, */
  MOST_PILOTS = 48,
  FEW_PILOTS = 8,  /* elsewhere; half of it with integers */
  HOPS = 16,       /* in a round, with gradients; a quarter without */
  PER_VALUE = 2,   /* of them at one integer value, if there are others */
  CANDIDATES = 32, /* transplants or starts looked at per value */
  SCREENED_BEST = 2
};

/* ---- dispersed starts */

static double scatter(const tm_ridge *ridge, size_t k, tempera_random *random) {
  const tm_search_frame *frame = &ridge->frame;
  const tempera_model *model = ridge->model;
  size_t b = model->block_of_u[frame->real[k]];
  const tm_block *block = &model->blocks[b];
  double low = frame->start_low[k], high = frame->start_high[k];
  bool free = !isfinite(block->lower) && !isfinite(block->upper);
  double margin = free ? fmax((high - low) / 2, 2 * frame->step[k]) : 4;
  low -= margin;
  high += margin;
  return low + (high - low) * tempera_random_uniform(random);
}

tempera_status tm_ridge_disperse(tm_ridge *ridge, tempera_error *error) {
  const tempera_model *model = ridge->model;
  tm_search *search = &ridge->workers[0];
  tempera_random random = tm_random(ridge->settings.seed, 0, TM_PURPOSE_RIDGE);
  double *u = search->gradient; /* room for one u */
  ridge->pool_count = ridge->next_pilot = ridge->start_count;
  if (ridge->settings.surveyed || ridge->frame.reals == 0)
    return TEMPERA_OK;
  for (size_t i = 0; i < TM_RIDGE_DISPERSED; i++) {
    memcpy(u, ridge->starts[i % ridge->start_count].u,
           model->dimension * sizeof(double));
    for (size_t k = 0; k < ridge->frame.reals; k++)
      u[ridge->frame.real[k]] = scatter(ridge, k, &random);
    if (!tm_search_look(search, u))
      continue;
    tm_optimum start = search->best;
    start.u = tm_ridge_copy_u(ridge, search->best.u);
    if (!start.u)
      return tm_fail_memory(error);
    ridge->starts[ridge->pool_count++] = start;
  }
  return tm_ridge_check(ridge, error);
}

/* ---- pilots */

static size_t queued(const tm_ridge *ridge, size_t v) {
  size_t count = 0;
  for (size_t i = 0; i < ridge->task_count; i++)
    count += ridge->tasks[i].value == v;
  return count;
}

/* The start's own value, or one with less to do: a basin found at one value
 * is tried at the others anyway. */
static tempera_status plan_pilot(tm_ridge *ridge, double tau,
                                 const tm_optimum *start,
                                 tempera_error *error) {
  size_t v = tm_ridge_find_value(ridge, start->u);
  if (v == ridge->value_count || queued(ridge, v) >= PER_VALUE) {
    v = 0;
    for (size_t w = 1; w < ridge->value_count; w++)
      if (!ridge->values[w].dead &&
          (ridge->values[v].dead || queued(ridge, w) < queued(ridge, v)))
        v = w;
  }
  return tm_ridge_plan(ridge, v, tau, start->u, NULL, error);
}

/* The caller's start that is `rank`-th best at tau. */
static const tm_optimum *ranked_start(const tm_ridge *ridge, double tau,
                                      size_t rank) {
  for (size_t i = 0; i < ridge->start_count; i++) {
    double height = tm_optimum_height(&ridge->starts[i], tau);
    size_t above = 0;
    for (size_t k = 0; k < ridge->start_count; k++) {
      double other = tm_optimum_height(&ridge->starts[k], tau);
      above += other > height || (other == height && k < i);
    }
    if (above == rank)
      return &ridge->starts[i];
  }
  return &ridge->starts[0];
}

static size_t pilot_count(const tm_ridge *ridge, double tau) {
  if (tau < 1)
    return ridge->value_count > 1 ? FEW_PILOTS / 2 : FEW_PILOTS;
  if (ridge->value_count > 1)
    return PILOTS;
  size_t count = PILOTS + MORE_PILOTS * ridge->frame.reals;
  return count < MOST_PILOTS ? count : MOST_PILOTS;
}

tempera_status tm_ridge_plan_pilots(tm_ridge *ridge, double tau,
                                    tempera_error *error) {
  size_t pilots = pilot_count(ridge, tau);
  size_t scattered = ridge->pool_count - ridge->start_count;
  if (ridge->frame.reals == 0)
    return TEMPERA_OK;
  size_t given = ridge->settings.surveyed ? pilots : pilots / 3;
  given = given < ridge->start_count ? given : ridge->start_count;
  for (size_t i = 0; i < given; i++)
    TM_TRY(plan_pilot(ridge, tau, ranked_start(ridge, tau, i), error));
  for (size_t i = 0; i < pilots - given && i < scattered; i++) {
    if (ridge->next_pilot == ridge->pool_count)
      ridge->next_pilot = ridge->start_count;
    TM_TRY(plan_pilot(ridge, tau, &ridge->starts[ridge->next_pilot++], error));
  }
  return TEMPERA_OK;
}

/* ---- hops */

/* From the best optimum with some coordinates taken from a start: mixtures
 * have optima that differ in one component only, which starts drawn afresh
 * seldom meet. */
tempera_status tm_ridge_plan_hops(tm_ridge *ridge, double tau,
                                  tempera_random *random,
                                  tempera_error *error) {
  const tm_optimum *best = tm_value_at(&ridge->values[0], tau);
  double *u = ridge->workers[0].gradient;
  size_t hops = tm_has_gradients(ridge->model) ? HOPS : HOPS / 4;
  for (size_t i = 0; best && i < hops; i++) {
    const tm_optimum *start =
        &ridge->starts[tempera_random_below(random, ridge->pool_count)];
    double share = tempera_random_uniform(random);
    for (size_t j = 0; j < ridge->model->dimension; j++)
      u[j] = tempera_random_uniform(random) < share ? start->u[j] : best->u[j];
    TM_TRY(tm_ridge_plan(ridge, 0, tau, u, NULL, error));
  }
  return TEMPERA_OK;
}

/* ---- transplants */

typedef struct candidate {
  const double *u;
  double height;
} candidate;

/* Keep the CANDIDATES highest, best first. */
static void rank(candidate *list, size_t *count, candidate entry) {
  size_t k = *count < CANDIDATES ? (*count)++ : CANDIDATES;
  if (k == CANDIDATES && list[--k].height >= entry.height)
    return;
  for (; k > 0 && list[k - 1].height < entry.height; k--)
    list[k] = list[k - 1];
  list[k] = entry;
}

/* The local optima known at this tau, over all values. */
static size_t optima_at(const tm_ridge *ridge, double tau,
                        candidate list[CANDIDATES]) {
  size_t count = 0;
  for (size_t v = 0; v < ridge->value_count; v++) {
    const tm_value *value = &ridge->values[v];
    const tm_optimum *at = tm_value_at(value, tau);
    if (at)
      rank(list, &count, (candidate){at->u, tm_optimum_height(at, tau)});
    for (size_t i = 0; i < value->other_count; i++)
      rank(list, &count,
           (candidate){value->others[i].u,
                       tm_optimum_height(&value->others[i], tau)});
  }
  return count;
}

/* The list again as it stands with this value's integers. */
static size_t refit(tm_ridge *ridge, const tm_value *value, double tau,
                    const candidate *from, size_t from_count,
                    candidate list[CANDIDATES]) {
  const tempera_model *model = ridge->model;
  tm_search *search = &ridge->workers[0];
  double *u = search->gradient;
  size_t count = 0;
  for (size_t i = 0; i < from_count; i++) {
    for (size_t j = 0; j < model->dimension; j++)
      u[j] = model->integer[j] ? value->whole[j] : from[i].u[j];
    if (tm_search_look(search, u))
      rank(list, &count,
           (candidate){from[i].u, tm_optimum_height(&search->best, tau)});
  }
  return count;
}

bool tm_ridge_apart(const tm_ridge *ridge, const double *a, const double *b) {
  const tm_search_frame *frame = &ridge->frame;
  for (size_t k = 0; k < frame->reals; k++)
    if (fabs(a[frame->real[k]] - b[frame->real[k]]) > frame->apart[k])
      return true;
  return false;
}

/* A new value: its best candidate and the best that is apart from it. */
static tempera_status plan_new(tm_ridge *ridge, size_t v, double tau,
                               const candidate *list, size_t count,
                               tempera_error *error) {
  if (count == 0)
    return tm_ridge_plan_starts(ridge, v, tau, error);
  TM_TRY(tm_ridge_plan(ridge, v, tau, list[0].u, NULL, error));
  for (size_t i = 1; i < count; i++)
    if (tm_ridge_apart(ridge, list[0].u, list[i].u))
      return tm_ridge_plan(ridge, v, tau, list[i].u, NULL, error);
  return TEMPERA_OK;
}

/* Was a point of this neighbourhood already a lower optimum of the value? */
static bool tried(const tm_ridge *ridge, const tm_value *value,
                  const double *u) {
  for (size_t i = 0; i < value->other_count; i++)
    if (!tm_ridge_apart(ridge, value->others[i].u, u))
      return true;
  return false;
}

/* A value that has an optimum: what is higher already, or, since a basin
 * moves with the value and may look low where it was, the best optimum of
 * all, if that lies elsewhere. */
static tempera_status plan_known(tm_ridge *ridge, size_t v,
                                 const tm_optimum *own, candidate refitted,
                                 candidate best, tempera_error *error) {
  double height = tm_optimum_height(own, own->tau) + TM_RIDGE_NOISE;
  if (refitted.u && refitted.height > height)
    return tm_ridge_plan(ridge, v, own->tau, refitted.u, NULL, error);
  if (best.height > height && tm_ridge_apart(ridge, best.u, own->u) &&
      !tried(ridge, &ridge->values[v], best.u))
    return tm_ridge_plan(ridge, v, own->tau, best.u, NULL, error);
  return TEMPERA_OK;
}

tempera_status tm_ridge_plan_transplants(tm_ridge *ridge, double tau,
                                         tempera_error *error) {
  candidate found[CANDIDATES], list[CANDIDATES];
  size_t found_count = optima_at(ridge, tau, found);
  for (size_t v = 0; v < ridge->value_count; v++) {
    const tm_value *value = &ridge->values[v];
    if (value->dead)
      continue;
    const tm_optimum *own = tm_value_at(value, tau);
    size_t count = refit(ridge, value, tau, found, found_count, list);
    if (!own)
      TM_TRY(plan_new(ridge, v, tau, list, count, error));
    else
      TM_TRY(plan_known(ridge, v, own, count > 0 ? list[0] : (candidate){0},
                        found[0], error));
  }
  return tm_ridge_check(ridge, error);
}

tempera_status tm_ridge_plan_starts(tm_ridge *ridge, size_t v, double tau,
                                    tempera_error *error) {
  candidate from[CANDIDATES], list[CANDIDATES];
  size_t count = 0;
  for (; count < ridge->pool_count && count < CANDIDATES; count++)
    from[count] = (candidate){ridge->starts[count].u, 0};
  count = refit(ridge, &ridge->values[v], tau, from, count, list);
  for (size_t i = 0; i < count && i < SCREENED_BEST; i++)
    TM_TRY(tm_ridge_plan(ridge, v, tau, list[i].u, NULL, error));
  return tm_ridge_check(ridge, error);
}
