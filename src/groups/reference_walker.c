/* reference_walker.c - see reference_walker.h. */
#include "groups/reference_walker.h"

#include <math.h>

/* Kernels that need what the leg's model lacks are replaced. */
static tempera_kernel kernel_for(const tempera_model *leg,
                                 tempera_kernel asked) {
  if (asked == TEMPERA_KERNEL_MODEL ||
      (asked == TEMPERA_KERNEL_HMC && !tm_has_gradients(leg)))
    return TEMPERA_KERNEL_AUTO;
  return asked;
}

static tempera_status fill(tm_reference_walker *w,
                           const tm_reference *reference, tempera_kernel kernel,
                           const tempera_model *model, tm_arena *arena,
                           tempera_error *error) {
  const tempera_model *leg = tm_reference_model(reference);
  tm_kernel_settings settings = {.kind = kernel_for(leg, kernel)};
  TM_TRY(tm_reference_chain_create(reference, arena, &w->chain, error));
  TM_TRY(tm_kernel_create(leg, &settings, arena, &w->kernel, error));
  TM_TRY(tm_point_create(leg, arena, &w->point, error));
  TM_TRY(tm_point_create(leg, arena, &w->spare, error));
  return tm_point_create(model, arena, &w->natural, error);
}

tempera_status tm_reference_walker_create(const tm_reference *reference,
                                          tempera_kernel kernel, uint64_t seed,
                                          uint32_t chain, const tm_point *start,
                                          tm_arena *arena,
                                          tm_reference_walker **walker,
                                          tempera_error *error) {
  tm_reference_walker *made = TM_NEW(arena, tm_reference_walker, 1);
  if (!made)
    return tm_fail_memory(error);
  made->tau = 1;
  made->stream = tm_random(seed, chain, TM_PURPOSE_REFERENCE);
  made->tau_stream = tm_random(seed, chain, TM_PURPOSE_REFERENCE_TAU);
  made->exchange_stream = tm_random(seed, chain, TM_PURPOSE_REFERENCE_EXCHANGE);
  tempera_status status = fill(made, reference, kernel,
                               tm_reference_original(reference), arena, error);
  if (status != TEMPERA_OK) {
    tm_reference_walker_release(made);
    return status;
  }
  tm_reference_walker_settle(made, start);
  *walker = made;
  return TEMPERA_OK;
}

void tm_reference_walker_release(tm_reference_walker *walker) {
  if (walker)
    tm_reference_chain_release(&walker->chain);
}

/* A theta of zero density (at the atom) has no place on a new path. */
void tm_reference_walker_settle(tm_reference_walker *walker,
                                const tm_point *theta) {
  tm_reference_enter(&walker->chain, theta, &walker->point);
}

void tm_reference_walker_leave(tm_reference_walker *walker, tm_point *theta) {
  tm_reference_leave(&walker->chain, &walker->exchange_stream, &walker->point,
                     theta);
}

tempera_status tm_reference_walker_set_prior(tm_reference_walker *walker,
                                             tm_arena *arena,
                                             const tm_tau_prior *prior,
                                             tempera_error *error) {
  walker->mover =
      (tm_tau_mover){.kind = TEMPERA_TAU_GIBBS,
                     .prior = prior,
                     .fixed = true, /* until the next one */
                     .slope = NAN,
                     .work = TM_NEW(arena, double, 2 * prior->log_prior.count)};
  return walker->mover.work ? TEMPERA_OK : tm_fail_memory(error);
}

static bool redraw(tm_reference_walker *w) {
  tm_prior_draw(&w->chain.evaluator, &w->stream, &w->spare);
  if (w->spare.log_prior == -INFINITY)
    return false;
  tm_point_swap(&w->point, &w->spare);
  return true;
}

void tm_reference_walker_mutate(tm_reference_walker *walker, tm_row *row) {
  tm_reference_walker *w = walker;
  tm_sweep sweep = {.acceptance = 1};
  if (w->tau == 0 && redraw(w))
    sweep.renewed = true;
  else
    sweep = tm_kernel_sweep(w->kernel, &w->chain.evaluator, &w->point, w->tau,
                            &w->stream);
  row->extra[TM_ACCEPT] = sweep.acceptance;
  row->extra[TM_RENEWED] = w->tau == 0 && sweep.renewed;
  row->extra[TM_TAU_ACCEPT] =
      tm_tau_move(&w->mover, &w->chain.evaluator, w->point.log_likelihood,
                  &w->tau, &w->tau_stream);
}

bool tm_reference_walker_exchange(tm_reference_walker *walker,
                                  tm_point *target) {
  tm_reference_walker *w = walker;
  double uniform = tm_random_uniform(&w->exchange_stream);
  tm_reference_enter(&w->chain, target, &w->spare);
  bool accepted = false;
  if (isfinite(w->point.log_likelihood)) {
    double log_ratio = tm_exchange_log_ratio(w->tau, w->point.log_likelihood, 1,
                                             w->spare.log_likelihood);
    accepted = log_ratio >= 0 || log(uniform) < log_ratio;
  }
  if (accepted) {
    tm_reference_leave(&w->chain, &w->exchange_stream, &w->point, &w->natural);
    tm_point_swap(target, &w->natural);
    tm_point_swap(&w->point, &w->spare);
  }
  w->target_ratio = w->spare.log_likelihood;
  w->target_log_q = w->spare.log_prior;
  w->target_excess = tm_reference_excess(&w->chain, &w->spare);
  return accepted;
}

static void fill_row(tm_row *row, const tm_point *theta, double tau,
                     double ratio, double log_q, double excess) {
  row->point = theta;
  row->extra[TM_TAU] = tau;
  row->extra[TM_LOG_LIKELIHOOD] = ratio;
  row->extra[TM_LOG_PRIOR] = log_q;
  row->extra[TM_LOG_JACOBIAN] = 0;
  row->extra[TM_EXCESS] = excess;
}

void tm_reference_walker_fill(tm_reference_walker *walker,
                              const tm_point *target, tm_row *row,
                              tm_row *target_row) {
  tm_reference_walker *w = walker;
  double volume = tm_reference_log_volume(w->chain.reference);
  tm_reference_theta(&w->chain, &w->point, w->natural.theta);
  fill_row(row, &w->natural, w->tau, w->point.log_likelihood,
           w->point.log_prior - volume,
           tm_reference_excess(&w->chain, &w->point));
  fill_row(target_row, target, 1, w->target_ratio, w->target_log_q - volume,
           w->target_excess);
}

void tm_reference_walker_archive(tm_reference_walker *walker,
                                 tm_archive *archive) {
  tm_reference_walker *w = walker;
  tm_archive_tag(archive, "reference walker");
  tm_point_archive(tm_reference_model(w->chain.reference), &w->point, archive);
  tm_archive_unit(archive, &w->tau);
  tm_tau_mover_archive(&w->mover, archive);
  tm_archive_random(archive, &w->stream);
  tm_archive_random(archive, &w->tau_stream);
  tm_archive_random(archive, &w->exchange_stream);
  tm_evaluator_archive(&w->chain.evaluator, archive);
  tm_evaluator_archive(w->chain.inner, archive);
  tm_kernel_archive(w->kernel, archive);
}
