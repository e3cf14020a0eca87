/* emit_solver.c - calls of functions that take a function (differential
 * equations, and those of check/higher.h): a wrapper of the user's function
 * with a uniform type, and the call itself. */
#include "language/emit/emit.h"

#include "language/check/higher.h"

#include <stdio.h>
#include <string.h>

/* Argument i of f, which is a[*at], a tuple a[*at] and what follows. */
static void emit_argument(tm_emitter *g, const tm_function *f, size_t i,
                          size_t *at) {
  tm_held held = tm_held_variable(g, f->arguments[i]);
  if (held == TM_STRUCT)
    tm_emit_gathered(g, f->arguments[i]->type, at);
  else
    tm_emit_taken(g, held, at);
}

/* tm_tensor odeN_v(tm_tape *t, double time, tm_tensor y, const tm_any *a) */
static void emit_wrapper(tm_emitter *g, const tm_function *f, size_t number,
                         bool gradient) {
  bool before = g->gradient;
  g->gradient = gradient;
  tm_emit(g,
          "static tm_tensor ode%zu_%s(tm_tape *t, double time, tm_tensor y, "
          "const tm_any *a) {\n  (void)a;\n  return f%d_%s_%s(t, ",
          number, gradient ? "g" : "v", f->index, f->name,
          gradient ? "g" : "v");
  tm_held time = tm_held_variable(g, f->arguments[0]);
  tm_emit(g, time == TM_VAR ? "tm_constant(time), y" : "time, y");
  for (size_t i = 2, at = 0; i < f->argument_count; i++) {
    tm_emit(g, ", ");
    emit_argument(g, f, i, &at);
  }
  tm_emit(g, ");\n}\n");
  g->gradient = before;
}

/* tm_any sysN_v(tm_tape *t, const tm_any *a) */
static void emit_general(tm_emitter *g, const tm_function *f, size_t number,
                         bool gradient) {
  bool before = g->gradient;
  g->gradient = gradient;
  tm_emit(g,
          "static tm_any sys%zu_%s(tm_tape *t, const tm_any *a) {\n  return ",
          number, gradient ? "g" : "v");
  tm_held held = tm_held_type(g, f->result, TM_LEVEL_PARAMETER);
  tm_emit(g, "%s(f%d_%s_%s(t",
          held == TM_TENSOR ? "tm_any_tensor"
          : held == TM_VAR  ? "tm_any_var"
                            : "tm_any_real",
          f->index, f->name, gradient ? "g" : "v");
  for (size_t i = 0, at = 0; i < f->argument_count; i++) {
    tm_emit(g, ", ");
    emit_argument(g, f, i, &at);
  }
  tm_emit(g, held == TM_TENSOR ? "), 1);\n}\n" : "));\n}\n");
  g->gradient = before;
}

static void emit_wrappers(tm_emitter *g, const tm_function *f, size_t number,
                          void (*emit)(tm_emitter *, const tm_function *,
                                       size_t, bool)) {
  tm_text body = g->body;
  g->body = g->systems;
  emit(g, f, number, false);
  emit(g, f, number, true);
  g->systems = g->body;
  g->body = body;
}

static bool is_adjoint(const tm_expression *e) {
  return !strcmp(e->text, "ode_adjoint_tol_ctl");
}

/* Where tolerances and the function's own arguments are in e->parts. */
static void layout(const tm_expression *e, size_t *tolerances, size_t *first,
                   size_t *count) {
  if (!strncmp(e->text, "integrate_", 10)) {
    *first = 3;
    *count = 3;
    *tolerances = e->part_count > 6 ? 6 : 0;
    return;
  }
  if (is_adjoint(e)) {
    *tolerances = 3; /* the third is behind others */
    *first = 14;
    *count = e->part_count - *first;
    return;
  }
  size_t n = strlen(e->text);
  bool given = n > 4 && !strcmp(e->text + n - 4, "_tol");
  *tolerances = given ? 3 : 0;
  *first = given ? 6 : 3;
  *count = e->part_count - *first;
}

/* Cash and Karp's pair has the order of Dormand and Prince's. */
static const char *method_of(const char *name) {
  return strstr(name, "_bdf")     ? "TM_ODE_BDF"
         : strstr(name, "_adams") ? "TM_ODE_ADAMS"
                                  : "TM_ODE_RK45";
}

