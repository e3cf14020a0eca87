/* split_function.c - the densities that a call of a user's function holds: the
 * function is followed with the dependence of this call's arguments, so that
 * one function may serve a prior here and a likelihood there. */
#include "language/check/split.h"
#include "language/check/term.h"

#include <string.h>

static void forget(tm_split *split, const tm_variable *v) {
  split->variables[v->index] = (tm_dependence){0};
  split->gathering[v->index] = (tm_gathering){0};
}

/* What an earlier call left. */
static void forget_all(tm_split *split, tm_statement *const *body,
                       size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (body[i]->variable)
      forget(split, body[i]->variable);
    forget_all(split, body[i]->body, body[i]->body_count);
    if (body[i]->otherwise)
      forget_all(split, &body[i]->otherwise, 1);
  }
}

static void bind(tm_split *split, const tm_function *f,
                 const tm_expression *call) {
  for (size_t i = 0; i < f->argument_count && i < call->part_count; i++) {
    size_t k = (size_t)f->arguments[i]->index;
    split->variables[k] = tm_depends(split, call->parts[i]);
    split->gathering[k] =
        (tm_gathering){.scores = tm_scores(split, call->parts[i])};
  }
}

/* A term inside a function that raises the target; a raw one without data is
 * left to the rule for raw terms, which sees the call. */
static unsigned part_of(tm_split *split, const tm_expression *e) {
  unsigned scores = tm_scores(split, e);
  if (!scores && tm_depends(split, e).data == TM_DATA_VALUE)
    return TM_PART_LIKELIHOOD;
  return scores;
}

static unsigned parts_of(tm_split *split, tm_statement *const *body,
                         size_t count) {
  unsigned parts = 0;
  for (size_t i = 0; i < count; i++) {
    const tm_statement *s = body[i];
    if (s->kind == TM_S_TILDE)
      parts |= tm_outcome_part(split, s->left, NULL);
    else if (s->kind == TM_S_TARGET)
      parts |= part_of(split, s->value);
    else if ((s->kind == TM_S_RETURN || s->kind == TM_S_CALL) && s->value)
      parts |= tm_scores(split, s->value);
    parts |= parts_of(split, s->body, s->body_count);
    if (s->otherwise)
      parts |= parts_of(split, &s->otherwise, 1);
  }
  return parts;
}

unsigned tm_function_scores(tm_split *split, const tm_expression *call) {
  tm_function *f = call->function;
  if (!f->body && f->definition)
    f = f->definition;
  if (!f->body || f->looked_into)
    return TM_PART_NONE;
  f->looked_into = true;
  forget_all(split, &f->body, 1);
  bind(split, f, call);
  while (tm_follow(split, &f->body, 1))
    ;
  tm_score_body(split, &f->body, 1);
  unsigned parts = parts_of(split, &f->body, 1);
  f->looked_into = false;
  return parts;
}
