/* group.c - see group.h. */
#include "groups/group.h"

#include <float.h>
#include <math.h>
#include <string.h>

static tempera_status fill(tm_group *group, tempera_kernel kernel,
                           tempera_error *error) {
  tm_kernel_settings settings = {.kind = kernel};
  TM_TRY(tm_evaluator_create(group->model, group->arena, &group->evaluator,
                             error));
  TM_TRY(tm_kernel_create(group->model, &settings, group->arena, &group->kernel,
                          error));
  return tm_point_create(group->model, group->arena, &group->spare, error);
}

tempera_status tm_group_create(const tm_group_type *type, size_t size,
                               const tempera_model *model,
                               tempera_kernel kernel, uint32_t chain,
                               tm_group **group, tempera_error *error) {
  tm_arena *arena;
  tm_group *made = tm_arena_begin(&arena, size);
  if (!made)
    return tm_fail_memory(error);
  *made = (tm_group){.type = type,
                     .model = model,
                     .chain = chain,
                     .arena = arena,
                     .kind = kernel,
                     .part_count = 1};
  tempera_status status = fill(made, kernel, error);
  if (status != TEMPERA_OK) {
    made->type = NULL; /* its own part was never made */
    tm_group_free(made);
    return status;
  }
  *group = made;
  return TEMPERA_OK;
}

void tm_group_free(tm_group *group) {
  if (!group)
    return;
  if (group->type && group->type->release)
    group->type->release(group);
  for (size_t k = 1; k < group->part_store; k++)
    tm_group_free(group->parts[k]);
  tm_evaluator_release(&group->evaluator);
  tm_arena_free(group->arena);
}

tempera_status tm_group_set_width(tm_group *group, tempera_role role,
                                  size_t width, tempera_error *error) {
  tm_row *rows = TM_NEW(group->arena, tm_row, width);
  if (!rows)
    return tm_fail_memory(error);
  group->rows[role] = rows;
  group->width[role] = width;
  return TEMPERA_OK;
}

/* ------------------------------------------------------------------------
 * Sweeps
 */

void tm_group_begin_sweep(tm_group *group) {
  for (size_t role = 0; role < 2; role++)
    for (size_t i = 0; i < group->width[role]; i++)
      tm_row_clear(&group->rows[role][i]);
  for (size_t role = 0; group->leg_rows && role < 2; role++)
    tm_row_clear(&group->leg_rows[role]);
  if (group->type->begin_sweep)
    group->type->begin_sweep(group);
}

void tm_group_sweep_part(tm_group *group, size_t part) {
  if (group->type->sweep_part)
    group->type->sweep_part(group, part);
  else
    group->type->sweep(group);
}

void tm_group_end_sweep(tm_group *group) {
  if (group->type->end_sweep)
    group->type->end_sweep(group);
  group->done++;
}

void tm_group_sweep(tm_group *group) {
  tm_group_begin_sweep(group);
  for (size_t k = 0; k < group->part_count; k++)
    tm_group_sweep_part(group, k);
  tm_group_end_sweep(group);
}

/* ------------------------------------------------------------------------
 * Parts
 */

static const tm_group_type PART = {0};

tm_group *tm_group_part(tm_group *group, size_t part) {
  return part ? group->parts[part] : group;
}

/* Those in store. */
static tempera_status store_parts(tm_group *group, size_t count,
                                  tempera_error *error) {
  if (count <= group->part_store)
    return TEMPERA_OK;
  tm_group **parts = TM_NEW(group->arena, tm_group *, count);
  if (!parts)
    return tm_fail_memory(error);
  parts[0] = group;
  for (size_t k = 1; k < group->part_store; k++)
    parts[k] = group->parts[k];
  group->parts = parts;
  group->part_store = group->part_store ? group->part_store : 1;
  for (; group->part_store < count; group->part_store++) {
    tm_group **made = &parts[group->part_store];
    TM_TRY(tm_group_create(&PART, sizeof(tm_group), group->model, group->kind,
                           group->chain, made, error));
    (*made)->evaluator.call->chain = group->evaluator.call->chain;
    tm_kernel_set_laplace((*made)->kernel, group->laplace);
  }
  return TEMPERA_OK;
}

