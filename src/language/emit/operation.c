/* operation.c - see operation.h. */
#include "language/emit/operation.h"

#include "language/check/types.h"

#include <string.h>

static tm_operation operator_of(const tm_expression *e) {
  const char *op = e->text;
  if (!strcmp(op, "+"))
    return TM_ADD;
  if (!strcmp(op, "-"))
    return TM_SUBTRACT;
  if (!strcmp(op, "*") || !strcmp(op, ".*"))
    return TM_MULTIPLY;
  if (!strcmp(op, "/") || !strcmp(op, "./"))
    return TM_DIVIDE;
  if (strcmp(op, "^") != 0 && strcmp(op, ".^") != 0)
    return TM_NO_OPERATION;
  return e->parts[1]->kind == TM_E_INT && e->parts[1]->whole == 2
             ? TM_SQUARE
             : TM_BINARY_CALL;
}

tm_operation tm_operation_of(const tm_expression *e) {
  if (e->kind == TM_E_UNARY)
    return e->text[0] == '-' ? TM_NEGATIVE : TM_NO_OPERATION;
  if (e->kind == TM_E_BINARY)
    return operator_of(e);
  if (e->kind != TM_E_CALL || e->function || e->system || !e->builtin)
    return TM_NO_OPERATION;
  return e->builtin->kind == TM_B_UNARY    ? TM_UNARY_CALL
         : e->builtin->kind == TM_B_BINARY ? TM_BINARY_CALL
                                           : TM_NO_OPERATION;
}

int tm_operands_of(tm_operation op, const tm_expression *e) {
  return op == TM_SQUARE ? 1 : (int)e->part_count;
}

static const char *name_of(const tm_expression *e) {
  return e->kind == TM_E_CALL ? e->builtin->name : "pow";
}

static void emit_arguments(tm_emitter *g, tm_operation op,
                           const tm_operands *names) {
  tm_emit(g, "(t->runtime, %s", names->of[0]);
  if (op == TM_BINARY_CALL)
    tm_emit(g, ", %s", names->of[1]);
}

void tm_emit_operation(tm_emitter *g, tm_operation op, const tm_expression *e,
                       const tm_operands *names) {
  static const char *const infix[] = {[TM_ADD] = "+",
                                      [TM_SUBTRACT] = "-",
                                      [TM_MULTIPLY] = "*",
                                      [TM_DIVIDE] = "/"};
  const char *a = names->of[0], *b = names->of[1];
  if (op >= TM_UNARY_CALL) {
    tm_emit(g, "tm_d_%s", name_of(e));
    emit_arguments(g, op, names);
    tm_emit(g, ")");
  } else if (op == TM_NEGATIVE) {
    tm_emit(g, "-%s", a);
  } else if (op == TM_SQUARE) {
    tm_emit(g, "%s * %s", a, a);
  } else {
    tm_emit(g, "%s %s %s", a, infix[op], b);
  }
}

void tm_emit_operation_slope(tm_emitter *g, tm_operation op,
                             const tm_expression *e, int k,
                             const tm_operands *names) {
  const char *a = names->of[0], *b = names->of[1], *y = names->value;
  const char *d = names->adjoint;
  switch (op) {
  case TM_ADD:
    tm_emit(g, "%s", d);
    break;
  case TM_SUBTRACT:
    tm_emit(g, k ? "-%s" : "%s", d);
    break;
  case TM_MULTIPLY:
    tm_emit(g, "%s * %s", d, k ? a : b);
    break;
  case TM_DIVIDE:
    if (k)
      tm_emit(g, "-%s * %s / %s", d, y, b);
    else
      tm_emit(g, "%s / %s", d, b);
    break;
  case TM_NEGATIVE:
    tm_emit(g, "-%s", d);
    break;
  case TM_SQUARE:
    tm_emit(g, "%s * 2 * %s", d, a);
    break;
  default:
    tm_emit(g, "%s * tm_d_%s_%s", d, name_of(e),
            op == TM_UNARY_CALL ? "slope"
            : k                 ? "b"
                                : "a");
    emit_arguments(g, op, names);
    tm_emit(g, ", %s)", y);
  }
}
