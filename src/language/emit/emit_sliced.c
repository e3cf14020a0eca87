/* emit_sliced.c - calls of reduce_sum, which the library cuts into pieces
 * (runtime/slices.c): a wrapper of the user's function with a uniform type, and
 * the call itself. */
#include "language/emit/emit.h"

/* Is there a solver in it, or in what it calls? */
static bool solves(const tm_statement *s, int depth);

static bool calls_solver(const tm_expression *e, int depth) {
  if (!e)
    return false;
  if (e->kind == TM_E_CALL && e->system)
    return true;
  const tm_function *f = e->kind == TM_E_CALL ? e->function : NULL;
  if (f && f->body && depth > 0 && solves(f->body, depth - 1))
    return true;
  for (size_t i = 0; i < e->part_count; i++)
    if (calls_solver(e->parts[i], depth))
      return true;
  for (size_t i = 0; i < e->index_count; i++)
    if (calls_solver(e->indices[i].from, depth) ||
        calls_solver(e->indices[i].to, depth))
      return true;
  return false;
}

static bool solves(const tm_statement *s, int depth) {
  if (!s)
    return false;
  bool found =
      calls_solver(s->value, depth) || calls_solver(s->left, depth) ||
      calls_solver(s->density, depth) ||
      (s->kind == TM_S_DECLARE && calls_solver(s->variable->initial, depth)) ||
      solves(s->otherwise, depth);
  for (size_t i = 0; i < s->body_count && !found; i++)
    found = solves(s->body[i], depth);
  return found;
}

/* Is it taken from a tm_any as it was put there? */
static bool is_plain(tm_type given, tm_type wanted) {
  return given.base != TM_TUPLE && wanted.base != TM_TUPLE &&
         tm_is_complex(given) == tm_is_complex(wanted);
}

bool tm_is_sliced(const tm_emitter *g, const tm_expression *e) {
  enum { MOST_BITS = 32 };
  const tm_function *f = e->function;
  if (!e->sliced || !g->remembers || f->uses_target || f->reads_target ||
      e->part_count > MOST_BITS || tm_rank(e->type) > 0)
    return false;
  for (size_t i = 0; i < e->part_count; i++)
    if (!is_plain(e->parts[i]->type, f->arguments[i]->type))
      return false;
  return true;
}

/* tm_any sliceN(tm_tape *t, const tm_any *a) */
static void emit_wrapper(tm_emitter *g, const tm_function *f, size_t number) {
  tm_text body = g->body;
  g->body = g->systems;
  tm_emit(g,
          "static tm_any slice%zu(tm_tape *t, const tm_any *a) {\n  return "
          "%s(f%d_%s_%s(t",
          number, g->gradient ? "tm_any_var" : "tm_any_real", f->index, f->name,
          g->gradient ? "g" : "v");
  for (size_t i = 0, at = 0; i < f->argument_count; i++) {
    tm_emit(g, ", ");
    tm_emit_taken(g, tm_held_variable(g, f->arguments[i]), &at);
  }
  tm_emit(g, "));\n}\n");
  g->systems = g->body;
  g->body = body;
}

void tm_emit_sliced(tm_emitter *g, const tm_expression *e) {
  enum { CHEAP = 100, DEPTH = 8 };
  size_t number = g->system_count++;
  unsigned active = 0;
  bool var = tm_held_of(g, e) == TM_VAR;
  emit_wrapper(g, e->function, number);
  tm_emit(g, "t->runtime->slices(t, &(tm_slices){slice%zu, (tm_any[]){",
          number);
  for (size_t i = 0; i < e->part_count; i++) {
    tm_emit(g, i ? ", " : "");
    tm_emit_any(g, e->parts[i]);
    if (e->parts[i]->level == TM_LEVEL_PARAMETER)
      active |= 1u << i;
  }
  tm_emit(g, "}, %zu, ", e->part_count);
  if (e->grain)
    tm_emit_expression(g, e->grain);
  else
    tm_emit(g, "1");
  tm_emit(g, ", %d, %uu}", solves(e->function->body, DEPTH) ? 1 : CHEAP,
          active);
  tm_emit(g, var ? ")" : ").v");
}