/* What the kernels of the parts in use have learned, as bytes. */
static tempera_status write_kernels(tm_group *group, tm_archive *written,
                                    tempera_error *error) {
  for (size_t k = 0; k < group->part_count; k++) {
    written[k] = tm_archive_writer();
    tm_kernel_archive(tm_group_part(group, k)->kernel, &written[k]);
    TM_TRY(tm_archive_seal(&written[k], error));
  }
  return TEMPERA_OK;
}

static tempera_status read_kernels(tm_group *group, const tm_archive *written,
                                   size_t count, const size_t *like,
                                   tempera_error *error) {
  for (size_t k = 0; k < count; k++) {
    const tm_archive *from = &written[like[k]];
    tm_archive read;
    TM_TRY(tm_archive_open(from->data, from->length, &read, error));
    tm_kernel_archive(tm_group_part(group, k)->kernel, &read);
    TM_TRY(tm_archive_end(&read, error));
  }
  return TEMPERA_OK;
}

static tempera_status hand_on(tm_group *group, size_t count, const size_t *like,
                              tempera_error *error) {
  size_t old = group->part_count;
  tm_archive *written = tm_heap_alloc(old, sizeof *written);
  if (!written)
    return tm_fail_memory(error);
  tempera_status status = write_kernels(group, written, error);
  if (status == TEMPERA_OK)
    status = read_kernels(group, written, count, like, error);
  for (size_t k = 0; k < old; k++)
    tm_archive_clear(&written[k]);
  tm_heap_free(written);
  return status;
}

tempera_status tm_group_divide(tm_group *group, size_t count,
                               const size_t *like, tempera_error *error) {
  TM_TRY(store_parts(group, count, error));
  if (like)
    TM_TRY(hand_on(group, count, like, error));
  /* Counts of parts that are no longer in use stay. */
  for (size_t k = count; k < group->part_count; k++)
    tm_evaluator_collect(&group->evaluator, &group->parts[k]->evaluator);
  group->part_count = count;
  return TEMPERA_OK;
}

void tm_group_set_laplace(tm_group *group, const tm_laplace *laplace) {
  group->laplace = laplace;
  tm_kernel_set_laplace(group->kernel, laplace);
  for (size_t k = 1; k < group->part_store; k++)
    tm_kernel_set_laplace(group->parts[k]->kernel, laplace);
}

void tm_group_end_round(tm_group *group) {
  for (size_t k = 0; k < group->part_count; k++)
    tm_kernel_end_round(tm_group_part(group, k)->kernel);
}

void tm_group_freeze(tm_group *group) {
  for (size_t k = 0; k < group->part_count; k++)
    tm_kernel_freeze(tm_group_part(group, k)->kernel);
}

static const tm_evaluator *evaluator_of(const tm_group *group, size_t part) {
  return part ? &group->parts[part]->evaluator : &group->evaluator;
}

tm_group_cost tm_group_cost_of(const tm_group *group) {
  tm_group_cost cost = {0};
  for (size_t k = 0; k < group->part_count; k++) {
    const tm_evaluator *e = evaluator_of(group, k);
    cost.likelihood_evaluations += e->likelihood_evaluations;
    cost.gradient_evaluations += e->gradient_evaluations;
    cost.answers += e->answers;
    cost.rejected += e->rejected;
    cost.seconds += e->seconds;
    if (!cost.rejected_at && e->rejected)
      cost.rejected_at = e->rejected_at;
  }
  return cost;
}

const tm_evaluator *tm_group_failure(const tm_group *group) {
  for (size_t k = 0; k < group->part_count; k++)
    if (evaluator_of(group, k)->status != TEMPERA_OK)
      return evaluator_of(group, k);
  return NULL;
}

/* ------------------------------------------------------------------------
 * Points and rows
 */

