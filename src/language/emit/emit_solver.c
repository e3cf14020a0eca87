/* emit_solver.c - calls of differential equation solvers: a wrapper of the
 * user's function with the uniform type tm_rhs, and the call itself. */
#include "language/emit/emit.h"

#include <string.h>

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
  for (size_t i = 2; i < f->argument_count; i++) {
    tm_held held = tm_held_variable(g, f->arguments[i]);
    tm_emit(g, ", ");
    switch (held) {
    case TM_STRUCT: /* refused by the checker */
    case TM_LONG:
      tm_emit(g, "a[%zu].u.i", i - 2);
      break;
    case TM_DOUBLE:
      tm_emit(g, "tm_as_var(&a[%zu]).v", i - 2);
      break;
    case TM_VAR:
      tm_emit(g, "tm_as_var(&a[%zu])", i - 2);
      break;
    case TM_TENSOR:
      tm_emit(g, "a[%zu].u.t", i - 2);
      break;
    }
  }
  tm_emit(g, ");\n}\n");
  g->gradient = before;
}

static void emit_wrappers(tm_emitter *g, const tm_function *f, size_t number) {
  tm_text body = g->body;
  g->body = g->systems;
  emit_wrapper(g, f, number, false);
  emit_wrapper(g, f, number, true);
  g->systems = g->body;
  g->body = body;
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
  size_t n = strlen(e->text);
  bool given = n > 4 && !strcmp(e->text + n - 4, "_tol");
  *tolerances = given ? 3 : 0;
  *first = given ? 6 : 3;
  *count = e->part_count - *first;
}

static const char *method_of(const char *name) {
  return strstr(name, "_bdf")     ? "TM_ODE_BDF"
         : strstr(name, "_adams") ? "TM_ODE_ADAMS"
                                  : "TM_ODE_RK45";
}

void tm_emit_solver(tm_emitter *g, const tm_expression *e) {
  size_t number = g->system_count++, tolerances, first, count;
  layout(e, &tolerances, &first, &count);
  emit_wrappers(g, e->system, number);
  tm_emit(g,
          "t->runtime->ode(t, &(tm_ode){.method = %s, .value = ode%zu_v, "
          ".gradient = ode%zu_g, .moving = %d",
          method_of(e->text), number, number,
          e->parts[1]->level == TM_LEVEL_PARAMETER ||
              e->parts[2]->level == TM_LEVEL_PARAMETER);
  static const char *const names[] = {"relative", "absolute", "most_steps"};
  static const char *const defaults[] = {"1e-6", "1e-6", "1e6"};
  for (size_t i = 0; i < 3; i++) {
    tm_emit(g, ", .%s = ", names[i]);
    if (tolerances)
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
