/* find_rows.c - finds statements that do the same to every row of the data:
 * loops
 *
 *   for (n in 1:N) { real m = a[g[n]] + x[n] * b; y[n] ~ normal(m, s); }
 *
 * and terms over containers, y ~ normal(a[g] + x * b, s). They become lists of
 * operations that the library does block by block (runtime/rows.h). Variables
 * that are made once, row by row, and used in such statements only are written
 * into them and need not be computed.
 *
 * Taken are statements of the model block that are reached at every point, or
 * at every point for some data (behind conditions on data alone), where every
 * index and all that is the same for all rows can be told from data. Whatever
 * is not understood stays as it is. */
#include "language/emit/row_finder.h"

#include "base/memory.h"
#include "language/check/types.h"
#include "language/emit/powers.h"

#include <string.h>

/* ---- terms of the target ------------------------------------------------ */

static bool add_root(tm_row_finder *f, int node) {
  return node >= 0 && tm_row_push(f, (tm_row_node){.kind = TM_ROW_ADD,
                                                   .parts = {(short)node},
                                                   .part_count = 1}) >= 0;
}

/* Of a loop: sums term by term. */
static bool add_scalar_term(tm_row_finder *f, tm_expression *e) {
  if (tm_row_another(f, e))
    return false;
  if (e->kind == TM_E_BINARY && !strcmp(e->text, "+") &&
      !tm_row_is_data(f, e) && !tm_row_is_shared(f, e))
    return add_scalar_term(f, e->parts[0]) && add_scalar_term(f, e->parts[1]);
  return add_root(f, tm_row_of(f, e));
}

/* log_sum_exp of what the rows of a group make */
static bool add_powers_term(tm_row_finder *f, const tm_expression *e) {
  const tm_powers *p = e->powers;
  if (p != f->row->powers || f->row->part == TM_PART_NONE ||
      tm_row_another(f, e))
    return false;
  int node = tm_row_of(f, p->each), rest = p->rest ? tm_row_of(f, p->rest) : 0;
  if (node < 0 || rest < 0)
    return false;
  tm_row_node sum = {.kind = TM_ROW_CALL,
                     .name = "add",
                     .parts = {(short)node, (short)rest},
                     .part_count = 2};
  node = p->rest ? tm_row_push(f, sum) : node;
  return node >= 0 && tm_row_push(f, (tm_row_node){.kind = TM_ROW_POWERS,
                                                   .parts = {(short)node},
                                                   .part_count = 1}) >= 0;
}

/* alpha + x beta, then the density */
static bool add_glm_term(tm_row_finder *f, const tm_expression *e) {
  static const struct {
    const char *name, *density;
    int before, after; /* arguments before x and behind beta */
  } glms[] = {{"bernoulli_logit_glm_lp", "bernoulli_logit", 1, 0},
              {"poisson_log_glm_lp", "poisson_log", 1, 0},
              {"normal_id_glm_lp", "normal", 1, 1},
              {"neg_binomial_2_log_glm_lp", "neg_binomial_2_log", 1, 1},
              {"binomial_logit_glm_lp", "binomial_logit", 2, 0}};
  for (size_t i = 0; i < sizeof glms / sizeof *glms; i++) {
    int b = glms[i].before;
    if (strncmp(e->builtin->name, glms[i].name, strlen(glms[i].name)) != 0)
      continue;
    if ((int)e->part_count != b + 3 + glms[i].after ||
        e->parts[b]->type.base != TM_MATRIX || tm_rank(e->parts[0]->type) != 1)
      return false;
    tm_row_node node = {.kind = TM_ROW_DENSITY, .name = glms[i].density};
    for (int k = 0; k < b; k++)
      node.parts[node.part_count++] = (short)tm_row_of(f, e->parts[k]);
    int dot = tm_row_dot(f, e->parts[b], e->parts[b + 2]);
    int alpha = tm_row_of(f, e->parts[b + 1]);
    if (dot < 0 || alpha < 0)
      return false;
    node.parts[node.part_count++] =
        (short)tm_row_push(f, (tm_row_node){.kind = TM_ROW_CALL,
                                            .name = "add",
                                            .parts = {(short)alpha, (short)dot},
                                            .part_count = 2});
    if (glms[i].after)
      node.parts[node.part_count++] = (short)tm_row_of(f, e->parts[b + 3]);
    for (int k = 0; k < node.part_count; k++)
      if (node.parts[k] < 0)
        return false;
    return add_root(f, tm_row_push(f, node));
  }
  return false;
}

