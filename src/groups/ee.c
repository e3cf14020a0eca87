/* ee.c - see ee.h. */
#include "groups/ee.h"

#include <math.h>
#include <string.h>

/* A share of a chain's first stage is not remembered. */
static const double BURN_IN = 0.5;

/* A ring's memory: every past point is in it with the same probability
 * (reservoir sampling), `capacity` of them at most. */
typedef struct ring {
  size_t seen, kept;
  double *points; /* records, one after the other */
} ring;

typedef struct link {
  tm_point point;
  double log_likelihood; /* without the cap */
  double tau, cap;
  double edge; /* the upper end of its ring */
  ring *rings; /* NULL for the target */
} link;

typedef struct tm_ee {
  tm_group group;
  tm_ee_settings settings;
  link *links; /* settings.chains, the target first */
  size_t record;
  size_t proposed, accepted; /* jumps of the target */
  tempera_random theta_stream, jump_stream;
} tm_ee;

/* ---- memory ------------------------------------------------------------- */

/* A record: theta, u, Jacobians of the blocks, then log likelihood (uncapped),
 * log prior and log Jacobian. */
size_t tm_ee_record(const tempera_model *model) {
  return model->size + model->dimension + model->block_count + 3;
}

static void write_record(const tempera_model *model, const link *from,
                         double *to) {
  const tm_point *p = &from->point;
  memcpy(to, p->theta, model->size * sizeof(double));
  memcpy(to += model->size, p->u, model->dimension * sizeof(double));
  memcpy(to += model->dimension, p->block_jacobian,
         model->block_count * sizeof(double));
  to += model->block_count;
  to[0] = from->log_likelihood;
  to[1] = p->log_prior;
  to[2] = p->log_jacobian;
}

static void read_record(const tempera_model *model, const double *from,
                        link *to) {
  tm_point *p = &to->point;
  memcpy(p->theta, from, model->size * sizeof(double));
  memcpy(p->u, from += model->size, model->dimension * sizeof(double));
  memcpy(p->block_jacobian, from += model->dimension,
         model->block_count * sizeof(double));
  from += model->block_count;
  to->log_likelihood = from[0];
  p->log_likelihood = fmin(from[0], to->cap);
  p->log_prior = from[1];
  p->log_jacobian = from[2];
}

static double log_likelihood_of(const tm_ee *ee, const double *record) {
  return record[ee->record - 3];
}

/* Rings are numbered from the highest likelihoods down. */
static size_t ring_of(const tm_ee *ee, double log_likelihood) {
  size_t j = 0;
  while (j + 1 < ee->settings.chains && log_likelihood < ee->links[j + 1].edge)
    j++;
  return j;
}

static void remember(tm_ee *ee, const link *from) {
  if (!from->rings || from->log_likelihood == -INFINITY)
    return;
  ring *r = &from->rings[ring_of(ee, from->log_likelihood)];
  size_t at = r->seen++;
  if (r->kept < ee->settings.memory)
    r->kept++;
  else
    at = tempera_random_below(&ee->jump_stream, r->seen);
  if (at < ee->settings.memory)
    write_record(ee->group.model, from, r->points + at * ee->record);
}

/* ---- moves -------------------------------------------------------------- */

static double tempered(const link *at, double log_likelihood) {
  return at->tau > 0 ? at->tau * fmin(log_likelihood, at->cap) : 0;
}

/* False when there is nothing to jump to. */
static bool jump(tm_ee *ee, size_t k, bool *accepted) {
  link *here = &ee->links[k], *hotter = &ee->links[k + 1];
  const ring *r = &hotter->rings[ring_of(ee, here->log_likelihood)];
  if (r->kept == 0)
    return false;
  const double *record =
      r->points + tempera_random_below(&ee->jump_stream, r->kept) * ee->record;
  double x = here->log_likelihood, y = log_likelihood_of(ee, record);
  double log_ratio = tempered(here, y) - tempered(here, x) -
                     tempered(hotter, y) + tempered(hotter, x);
  *accepted = log(tm_random_uniform(&ee->jump_stream)) < log_ratio;
  if (*accepted)
    read_record(ee->group.model, record, here);
  return true;
}

/* The kernel under the cap; what lies above it is then looked up again. */
static void mutate(tm_ee *ee, link *at, tm_row *row) {
  tm_evaluator *evaluator = &ee->group.evaluator;
  evaluator->capped = isfinite(at->cap) && at->tau > 0;
  evaluator->cap = at->cap;
  tm_group_mutate(&ee->group, &ee->theta_stream, &at->point, at->tau, row);
  bool hidden = evaluator->capped && at->point.log_likelihood >= at->cap;
  evaluator->capped = false;
  if (hidden)
    tm_evaluate(evaluator, &at->point);
  at->log_likelihood = at->point.log_likelihood;
  at->point.log_likelihood = fmin(at->log_likelihood, at->cap);
}

/* The sweep at which chain k begins. */
static size_t start_of(const tm_ee *ee, size_t k) {
  return (ee->settings.chains - 1 - k) * ee->settings.stage;
}

