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
 * Taken are statements of the model block that are reached at every point (not
 * behind conditions), where every index and all that is the same for all rows
 * can be told from data. Whatever is not understood stays as it is. */
#include "language/emit/find_rows.h"

#include "base/memory.h"
#include "language/check/types.h"
#include "language/runtime/runtime.h"

#include <string.h>

/* A vector made row by row: by an expression of vectors, or by one of the
 * counter of a loop. */
typedef struct definition {
  tm_expression *value;
  tm_variable *counter; /* or NULL */
} definition;

/* A variable's value in the row, so far. */
typedef struct local {
  const tm_variable *variable;
  int node;
  bool element; /* of a vector, at the row's number */
} local;

enum { MOST_LOCALS = 32, MOST_DEPTH = 24 };

typedef struct finder {
  tm_program *program;
  int *assigned;              /* by variable: how many statements assign it */
  definition *defined;        /* by variable */
  tm_row_statement *row;      /* being built */
  bool loop;                  /* a loop; else a term over containers */
  const tm_statement *around; /* the loop */
  local locals[MOST_LOCALS];
  int local_count, depth;
  bool strict;              /* no vector that is computed elsewhere */
  const tm_variable *owner; /* inside the definition of this vector */
  bool failed;              /* out of memory */
} finder;

static bool assigns(const tm_statement *s, const tm_variable *v) {
  if (s->kind == TM_S_ASSIGN && tm_root(s->left)->variable == v)
    return true;
  for (size_t i = 0; i < s->body_count; i++)
    if (assigns(s->body[i], v))
      return true;
  return false;
}

/* Does the loop assign it, so that a row may see what another left? */
static bool is_carried(const finder *f, const tm_variable *v) {
  return f->loop && assigns(f->around, v);
}

/* ---- expressions -------------------------------------------------------- */

static int row_of(finder *f, tm_expression *e);

static bool is_counter(const finder *f, const tm_variable *v) {
  for (int i = 0; i < f->row->counter_count; i++)
    if (f->row->counters[i] == v)
      return true;
  return false;
}

static bool is_global_data(const tm_variable *v) {
  return v->global &&
         (v->block == TM_BLOCK_DATA || v->block == TM_BLOCK_TRANSFORMED_DATA);
}

/* Calls that may be made once, or when the data are read. */
static bool is_plain_call(const tm_expression *e, bool of_users) {
  if (e->system || e->kind == TM_E_STRING)
    return false;
  if (e->kind != TM_E_CALL)
    return true;
  if (e->function)
    return of_users && !e->function->uses_target;
  return e->builtin && e->builtin->kind != TM_B_RNG &&
         !strstr(e->builtin->name, "_rng");
}

typedef bool (*test)(finder *f, const tm_expression *e);

/* Does the test hold for e and all below it? */
static bool everywhere(finder *f, const tm_expression *e, test holds) {
  if (!e)
    return true;
  if (!holds(f, e))
    return false;
  for (size_t i = 0; i < e->part_count; i++)
    if (!everywhere(f, e->parts[i], holds))
      return false;
  for (size_t i = 0; i < e->index_count; i++)
    if (!everywhere(f, e->indices[i].from, holds) ||
        !everywhere(f, e->indices[i].to, holds))
      return false;
  return true;
}

static bool data_holds(finder *f, const tm_expression *e) {
  return e->level != TM_LEVEL_PARAMETER && is_plain_call(e, false) &&
         (e->kind != TM_E_NAME || is_global_data(e->variable) ||
          is_counter(f, e->variable));
}

/* Known when the data are read, with the row's number. */
static bool is_data(finder *f, const tm_expression *e) {
  return everywhere(f, e, data_holds);
}

static bool shared_holds(finder *f, const tm_expression *e) {
  if (!is_plain_call(e, true))
    return false;
  if (e->kind != TM_E_NAME)
    return true;
  for (int i = 0; i < f->local_count; i++)
    if (f->locals[i].variable == e->variable)
      return false;
  return !is_counter(f, e->variable) && !e->variable->loop &&
         !is_carried(f, e->variable);
}