/* A list of values, parts [from, to). */
static void emit_values(tm_emitter *g, const tm_expression *e, size_t from,
                        size_t to) {
  tm_emit(g, "(tm_any[]){");
  for (size_t i = from; i < to; i++) {
    tm_emit(g, i > from ? ", " : "");
    tm_emit_any(g, e->parts[i]);
  }
  tm_emit(g, "%s}", to > from ? "" : "{0}");
}

/* t->runtime->apply(t, "name", &(tm_system){...}, place) */
static void emit_higher(tm_emitter *g, const tm_expression *e,
                        const tm_higher *h) {
  size_t number = g->system_count++, tolerances, first, count;
  tm_higher_layout(h, e->part_count, &tolerances, &first, &count);
  emit_wrappers(g, e->system, number, emit_general);
  tm_emit(g,
          "t->runtime->apply(t, \"%s\", &(tm_system){.value = sys%zu_v, "
          ".gradient = sys%zu_g, .controls = ",
          h->name, number, number);
  emit_values(g, e, 0, strlen(h->controls));
  tm_emit(g, ", .arguments = ");
  emit_values(g, e, first, first + count);
  tm_emit(g, ", .argument_count = %zu, .tolerances = {", count);
  for (size_t i = 0; i < 3 && h->defaults[i]; i++) {
    tm_emit(g, i ? ", " : "");
    if (tolerances && tolerances + i < e->part_count &&
        (!h->old || i == 0 || h->result != 'r'))
      tm_emit_as(g, e->parts[tolerances + i], TM_DOUBLE);
    else
      tm_emit(g, "%s", h->defaults[i]);
  }
  tm_emit(g, "%s}}, ", h->defaults[0] ? "" : "0");
  tm_emit_place(g, e->token);
  tm_held held = tm_held_of(g, e);
  tm_emit(g, held == TM_TENSOR ? ").u.t"
             : held == TM_VAR  ? ").u.r"
                               : ").u.r.v");
}

/* The absolute tolerance of ode_adjoint_tol_ctl is a vector: its least. */
static void emit_least(tm_emitter *g, const tm_expression *e) {
  tm_expression *part = (tm_expression *)(uintptr_t)e;
  tm_emit_library(g, "min", "v:r", &part, 1, "");
  tm_emit(g, ".u.r.v");
}

void tm_emit_solver(tm_emitter *g, const tm_expression *e) {
  const tm_higher *h = tm_higher_find(e->text);
  if (h) {
    emit_higher(g, e, h);
    return;
  }
  size_t number = g->system_count++, tolerances, first, count;
  layout(e, &tolerances, &first, &count);
  emit_wrappers(g, e->system, number, emit_wrapper);
  tm_emit(g, "t->runtime->ode(t, &(tm_ode){.method = ");
  if (is_adjoint(e)) { /* 1 is Adams, 2 is BDF */
    tm_emit_as(g, e->parts[12], TM_DOUBLE);
    tm_emit(g, " == 1 ? TM_ODE_ADAMS : TM_ODE_BDF");
  } else {
    tm_emit(g, "%s", method_of(e->text));
  }
  tm_emit(g, ", .value = ode%zu_v, .gradient = ode%zu_g, .moving = %d", number,
          number,
          e->parts[1]->level == TM_LEVEL_PARAMETER ||
              e->parts[2]->level == TM_LEVEL_PARAMETER);
  static const char *const names[] = {"relative", "absolute", "most_steps"};
  static const char *const defaults[] = {"1e-6", "1e-6", "1e6"};
  for (size_t i = 0; i < 3; i++) {
    tm_emit(g, ", .%s = ", names[i]);
    if (is_adjoint(e) && i == 1)
      emit_least(g, e->parts[tolerances + 1]);
    else if (is_adjoint(e) && i == 2)
      tm_emit_as(g, e->parts[9], TM_DOUBLE);
    else if (tolerances)
      tm_emit_as(g, e->parts[tolerances + i], TM_DOUBLE);
    else
      tm_emit(g, "%s", defaults[i]);
  }
  tm_emit(g, ", .start = ");
  tm_emit_any(g, e->parts[1]);
  tm_emit(g, ", .times = ");
  tm_emit_expression(g, e->parts[2]);
  tm_emit(g, ", .arguments = (tm_any[]){");
  for (size_t i = 0; i < count; i++) {
    tm_emit(g, i ? ", " : "");
    tm_emit_any(g, e->parts[first + i]);
  }
  tm_emit(g, "%s}, .argument_count = %zu}, ", count ? "" : "{0}", count);
  tm_emit_any(g, e->parts[0]);
  tm_emit(g, ", ");
  tm_emit_place(g, e->token);
  tm_emit(g, ")");
}
