/* cost.c - what an evaluation of a program costs with its data: each statement,
 * whether its rows are done by the library (runtime/rows.h) and if not why, and
 * the time of a value and of a gradient, beside the statements one by one. */
#include "base/text.h"
#include "language/load/load.h"
#include "model/model.h"

#include <string.h>
#include <time.h>

enum { POINTS = 20 };

/* ---- statements --------------------------------------------------------- */

static bool raises_target(const tm_statement *s) {
  bool raises = s->kind == TM_S_TILDE || s->kind == TM_S_TARGET ||
                (s->kind == TM_S_CALL && s->value->function &&
                 s->value->function->uses_target) ||
                (s->otherwise && raises_target(s->otherwise));
  for (size_t i = 0; i < s->body_count && !raises; i++)
    raises = raises_target(s->body[i]);
  return raises;
}

static void describe_statement(const tm_statement *s, const void *plans,
                               tm_text *out) {
  char place[TM_PLACE];
  tm_place_text(s->token, place);
  tm_text_printf(out, "  %-10s ", place);
  if (s->rows && tm_rows_describe(plans, place, out))
    ; /* said */
  else if (s->unturned && s->unturned_at)
    tm_text_printf(out, "as it is written: %s (%s)", s->unturned,
                   tm_place_text(s->unturned_at, place));
  else
    tm_text_printf(out, "as it is written: %s",
                   s->unturned ? s->unturned : "it is behind a condition");
  tm_text_add(out, "\n");
}

static void describe_statements(tm_statement *const *body, size_t count,
                                const void *plans, tm_text *out) {
  for (size_t i = 0; i < count; i++)
    if (body[i]->kind == TM_S_BLOCK)
      describe_statements(body[i]->body, body[i]->body_count, plans, out);
    else if (raises_target(body[i]))
      describe_statement(body[i], plans, out);
}

/* ---- times -------------------------------------------------------------- */

typedef struct timed {
  tm_arena *arena;
  tm_evaluator evaluator;
  tm_point point;
  double *slopes;
  double value, gradient; /* microseconds */
} timed;

