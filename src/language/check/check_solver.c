/* check_solver.c - calls whose first argument is a function: differential
 * equation solvers (ode_rk45 and its relatives, and the older
 * integrate_ode_*), and reduce_sum. */
#include "language/check/higher.h"

#include <string.h>

bool tm_is_solver(const char *name) {
  static const char *const names[] = {
      "ode_rk45",           "ode_rk45_tol",       "ode_bdf",
      "ode_bdf_tol",        "ode_adams",          "ode_adams_tol",
      "ode_ckrk",           "ode_ckrk_tol",       "ode_adjoint_tol_ctl",
      "integrate_ode",      "integrate_ode_rk45", "integrate_ode_bdf",
      "integrate_ode_adams"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (!strcmp(names[i], name))
      return true;
  return tm_higher_find(name) != NULL;
}

static tempera_status wanted(tm_checker *c, const tm_expression *e,
                             const tm_expression *part, tm_type type,
                             const char *what, bool data_only) {
  char name[TM_TYPE_NAME], found[TM_TYPE_NAME];
  if (!tm_type_promotes(part->type, type))
    return tm_complain(c->source, part->token, "%s: %s must be %s, not %s",
                       e->text, what, tm_type_name(type, name, sizeof name),
                       tm_type_name(part->type, found, sizeof found));
  /* in functions the solver checks when it is called */
  if (data_only && part->level == TM_LEVEL_PARAMETER && !c->function &&
      c->block != TM_BLOCK_GENERATED_QUANTITIES)
    return tm_complain(c->source, part->token,
                       "%s: %s cannot depend on parameters", e->text, what);
  return TEMPERA_OK;
}

tempera_status tm_find_system(tm_checker *c, tm_expression *e,
                              const tm_type *types, size_t count,
                              tm_type result) {
  const tm_expression *f = e->parts[0];
  bool exists;
  tm_function *system =
      f->kind == TM_E_NAME ? tm_function_find(c, f->text, types, count, &exists)
                           : NULL;
  char name[TM_TYPE_NAME];
  if (!system || !tm_type_equal(system->result, result))
    return tm_complain(c->source, f->token,
                       "%s: its first argument must be a function of (%s"
                       "the arguments that follow) that returns %s",
                       e->text,
                       tm_higher_find(e->text) ? "what it varies, "
                                               : "real time, state, ",
                       tm_type_name(result, name, sizeof name));
  e->system = system;
  e->parts++; /* the rest are values */
  e->part_count--;
  return TEMPERA_OK;
}

/* (f, y0, t0, ts, theta, x_r, x_i [, relative, absolute, steps]) */
static tempera_status check_old(tm_checker *c, tm_expression *e) {
  const tm_type R = {TM_REAL, 0}, A = {TM_REAL, 1}, I = {TM_INT, 1};
  const tm_type types[] = {A, R, A, A, A, I, R, R, R};
  static const char *const names[] = {"the initial state",
                                      "the initial time",
                                      "the times",
                                      "theta",
                                      "x_r",
                                      "x_i",
                                      "the tolerance",
                                      "the tolerance",
                                      "the number of steps"};
  if (e->part_count != 7 && e->part_count != 10)
    return tm_complain(c->source, e->token,
                       "%s takes (f, y0, t0, ts, theta, x_r, x_i) and "
                       "perhaps three tolerances",
                       e->text);
  for (size_t i = 1; i < e->part_count; i++)
    TM_TRY(wanted(c, e, e->parts[i], types[i - 1], names[i - 1], i > 4));
  e->type = (tm_type){TM_REAL, 2};
  return tm_find_system(c, e, (tm_type[]){R, A, A, A, I}, 5, A);
}

/* (f, y0, t0, ts, relative, absolute, those of the way back and of the
 * quadrature, steps, checkpoints, interpolation, solver forward and back, ...):
 * slopes are carried forwards here, so most of it is not used. */
static tempera_status check_adjoint(tm_checker *c, tm_expression *e) {
  enum { FIRST = 15, MOST = 24 };
  const tm_type R = {TM_REAL, 0}, A = {TM_REAL, 1}, V = {TM_VECTOR, 0};
  const tm_type types[FIRST - 1] = {V, R, A, R, V, R, V, R, R, R, R, R, R, R};
  if (e->part_count < FIRST || e->part_count > FIRST + MOST)
    return tm_complain(c->source, e->token,
                       "%s takes (f, y0, t0, ts, eleven controls, arguments of "
                       "f ...)",
                       e->text);
  for (size_t i = 1; i < FIRST; i++)
    TM_TRY(wanted(c, e, e->parts[i], types[i - 1], "a control", i > 3));
  tm_type arguments[MOST + 2] = {R, V};
  for (size_t i = FIRST; i < e->part_count; i++)
    arguments[2 + i - FIRST] = e->parts[i]->type;
  e->type = (tm_type){TM_VECTOR, 1};
  return tm_find_system(c, e, arguments, 2 + e->part_count - FIRST, V);
}

/* (f, y0, t0, ts, [relative, absolute, steps,] ...) */
static tempera_status check_new(tm_checker *c, tm_expression *e) {
  bool tolerances = tm_ends_with(e->text, "_tol");
  size_t first = tolerances ? 7 : 4;
  const tm_type R = {TM_REAL, 0}, A = {TM_REAL, 1}, V = {TM_VECTOR, 0};
  const tm_type types[] = {V, R, A, R, R, R};
  static const char *const names[] = {
      "the initial state", "the initial time", "the times",
      "the tolerance",     "the tolerance",    "the number of steps"};
  enum { MOST = 24 };
  if (e->part_count < first || e->part_count > first + MOST)
    return tm_complain(c->source, e->token,
                       "%s takes (f, y0, t0, ts%s, arguments of f ...)",
                       e->text, tolerances ? ", rel_tol, abs_tol, steps" : "");
  for (size_t i = 1; i < first; i++)
    TM_TRY(wanted(c, e, e->parts[i], types[i - 1], names[i - 1], i > 3));
  tm_type arguments[MOST + 2] = {R, V};
  for (size_t i = first; i < e->part_count; i++)
    arguments[2 + i - first] = e->parts[i]->type;
  e->type = (tm_type){TM_VECTOR, 1};
  return tm_find_system(c, e, arguments, 2 + e->part_count - first, V);
}

tempera_status tm_check_system_arguments(tm_checker *c, tm_expression *e) {
  for (size_t i = 1; i < e->part_count; i++) {
    TM_TRY(tm_check_expression(c, e->parts[i]));
    if (e->parts[i]->level > e->level)
      e->level = e->parts[i]->level;
  }
  return TEMPERA_OK;
}

/* Add e, of a tuple its items: the emitter puts them together again. */
static tempera_status add_values(tm_checker *c, tm_expression *e,
                                 tm_list *list) {
  if (e->type.base != TM_TUPLE)
    return tm_list_add(c->arena, list, e) ? TEMPERA_OK
                                          : tm_fail_memory(c->source->error);
  for (size_t i = 0; i < e->type.tuple->count; i++) {
    tm_expression *item = tm_item_of(c, e, i);
    if (!item)
      return tm_fail_memory(c->source->error);
    TM_TRY(tm_check_expression(c, item));
    TM_TRY(add_values(c, item, list));
  }
  return TEMPERA_OK;
}

static tempera_status spread_tuples(tm_checker *c, tm_expression *e) {
  tm_list list = {0};
  for (size_t i = 0; i < e->part_count; i++)
    TM_TRY(add_values(c, e->parts[i], &list));
  e->parts = (tm_expression **)list.items;
  e->part_count = list.count;
  return TEMPERA_OK;
}

static tempera_status check_equations(tm_checker *c, tm_expression *e) {
  e->level = TM_LEVEL_CONSTANT;
  TM_TRY(tm_check_system_arguments(c, e));
  if (!strcmp(e->text, "ode_adjoint_tol_ctl"))
    return check_adjoint(c, e);
  return strncmp(e->text, "integrate_", 10) ? check_new(c, e) : check_old(c, e);
}

tempera_status tm_check_solver(tm_checker *c, tm_expression *e) {
  if (e->part_count == 0)
    return tm_complain(c->source, e->token,
                       "%s needs a function as its first argument", e->text);
  TM_TRY(tm_higher_find(e->text) ? tm_check_higher(c, e)
                                 : check_equations(c, e));
  return spread_tuples(c, e);
}

static tm_expression *new_part(tm_checker *c, const tm_token *token,
                               tm_expression_kind kind, const char *text) {
  tm_expression *e = TM_NEW(c->arena, tm_expression, 1);
  if (e)
    *e = (tm_expression){.kind = kind, .token = token, .text = text};
  return e;
}

/* part_lupmf is part_lpmf: constants are kept. */
static const char *with_constants(tm_checker *c, const char *name) {
  size_t n = strlen(name);
  return tm_ends_with(name, "_lupmf")   ? tm_joined(c, name, n - 6, "_lpmf")
         : tm_ends_with(name, "_lupdf") ? tm_joined(c, name, n - 6, "_lpdf")
                                        : name;
}

/* The grain, where it is a number or a name of data: it says into how many
 * pieces the slices are cut, which the data alone may decide. */
static tempera_status take_grain(tm_checker *c, tm_expression *e,
                                 tm_expression *grain) {
  TM_TRY(tm_check_expression(c, grain));
  bool known = grain->kind == TM_E_INT ||
               (grain->kind == TM_E_NAME && grain->variable->global &&
                (grain->variable->block == TM_BLOCK_DATA ||
                 grain->variable->block == TM_BLOCK_TRANSFORMED_DATA));
  e->grain = known && grain->type.base == TM_INT && grain->type.depth == 0
                 ? grain
                 : NULL;
  e->sliced = true;
  return TEMPERA_OK;
}

tempera_status tm_check_reduce_sum(tm_checker *c, tm_expression *e) {
  bool exists = false;
  const tm_expression *f = e->part_count ? e->parts[0] : NULL;
  const char *name =
      f && f->kind == TM_E_NAME ? with_constants(c, f->text) : NULL;
  if (name)
    (void)tm_function_find(c, name, NULL, 0, &exists);
  if (e->part_count < 3 || !exists)
    return tm_complain(c->source, e->token,
                       "%s takes (a function of yours, a container, a grain "
                       "size, arguments ...)",
                       e->text);
  TM_TRY(take_grain(c, e, e->parts[2]));
  tm_expression *one = new_part(c, e->token, TM_E_INT, "1");
  tm_expression *size = new_part(c, e->token, TM_E_CALL, "size");
  tm_expression **parts = TM_NEW(c->arena, tm_expression *, e->part_count);
  tm_expression **sized = TM_NEW(c->arena, tm_expression *, 1);
  if (!one || !size || !parts || !sized)
    return tm_fail_memory(c->source->error);
  one->whole = 1;
  one->number = 1;
  sized[0] = e->parts[1];
  size->parts = sized;
  size->part_count = 1;
  parts[0] = e->parts[1];
  parts[1] = one;
  parts[2] = size;
  for (size_t i = 3; i < e->part_count; i++)
    parts[i] = e->parts[i];
  e->text = name;
  e->parts = parts;
  e->bar = true;
  return TEMPERA_OK;
}
