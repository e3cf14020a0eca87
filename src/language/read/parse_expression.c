/* parse_expression.c - expressions, one function per precedence level:
 *
 *   expression     = conditional
 *   conditional    = logical_or ["?" expression ":" conditional]
 *   logical_or     = logical_and {"||" logical_and}
 *   logical_and    = equality {"&&" equality}
 *   equality       = comparison {("=="|"!=") comparison}
 *   comparison     = addition {("<"|"<="|">"|">=") addition}
 *   addition       = multiplication {("+"|"-") multiplication}
 *   multiplication = left_division {("*"|"/"|"%"|"%/%"|".*"|"./") ...}
 *   left_division  = prefix {"\" prefix}
 *   prefix         = ("!"|"-"|"+") prefix | exponentiation
 *   exponentiation = postfix [("^"|".^") exponent]
 *   postfix        = primary {"[" indices "]" | "'"}
 */
#include "language/read/parser.h"

#include "base/locale.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

tm_expression *tm_expression_new(tm_parser *p, tm_expression_kind kind,
                                 const tm_token *token) {
  tm_expression *e = tm_parser_alloc(p, sizeof *e);
  if (e) {
    e->kind = kind;
    e->token = token;
    e->text = token->text;
  }
  return e;
}

static bool set_parts(tm_parser *p, tm_expression *e, size_t count, ...) {
  va_list parts;
  e->parts = TM_NEW(p->arena, tm_expression *, count);
  if (!e->parts) {
    (void)tm_fail_memory(p->source->error);
    return false;
  }
  va_start(parts, count);
  for (size_t i = 0; i < count; i++)
    e->parts[i] = va_arg(parts, tm_expression *);
  va_end(parts);
  e->part_count = count;
  return true;
}

static bool list_until(tm_parser *p, const char *close, tm_expression *e) {
  tm_list items = {0};
  if (!tm_is(p, close))
    do {
      tm_expression *item = tm_parse_expression(p);
      if (!item || !tm_list_add(p->arena, &items, item))
        return false;
    } while (tm_accept(p, ","));
  e->parts = (tm_expression **)items.items;
  e->part_count = items.count;
  return tm_expect(p, close, "or ',' in this list");
}

bool tm_parse_arguments(tm_parser *p, tm_expression ***items, size_t *count,
                        bool *bar) {
  tm_list list = {0};
  *bar = false;
  while (!tm_is(p, ")")) {
    tm_expression *item = tm_parse_expression(p);
    if (!item || !tm_list_add(p->arena, &list, item))
      return false;
    if (list.count == 1 && tm_accept(p, "|")) {
      *bar = true;
      if (tm_is(p, ")"))
        break;
    } else if (!tm_accept(p, ",")) {
      break;
    } else if (tm_is(p, ")")) {
      return tm_unexpected(p, "an argument after ','");
    }
  }
  *items = (tm_expression **)list.items;
  *count = list.count;
  return tm_expect(p, ")", "or ',' in this argument list");
}

static tm_expression *call(tm_parser *p, const tm_token *token) {
  tm_expression *e = tm_expression_new(p, TM_E_CALL, token);
  if (!e || !tm_parse_arguments(p, &e->parts, &e->part_count, &e->bar))
    return NULL;
  return e;
}

static tm_expression *number(tm_parser *p, const tm_token *token) {
  char digits[512];
  size_t n = 0;
  for (const char *c = token->text; *c && n + 1 < sizeof digits; c++)
    if (*c != '_')
      digits[n++] = *c;
  digits[n] = '\0';
  bool whole = token->kind == TM_TOKEN_INT;
  tm_expression *e = tm_expression_new(p, whole ? TM_E_INT : TM_E_REAL, token);
  if (!e)
    return NULL;
  e->number = tm_strtod(digits, NULL);
  if (whole && e->number > 2147483647) {
    (void)tm_complain(p->source, token,
                      "integers end at 2147483647; write %s.0 for a real",
                      token->text);
    return NULL;
  }
  e->whole = whole ? (int64_t)e->number : 0;
  return e;
}

/* 2i is to_complex(0, 2). */
static tm_expression *imaginary(tm_parser *p, const tm_token *token) {
  tm_expression *e = tm_expression_new(p, TM_E_CALL, token);
  tm_expression *zero = tm_expression_new(p, TM_E_REAL, token);
  tm_expression *part = number(p, token);
  if (!e || !zero || !part || !set_parts(p, e, 2, zero, part))
    return NULL;
  e->text = "operator="; /* to_complex, whatever the program defines */
  return e;
}

