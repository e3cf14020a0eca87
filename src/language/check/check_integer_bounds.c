/* check_integer_bounds.c - integer parameters whose bounds depend on other
 * integer parameters: int<upper=K> J. A sampler of integers wants a fixed
 * range, so J gets the widest one that K's bounds allow, and a guard, which
 * rejects where J > K, before anything else that is computed. */
#include "language/check/check.h"

#include <string.h>

static tm_expression *made(tm_checker *c, tm_expression_kind kind,
                           const tm_token *token, const char *text,
                           size_t count) {
  tm_expression *e = TM_NEW(c->arena, tm_expression, 1);
  tm_expression **parts = TM_NEW(c->arena, tm_expression *, count + 1);
  if (!e || !parts)
    return NULL;
  *e = (tm_expression){.kind = kind,
                       .token = token,
                       .text = text,
                       .parts = parts,
                       .part_count = count};
  return e;
}

/* The largest (or least) value of e over the ranges of the parameters in it:
 * names, sums and differences of them and of data; NULL: it is none of these.
 */
static tm_expression *extreme(tm_checker *c, tm_expression *e, bool largest) {
  if (e->level != TM_LEVEL_PARAMETER)
    return e;
  if (e->kind == TM_E_NAME && e->variable->type.base == TM_INT &&
      e->variable->type.depth == 0 && e->variable->block == TM_BLOCK_PARAMETERS)
    return largest ? e->variable->upper : e->variable->lower;
  bool plus = e->kind == TM_E_BINARY && !strcmp(e->text, "+");
  bool minus = e->kind == TM_E_BINARY && !strcmp(e->text, "-");
  if (!plus && !minus)
    return NULL;
  tm_expression *copy = made(c, e->kind, e->token, e->text, 2);
  if (!copy)
    return NULL;
  copy->parts[0] = extreme(c, e->parts[0], largest);
  copy->parts[1] = extreme(c, e->parts[1], minus ? !largest : largest);
  return copy->parts[0] && copy->parts[1] ? copy : NULL;
}

/* if (v > bound) reject(...), or <; of an array its largest or least element.
 */
static tm_statement *guard(tm_checker *c, const tm_variable *v,
                           tm_expression *bound, bool upper) {
  const tm_token *token = v->token;
  tm_statement *s = TM_NEW(c->arena, tm_statement, 2);
  tm_statement **body = TM_NEW(c->arena, tm_statement *, 1);
  tm_expression **said = TM_NEW(c->arena, tm_expression *, 1);
  tm_expression *compared = made(c, TM_E_BINARY, token, upper ? ">" : "<", 2);
  tm_expression *name = made(c, TM_E_NAME, token, v->name, 0);
  tm_expression *text = made(c, TM_E_STRING, token, "", 0);
  tm_token *words = TM_NEW(c->arena, tm_token, 1);
  tm_expression *value = name;
  if (v->type.depth && name) {
    value = made(c, TM_E_CALL, token, upper ? "max" : "min", 1);
    if (value)
      value->parts[0] = name;
  }
  if (!s || !body || !said || !compared || !value || !text || !words)
    return NULL;
  *words = *token;
  words->kind = TM_TOKEN_STRING;
  words->text = "\"an integer parameter is beyond a bound that depends on "
                "another\"";
  words->length = strlen(words->text);
  text->token = words;
  text->text = words->text;
  said[0] = text;
  compared->parts[0] = value;
  compared->parts[1] = bound;
  body[0] = &s[1];
  s[1] = (tm_statement){.kind = TM_S_REJECT,
                        .token = token,
                        .last = token,
                        .arguments = said,
                        .argument_count = 1};
  s[0] = (tm_statement){.kind = TM_S_IF,
                        .token = token,
                        .last = token,
                        .value = compared,
                        .body = body,
                        .body_count = 1};
  return s;
}

/* One bound, *at, of the checked declaration of v. */
static tempera_status widen(tm_checker *c, const tm_variable *v,
                            tm_expression **at, bool upper) {
  tm_expression *bound = *at;
  if (!bound || bound->level != TM_LEVEL_PARAMETER)
    return TEMPERA_OK;
  tm_expression *widest = v->type.depth > 1 || !tm_is_scalar(bound->type)
                              ? NULL
                              : extreme(c, bound, upper);
  if (!widest)
    return tm_complain(
        c->source, bound->token,
        "a bound of an integer parameter may depend on others as a sum or "
        "difference of bounded integer parameters and data, of a number or an "
        "array of one dimension; else reject what is beyond it");
  tm_statement *s = guard(c, v, bound, upper);
  if (!s || !tm_list_add(c->arena, &c->guards, s))
    return tm_fail_memory(c->source->error);
  *at = widest;
  return tm_check_expression(c, widest);
}

tempera_status tm_check_integer_bounds(tm_checker *c, tm_variable *v) {
  if (v->block != TM_BLOCK_PARAMETERS || v->type.base != TM_INT)
    return TEMPERA_OK;
  TM_TRY(widen(c, v, &v->lower, false));
  return widen(c, v, &v->upper, true);
}

/* The guards stand before the transformed parameters. */
tempera_status tm_place_guards(tm_checker *c, tm_block_node *block) {
  if (c->guards.count == 0)
    return TEMPERA_OK;
  tm_list all = c->guards;
  for (size_t i = 0; i < block->count; i++)
    if (!tm_list_add(c->arena, &all, block->statements[i]))
      return tm_fail_memory(c->source->error);
  block->statements = (tm_statement **)all.items;
  block->count = all.count;
  return TEMPERA_OK;
}