static void step(tm_ee *ee, size_t k, tm_row *row) {
  link *at = &ee->links[k];
  bool accepted = false, hottest = k + 1 == ee->settings.chains;
  if (!hottest && ee->settings.jump > 0 &&
      tm_random_uniform(&ee->jump_stream) < ee->settings.jump &&
      jump(ee, k, &accepted)) {
    row->extra[TM_EXCHANGE] = accepted ? 2 : 1;
    row->extra[TM_ACCEPT] = accepted;
    ee->proposed += k == 0;
    ee->accepted += k == 0 && accepted;
    return;
  }
  mutate(ee, at, row);
}

static void sweep(tm_group *group) {
  tm_ee *ee = (tm_ee *)group;
  tm_row *row = group->rows[TEMPERA_TARGET];
  for (size_t k = ee->settings.chains; k-- > 0;) {
    if (group->done < start_of(ee, k))
      continue;
    tm_row_clear(row); /* the last one written is the target's */
    step(ee, k, row);
    size_t burn_in = (size_t)(BURN_IN * (double)ee->settings.stage);
    if (group->done >= start_of(ee, k) + burn_in)
      remember(ee, &ee->links[k]);
  }
  if (group->done < start_of(ee, 0))
    tm_row_clear(row); /* it has not begun */
  tm_row_fill(row, &ee->links[0].point, 1);
}

/* ---- making ------------------------------------------------------------- */

static void archive_rings(tm_ee *ee, link *at, tm_archive *archive) {
  for (size_t j = 0; at->rings && j < ee->settings.chains; j++) {
    ring *r = &at->rings[j];
    tm_archive_size(archive, &r->seen);
    tm_archive_count(archive, &r->kept, ee->settings.memory);
    tm_archive_doubles(archive, r->points, r->kept * ee->record);
  }
}

static void archive(tm_group *group, tm_archive *archive) {
  tm_ee *ee = (tm_ee *)group;
  for (size_t k = 0; k < ee->settings.chains; k++) {
    link *at = &ee->links[k];
    tm_point_archive(group->model, &at->point, archive);
    tm_archive_double(archive, &at->log_likelihood);
    tm_archive_unit(archive, &at->tau);
    tm_archive_double(archive, &at->cap);
    tm_archive_double(archive, &at->edge);
    archive_rings(ee, at, archive);
  }
  tm_archive_size(archive, &ee->proposed);
  tm_archive_size(archive, &ee->accepted);
  tm_archive_random(archive, &ee->theta_stream);
  tm_archive_random(archive, &ee->jump_stream);
}

static const tm_group_type EE = {.sweep = sweep, .archive = archive};

static tempera_status make_rings(tm_ee *ee, link *at, tempera_error *error) {
  size_t n = ee->settings.chains;
  at->rings = TM_NEW(ee->group.arena, ring, n);
  for (size_t j = 0; at->rings && j < n; j++) {
    at->rings[j].points =
        TM_NEW(ee->group.arena, double, ee->settings.memory * ee->record);
    if (!at->rings[j].points)
      return tm_fail_memory(error);
  }
  return at->rings ? TEMPERA_OK : tm_fail_memory(error);
}

static tempera_status fill(tm_ee *ee, const double *start,
                           tempera_error *error) {
  ee->links = TM_NEW(ee->group.arena, link, ee->settings.chains);
  if (!ee->links)
    return tm_fail_memory(error);
  for (size_t k = 0; k < ee->settings.chains; k++) {
    link *at = &ee->links[k];
    TM_TRY(tm_group_point(&ee->group, start, &at->point, error));
    at->log_likelihood = at->point.log_likelihood;
    if (k > 0)
      TM_TRY(make_rings(ee, at, error));
  }
  return tm_group_set_width(&ee->group, TEMPERA_TARGET, 1, error);
}

tempera_status tm_ee_create(const tempera_model *model,
                            const tm_ee_settings *settings, uint64_t seed,
                            uint32_t chain, const double *start,
                            tm_group **group, tempera_error *error) {
  tm_group *made = NULL;
  TM_TRY(tm_group_create(&EE, sizeof(tm_ee), model, settings->kernel, chain,
                         &made, error));
  tm_ee *ee = (tm_ee *)made;
  ee->settings = *settings;
  ee->record = tm_ee_record(model);
  ee->theta_stream = tm_random(seed, chain, TM_PURPOSE_TEMPERED);
  ee->jump_stream = tm_random(seed, chain, TM_PURPOSE_EXCHANGE);
  tempera_status status = fill(ee, start, error);
  if (status != TEMPERA_OK)
    tm_group_free(made);
  else
    *group = made;
  return status;
}

void tm_ee_set_ladder(tm_group *group, const double *tau, const double *edge) {
  tm_ee *ee = (tm_ee *)group;
  for (size_t k = 0; k < ee->settings.chains; k++) {
    link *at = &ee->links[k];
    at->tau = tau[k];
    at->edge = edge[k];
    at->cap = ee->settings.cut ? edge[k] : INFINITY;
    at->point.log_likelihood = fmin(at->log_likelihood, at->cap);
  }
}

void tm_ee_jumps(const tm_group *group, size_t *proposed, size_t *accepted) {
  const tm_ee *ee = (const tm_ee *)group;
  *proposed += ee->proposed;
  *accepted += ee->accepted;
}
