/* quantities.c - see quantities.h. */
#include "run/quantities.h"

#include "estimate/estimate.h"
#include "estimate/findings.h"
#include "model/batch.h"
#include "parallel/ranks.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Numbers held at once while summarising; more quantities than fit are
 * computed in several passes. */
enum { MOST_NUMBERS = 1 << 24 };

tempera_status tm_quantities_create(const tempera_model *model, uint64_t seed,
                                    tm_quantities *quantities,
                                    tempera_error *error) {
  tm_quantities q = {.arena = tm_arena_create(), .seed = seed};
  if (!q.arena)
    return tm_fail_memory(error);
  q.theta = TM_NEW(q.arena, double, model->size);
  q.values = TM_NEW(q.arena, double, model->spec.quantity_count);
  tempera_status status =
      q.theta && q.values
          ? tm_evaluator_create(model, q.arena, &q.evaluator, error)
          : tm_fail_memory(error);
  if (status != TEMPERA_OK)
    tm_arena_free(q.arena);
  else
    *quantities = q;
  return status;
}

void tm_quantities_free(tm_quantities *quantities) {
  tm_evaluator_release(&quantities->evaluator);
  tm_arena_free(quantities->arena);
  *quantities = (tm_quantities){0};
}

static tempera_random stream_of(uint64_t seed, const tm_draw_place *place) {
  tm_purpose purpose = place->role == TEMPERA_TARGET
                           ? TM_PURPOSE_QUANTITIES
                           : TM_PURPOSE_TEMPERED_QUANTITIES;
  uint32_t warmup = place->warmup ? UINT32_C(1) << 31 : 0;
  return tm_random_part(seed, (uint32_t)place->chain, purpose,
                        warmup | (uint32_t)place->row);
}

static void note_failure(tm_quantities *q) {
  if (q->failures++ == 0)
    snprintf(q->reason, sizeof q->reason, "%s", tm_reason(&q->evaluator));
}

const double *tm_quantities_row(tm_quantities *quantities,
                                const tm_draw_place *place) {
  tm_quantities *q = quantities;
  for (size_t i = 0; i < q->evaluator.model->size; i++)
    q->theta[i] =
        tm_draws_column(place->draws, place->role, place->chain, i)[place->row];
  tempera_random random = stream_of(q->seed, place);
  if (!tm_quantities_at(&q->evaluator, &random, q->theta, q->values))
    note_failure(q);
  return q->values;
}

/* ---- over all rows ------------------------------------------------------ */

typedef struct pass {
  const tempera_draws *draws;
  tempera_role role;
  tm_quantities *each; /* one per chain */
  size_t first, count;
  double *const *columns;
} pass;

static void fill_chain(size_t chain, void *context) {
  const pass *p = context;
  tm_draw_place place = {.draws = p->draws, .role = p->role, .chain = chain};
  for (; place.row < tm_draws_rows(p->draws, p->role); place.row++) {
    const double *values = tm_quantities_row(&p->each[chain], &place);
    for (size_t i = 0; i < p->count; i++)
      p->columns[chain * p->count + i][place.row] = values[p->first + i];
  }
}

static void free_each(tm_quantities *each, size_t count) {
  for (size_t c = 0; each && c < count; c++)
    tm_quantities_free(&each[c]);
  tm_heap_free(each);
}

static tempera_status create_each(const tempera_sampler *s,
                                  tm_quantities **each, tempera_error *error) {
  size_t chains = s->draws->chains;
  tm_quantities *made = tm_heap_alloc(chains, sizeof *made);
  if (!made)
    return tm_fail_memory(error);
  for (size_t c = 0; c < chains; c++) {
    tempera_status status = tm_quantities_create(
        s->model, tm_seed_of(&s->options), &made[c], error);
    if (status != TEMPERA_OK) {
      free_each(made, c);
      return status;
    }
  }
  *each = made;
  return TEMPERA_OK;
}

static void run_pass(const tempera_sampler *s, pass *p) {
  tm_shared_for(s->draws->chains,
                tm_model_threads(s->model, s->options.threads), fill_chain, p);
}

tempera_status tm_quantities_columns(const tempera_sampler *sampler,
                                     tempera_role role, size_t first,
                                     size_t count, double *const *columns,
                                     tempera_error *error) {
  pass p = {sampler->draws, role, NULL, first, count, columns};
  TM_TRY(create_each(sampler, &p.each, error));
  run_pass(sampler, &p);
  free_each(p.each, sampler->draws->chains);
  return TEMPERA_OK;
}

/* ---- drawn or computed -------------------------------------------------- */