tempera_status tm_group_point(tm_group *group, const double *start,
                              tm_point *point, tempera_error *error) {
  TM_TRY(tm_point_create(group->model, group->arena, point, error));
  memcpy(point->theta, start, group->model->size * sizeof(double));
  tm_evaluate_natural(&group->evaluator, point);
  return TEMPERA_OK;
}

bool tm_group_redraw(tm_group *group, tempera_random *random, tm_point *point) {
  const tempera_model *model = group->model;
  if (!model->spec.prior_draw || (model->from_support && !model->law))
    return false;
  tm_prior_draw(&group->evaluator, random, &group->spare);
  if (group->spare.log_prior == -INFINITY)
    return false; /* the callback rejected its own draw */
  tm_point_swap(point, &group->spare);
  return true;
}

/* At 0+ the likelihood only has to be positive. */
static double lowest(const tm_group *group, double tau) {
  return tau == 0 && group->model->from_support ? DBL_MIN : tau;
}

void tm_group_mutate(tm_group *group, tempera_random *random, tm_point *point,
                     double tau, tm_row *row) {
  tm_sweep sweep = {.acceptance = 1};
  if (tau == 0 && tm_group_redraw(group, random, point))
    sweep.renewed = true;
  else
    sweep = tm_kernel_sweep(group->kernel, &group->evaluator, point,
                            lowest(group, tau), random);
  row->extra[TM_ACCEPT] = sweep.acceptance;
  row->extra[TM_RENEWED] = tau == 0 && sweep.renewed;
}

void tm_row_clear(tm_row *row) {
  row->extra[TM_ACCEPT] = row->extra[TM_TAU_ACCEPT] = NAN;
  row->extra[TM_EXCHANGE] = row->extra[TM_RENEWED] = 0;
  row->extra[TM_WALKER] = row->extra[TM_EXCESS] = 0;
}

void tm_row_fill(tm_row *row, const tm_point *point, double tau) {
  row->point = point;
  row->extra[TM_TAU] = tau;
  row->extra[TM_LOG_LIKELIHOOD] = point->log_likelihood;
  row->extra[TM_LOG_PRIOR] = point->log_prior;
  row->extra[TM_LOG_JACOBIAN] = point->log_jacobian;
}

double tm_exchange_log_ratio(double tau_a, double log_likelihood_a,
                             double tau_b, double log_likelihood_b) {
  return (tau_a - tau_b) * (log_likelihood_b - log_likelihood_a);
}

void tm_point_swap(tm_point *a, tm_point *b) {
  tm_point held = *a;
  *a = *b;
  *b = held;
}

void tm_group_archive(tm_group *group, tm_archive *archive) {
  tm_archive_tag(archive, "group");
  tm_archive_size(archive, &group->done);
  for (size_t k = 0; k < group->part_count; k++) {
    tm_group *part = tm_group_part(group, k);
    tm_evaluator_archive(&part->evaluator, archive);
    tm_kernel_archive(part->kernel, archive);
  }
  group->type->archive(group, archive);
}

/* A reader's is a copy: it has no such point itself. */
static void archive_row(const tm_group *group, tm_row *row,
                        tm_archive *archive) {
  bool there = row->point != NULL;
  tm_archive_bool(archive, &there);
  if (!there || !tm_archive_fine(archive))
    return;
  if (archive->reading && !row->copy) {
    tm_point *made = TM_NEW(group->arena, tm_point, 1);
    if (!made || tm_point_create(group->model, group->arena, made, NULL)) {
      archive->status = TEMPERA_ERROR_MEMORY;
      return;
    }
    row->copy = made;
  }
  if (archive->reading)
    row->point = row->copy;
  tm_point_archive(group->model, (tm_point *)(uintptr_t)row->point, archive);
}

void tm_group_archive_sweep(tm_group *group, tm_archive *archive) {
  for (size_t role = 0; role < 2; role++)
    for (size_t i = 0; i < group->width[role]; i++)
      archive_row(group, &group->rows[role][i], archive);
  for (size_t k = 0; k < group->part_count; k++)
    tm_evaluator_archive_failure(&tm_group_part(group, k)->evaluator, archive);
}
