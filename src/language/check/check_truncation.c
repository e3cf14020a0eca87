/* check_truncation.c - y ~ distribution(...) T[lower, upper]: the mass between
 * the bounds, and containers element by element. */
#include "language/check/check.h"

#include <stdio.h>
#include <string.h>

tm_expression *tm_call_of(tm_checker *c, const tm_token *token,
                          const char *name, tm_expression *first,
                          tm_expression **rest, size_t count) {
  tm_expression *e = TM_NEW(c->arena, tm_expression, 1);
  tm_expression **parts = TM_NEW(c->arena, tm_expression *, count + 1);
  if (!e || !parts)
    return NULL;
  parts[0] = first;
  if (count)
    memcpy(parts + 1, rest, count * sizeof *parts);
  *e = (tm_expression){.kind = TM_E_CALL,
                       .token = token,
                       .text = name,
                       .parts = parts,
                       .part_count = count + 1,
                       .bar = true};
  return e;
}

/* e - 1: the mass from e on is that above it. */
static tm_expression *below(tm_checker *c, tm_expression *e) {
  tm_expression *made = TM_NEW(c->arena, tm_expression, 2);
  tm_expression **parts = TM_NEW(c->arena, tm_expression *, 2);
  if (!made || !parts)
    return NULL;
  made[1] = (tm_expression){
      .kind = TM_E_INT, .token = e->token, .text = "1", .whole = 1};
  made[0] = (tm_expression){.kind = TM_E_BINARY,
                            .token = e->token,
                            .text = "-",
                            .parts = parts,
                            .part_count = 2};
  parts[0] = e;
  parts[1] = &made[1];
  return made;
}

/* s->cdf[i]: this mass of the statement's distribution, at a bound. */
static tempera_status add_mass(tm_checker *c, tm_statement *s, size_t i,
                               const char *suffix, tm_expression *bound) {
  const char *name =
      tm_joined(c, s->distribution, strlen(s->distribution), suffix);
  tm_expression *mass = name ? tm_call_of(c, s->density->token, name, bound,
                                          s->arguments, s->argument_count)
                             : NULL;
  if (!mass)
    return tm_fail_memory(c->source->error);
  if (!tm_density_known(c, name))
    return i >= 2 ? TEMPERA_OK
                  : tm_complain(c->source, s->density->token,
                                "T[,] is not supported for %s: it has no %s",
                                s->distribution, name);
  s->cdf[i] = mass;
  return tm_check_expression(c, mass);
}

/* Above the median a difference of masses below loses its digits, far above
 * all of them, so that there the masses beyond are used, if there are such. */
tempera_status tm_check_truncation(tm_checker *c, tm_statement *s) {
  bool both = s->lower && s->upper;
  tm_expression *bounds[2] = {s->upper, s->lower};
  bool whole =
      tm_ends_with(s->density->text, "_lpmf") ||
      (tm_ends_with(s->density->text, "_log") && s->left->type.base == TM_INT);
  tm_base base = whole ? TM_INT : TM_REAL;
  if (s->lower && base == TM_INT) {
    TM_TRY(tm_check_scalar(c, s->lower, TM_INT, false, "a truncation bound"));
    bounds[1] = below(c, s->lower);
    if (!bounds[1])
      return tm_fail_memory(c->source->error);
  }
  for (size_t i = 0; i < 2; i++) {
    if (!bounds[i])
      continue;
    TM_TRY(tm_check_scalar(c, bounds[i], base, false, "a truncation bound"));
    TM_TRY(add_mass(c, s, i, both || i == 0 ? "_lcdf" : "_lccdf", bounds[i]));
    if (both)
      TM_TRY(add_mass(c, s, i + 2, "_lccdf", bounds[i]));
  }
  return TEMPERA_OK;
}

/* ---- containers --------------------------------------------------------- */

static tm_expression *name_of(tm_checker *c, const tm_token *token,
                              const tm_variable *v) {
  tm_expression *e = TM_NEW(c->arena, tm_expression, 1);
  if (e)
    *e = (tm_expression){.kind = TM_E_NAME, .token = token, .text = v->name};
  return e;
}

