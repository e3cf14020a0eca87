/* check_complex.c - complex numbers. A real that stands where a complex number
 * is wanted, and an operator on complex numbers, become calls of functions, so
 * that what comes after the checker sees calls alone. Their names are none that
 * a program could define. */
#include "language/check/check.h"

#include <string.h>

/* e becomes the call `name` of its parts. */
tempera_status tm_call_instead(tm_checker *c, tm_expression *e,
                               const char *name) {
  e->kind = TM_E_CALL;
  e->text = name;
  return tm_check_call(c, e);
}

tempera_status tm_widen(tm_checker *c, tm_expression **e, tm_type to) {
  tm_expression *from = *e;
  if (to.base == TM_TUPLE && from->kind == TM_E_TUPLE) {
    for (size_t i = 0; i < from->part_count; i++) {
      tm_type item = to.tuple->items[i];
      TM_TRY(tm_widen(c, &from->parts[i],
                      tm_type_at(item, item.depth + to.depth)));
    }
    return TEMPERA_OK;
  }
  if (!tm_is_complex(to) || tm_is_complex(from->type))
    return TEMPERA_OK;
  tm_expression *made = tm_call_of(c, from->token, "operator=", from, NULL, 0);
  if (!made)
    return tm_fail_memory(c->source->error);
  made->bar = false;
  *e = made;
  return tm_check_expression(c, made);
}

tempera_status tm_widen_parts(tm_checker *c, tm_expression *e, size_t first,
                              tm_type to) {
  for (size_t i = first; i < e->part_count; i++)
    TM_TRY(tm_widen(c, &e->parts[i], to));
  return TEMPERA_OK;
}

tempera_status tm_widen_arguments(tm_checker *c, tm_expression *e,
                                  const tm_type *types) {
  for (size_t i = 0; i < e->part_count; i++) {
    tm_type wide = tm_complex_type(types[i]);
    if (tm_builtin_widens(e->builtin, types, e->part_count, i))
      TM_TRY(tm_widen(c, &e->parts[i], wide));
  }
  return TEMPERA_OK;
}

tempera_status tm_check_complex_sizes(tm_checker *c, tm_expression *e) {
  static const char *const names[] = {"size", "num_elements", "dims", "rows",
                                      "cols"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (e->part_count != 1 || strcmp(e->text, names[i]) ||
        !tm_is_complex(e->parts[0]->type))
      continue;
    tm_expression *part =
        tm_call_of(c, e->token, "get_real", e->parts[0], NULL, 0);
    tm_expression **parts = TM_NEW(c->arena, tm_expression *, 1);
    if (!part || !parts)
      return tm_fail_memory(c->source->error);
    part->bar = false;
    parts[0] = part;
    e->parts = parts;
    return tm_check_expression(c, part);
  }
  return TEMPERA_OK;
}

/* ---- operators ---------------------------------------------------------- */

bool tm_is_complex_operation(const tm_expression *e) {
  for (size_t i = 0; i < e->part_count; i++)
    if (tm_is_complex(e->parts[i]->type))
      return true;
  return false;
}

tempera_status tm_check_complex_unary(tm_checker *c, tm_expression *e) {
  char name[TM_TYPE_NAME];
  tm_type type = e->parts[0]->type;
  if (e->text[0] == '!')
    return tm_complain(c->source, e->token, "'%s' does not apply to %s",
                       e->text, tm_type_name(type, name, sizeof name));
  e->type = type;
  return e->text[0] == '-' ? tm_call_instead(c, e, "operator-") : TEMPERA_OK;
}

tempera_status tm_check_complex_transpose(tm_checker *c, tm_expression *e) {
  return tm_call_instead(c, e, "operator'");
}

tempera_status tm_check_complex_binary(tm_checker *c, tm_expression *e) {
  static const char *const names[][2] = {
      {"+", "operator+"},   {"-", "operator-"},  {".*", "operator.*"},
      {"./", "operator./"}, {"^", "operator^"},  {".^", "operator^"},
      {"*", "operator.*"},  {"/", "operator./"}, {"==", "operator=="},
      {"!=", "operator!="}};
  tm_type a = tm_real_type(e->parts[0]->type);
  tm_type b = tm_real_type(e->parts[1]->type);
  bool algebra = !tm_is_scalar(a) && !tm_is_scalar(b);
  if (algebra && (!strcmp(e->text, "*") || !strcmp(e->text, "/")))
    return tm_call_instead(c, e, e->text[0] == '*' ? "operator*" : "operator/");
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (!strcmp(names[i][0], e->text))
      return tm_call_instead(c, e, names[i][1]);
  char left[TM_TYPE_NAME], right[TM_TYPE_NAME];
  return tm_complain(c->source, e->token, "'%s' does not apply to %s and %s",
                     e->text,
                     tm_type_name(e->parts[0]->type, left, sizeof left),
                     tm_type_name(e->parts[1]->type, right, sizeof right));
}