/* The same for all rows. */
static bool is_shared(finder *f, const tm_expression *e) {
  return everywhere(f, e, shared_holds);
}

static bool fixed_holds(finder *f, const tm_expression *e) {
  (void)f;
  return e->level != TM_LEVEL_PARAMETER && is_plain_call(e, false) &&
         (e->kind != TM_E_NAME || is_global_data(e->variable));
}

/* Are the sizes of a variable known from data? */
static bool has_fixed_sizes(finder *f, const tm_variable *v) {
  for (size_t i = 0; i < v->size_count; i++)
    if (!everywhere(f, v->sizes[i], fixed_holds))
      return false;
  return !v->items && !v->argument && !tm_is_complex(v->type);
}

/* ---- operations --------------------------------------------------------- */

static int push(finder *f, tm_row_node node) {
  tm_row_statement *r = f->row;
  if (r->count == TM_ROW_MOST)
    return -1;
  if (node.kind == TM_ROW_SCALAR || node.kind == TM_ROW_PICK ||
      node.kind == TM_ROW_DOT)
    node.leaf = r->leaves++;
  else
    node.leaf = -1;
  node.owner = f->owner;
  r->nodes[r->count] = node;
  return r->count++;
}

static int push_call(finder *f, const char *name, tm_expression *const *parts,
                     size_t count) {
  tm_row_node node = {.kind = TM_ROW_CALL, .name = name};
  if (count > 3 || !tm_row_has_call(name))
    return -1;
  for (size_t i = 0; i < count; i++) {
    int part = row_of(f, parts[i]);
    if (part < 0)
      return -1;
    node.parts[node.part_count++] = (short)part;
  }
  return push(f, node);
}

static int data_node(finder *f, tm_expression *e) {
  bool number = tm_rank(e->type) == 0;
  for (int i = 0; i < f->row->counter_count && number; i++) {
    tm_variable *kept = f->row->counters[i];
    /* a number if it can do without every counter */
    f->row->counters[i] = NULL;
    number = is_data(f, e);
    f->row->counters[i] = kept;
  }
  if (tm_rank(e->type) == 1 && !everywhere(f, e, fixed_holds))
    return -1;
  return push(f, (tm_row_node){.kind = number ? TM_ROW_NUMBER : TM_ROW_COLUMN,
                               .value = e});
}

static bool is_vector(tm_type type) {
  return tm_rank(type) == 1 && !tm_is_complex(type) && type.base != TM_TUPLE;
}

/* A vector as it is, one element for each row. */
static int whole_vector(finder *f, tm_expression *e) {
  bool name = e->kind == TM_E_NAME;
  if (!is_vector(e->type) || !is_shared(f, e) || (!name && f->strict) ||
      (name && !has_fixed_sizes(f, e->variable)))
    return -1;
  return push(f, (tm_row_node){.kind = TM_ROW_PICK, .value = e});
}

/* The expression that made the vector, in place of it; -1: as it is. */
static int inlined(finder *f, const tm_variable *v) {
  const definition *d = &f->defined[v->index];
  tm_row_statement *r = f->row;
  int count = r->count, leaves = r->leaves, counters = r->counter_count;
  int inlined_count = r->inlined_count;
  const tm_variable *owner = f->owner;
  bool strict = f->strict;
  if (!d->value || f->depth > MOST_DEPTH || inlined_count == TM_ROW_INLINED)
    return -1;
  r->inlined[r->inlined_count++] = v;
  if (d->counter && !is_counter(f, d->counter)) {
    if (r->counter_count == TM_ROW_COUNTERS) {
      r->inlined_count = inlined_count;
      return -1;
    }
    r->counters[r->counter_count++] = d->counter;
  }
  f->strict = true;
  f->owner = d->counter ? NULL : v;
  int node = row_of(f, d->value);
  f->strict = strict;
  f->owner = owner;
  if (node < 0) {
    r->count = count;
    r->inlined_count = inlined_count;
    r->leaves = leaves;
    r->counter_count = counters;
  }
  return node;
}

