/* powers.c - finds containers that hold the terms of a log_sum_exp and nothing
 * else:
 *
 *   for (j in 1:K) acc[j] = gamma[t - 1, j] + log(theta[j, k]) + lp;
 *   gamma[t, k] = log_sum_exp(acc);
 *
 * In densities neither loop nor container is needed then: the terms are made
 * where they are summed, with one node of the tape for all of them, and what
 * does not change from term to term (lp) is added once. A container may begin
 * as a copy of another, to which the loop adds:
 *
 *   vector[K] lps = log_theta;
 *   for (k in 1:K) lps[k] += normal_lpdf(y[n] | mu[k], sigma[k]);
 *
 * It must be filled from end to end by every such loop, and be read by the
 * statement behind it alone. */
#include "language/emit/powers.h"

#include "language/check/term.h"
#include "language/emit/emit.h"

#include <string.h>

enum { MOST_TERMS = 16, MOST_FOUND = 64 };

/* A loop with what stands before and behind it. */
typedef struct found {
  tm_statement *start, *loop; /* start: gives it its first values; or NULL */
  tm_expression *call, *from; /* from: the container it is a copy of */
  const tm_variable *terms;
  int mentions; /* of the container */
} found;

typedef struct finder {
  tm_program *program;
  found all[MOST_FOUND];
  int count;
  bool failed;
} finder;

/* ---- who reads what ----------------------------------------------------- */

static int mentions(const tm_expression *e, const tm_variable *v) {
  if (!e)
    return 0;
  int n = e->kind == TM_E_NAME && e->variable == v;
  for (size_t i = 0; i < e->part_count; i++)
    n += mentions(e->parts[i], v);
  for (size_t i = 0; i < e->index_count; i++)
    n += mentions(e->indices[i].from, v) + mentions(e->indices[i].to, v);
  return n;
}

static int mentioned_by(const tm_statement *s, const tm_variable *v) {
  if (!s)
    return 0;
  int n = mentions(s->left, v) + mentions(s->value, v) +
          mentions(s->density, v) + mentions(s->lower, v) +
          mentions(s->upper, v) + mentioned_by(s->otherwise, v) +
          mentioned_by(s->shadow, v) + mentioned_by(s->instead, v);
  for (int i = 0; i < 4; i++)
    n += mentions(s->cdf[i], v);
  for (size_t i = 0; i < s->argument_count; i++)
    n += mentions(s->arguments[i], v);
  for (size_t i = 0; s->kind == TM_S_DECLARE && i < s->variable->size_count;
       i++)
    n += mentions(s->variable->sizes[i], v);
  if (s->kind == TM_S_DECLARE)
    n += mentions(s->variable->initial, v);
  for (size_t i = 0; i < s->body_count; i++)
    n += mentioned_by(s->body[i], v);
  return n;
}

/* Numbers, data and arguments: what nobody assigns. */
static bool is_settled(const tm_expression *e) {
  bool settled =
      e->kind == TM_E_INT || e->kind == TM_E_BINARY ||
      (e->kind == TM_E_CALL && e->builtin && !e->system) ||
      (e->kind == TM_E_NAME &&
       (e->variable->argument ||
        (e->variable->global && e->variable->block <= TM_BLOCK_PARAMETERS)));
  for (size_t i = 0; i < e->part_count && settled; i++)
    settled = is_settled(e->parts[i]);
  return settled && e->index_count == 0;
}

/* ---- one of them -------------------------------------------------------- */

static bool is_plain(const tm_statement *s) {
  return !s->shadow && !s->instead && !s->raises;
}

static tm_statement *only_statement(const tm_statement *loop) {
  tm_statement *s = loop->body_count == 1 ? loop->body[0] : NULL;
  while (s && s->kind == TM_S_BLOCK && is_plain(s))
    s = s->body_count == 1 ? s->body[0] : NULL;
  return s;
}

/* v[i] for the loop's own i? */
static bool is_element(const tm_expression *e, const tm_statement *loop) {
  return e->kind == TM_E_INDEX && e->index_count == 1 &&
         e->indices[0].kind == TM_INDEX_ONE &&
         e->indices[0].from->kind == TM_E_NAME &&
         e->indices[0].from->variable == loop->variable &&
         e->parts[0]->kind == TM_E_NAME;
}

/* A local vector of real numbers, which nobody sees from outside. */
static bool is_local(const tm_variable *v) {
  return !v->global && !v->argument && !v->items && v->size_count == 1 &&
         (v->type.base == TM_REAL || v->type.base == TM_VECTOR ||
          v->type.base == TM_ROW_VECTOR);
}