enum { ROWS_TRIED = 50 };

static bool differs(double a, double b) {
  return a != b && !(isnan(a) && isnan(b));
}

tempera_status tm_quantities_random(const tempera_sampler *sampler,
                                    bool *random, tempera_error *error) {
  const tempera_draws *draws = sampler->draws;
  size_t count = sampler->model->spec.quantity_count;
  uint64_t seed = tm_seed_of(&sampler->options);
  tm_draw_place place = {.draws = draws, .role = TEMPERA_TARGET};
  tm_quantities one, other;
  TM_TRY(tm_quantities_create(sampler->model, seed, &one, error));
  tempera_status status =
      tm_quantities_create(sampler->model, ~seed, &other, error);
  memset(random, 0, count * sizeof *random);
  size_t rows = tm_draws_rows(draws, place.role), step = rows / ROWS_TRIED + 1;
  for (; place.row < rows && status == TEMPERA_OK; place.row += step) {
    const double *a = tm_quantities_row(&one, &place);
    const double *b = tm_quantities_row(&other, &place);
    for (size_t i = 0; i < count; i++)
      random[i] = random[i] || differs(a[i], b[i]);
  }
  if (status == TEMPERA_OK)
    tm_quantities_free(&other);
  tm_quantities_free(&one);
  return status;
}

/* ---- their summary ------------------------------------------------------ */

static tempera_status warn_of_failures(const pass *p, tempera_summary *summary,
                                       tempera_error *error) {
  size_t failures = 0, chains = p->draws->chains;
  const char *reason = "";
  for (size_t c = chains; c-- > 0;) {
    failures += p->each[c].failures;
    if (p->each[c].failures)
      reason = p->each[c].reason;
  }
  if (failures == 0)
    return TEMPERA_OK;
  size_t rows = chains * tm_draws_rows(p->draws, p->role);
  return tm_find_about(summary, TM_FIND_QUANTITIES_FAILED, (double)failures,
                       (double)rows, error, "%s%s", reason[0] ? ": " : "",
                       reason);
}

/* Columns for up to `width` quantities at a time. */
static tempera_status summarise_in(tm_arena *arena, const tempera_sampler *s,
                                   pass *p, size_t width,
                                   tempera_summary *summary,
                                   tempera_error *error) {
  size_t chains = p->draws->chains, rows = tm_draws_rows(p->draws, p->role);
  double *numbers = TM_NEW(arena, double, chains *width *rows);
  double **columns = TM_NEW(arena, double *, chains *width);
  if (!numbers || !columns)
    return tm_fail_memory(error);
  for (size_t i = 0; i < chains * width; i++)
    columns[i] = numbers + i * rows;
  p->columns = columns;
  for (; p->first < summary->quantity_count; p->first += p->count) {
    size_t left = summary->quantity_count - p->first;
    p->count = width < left ? width : left;
    run_pass(s, p);
    if (p->first == 0)
      TM_TRY(warn_of_failures(p, summary, error));
    TM_TRY(tm_estimate_values(p->draws, columns, p->count,
                              tm_threads(s->options.threads),
                              summary->quantities + p->first, error));
  }
  return TEMPERA_OK;
}

static tempera_status summarise(const tempera_sampler *s,
                                tempera_summary *summary,
                                tempera_error *error) {
  const tempera_draws *draws = s->draws;
  pass p = {.draws = draws,
            .role = draws->has_role[TEMPERA_TARGET] ? TEMPERA_TARGET
                                                    : TEMPERA_TEMPERED};
  size_t fit = MOST_NUMBERS / (draws->chains * tm_draws_rows(draws, p.role));
  size_t width = fit < 1 ? 1 : fit;
  if (width > summary->quantity_count)
    width = summary->quantity_count;
  TM_TRY(create_each(s, &p.each, error));
  tm_arena *arena = tm_arena_create();
  tempera_status status =
      arena ? summarise_in(arena, s, &p, width, summary, error)
            : tm_fail_memory(error);
  tm_arena_free(arena);
  free_each(p.each, draws->chains);
  return status;
}

tempera_status tm_quantities_summarise(const tempera_sampler *sampler,
                                       tempera_summary *summary,
                                       tempera_error *error) {
  const tempera_model_spec *spec = &sampler->model->spec;
  TM_TRY(tm_estimate_name_values(spec->quantity_names, spec->quantity_count,
                                 &summary->quantities, &summary->quantity_count,
                                 error));
  if (spec->quantity_count == 0 || sampler->draws->count == 0)
    return TEMPERA_OK;
  return summarise(sampler, summary, error);
}