static int name_node(finder *f, tm_expression *e) {
  for (int i = f->local_count; i-- > 0;)
    if (f->locals[i].variable == e->variable)
      return f->locals[i].element ? -1 : f->locals[i].node;
  if (!is_vector(e->type) || is_carried(f, e->variable))
    return -1;
  int node = inlined(f, e->variable);
  return node >= 0 ? node : whole_vector(f, e);
}

/* Is e the row's number? */
static bool is_identity(finder *f, const tm_expression *e) {
  return e && e->kind == TM_E_NAME && is_counter(f, e->variable);
}

/* v[i], v[g[i]], v[i, j] */
static int element_node(finder *f, tm_expression *e) {
  tm_expression *base = e->parts[0];
  if (base->kind != TM_E_NAME)
    return -1;
  tm_variable *v = base->variable;
  bool same = e->index_count == 1 && e->indices[0].kind == TM_INDEX_ONE &&
              is_identity(f, e->indices[0].from);
  for (int i = f->local_count; i-- > 0;)
    if (f->locals[i].variable == v)
      return f->locals[i].element && same ? f->locals[i].node : -1;
  if (is_carried(f, v))
    return -1;
  int node = same && is_vector(base->type) ? inlined(f, v) : -1;
  if (node >= 0)
    return node;
  if ((int)e->index_count != tm_rank(base->type) || !has_fixed_sizes(f, v))
    return -1;
  for (size_t i = 0; i < e->index_count; i++)
    if (e->indices[i].kind != TM_INDEX_ONE || !is_data(f, e->indices[i].from) ||
        e->indices[i].from->type.depth)
      return -1;
  return push(f, (tm_row_node){.kind = TM_ROW_PICK, .value = base, .data = e});
}

/* v[g], with an array of places */
static int places_node(finder *f, tm_expression *e) {
  tm_expression *base = e->parts[0];
  if (base->kind != TM_E_NAME || !is_vector(base->type) ||
      e->index_count != 1 || e->indices[0].kind != TM_INDEX_ONE ||
      !has_fixed_sizes(f, base->variable) || !is_shared(f, base))
    return whole_vector(f, e);
  tm_expression *places = e->indices[0].from;
  if (tm_rank(places->type) != 1 || !is_data(f, places))
    return whole_vector(f, e);
  return push(
      f, (tm_row_node){.kind = TM_ROW_PICK, .value = base, .data = places});
}

static int index_node(finder *f, tm_expression *e) {
  return tm_rank(e->type) == 0 ? element_node(f, e) : places_node(f, e);
}

/* rows of data times a vector */
static int dot_node(finder *f, tm_expression *data, tm_expression *vector) {
  int rank = tm_rank(data->type);
  if (!is_data(f, data) || !is_vector(vector->type) || !is_shared(f, vector) ||
      tm_is_complex(data->type) || rank < 1 || rank > 2)
    return -1;
  return push(f,
              (tm_row_node){.kind = TM_ROW_DOT, .value = vector, .data = data});
}

static int product_node(finder *f, tm_expression *e) {
  tm_expression *a = e->parts[0], *b = e->parts[1];
  if (tm_is_scalar(a->type) || tm_is_scalar(b->type))
    return push_call(f, "elt_multiply", e->parts, 2);
  bool row = tm_rank(e->type) == 0 && a->type.base == TM_ROW_VECTOR &&
             b->type.base == TM_VECTOR;
  bool matrix = a->type.base == TM_MATRIX && b->type.base == TM_VECTOR;
  int node = row || matrix ? dot_node(f, a, b) : -1;
  return node >= 0 ? node : whole_vector(f, e);
}