/* Is it more than one loop over vectors that are there already? */
static bool is_worth_it(const tm_row_statement *r) {
  bool vectors = false, columns = false;
  for (int i = 0; i < r->count; i++) {
    const tm_row_node *n = &r->nodes[i];
    if ((n->kind == TM_ROW_CALL && n->part_count) || n->kind == TM_ROW_DOT ||
        (n->kind == TM_ROW_PICK && n->data))
      return true;
    vectors = vectors || n->kind == TM_ROW_PICK;
    columns = columns || n->kind == TM_ROW_COLUMN;
  }
  return columns && !vectors;
}

/* How many rows there are must be told by one of the operations. */
static bool is_counted(const tm_row_statement *r) {
  for (int i = 0; i < r->count; i++) {
    const tm_row_node *n = &r->nodes[i];
    if ((n->kind == TM_ROW_COLUMN && tm_rank(n->value->type) == 1) ||
        (n->kind == TM_ROW_PICK && n->data && tm_rank(n->data->type) == 1) ||
        (n->kind == TM_ROW_DOT && tm_rank(n->data->type) == 2))
      return true;
  }
  return false;
}

static bool add_vector_term(tm_row_finder *f, const tm_expression *e) {
  if (e->kind != TM_E_CALL || !e->builtin || tm_row_another(f, e))
    return false;
  if (strstr(e->builtin->name, "_glm_lp"))
    return add_glm_term(f, e);
  bool container = false;
  for (size_t i = 0; i < e->part_count; i++)
    container = container || tm_rank(e->parts[i]->type) > 0;
  if (e->builtin->kind != TM_B_DENSITY || !container)
    return false;
  return add_root(f, tm_row_density(f, e)) && is_worth_it(f->row) &&
         is_counted(f->row);
}

/* ---- statements of a loop ----------------------------------------------- */

static bool set_local(tm_row_finder *f, const tm_variable *v, bool element,
                      int node) {
  if (node < 0 || f->local_count == TM_ROW_LOCALS)
    return false;
  f->locals[f->local_count++] = (tm_row_local){v, node, element};
  return true;
}

/* Is v declared in the loop, or used by nobody else? */
static bool is_private(tm_row_finder *f, const tm_variable *v,
                       const tm_statement *loop);

static bool take_assignment(tm_row_finder *f, tm_statement *s,
                            const tm_statement *loop) {
  tm_expression *left = s->left;
  if (s->raises)
    return false;
  if (left->kind == TM_E_NAME)
    return tm_rank(left->type) == 0 && is_private(f, left->variable, loop) &&
           set_local(f, left->variable, false, tm_row_of(f, s->value));
  if (left->kind != TM_E_INDEX || left->parts[0]->kind != TM_E_NAME ||
      left->index_count != 1 || left->indices[0].kind != TM_INDEX_ONE ||
      !tm_row_vector(left->parts[0]->type) ||
      !tm_row_identity(f, left->indices[0].from))
    return false;
  tm_variable *v = left->parts[0]->variable;
  return is_private(f, v, loop) &&
         set_local(f, v, true, tm_row_of(f, s->value));
}

static tm_expression *plain_name(tm_expression *e, const tm_variable *v) {
  return e->kind == TM_E_NAME && e->variable == v ? e : NULL;
}

static bool same_size(const tm_expression *a, const tm_expression *b) {
  if (!a || !b || a->kind != b->kind)
    return false;
  return a->kind == TM_E_NAME  ? a->variable == b->variable
         : a->kind == TM_E_INT ? a->whole == b->whole
                               : false;
}