/* e[n] of a container, else e. */
static tm_expression *element_of(tm_checker *c, tm_expression *e,
                                 const tm_variable *n) {
  if (!e || tm_rank(e->type) == 0)
    return e;
  tm_expression *made = TM_NEW(c->arena, tm_expression, 1);
  tm_expression **parts = TM_NEW(c->arena, tm_expression *, 1);
  tm_index *index = TM_NEW(c->arena, tm_index, 1);
  tm_expression *name = name_of(c, e->token, n);
  if (!made || !parts || !index || !name)
    return NULL;
  parts[0] = e;
  index->from = name;
  *made = (tm_expression){.kind = TM_E_INDEX,
                          .token = e->token,
                          .parts = parts,
                          .part_count = 1,
                          .indices = index,
                          .index_count = 1};
  return made;
}

/* A counter no program can have. */
static tm_variable *counter(tm_checker *c, const tm_token *token) {
  tm_variable *v = TM_NEW(c->arena, tm_variable, 1);
  char *name = TM_NEW(c->arena, char, 24);
  if (!v || !name)
    return NULL;
  int index = c->program->variable_count++;
  snprintf(name, 24, "n%d__", index);
  *v = (tm_variable){.name = name,
                     .shown = "n",
                     .token = token,
                     .type = {.base = TM_INT},
                     .loop = true,
                     .block = c->block,
                     .index = index};
  return v;
}

static tm_expression *one(tm_checker *c, const tm_token *token) {
  tm_expression *e = TM_NEW(c->arena, tm_expression, 1);
  if (e)
    *e = (tm_expression){
        .kind = TM_E_INT, .token = token, .text = "1", .whole = 1};
  return e;
}

/* The same statement of element n of everything. */
static tm_statement *statement_of_each(tm_checker *c, const tm_statement *s,
                                       const tm_variable *n) {
  tm_statement *each = TM_NEW(c->arena, tm_statement, 1);
  tm_expression **arguments =
      TM_NEW(c->arena, tm_expression *, s->argument_count + 1);
  if (!each || !arguments)
    return NULL;
  *each = *s;
  each->arguments = arguments;
  each->left = element_of(c, s->left, n);
  each->lower = element_of(c, s->lower, n);
  each->upper = element_of(c, s->upper, n);
  bool made =
      each->left && (each->lower || !s->lower) && (each->upper || !s->upper);
  for (size_t i = 0; i < s->argument_count; i++) {
    arguments[i] = element_of(c, s->arguments[i], n);
    made = made && arguments[i];
  }
  return made ? each : NULL;
}

tempera_status tm_truncate_each(tm_checker *c, tm_statement *s) {
  for (size_t i = 0; i < s->argument_count; i++)
    TM_TRY(tm_check_expression(c, s->arguments[i]));
  tm_expression *bounds[2] = {s->lower, s->upper};
  for (size_t i = 0; i < 2; i++)
    if (bounds[i])
      TM_TRY(tm_check_expression(c, bounds[i]));
  const tm_token *token = s->token;
  tm_variable *n = counter(c, token);
  tm_statement *each = n ? statement_of_each(c, s, n) : NULL;
  tm_statement **body = TM_NEW(c->arena, tm_statement *, 1);
  tm_expression *from = one(c, token);
  const char *size = s->left->type.depth == 0 && s->left->type.base == TM_MATRIX
                         ? "rows"
                         : "size";
  tm_expression *to = tm_call_of(c, token, size, s->left, NULL, 0);
  if (!each || !body || !from || !to)
    return tm_fail_memory(c->source->error);
  to->bar = false;
  body[0] = each;
  *s = (tm_statement){.kind = TM_S_FOR,
                      .token = token,
                      .last = s->last,
                      .variable = n,
                      .lower = from,
                      .upper = to,
                      .body = body,
                      .body_count = 1};
  return TEMPERA_OK;
}