static tm_expression *bracketed(tm_parser *p, const tm_token *token,
                                tm_expression_kind kind, const char *close) {
  tm_expression *e = tm_expression_new(p, kind, token);
  return e && list_until(p, close, e) ? e : NULL;
}

/* (a), or a tuple (a, b) or (a, ). */
static tm_expression *parenthesised(tm_parser *p, const tm_token *token) {
  tm_expression *e = tm_parse_expression(p);
  if (!e)
    return NULL;
  if (!tm_is(p, ","))
    return tm_expect(p, ")", "to close the parenthesis") ? e : NULL;
  tm_list items = {0};
  tm_expression *tuple = tm_expression_new(p, TM_E_TUPLE, token);
  while (tuple && e && tm_list_add(p->arena, &items, e) &&
         tm_accept(p, ",") && !(items.count == 1 && tm_is(p, ")")))
    e = tm_parse_expression(p);
  if (!tuple || !e)
    return NULL;
  tuple->parts = (tm_expression **)items.items;
  tuple->part_count = items.count;
  return tm_expect(p, ")", "or ',' in this tuple") ? tuple : NULL;
}

static tm_expression *primary(tm_parser *p) {
  const tm_token *token = tm_peek(p);
  if (token->kind == TM_TOKEN_INT || token->kind == TM_TOKEN_REAL) {
    p->at++;
    return number(p, token);
  }
  if (token->kind == TM_TOKEN_IMAGINARY) {
    p->at++;
    return imaginary(p, token);
  }
  if (token->kind == TM_TOKEN_STRING) {
    p->at++;
    return tm_expression_new(p, TM_E_STRING, token);
  }
  if (token->kind == TM_TOKEN_NAME && !tm_reserved(token->text)) {
    p->at++;
    if (tm_accept(p, "("))
      return call(p, token);
    return tm_expression_new(p, TM_E_NAME, token);
  }
  /* `target()` and `offset(...)`-like names: reserved, yet callable. */
  if (token->kind == TM_TOKEN_NAME && !strcmp(token->text, "target") &&
      tm_is_ahead(p, 1, "(")) {
    p->at += 2;
    return call(p, token);
  }
  if (tm_accept(p, "("))
    return parenthesised(p, token);
  if (tm_accept(p, "{"))
    return bracketed(p, token, TM_E_ARRAY, "}");
  if (tm_accept(p, "["))
    return bracketed(p, token, TM_E_ROW_VECTOR, "]");
  tm_unexpected(p, "an expression");
  return NULL;
}

static bool one_index(tm_parser *p, tm_index *index) {
  if (tm_is(p, ",") || tm_is(p, "]")) {
    index->kind = TM_INDEX_ALL;
    return true;
  }
  if (!tm_is(p, ":")) {
    index->from = tm_parse_expression(p);
    if (!index->from)
      return false;
  }
  if (!tm_accept(p, ":")) {
    index->kind = TM_INDEX_ONE;
    return true;
  }
  index->kind = TM_INDEX_RANGE;
  if (!tm_is(p, ",") && !tm_is(p, "]")) {
    index->to = tm_parse_expression(p);
    if (!index->to)
      return false;
  }
  if (!index->from && !index->to)
    index->kind = TM_INDEX_ALL;
  return true;
}

static tm_expression *indices(tm_parser *p, tm_expression *base,
                              const tm_token *token) {
  tm_index found[TM_MAX_RANK + 2];
  size_t count = 0;
  do {
    if (count == TM_MAX_RANK + 2) {
      (void)tm_complain(p->source, token, "more than %d indices",
                        TM_MAX_RANK + 2);
      return NULL;
    }
    found[count] = (tm_index){0};
    if (!one_index(p, &found[count++]))
      return NULL;
  } while (tm_accept(p, ","));
  tm_expression *e = tm_expression_new(p, TM_E_INDEX, token);
  tm_index *copy = TM_NEW(p->arena, tm_index, count);
  if (!e || !copy || !set_parts(p, e, 1, base))
    return NULL;
  memcpy(copy, found, count * sizeof *copy);
  e->indices = copy;
  e->index_count = count;
  return tm_expect(p, "]", "to close the index") ? e : NULL;
}