static int binary_node(finder *f, tm_expression *e) {
  const char *op = e->text;
  bool scalar = tm_is_scalar(e->parts[1]->type);
  if (!strcmp(op, "+"))
    return push_call(f, "add", e->parts, 2);
  if (!strcmp(op, "-"))
    return push_call(f, "subtract", e->parts, 2);
  if (!strcmp(op, "*"))
    return product_node(f, e);
  if (!strcmp(op, ".*"))
    return push_call(f, "elt_multiply", e->parts, 2);
  if (!strcmp(op, "./") || (!strcmp(op, "/") && scalar))
    return push_call(f, "elt_divide", e->parts, 2);
  if (strcmp(op, "^") != 0 && strcmp(op, ".^") != 0)
    return -1;
  bool square = e->parts[1]->kind == TM_E_INT && e->parts[1]->whole == 2;
  return push_call(f, square ? "square" : "pow", e->parts, square ? 1 : 2);
}

/* Without _lpdf. */
static const char *density_name(finder *f, const tm_builtin *b) {
  char *name = tm_arena_text(f->program->source.arena, b->name);
  if (!name) {
    f->failed = true;
    return "";
  }
  name[strlen(name) - 5] = '\0';
  return name;
}

static int density_node(finder *f, const tm_expression *e) {
  tm_row_node node = {.kind = TM_ROW_DENSITY,
                      .name = density_name(f, e->builtin)};
  if (e->part_count > 4 || !tm_density_kernel(node.name))
    return -1;
  for (size_t i = 0; i < e->part_count; i++) {
    int part = row_of(f, e->parts[i]);
    if (part < 0)
      return -1;
    node.parts[node.part_count++] = (short)part;
  }
  return push(f, node);
}

/* rep_vector(x, n) */
static int repeated_node(finder *f, const tm_expression *e) {
  if (!tm_is_scalar(e->parts[0]->type) ||
      !everywhere(f, e->parts[1], fixed_holds))
    return -1;
  int node = row_of(f, e->parts[0]);
  if (node >= 0)
    f->row->nodes[node].length = e->parts[1];
  return node;
}

static int call_node(finder *f, tm_expression *e) {
  const tm_builtin *b = e->builtin;
  if (e->function || e->system || !b)
    return whole_vector(f, e);
  if (b->kind == TM_B_UNARY || b->kind == TM_B_BINARY)
    return push_call(f, b->name, e->parts, e->part_count);
  if (b->kind == TM_B_DENSITY && f->loop && tm_is_scalar_density(e))
    return density_node(f, e);
  if (!strcmp(b->name, "log_mix") && e->part_count == 3 && f->loop)
    return push_call(f, "log_mix", e->parts, 3);
  if (!strcmp(b->name, "rep_vector"))
    return repeated_node(f, e);
  if (!strcmp(b->name, "dot_product") && f->loop) {
    bool first = is_data(f, e->parts[0]);
    return dot_node(f, e->parts[first ? 0 : 1], e->parts[first ? 1 : 0]);
  }
  return whole_vector(f, e);
}

static int parameter_node(finder *f, tm_expression *e) {
  switch (e->kind) {
  case TM_E_NAME:
    return name_node(f, e);
  case TM_E_INDEX:
    return index_node(f, e);
  case TM_E_BINARY:
    return binary_node(f, e);
  case TM_E_UNARY:
    return e->text[0] == '-'   ? push_call(f, "minus", e->parts, 1)
           : e->text[0] == '+' ? row_of(f, e->parts[0])
                               : -1;
  case TM_E_TRANSPOSE:
    return is_vector(e->type) ? row_of(f, e->parts[0]) : -1;
  case TM_E_CALL:
    return call_node(f, e);
  default:
    return whole_vector(f, e);
  }
}

/* Does it belong to another part of the target? */
static bool is_another(const finder *f, const tm_expression *e) {
  return e->part && e->part != f->row->part;
}

/* Integers that are computed from parameters: their arithmetic (division!) is
 * another. */
static bool counts(finder *f, const tm_expression *e) {
  return e->type.base == TM_INT && e->kind != TM_E_NAME &&
         e->kind != TM_E_INDEX && !is_data(f, e) && !is_shared(f, e);
}