static bool is_one(const tm_expression *e) {
  return e->kind == TM_E_INT && e->whole == 1;
}

/* for (k in 1:K) m = m + b[k] * x: a product of data and the vector b. */
static bool take_inner_sum(tm_row_finder *f, tm_statement *s,
                           const tm_statement *loop) {
  if (s->body_count != 1 || !is_one(s->lower))
    return false;
  tm_statement *a = s->body[0];
  if (a->kind == TM_S_BLOCK && a->body_count == 1)
    a = a->body[0];
  if (a->kind != TM_S_ASSIGN || a->left->kind != TM_E_NAME || a->shadow ||
      a->instead || a->raises)
    return false;
  tm_variable *m = a->left->variable;
  tm_expression *sum = a->value;
  int before = -1;
  for (int i = f->local_count; i-- > 0 && before < 0;)
    if (f->locals[i].variable == m)
      before = f->locals[i].node;
  if (before < 0 || !is_private(f, m, loop) || sum->kind != TM_E_BINARY ||
      strcmp(sum->text, "+") != 0 || !plain_name(sum->parts[0], m) ||
      sum->parts[1]->kind != TM_E_BINARY ||
      strcmp(sum->parts[1]->text, "*") != 0)
    return false;
  for (int i = 0; i < 2; i++) {
    tm_expression *b = sum->parts[1]->parts[i];
    tm_expression *x = sum->parts[1]->parts[1 - i];
    if (b->kind != TM_E_INDEX || b->parts[0]->kind != TM_E_NAME ||
        b->index_count != 1 || b->indices[0].kind != TM_INDEX_ONE ||
        !plain_name(b->indices[0].from, s->variable) ||
        !tm_row_vector(b->parts[0]->type) || tm_rank(x->type) != 0 ||
        !same_size(b->parts[0]->variable->sizes[0], s->upper) ||
        !tm_row_fixed_sizes(f, b->parts[0]->variable) ||
        b->level != TM_LEVEL_PARAMETER || !tm_row_is_shared(f, b->parts[0]) ||
        f->row->counter_count == TM_ROW_COUNTERS)
      continue;
    f->row->counters[f->row->counter_count++] = s->variable;
    bool data = tm_row_is_data(f, x);
    f->row->counter_count--;
    if (!data)
      continue;
    int dot = tm_row_push(f, (tm_row_node){.kind = TM_ROW_DOT,
                                           .value = b->parts[0],
                                           .data = x,
                                           .inner = s->variable});
    return dot >= 0 &&
           set_local(f, m, false,
                     tm_row_push(
                         f, (tm_row_node){.kind = TM_ROW_CALL,
                                          .name = "add",
                                          .parts = {(short)before, (short)dot},
                                          .part_count = 2}));
  }
  return false;
}

/* Does it make the powers that are done where they are summed? */
static bool makes_powers(const tm_row_finder *f, const tm_statement *s) {
  const tm_powers *p = f->row->powers;
  return p && (s == p->loop ||
               (s->kind == TM_S_DECLARE && s->variable == p->terms) ||
               (s->kind == TM_S_ASSIGN && s->left->variable == p->terms));
}

static bool take_part(tm_row_finder *f, tm_part part) {
  if (f->row->part && f->row->part != part)
    return false;
  f->row->part = part;
  return part == TM_PART_PRIOR || part == TM_PART_LIKELIHOOD;
}