/* Is every element assigned, by one statement? */
static bool fills(const tm_statement *loop) {
  const tm_statement *a = only_statement(loop);
  if (loop->kind != TM_S_FOR || !is_plain(loop) || !a ||
      a->kind != TM_S_ASSIGN || !is_plain(a) || !is_element(a->left, loop) ||
      a->value->type.base != TM_REAL || a->value->level != TM_LEVEL_PARAMETER)
    return false;
  const tm_variable *v = a->left->parts[0]->variable;
  return is_local(v) && loop->lower->kind == TM_E_INT &&
         loop->lower->whole == 1 && tm_same_text(loop->upper, v->sizes[0]) &&
         is_settled(loop->upper);
}

static tm_expression *call_in(tm_expression *e, const tm_variable *v) {
  if (!e)
    return NULL;
  if (e->kind == TM_E_CALL && e->builtin && e->part_count == 1 &&
      !strcmp(e->builtin->name, "log_sum_exp") &&
      e->parts[0]->kind == TM_E_NAME && e->parts[0]->variable == v)
    return e;
  for (size_t i = 0; i < e->part_count; i++) {
    tm_expression *call = call_in(e->parts[i], v);
    if (call)
      return call;
  }
  return NULL;
}

/* The value of the statement behind the loop. */
static tm_expression *value_of(const tm_statement *s) {
  bool takes = s->kind == TM_S_ASSIGN || s->kind == TM_S_TARGET ||
               s->kind == TM_S_RETURN;
  return !is_plain(s)              ? NULL
         : takes                   ? s->value
         : s->kind == TM_S_DECLARE ? s->variable->initial
                                   : NULL;
}

/* Does the statement before the loop copy another vector of this length? */
static tm_expression *copied(const tm_statement *s, const tm_variable *v) {
  tm_expression *from = NULL;
  if (s && is_plain(s) && s->kind == TM_S_DECLARE && s->variable == v)
    from = v->initial;
  else if (s && is_plain(s) && s->kind == TM_S_ASSIGN &&
           s->left->kind == TM_E_NAME && s->left->variable == v)
    from = s->value;
  bool same = from && from->kind == TM_E_NAME && from->variable != v &&
              from->variable->size_count == 1 && !from->variable->argument &&
              !from->variable->items &&
              tm_same_text(from->variable->sizes[0], v->sizes[0]);
  return same ? from : NULL;
}

static void consider(finder *f, tm_statement *before, tm_statement *loop,
                     const tm_statement *behind) {
  if (f->count == MOST_FOUND || !fills(loop))
    return;
  const tm_statement *a = only_statement(loop);
  found it = {.loop = loop, .terms = a->left->parts[0]->variable};
  int inside = mentions(a->value, it.terms);
  it.call = call_in(value_of(behind), it.terms);
  if (!it.call || mentioned_by(behind, it.terms) != 1)
    return;
  if (inside)
    it.from = copied(before, it.terms);
  it.start = it.from ? before : NULL;
  it.mentions = inside + 2 + (it.start && it.start->kind == TM_S_ASSIGN);
  f->all[f->count++] = it;
}

static void visit(finder *f, tm_statement *const *body, size_t count) {
  for (size_t i = 0; i < count; i++) {
    tm_statement *s = body[i];
    visit(f, s->body, s->body_count);
    if (s->otherwise)
      visit(f, &s->otherwise, 1);
    if (i + 1 < count)
      consider(f, i ? body[i - 1] : NULL, s, body[i + 1]);
  }
}

/* ---- their terms -------------------------------------------------------- */

typedef struct terms {
  tm_expression *all[MOST_TERMS];
  int count;
} terms;

static bool is_open_sum(const tm_expression *e) {
  return e->kind == TM_E_BINARY && !strcmp(e->text, "+") &&
         e->type.base == TM_REAL && e->type.depth == 0 && !e->kept &&
         e->parts[0]->type.base == TM_REAL && e->parts[1]->type.base == TM_REAL;
}

static bool take_apart(terms *t, tm_expression *e) {
  if (is_open_sum(e))
    return take_apart(t, e->parts[0]) && take_apart(t, e->parts[1]);
  if (t->count == MOST_TERMS)
    return false;
  t->all[t->count++] = e;
  return true;
}

