/* emit_shortfall.c - by how much a point fails the program's own guards, as a
 * function that is zero where they hold and grows with the distance from there:
 * what splitting needs to find its way to a set that prior draws never meet.
 *
 * A guard is `if (c) reject(...)`, or `if (c) target += negative_infinity()`.
 * Of `a < b` the shortfall is b - a; of `c || d` the greater; of `c && d` the
 * less; of anything else one. Any other statement that makes the density zero
 * falls short by one. */
#include "language/emit/emit.h"

#include <math.h>
#include <string.h>

/* The checker has made constants of the functions without arguments. */
static bool is_minus_infinity(const tm_expression *e) {
  if (e->kind == TM_E_UNARY && !strcmp(e->text, "-"))
    return e->parts[0]->kind == TM_E_REAL && e->parts[0]->number == INFINITY;
  return e->kind == TM_E_REAL && e->number == -INFINITY;
}

/* Does the body do nothing but make the density zero? */
static bool closes(tm_statement *const *body, size_t count) {
  bool found = false;
  for (size_t i = 0; i < count; i++) {
    const tm_statement *s = body[i];
    bool zero =
        s->kind == TM_S_REJECT ||
        (s->kind == TM_S_TARGET && s->value && is_minus_infinity(s->value)) ||
        (s->kind == TM_S_BLOCK && closes(s->body, s->body_count));
    if (!zero && s->kind != TM_S_PRINT && s->kind != TM_S_EMPTY)
      return false;
    found = found || zero;
  }
  return found;
}

bool tm_is_guard(const tm_statement *s) {
  return s->kind == TM_S_IF && !s->otherwise && closes(s->body, s->body_count);
}

bool tm_has_guards(tm_statement *const *body, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (tm_is_guard(body[i]) ||
        tm_has_guards(body[i]->body, body[i]->body_count) ||
        (body[i]->otherwise && tm_has_guards(&body[i]->otherwise, 1)))
      return true;
  return false;
}

static void emit_difference(tm_emitter *g, const tm_expression *big,
                            const tm_expression *small) {
  tm_emit(g, "fmax(0, ");
  tm_emit_number(g, big);
  tm_emit(g, " - ");
  tm_emit_number(g, small);
  tm_emit(g, ")");
}

/* Of a condition, or of its contrary. */
static void emit_amount(tm_emitter *g, const tm_expression *e, bool contrary) {
  const char *op =
      e->kind == TM_E_BINARY || e->kind == TM_E_UNARY ? e->text : "";
  bool less = !strcmp(op, "<") || !strcmp(op, "<=");
  if (less || !strcmp(op, ">") || !strcmp(op, ">=")) {
    emit_difference(g, e->parts[less != contrary], e->parts[less == contrary]);
  } else if (!strcmp(op, "||") || !strcmp(op, "&&")) {
    tm_emit(g, "%s(", (*op == '|') != contrary ? "fmax" : "fmin");
    emit_amount(g, e->parts[0], contrary);
    tm_emit(g, ", ");
    emit_amount(g, e->parts[1], contrary);
    tm_emit(g, ")");
  } else if (!strcmp(op, "!")) {
    emit_amount(g, e->parts[0], !contrary);
  } else {
    tm_emit(g, "(double)(");
    tm_emit_number(g, e);
    tm_emit(g, contrary ? " == 0)" : " != 0)");
  }
}

/* More than nothing wherever the guard closes. */
void tm_emit_guard(tm_emitter *g, const tm_statement *s) {
  tm_emit(g, "if (");
  tm_emit_number(g, s->value);
  tm_emit(g, " != 0) t->shortfall += 1e-300 + ");
  emit_amount(g, s->value, false);
}