/* The operation whose value is e in every row; -1: not understood. */
static int row_of(finder *f, tm_expression *e) {
  if (is_another(f, e) || tm_rank(e->type) > 1 || tm_is_complex(e->type) ||
      e->type.base == TM_TUPLE || f->depth > MOST_DEPTH || counts(f, e))
    return -1;
  f->depth++;
  int node;
  if (is_data(f, e))
    node = data_node(f, e);
  else if (tm_rank(e->type) == 0 && is_shared(f, e))
    node = push(f, (tm_row_node){.kind = TM_ROW_SCALAR, .value = e});
  else
    node = parameter_node(f, e);
  f->depth--;
  return node;
}

/* ---- terms of the target ------------------------------------------------ */

static bool add_root(finder *f, int node) {
  return node >= 0 && push(f, (tm_row_node){.kind = TM_ROW_ADD,
                                            .parts = {(short)node},
                                            .part_count = 1}) >= 0;
}

/* Of a loop: sums term by term. */
static bool add_scalar_term(finder *f, tm_expression *e) {
  if (is_another(f, e))
    return false;
  if (e->kind == TM_E_BINARY && !strcmp(e->text, "+") && !is_data(f, e) &&
      !is_shared(f, e))
    return add_scalar_term(f, e->parts[0]) && add_scalar_term(f, e->parts[1]);
  return add_root(f, row_of(f, e));
}

/* alpha + x beta, then the density */
static bool add_glm_term(finder *f, const tm_expression *e) {
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
      node.parts[node.part_count++] = (short)row_of(f, e->parts[k]);
    int dot = dot_node(f, e->parts[b], e->parts[b + 2]);
    int alpha = row_of(f, e->parts[b + 1]);
    if (dot < 0 || alpha < 0)
      return false;
    node.parts[node.part_count++] =
        (short)push(f, (tm_row_node){.kind = TM_ROW_CALL,
                                     .name = "add",
                                     .parts = {(short)alpha, (short)dot},
                                     .part_count = 2});
    if (glms[i].after)
      node.parts[node.part_count++] = (short)row_of(f, e->parts[b + 3]);
    for (int k = 0; k < node.part_count; k++)
      if (node.parts[k] < 0)
        return false;
    return add_root(f, push(f, node));
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

static bool add_vector_term(finder *f, const tm_expression *e) {
  if (e->kind != TM_E_CALL || !e->builtin || is_another(f, e))
    return false;
  if (strstr(e->builtin->name, "_glm_lp"))
    return add_glm_term(f, e);
  bool container = false;
  for (size_t i = 0; i < e->part_count; i++)
    container = container || tm_rank(e->parts[i]->type) > 0;
  if (e->builtin->kind != TM_B_DENSITY || !container)
    return false;
  return add_root(f, density_node(f, e)) && is_worth_it(f->row) &&
         is_counted(f->row);
}

/* ---- statements of a loop ----------------------------------------------- */

static bool set_local(finder *f, const tm_variable *v, bool element, int node) {
  if (node < 0 || f->local_count == MOST_LOCALS)
    return false;
  f->locals[f->local_count++] = (local){v, node, element};
  return true;
}

/* Is v declared in the loop, or used by nobody else? */
static bool is_private(finder *f, const tm_variable *v,
                       const tm_statement *loop);

static bool take_assignment(finder *f, tm_statement *s,
                            const tm_statement *loop) {
  tm_expression *left = s->left;
  if (s->raises)
    return false;
  if (left->kind == TM_E_NAME)
    return tm_rank(left->type) == 0 && is_private(f, left->variable, loop) &&
           set_local(f, left->variable, false, row_of(f, s->value));
  if (left->kind != TM_E_INDEX || left->parts[0]->kind != TM_E_NAME ||
      left->index_count != 1 || left->indices[0].kind != TM_INDEX_ONE ||
      !is_vector(left->parts[0]->type) ||
      !is_identity(f, left->indices[0].from))
    return false;
  tm_variable *v = left->parts[0]->variable;
  return is_private(f, v, loop) && set_local(f, v, true, row_of(f, s->value));
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
static bool take_inner_sum(finder *f, tm_statement *s,
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
        !is_vector(b->parts[0]->type) || tm_rank(x->type) != 0 ||
        !same_size(b->parts[0]->variable->sizes[0], s->upper) ||
        !has_fixed_sizes(f, b->parts[0]->variable) ||
        b->level != TM_LEVEL_PARAMETER || !is_shared(f, b->parts[0]) ||
        f->row->counter_count == TM_ROW_COUNTERS)
      continue;
    f->row->counters[f->row->counter_count++] = s->variable;
    bool data = is_data(f, x);
    f->row->counter_count--;
    if (!data)
      continue;
    int dot = push(f, (tm_row_node){.kind = TM_ROW_DOT,
                                    .value = b->parts[0],
                                    .data = x,
                                    .inner = s->variable});
    return dot >= 0 &&
           set_local(f, m, false,
                     push(f, (tm_row_node){.kind = TM_ROW_CALL,
                                           .name = "add",
                                           .parts = {(short)before, (short)dot},
                                           .part_count = 2}));
  }
  return false;
}