static bool take_statements(tm_row_finder *f, tm_statement *const *body,
                            size_t count, const tm_statement *loop) {
  for (size_t i = 0; i < count; i++) {
    tm_statement *s = body[i];
    bool taken = !s->shadow && !s->instead;
    if (!taken)
      return false;
    if (s->summed)
      taken = makes_powers(f, s);
    else if (s->kind == TM_S_TILDE)
      taken = !s->truncated && !f->row->powers && take_part(f, s->part) &&
              s->density && tm_is_scalar(s->left->type) &&
              tm_is_scalar_density(s->density) &&
              add_scalar_term(f, s->density);
    else if (s->kind == TM_S_TARGET)
      taken = take_part(f, s->part) && tm_is_scalar(s->value->type) &&
              (f->row->powers ? add_powers_term(f, s->value)
                              : add_scalar_term(f, s->value));
    else if (s->kind == TM_S_ASSIGN)
      taken = take_assignment(f, s, loop);
    else if (s->kind == TM_S_DECLARE)
      taken = tm_rank(s->variable->type) == 0 &&
              s->variable->type.base == TM_REAL &&
              s->variable->constraint == TM_FREE &&
              (!s->variable->initial ||
               set_local(f, s->variable, false,
                         tm_row_of(f, s->variable->initial)));
    else if (s->kind == TM_S_BLOCK)
      taken = take_statements(f, s->body, s->body_count, loop);
    else if (s->kind == TM_S_FOR)
      taken = take_inner_sum(f, s, loop);
    else
      taken = s->kind == TM_S_EMPTY;
    if (!taken)
      return false;
  }
  return true;
}

/* ---- who uses what ------------------------------------------------------ */

static bool statement_mentions(const tm_statement *s, const tm_variable *v,
                               const tm_statement *but) {
  if (!s || s == but)
    return false;
  bool found =
      tm_mentions(s->left, v) || tm_mentions(s->value, v) ||
      tm_mentions(s->density, v) || tm_mentions(s->lower, v) ||
      tm_mentions(s->upper, v) || tm_mentions(s->cdf[0], v) ||
      tm_mentions(s->cdf[1], v) || /* [2], [3] name the same */
      (s->kind == TM_S_DECLARE && tm_mentions(s->variable->initial, v)) ||
      statement_mentions(s->otherwise, v, but) ||
      statement_mentions(s->shadow, v, but) ||
      statement_mentions(s->instead, v, but);
  for (size_t i = 0; i < s->argument_count && !found; i++)
    found = tm_mentions(s->arguments[i], v);
  for (size_t i = 0; i < s->body_count && !found; i++)
    found = statement_mentions(s->body[i], v, but);
  return found;
}

static bool is_private(tm_row_finder *f, const tm_variable *v,
                       const tm_statement *loop) {
  const tm_block_node *m = &f->program->blocks[TM_BLOCK_MODEL];
  if (v->block != TM_BLOCK_MODEL || v->constraint != TM_FREE)
    return false;
  for (size_t i = 0; i < m->count; i++)
    if (statement_mentions(m->statements[i], v, loop))
      return false;
  return true;
}

/* ---- definitions -------------------------------------------------------- */

static void count_assignments(tm_row_finder *f, tm_statement *const *body,
                              size_t count) {
  for (size_t i = 0; i < count; i++) {
    const tm_statement *s = body[i];
    if (s->kind == TM_S_ASSIGN && tm_root(s->left)->variable)
      f->assigned[tm_root(s->left)->variable->index]++;
    if (s->kind == TM_S_DECLARE && s->variable->initial)
      f->assigned[s->variable->index]++;
    count_assignments(f, s->body, s->body_count);
    count_assignments(f, (tm_statement *const *)&s->otherwise,
                      s->otherwise ? 1 : 0);
    count_assignments(f, (tm_statement *const *)&s->shadow, s->shadow ? 1 : 0);
    count_assignments(f, (tm_statement *const *)&s->instead,
                      s->instead ? 1 : 0);
  }
}

/* Data, parameters, and what is assigned once. */
static bool settled_holds(tm_row_finder *f, const tm_expression *e) {
  return tm_row_plain_call(e, false) &&
         (e->kind != TM_E_NAME || e->variable->loop ||
          f->assigned[e->variable->index] <= 1);
}

static void define(tm_row_finder *f, const tm_variable *v, tm_expression *value,
                   tm_variable *counter) {
  if (tm_row_vector(v->type) && v->type.base != TM_INT &&
      v->constraint == TM_FREE && f->assigned[v->index] == 1 &&
      tm_row_fixed_sizes(f, v) && tm_row_everywhere(f, value, settled_holds) &&
      !tm_mentions(value, v))
    f->defined[v->index] = (tm_row_definition){value, counter};
}

