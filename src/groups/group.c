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
  tm_arena *arena = tm_arena_create();
  tm_group *made = arena ? tm_arena_alloc(arena, size, 1) : NULL;
  if (!made) {
    tm_arena_free(arena);
    return tm_fail_memory(error);
  }
  *made =
      (tm_group){.type = type, .model = model, .chain = chain, .arena = arena};
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

void tm_group_sweep(tm_group *group) {
  for (size_t role = 0; role < 2; role++)
    for (size_t i = 0; i < group->width[role]; i++)
      tm_row_clear(&group->rows[role][i]);
  for (size_t role = 0; group->leg_rows && role < 2; role++)
    tm_row_clear(&group->leg_rows[role]);
  group->type->sweep(group);
  group->done++;
}

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
  row->extra[TM_WALKER] = 0;
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
  tm_evaluator_archive(&group->evaluator, archive);
  tm_kernel_archive(group->kernel, archive);
  group->type->archive(group, archive);
}