static tm_expression *projection(tm_parser *p, tm_expression *base) {
  const tm_token *token = tm_peek(p);
  tm_expression *e = tm_expression_new(p, TM_E_PROJECT, token);
  if (token->kind != TM_TOKEN_INT || !e || !set_parts(p, e, 1, base))
    return NULL; /* the lexer makes . only before digits */
  e->whole = strtol(token->text, NULL, 10);
  p->at++;
  return e;
}

static tm_expression *postfix(tm_parser *p) {
  tm_expression *e = primary(p);
  while (e) {
    const tm_token *token = tm_peek(p);
    if (tm_accept(p, "[")) {
      e = indices(p, e, token);
    } else if (tm_accept(p, ".")) {
      e = projection(p, e);
    } else if (tm_accept(p, "'")) {
      tm_expression *t = tm_expression_new(p, TM_E_TRANSPOSE, token);
      e = t && set_parts(p, t, 1, e) ? t : NULL;
    } else {
      break;
    }
  }
  return e;
}

static tm_expression *binary(tm_parser *p, const tm_token *token,
                             tm_expression *left, tm_expression *right) {
  if (!left || !right)
    return NULL;
  tm_expression *e = tm_expression_new(p, TM_E_BINARY, token);
  return e && set_parts(p, e, 2, left, right) ? e : NULL;
}

static tm_expression *prefix(tm_parser *p);

static tm_expression *exponentiation(tm_parser *p) {
  tm_expression *left = postfix(p);
  const tm_token *token = tm_peek(p);
  if (left && (tm_accept(p, "^") || tm_accept(p, ".^")))
    return binary(p, token, left, prefix(p));
  return left;
}

static tm_expression *prefix(tm_parser *p) {
  const tm_token *token = tm_peek(p);
  if (!tm_accept(p, "!") && !tm_accept(p, "-") && !tm_accept(p, "+"))
    return exponentiation(p);
  tm_expression *operand = tm_deeper(p) ? prefix(p) : NULL;
  p->depth--;
  tm_expression *e = operand ? tm_expression_new(p, TM_E_UNARY, token) : NULL;
  return e && set_parts(p, e, 1, operand) ? e : NULL;
}

typedef tm_expression *(*level_fn)(tm_parser *p);

/* next {op next}, left-associative. */
static tm_expression *
left_associative(tm_parser *p, const char *const *operators, level_fn next) {
  tm_expression *left = next(p);
  while (left) {
    const tm_token *token = tm_peek(p);
    size_t i = 0;
    while (operators[i] && !tm_accept(p, operators[i]))
      i++;
    if (!operators[i])
      break;
    left = binary(p, token, left, next(p));
  }
  return left;
}

static tm_expression *left_division(tm_parser *p) {
  static const char *const operators[] = {"\\", NULL};
  return left_associative(p, operators, prefix);
}

static tm_expression *multiplication(tm_parser *p) {
  static const char *const operators[] = {"*",  "/",  "%", "%/%",
                                          ".*", "./", NULL};
  return left_associative(p, operators, left_division);
}

tm_expression *tm_parse_addition(tm_parser *p) {
  static const char *const operators[] = {"+", "-", NULL};
  return left_associative(p, operators, multiplication);
}

static tm_expression *comparison(tm_parser *p) {
  static const char *const operators[] = {"<", "<=", ">", ">=", NULL};
  return left_associative(p, operators, tm_parse_addition);
}

static tm_expression *equality(tm_parser *p) {
  static const char *const operators[] = {"==", "!=", NULL};
  return left_associative(p, operators, comparison);
}

static tm_expression *logical_and(tm_parser *p) {
  static const char *const operators[] = {"&&", NULL};
  return left_associative(p, operators, equality);
}

static tm_expression *logical_or(tm_parser *p) {
  static const char *const operators[] = {"||", NULL};
  return left_associative(p, operators, logical_and);
}

static tm_expression *conditional(tm_parser *p) {
  tm_expression *condition = logical_or(p);
  const tm_token *token = tm_peek(p);
  if (!condition || !tm_accept(p, "?"))
    return condition;
  tm_expression *yes = tm_parse_expression(p);
  if (!yes || !tm_expect(p, ":", "of this conditional"))
    return NULL;
  tm_expression *no = tm_parse_expression(p);
  tm_expression *e = no ? tm_expression_new(p, TM_E_CONDITIONAL, token) : NULL;
  return e && set_parts(p, e, 3, condition, yes, no) ? e : NULL;
}

tm_expression *tm_parse_expression(tm_parser *p) {
  tm_expression *e = tm_deeper(p) ? conditional(p) : NULL;
  p->depth--;
  return e;
}