static bool assigns_elements(const tm_statement *loop, const tm_statement *s) {
  const tm_expression *left = s->left;
  return s->kind == TM_S_ASSIGN && !s->shadow && !s->instead && !s->raises &&
         left->kind == TM_E_INDEX && left->parts[0]->kind == TM_E_NAME &&
         left->index_count == 1 && left->indices[0].kind == TM_INDEX_ONE &&
         left->indices[0].from->kind == TM_E_NAME &&
         left->indices[0].from->variable == loop->variable &&
         same_size(left->parts[0]->variable->sizes[0], loop->upper);
}

/* for (n in 1:N) v[n] = ...; and nothing else. */
static void define_by_loop(tm_row_finder *f, const tm_statement *s) {
  tm_statement *const *body = s->body;
  size_t count = s->body_count;
  if (count == 1 && body[0]->kind == TM_S_BLOCK) {
    count = body[0]->body_count;
    body = body[0]->body;
  }
  if (!is_one(s->lower))
    return;
  for (size_t i = 0; i < count; i++)
    if (!assigns_elements(s, body[i]))
      return;
  for (size_t i = 0; i < count; i++) {
    bool alone = true; /* it reads none that the loop makes */
    for (size_t k = 0; k < count; k++)
      alone = alone &&
              !tm_mentions(body[i]->value, body[k]->left->parts[0]->variable);
    if (alone)
      define(f, body[i]->left->parts[0]->variable, body[i]->value, s->variable);
  }
}

/* ---- all ---------------------------------------------------------------- */

static bool begin(tm_row_finder *f, tm_statement *s) {
  tm_arena *arena = f->program->source.arena;
  f->row = TM_NEW(arena, tm_row_statement, 1);
  if (f->row)
    f->row->nodes = TM_NEW(arena, tm_row_node, TM_ROW_MOST);
  if (!f->row || !f->row->nodes) {
    f->failed = true;
    return false;
  }
  f->row->statement = s;
  memcpy(f->row->conditions, f->conditions, sizeof f->conditions);
  f->row->condition_count = f->condition_count;
  f->local_count = f->depth = 0;
  f->owner = NULL;
  f->loop = s->kind == TM_S_FOR;
  f->around = s;
  f->strict = f->loop;
  return true;
}

static bool refuse(tm_row_finder *f, const char *why) {
  if (!f->why) {
    f->why = why;
    f->at = NULL;
  }
  return false;
}

/* target += log_sum_exp(..) with a loop of its own */
static const tm_powers *powers_in(tm_row_finder *f, const tm_statement *s) {
  const tm_powers *found = NULL;
  for (size_t i = 0; i < s->body_count && !found; i++) {
    const tm_statement *b = s->body[i];
    if (b->kind == TM_S_TARGET && b->value->powers &&
        tm_row_fixed_sizes(f, b->value->powers->terms))
      found = b->value->powers;
    else if (b->kind == TM_S_BLOCK)
      found = powers_in(f, b);
  }
  return found;
}

static bool take_loop(tm_row_finder *f, tm_statement *s) {
  if (s->lower->level == TM_LEVEL_PARAMETER ||
      s->upper->level == TM_LEVEL_PARAMETER || !tm_row_is_data(f, s->lower) ||
      !tm_row_is_data(f, s->upper))
    return refuse(f, "how many rows there are is not known from the data");
  f->row->counters[f->row->counter_count++] = s->variable;
  f->row->powers = powers_in(f, s);
  if (f->row->powers)
    f->row->counters[f->row->counter_count++] = f->row->powers->loop->variable;
  if (!take_statements(f, s->body, s->body_count, s) || !f->row->part)
    return refuse(f, "the loop does more than add terms of its rows");
  return f->row->leaves > 0 || refuse(f, "no parameter is in it");
}