static tempera_status open_timed(timed *a, tempera_model *model,
                                 tempera_error *error) {
  *a = (timed){.arena = tm_arena_create()};
  if (!a->arena)
    return tm_fail_memory(error);
  a->slopes = TM_NEW(a->arena, double, 2 * model->dimension + 1);
  tempera_status status =
      !a->slopes ? tm_fail_memory(error)
                 : tm_evaluator_create(model, a->arena, &a->evaluator, error);
  if (status == TEMPERA_OK)
    status = tm_point_create(model, a->arena, &a->point, error);
  return status;
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void evaluate(timed *a, size_t n, bool gradient) {
  if (gradient)
    tm_evaluate_gradient(&a->evaluator, &a->point, a->slopes, a->slopes + n);
  else
    tm_evaluate(&a->evaluator, &a->point);
}

/* The shortest of a few stretches: others use the machine as well. */
static double time_one(timed *a, size_t n, bool gradient) {
  double best = INFINITY;
  for (int stretch = 0; stretch < 5; stretch++) {
    double start = seconds(), took;
    long count = 0;
    do {
      for (int i = 0; i < 10; i++)
        evaluate(a, n, gradient);
      count += 10;
      took = seconds() - start;
    } while (took < 0.01);
    best = fmin(best, 1e6 * took / (double)count);
  }
  return best;
}

/* The largest difference of values, and of slopes relative to the largest. */
static double difference(timed *a, timed *b, const double *u, size_t n) {
  memcpy(a->point.u, u, n * sizeof *u);
  memcpy(b->point.u, u, n * sizeof *u);
  evaluate(a, n, true);
  evaluate(b, n, true);
  double x = a->point.log_likelihood + a->point.log_prior;
  double y = b->point.log_likelihood + b->point.log_prior, most = 1, off = 0;
  if (!isfinite(y))
    return isfinite(x) ? INFINITY : 0;
  for (size_t k = 0; k < 2 * n; k++)
    most = fmax(most, fabs(b->slopes[k]));
  for (size_t k = 0; k < 2 * n; k++)
    off = fmax(off, fabs(a->slopes[k] - b->slopes[k]) / most);
  return fmax(off, fabs(x - y) / fmax(1, fabs(y)));
}

/* Both ways at points where the density is not zero; gives how many there are.
 * The last of them stays. */
static int compare(timed *a, timed *b, const tempera_model *model,
                   const double *theta, const double *densities, double *u,
                   double *most) {
  int compared = 0;
  for (size_t i = 0; i < POINTS; i++) {
    if (!isfinite(densities[i]) || !isfinite(densities[POINTS + i]))
      continue;
    tm_unconstrain(model, theta + i * model->size, u);
    *most = fmax(*most, difference(a, b, u, model->dimension));
    compared++;
  }
  return compared;
}

static void describe_times(timed *a, timed *b, int points, double most,
                           tm_text *out) {
  tm_text_printf(out, "value %.3g us, gradient %.3g us\n", a->value,
                 a->gradient);
  if (b != a)
    tm_text_printf(out,
                   "statement by statement: value %.3g us, gradient %.3g us; "
                   "at %d points the two agree to %.1e\n",
                   b->value, b->gradient, points, most);
}

static tempera_status take_times(tempera_model *model, timed *a, timed *b,
                                 tm_text *out, tempera_error *error) {
  size_t n = model->dimension;
  double most = 0, densities[2 * POINTS];
  double *theta = TM_NEW(a->arena, double, POINTS * model->size + 1);
  double *u = TM_NEW(a->arena, double, n + 1);
  if (!theta || !u)
    return tm_fail_memory(error);
  TM_TRY(tempera_model_probe(model, 1, POINTS, theta, densities,
                             densities + POINTS, error));
  int points = compare(a, b, model, theta, densities, u, &most);
  if (!points) {
    tm_text_add(out, "not timed: the density is zero at all points tried\n");
    return TEMPERA_OK;
  }
  for (timed *t = a; t; t = t == a && b != a ? b : NULL) {
    t->value = time_one(t, n, false);
    t->gradient = time_one(t, n, true);
  }
  describe_times(a, b, points, most, out);
  return TEMPERA_OK;
}

static void close_timed(timed *a) {
  if (a->arena)
    tm_evaluator_release(&a->evaluator);
  tm_arena_free(a->arena);
}

static tempera_status measure(tempera_model *rows, tempera_model *plain,
                              tm_text *out, tempera_error *error) {
  timed a = {0}, b = {0};
  tempera_status status = open_timed(&a, rows, error);
  if (status == TEMPERA_OK && plain)
    status = open_timed(&b, plain, error);
  if (status == TEMPERA_OK)
    status = take_times(rows, &a, plain ? &b : &a, out, error);
  close_timed(&b);
  close_timed(&a);
  return status;
}

/* ---- all ---------------------------------------------------------------- */

tempera_status tempera_program_cost(const tempera_program *program,
                                    const tempera_data *data, char **text,
                                    tempera_error *error) {
  const tm_block_node *block = &program->tree.blocks[TM_BLOCK_MODEL];
  tempera_model *model[2] = {NULL, NULL};
  tm_text out = {0};
  bool refused, none;
  TM_TRY(tm_load_way(program, TM_BY_ROWS, data, &refused, &model[0], error));
  bool both = !refused && program->tree.rows.count > 0;
  tempera_status status = TEMPERA_OK;
  if (both || refused)
    status = tm_load_way(program, TM_ONE_BY_ONE, data, &none,
                         &model[refused ? 0 : 1], error);
  if (status == TEMPERA_OK) {
    tm_text_add(&out, "cost of an evaluation, statement by statement\n");
    if (refused)
      tm_text_add(&out, "  with these data no rows: some index is out of "
                        "range, or lengths differ\n");
    describe_statements(block->statements, block->count,
                        refused ? NULL : tm_load_plans(model[0]), &out);
    status = measure(model[0], model[1], &out, error);
  }
  tempera_model_free(model[0]);
  tempera_model_free(model[1]);
  if (status == TEMPERA_OK && out.failed)
    status = tm_fail_memory(error);
  if (status == TEMPERA_OK)
    *text = out.data;
  else
    tm_text_clear(&out);
  return status;
}
