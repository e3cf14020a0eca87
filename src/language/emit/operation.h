/* operation.h - operations on numbers, with their slopes, as C. */
#ifndef TM_LANGUAGE_EMIT_OPERATION_H
#define TM_LANGUAGE_EMIT_OPERATION_H

#include "language/emit/emit.h"

typedef enum tm_operation {
  TM_NO_OPERATION,
  TM_ADD,
  TM_SUBTRACT,
  TM_MULTIPLY,
  TM_DIVIDE,
  TM_NEGATIVE,
  TM_SQUARE,
  TM_UNARY_CALL,
  TM_BINARY_CALL
} tm_operation;

/* What e does to its operands, element by element where they are containers;
 * and how many operands it takes of them. */
tm_operation tm_operation_of(const tm_expression *e);
int tm_operands_of(tm_operation op, const tm_expression *e);

/* Names of the operands, and of the value where it is there. */
typedef struct tm_operands {
  char of[2][40], value[40], adjoint[40];
} tm_operands;
void tm_emit_operation(tm_emitter *g, tm_operation op, const tm_expression *e,
                       const tm_operands *names);
/* What is added to the adjoint of operand k. */
void tm_emit_operation_slope(tm_emitter *g, tm_operation op,
                             const tm_expression *e, int k,
                             const tm_operands *names);

#endif