static tm_expression *plus(finder *f, const tm_expression *like,
                           tm_expression *a, tm_expression *b) {
  tm_arena *arena = f->program->source.arena;
  tm_expression *e = TM_NEW(arena, tm_expression, 1);
  tm_expression **parts = TM_NEW(arena, tm_expression *, 2);
  if (!e || !parts) {
    f->failed = true;
    return a;
  }
  parts[0] = a;
  parts[1] = b;
  *e = (tm_expression){.kind = TM_E_BINARY,
                       .token = like->token,
                       .text = "+",
                       .parts = parts,
                       .part_count = 2,
                       .type = like->type,
                       .level = a->level > b->level ? a->level : b->level};
  return e;
}

/* v[i], with the vector that v is a copy of. */
static void put_copied(finder *f, tm_expression **e, const found *it) {
  tm_expression *copy = TM_NEW(f->program->source.arena, tm_expression, 1);
  tm_expression **parts = TM_NEW(f->program->source.arena, tm_expression *, 1);
  if (!copy || !parts) {
    f->failed = true;
    return;
  }
  *copy = **e;
  parts[0] = it->from;
  copy->parts = parts;
  *e = copy;
}

/* The loop's terms, as what changes and what does not; false: not so. */
static bool split(finder *f, const found *it, tm_powers *p) {
  tm_statement *a = only_statement(it->loop);
  terms t = {.count = 0};
  if (!take_apart(&t, a->value))
    return false;
  int copies = 0, inside = mentions(a->value, it->terms);
  for (int i = 0; i < t.count; i++)
    copies += is_element(t.all[i], it->loop) &&
              t.all[i]->parts[0]->variable == it->terms;
  if (copies != inside || (inside && !it->from))
    return false;
  for (int i = 0; i < t.count; i++) {
    if (mentions(t.all[i], it->terms))
      put_copied(f, &t.all[i], it);
    tm_expression **to =
        mentions(t.all[i], it->loop->variable) ? &p->each : &p->rest;
    *to = *to ? plus(f, a->value, *to, t.all[i]) : t.all[i];
  }
  return p->each != NULL;
}

static void accept(finder *f, const found *it) {
  tm_powers *p = TM_NEW(f->program->source.arena, tm_powers, 1);
  if (!p) {
    f->failed = true;
    return;
  }
  *p = (tm_powers){.loop = it->loop, .terms = it->terms};
  if (!split(f, it, p))
    return;
  tm_statement *a = only_statement(it->loop);
  a->value = p->rest ? plus(f, a->value, p->each, p->rest) : p->each;
  it->loop->summed = true;
  if (it->start)
    it->start->summed = true;
  it->call->powers = p;
}

/* ---- all ---------------------------------------------------------------- */

/* Can every one of this container be split? */
static bool all_split(finder *f, const tm_variable *v) {
  for (int i = 0; i < f->count; i++) {
    tm_powers p = {0};
    if (f->all[i].terms == v && !split(f, &f->all[i], &p))
      return false;
  }
  return true;
}

static void mark_declaration(tm_statement *const *body, size_t count,
                             const tm_variable *v) {
  for (size_t i = 0; i < count; i++) {
    if (body[i]->kind == TM_S_DECLARE && body[i]->variable == v)
      body[i]->summed = is_plain(body[i]);
    mark_declaration(body[i]->body, body[i]->body_count, v);
    if (body[i]->otherwise)
      mark_declaration(&body[i]->otherwise, 1, v);
  }
}

static void find_in(finder *f, tm_statement *const *body, size_t count) {
  f->count = 0;
  visit(f, body, count);
  for (int i = 0; i < f->count; i++) {
    const tm_variable *v = f->all[i].terms;
    int expected = 0, seen = 0;
    for (int k = 0; k < f->count; k++)
      expected += f->all[k].terms == v ? f->all[k].mentions : 0;
    for (size_t k = 0; k < count; k++)
      seen += mentioned_by(body[k], v);
    if (f->all[i].call->powers || seen != expected || !all_split(f, v))
      continue;
    for (int k = i; k < f->count; k++)
      if (f->all[k].terms == v)
        accept(f, &f->all[k]);
    mark_declaration(body, count, v);
  }
}

tempera_status tm_powers_find(tm_program *program) {
  finder f = {.program = program};
  for (size_t i = 0; i < program->function_count; i++)
    if (program->functions[i]->body)
      find_in(&f, program->functions[i]->body->body,
              program->functions[i]->body->body_count);
  static const tm_block_kind blocks[] = {TM_BLOCK_TRANSFORMED_PARAMETERS,
                                         TM_BLOCK_MODEL};
  for (size_t i = 0; i < 2; i++)
    find_in(&f, program->blocks[blocks[i]].statements,
            program->blocks[blocks[i]].count);
  return f.failed ? tm_fail_memory(program->source.error) : TEMPERA_OK;
}