static bool take_term(tm_row_finder *f, tm_statement *s) {
  tm_expression *term = s->kind == TM_S_TILDE ? s->density : s->value;
  if (!term || (s->kind == TM_S_TILDE && s->truncated))
    return refuse(f, "the density is truncated");
  if (!take_part(f, s->part) || !add_vector_term(f, term))
    return refuse(f, "one density, of what is there already");
  return f->row->leaves > 0 || refuse(f, "no parameter is in it");
}

static bool take(tm_row_finder *f, tm_statement *s) {
  f->why = NULL;
  if (s->shadow || s->instead || s->raises)
    return refuse(f, "it does something else besides");
  if (!begin(f, s))
    return false;
  return s->kind == TM_S_FOR ? take_loop(f, s) : take_term(f, s);
}

static void visit(tm_row_finder *f, tm_statement *const *body, size_t count,
                  bool model);

/* One branch of a condition on data alone. What is made there is not known to
 * be made elsewhere. */
static void visit_branch(tm_row_finder *f, const tm_statement *s,
                         bool otherwise, bool model) {
  size_t count = (size_t)f->program->variable_count + 1;
  tm_row_definition *before =
      TM_NEW(f->program->source.arena, tm_row_definition, count);
  if (!before) {
    f->failed = true;
    return;
  }
  const tm_statement *branch = otherwise ? s->otherwise : s;
  memcpy(before, f->defined, count * sizeof *before);
  f->conditions[f->condition_count++] = (tm_row_condition){s, otherwise};
  visit(f, branch->body, branch->body_count, model);
  f->condition_count--;
  memcpy(f->defined, before, count * sizeof *before);
}

static void visit_chosen(tm_row_finder *f, const tm_statement *s, bool model) {
  tm_row_statement none = {.count = 0}; /* no counters */
  f->row = &none;
  if (!tm_row_is_data(f, s->value) || f->condition_count == TM_ROW_CONDITIONS)
    return;
  visit_branch(f, s, false, model);
  if (s->otherwise)
    visit_branch(f, s, true, model);
}

static void visit(tm_row_finder *f, tm_statement *const *body, size_t count,
                  bool model) {
  for (size_t i = 0; i < count; i++) {
    tm_statement *s = body[i];
    if (s->kind == TM_S_IF)
      visit_chosen(f, s, model);
    else if (s->kind == TM_S_BLOCK)
      visit(f, s->body, s->body_count, model);
    else if (s->kind == TM_S_DECLARE && s->variable->initial)
      define(f, s->variable, s->variable->initial, NULL);
    else if (s->kind == TM_S_ASSIGN && s->left->kind == TM_E_NAME)
      define(f, s->left->variable, s->value, NULL);
    else if (s->kind == TM_S_FOR)
      define_by_loop(f, s);
    bool raises =
        s->kind == TM_S_TILDE || s->kind == TM_S_TARGET || s->kind == TM_S_FOR;
    if (!model || !raises)
      continue;
    if (!take(f, s)) {
      s->unturned = f->why;
      s->unturned_at = f->at;
      continue;
    }
    f->row->number = (int)f->program->rows.count + 1;
    if (!tm_list_add(f->program->source.arena, &f->program->rows, f->row))
      f->failed = true;
    s->rows = f->row;
  }
}

tempera_status tm_rows_find(tm_program *program) {
  tm_row_finder f = {.program = program};
  size_t count = (size_t)program->variable_count + 1;
  f.assigned = TM_NEW(program->source.arena, int, count);
  f.defined = TM_NEW(program->source.arena, tm_row_definition, count);
  if (!f.assigned || !f.defined)
    return tm_fail_memory(program->source.error);
  static const tm_block_kind blocks[] = {TM_BLOCK_TRANSFORMED_PARAMETERS,
                                         TM_BLOCK_MODEL};
  for (size_t i = 0; i < 2; i++)
    count_assignments(&f, program->blocks[blocks[i]].statements,
                      program->blocks[blocks[i]].count);
  for (size_t i = 0; i < 2; i++)
    visit(&f, program->blocks[blocks[i]].statements,
          program->blocks[blocks[i]].count, i == 1);
  return f.failed ? tm_fail_memory(program->source.error) : TEMPERA_OK;
}