static bool take_part(finder *f, tm_part part) {
  if (f->row->part && f->row->part != part)
    return false;
  f->row->part = part;
  return part == TM_PART_PRIOR || part == TM_PART_LIKELIHOOD;
}

static bool take_statements(finder *f, tm_statement *const *body, size_t count,
                            const tm_statement *loop) {
  for (size_t i = 0; i < count; i++) {
    tm_statement *s = body[i];
    bool taken = !s->shadow && !s->instead;
    if (!taken)
      return false;
    if (s->kind == TM_S_TILDE)
      taken = !s->truncated && take_part(f, s->part) && s->density &&
              tm_is_scalar(s->left->type) && tm_is_scalar_density(s->density) &&
              add_scalar_term(f, s->density);
    else if (s->kind == TM_S_TARGET)
      taken = take_part(f, s->part) && tm_is_scalar(s->value->type) &&
              add_scalar_term(f, s->value);
    else if (s->kind == TM_S_ASSIGN)
      taken = take_assignment(f, s, loop);
    else if (s->kind == TM_S_DECLARE)
      taken =
          tm_rank(s->variable->type) == 0 &&
          s->variable->type.base == TM_REAL &&
          s->variable->constraint == TM_FREE &&
          (!s->variable->initial ||
           set_local(f, s->variable, false, row_of(f, s->variable->initial)));
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

static bool mentions(const tm_expression *e, const tm_variable *v) {
  if (!e)
    return false;
  bool found = e->kind == TM_E_NAME && e->variable == v;
  for (size_t i = 0; i < e->part_count && !found; i++)
    found = mentions(e->parts[i], v);
  for (size_t i = 0; i < e->index_count && !found; i++)
    found = mentions(e->indices[i].from, v) || mentions(e->indices[i].to, v);
  return found;
}

static bool statement_mentions(const tm_statement *s, const tm_variable *v,
                               const tm_statement *but) {
  if (!s || s == but)
    return false;
  bool found = mentions(s->left, v) || mentions(s->value, v) ||
               mentions(s->density, v) || mentions(s->lower, v) ||
               mentions(s->upper, v) || mentions(s->cdf[0], v) ||
               mentions(s->cdf[1], v) ||
               (s->kind == TM_S_DECLARE && mentions(s->variable->initial, v)) ||
               statement_mentions(s->otherwise, v, but) ||
               statement_mentions(s->shadow, v, but) ||
               statement_mentions(s->instead, v, but);
  for (size_t i = 0; i < s->argument_count && !found; i++)
    found = mentions(s->arguments[i], v);
  for (size_t i = 0; i < s->body_count && !found; i++)
    found = statement_mentions(s->body[i], v, but);
  return found;
}

static bool is_private(finder *f, const tm_variable *v,
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

static void count_assignments(finder *f, tm_statement *const *body,
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
static bool settled_holds(finder *f, const tm_expression *e) {
  return is_plain_call(e, false) &&
         (e->kind != TM_E_NAME || e->variable->loop ||
          f->assigned[e->variable->index] <= 1);
}

static void define(finder *f, const tm_variable *v, tm_expression *value,
                   tm_variable *counter) {
  if (is_vector(v->type) && v->type.base != TM_INT &&
      v->constraint == TM_FREE && f->assigned[v->index] == 1 &&
      has_fixed_sizes(f, v) && everywhere(f, value, settled_holds) &&
      !mentions(value, v))
    f->defined[v->index] = (definition){value, counter};
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
static void define_by_loop(finder *f, const tm_statement *s) {
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
      alone =
          alone && !mentions(body[i]->value, body[k]->left->parts[0]->variable);
    if (alone)
      define(f, body[i]->left->parts[0]->variable, body[i]->value, s->variable);
  }
}

/* ---- all ---------------------------------------------------------------- */

static bool begin(finder *f, tm_statement *s) {
  tm_arena *arena = f->program->source.arena;
  f->row = TM_NEW(arena, tm_row_statement, 1);
  if (f->row)
    f->row->nodes = TM_NEW(arena, tm_row_node, TM_ROW_MOST);
  if (!f->row || !f->row->nodes) {
    f->failed = true;
    return false;
  }
  f->row->statement = s;
  f->local_count = f->depth = 0;
  f->owner = NULL;
  f->loop = s->kind == TM_S_FOR;
  f->around = s;
  f->strict = f->loop;
  return true;
}

static bool take_loop(finder *f, tm_statement *s) {
  if (s->lower->level == TM_LEVEL_PARAMETER ||
      s->upper->level == TM_LEVEL_PARAMETER || !is_data(f, s->lower) ||
      !is_data(f, s->upper))
    return false;
  f->row->counters[f->row->counter_count++] = s->variable;
  return take_statements(f, s->body, s->body_count, s) && f->row->part &&
         f->row->leaves > 0;
}

static bool take(finder *f, tm_statement *s) {
  if (s->shadow || s->instead || s->raises || !begin(f, s))
    return false;
  if (s->kind == TM_S_FOR)
    return take_loop(f, s);
  tm_expression *term = s->kind == TM_S_TILDE ? s->density : s->value;
  return term && !(s->kind == TM_S_TILDE && s->truncated) &&
         take_part(f, s->part) && add_vector_term(f, term) &&
         f->row->leaves > 0;
}

static void visit(finder *f, tm_statement *const *body, size_t count,
                  bool model) {
  for (size_t i = 0; i < count; i++) {
    tm_statement *s = body[i];
    if (s->kind == TM_S_BLOCK)
      visit(f, s->body, s->body_count, model);
    else if (s->kind == TM_S_DECLARE && s->variable->initial)
      define(f, s->variable, s->variable->initial, NULL);
    else if (s->kind == TM_S_ASSIGN && s->left->kind == TM_E_NAME)
      define(f, s->left->variable, s->value, NULL);
    else if (s->kind == TM_S_FOR)
      define_by_loop(f, s);
    bool raises =
        s->kind == TM_S_TILDE || s->kind == TM_S_TARGET || s->kind == TM_S_FOR;
    if (!model || !raises || !take(f, s))
      continue;
    f->row->number = (int)f->program->rows.count + 1;
    if (!tm_list_add(f->program->source.arena, &f->program->rows, f->row))
      f->failed = true;
    s->rows = f->row;
  }
}

tempera_status tm_rows_find(tm_program *program) {
  finder f = {.program = program};
  size_t count = (size_t)program->variable_count + 1;
  f.assigned = TM_NEW(program->source.arena, int, count);
  f.defined = TM_NEW(program->source.arena, definition, count);
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
