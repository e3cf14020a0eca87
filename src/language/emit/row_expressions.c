/* row_expressions.c - expressions inside statements over rows as operations;
 * see find_rows.c. */
#include "language/emit/row_finder.h"

#include "language/check/types.h"
#include "language/runtime/runtime.h"

#include <string.h>

static bool assigns(const tm_statement *s, const tm_variable *v) {
  if (s->kind == TM_S_ASSIGN && tm_root(s->left)->variable == v)
    return true;
  for (size_t i = 0; i < s->body_count; i++)
    if (assigns(s->body[i], v))
      return true;
  return false;
}

/* Does the loop assign it, so that a row may see what another left? */
static bool is_carried(const tm_row_finder *f, const tm_variable *v) {
  return f->loop && assigns(f->around, v);
}

/* ---- expressions -------------------------------------------------------- */

static bool is_counter(const tm_row_finder *f, const tm_variable *v) {
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
bool tm_row_plain_call(const tm_expression *e, bool of_users) {
  if (e->system || e->kind == TM_E_STRING)
    return false;
  if (e->kind != TM_E_CALL)
    return true;
  if (e->function)
    return of_users && !e->function->uses_target;
  return e->builtin && e->builtin->kind != TM_B_RNG &&
         !strstr(e->builtin->name, "_rng");
}

/* Does the test hold for e and all below it? */
bool tm_row_everywhere(tm_row_finder *f, const tm_expression *e,
                       tm_row_test holds) {
  if (!e)
    return true;
  if (!holds(f, e))
    return false;
  for (size_t i = 0; i < e->part_count; i++)
    if (!tm_row_everywhere(f, e->parts[i], holds))
      return false;
  for (size_t i = 0; i < e->index_count; i++)
    if (!tm_row_everywhere(f, e->indices[i].from, holds) ||
        !tm_row_everywhere(f, e->indices[i].to, holds))
      return false;
  return true;
}

static bool data_holds(tm_row_finder *f, const tm_expression *e) {
  return e->level != TM_LEVEL_PARAMETER && tm_row_plain_call(e, false) &&
         (e->kind != TM_E_NAME || is_global_data(e->variable) ||
          is_counter(f, e->variable));
}

/* Known when the data are read, with the row's number. */
bool tm_row_is_data(tm_row_finder *f, const tm_expression *e) {
  return tm_row_everywhere(f, e, data_holds);
}

static bool shared_holds(tm_row_finder *f, const tm_expression *e) {
  if (!tm_row_plain_call(e, true))
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
bool tm_row_is_shared(tm_row_finder *f, const tm_expression *e) {
  return tm_row_everywhere(f, e, shared_holds);
}

static bool fixed_holds(tm_row_finder *f, const tm_expression *e) {
  (void)f;
  return e->level != TM_LEVEL_PARAMETER && tm_row_plain_call(e, false) &&
         (e->kind != TM_E_NAME || is_global_data(e->variable));
}

/* Are the sizes of a variable known from data? */
bool tm_row_fixed_sizes(tm_row_finder *f, const tm_variable *v) {
  for (size_t i = 0; i < v->size_count; i++)
    if (!tm_row_everywhere(f, v->sizes[i], fixed_holds))
      return false;
  return !v->items && !v->argument && !tm_is_complex(v->type);
}

/* ---- operations --------------------------------------------------------- */

int tm_row_push(tm_row_finder *f, tm_row_node node) {
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

static int push_call(tm_row_finder *f, const char *name,
                     tm_expression *const *parts, size_t count) {
  tm_row_node node = {.kind = TM_ROW_CALL, .name = name};
  if (count > 3 || !tm_row_has_call(name))
    return -1;
  for (size_t i = 0; i < count; i++) {
    int part = tm_row_of(f, parts[i]);
    if (part < 0)
      return -1;
    node.parts[node.part_count++] = (short)part;
  }
  return tm_row_push(f, node);
}

static int data_node(tm_row_finder *f, tm_expression *e) {
  bool number = tm_rank(e->type) == 0;
  for (int i = 0; i < f->row->counter_count && number; i++) {
    tm_variable *kept = f->row->counters[i];
    /* a number if it can do without every counter */
    f->row->counters[i] = NULL;
    number = tm_row_is_data(f, e);
    f->row->counters[i] = kept;
  }
  if (tm_rank(e->type) == 1 && !tm_row_everywhere(f, e, fixed_holds))
    return -1;
  return tm_row_push(
      f, (tm_row_node){.kind = number ? TM_ROW_NUMBER : TM_ROW_COLUMN,
                       .value = e});
}

bool tm_row_vector(tm_type type) {
  return tm_rank(type) == 1 && !tm_is_complex(type) && type.base != TM_TUPLE;
}

/* A vector as it is, one element for each row. */
static int whole_vector(tm_row_finder *f, tm_expression *e) {
  bool name = e->kind == TM_E_NAME;
  if (!tm_row_vector(e->type) || !tm_row_is_shared(f, e) ||
      (!name && f->strict) || (name && !tm_row_fixed_sizes(f, e->variable)))
    return -1;
  return tm_row_push(f, (tm_row_node){.kind = TM_ROW_PICK, .value = e});
}

/* The expression that made the vector, in place of it; -1: as it is. */
static int inlined(tm_row_finder *f, const tm_variable *v) {
  const tm_row_definition *d = &f->defined[v->index];
  tm_row_statement *r = f->row;
  int count = r->count, leaves = r->leaves, counters = r->counter_count;
  int inlined_count = r->inlined_count;
  const tm_variable *owner = f->owner;
  bool strict = f->strict;
  if (!d->value || f->depth > TM_ROW_DEPTH || inlined_count == TM_ROW_INLINED)
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
  int node = tm_row_of(f, d->value);
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

static int name_node(tm_row_finder *f, tm_expression *e) {
  for (int i = f->local_count; i-- > 0;)
    if (f->locals[i].variable == e->variable)
      return f->locals[i].element ? -1 : f->locals[i].node;
  if (!tm_row_vector(e->type) || is_carried(f, e->variable))
    return -1;
  int node = inlined(f, e->variable);
  return node >= 0 ? node : whole_vector(f, e);
}

/* Is e the row's number? */
bool tm_row_identity(tm_row_finder *f, const tm_expression *e) {
  return e && !f->row->powers && e->kind == TM_E_NAME &&
         is_counter(f, e->variable);
}

/* v[i], v[g[i]], v[i, j] */
static int element_node(tm_row_finder *f, tm_expression *e) {
  tm_expression *base = e->parts[0];
  if (base->kind != TM_E_NAME)
    return -1;
  tm_variable *v = base->variable;
  bool same = e->index_count == 1 && e->indices[0].kind == TM_INDEX_ONE &&
              tm_row_identity(f, e->indices[0].from);
  for (int i = f->local_count; i-- > 0;)
    if (f->locals[i].variable == v)
      return f->locals[i].element && same ? f->locals[i].node : -1;
  if (is_carried(f, v))
    return -1;
  int node = same && tm_row_vector(base->type) ? inlined(f, v) : -1;
  if (node >= 0)
    return node;
  if ((int)e->index_count != tm_rank(base->type) || !tm_row_fixed_sizes(f, v))
    return -1;
  for (size_t i = 0; i < e->index_count; i++)
    if (e->indices[i].kind != TM_INDEX_ONE ||
        !tm_row_is_data(f, e->indices[i].from) ||
        e->indices[i].from->type.depth)
      return -1;
  return tm_row_push(
      f, (tm_row_node){.kind = TM_ROW_PICK, .value = base, .data = e});
}

/* v[g], with an array of places */
static int places_node(tm_row_finder *f, tm_expression *e) {
  tm_expression *base = e->parts[0];
  if (base->kind != TM_E_NAME || !tm_row_vector(base->type) ||
      e->index_count != 1 || e->indices[0].kind != TM_INDEX_ONE ||
      !tm_row_fixed_sizes(f, base->variable) || !tm_row_is_shared(f, base))
    return whole_vector(f, e);
  tm_expression *places = e->indices[0].from;
  if (tm_rank(places->type) != 1 || !tm_row_is_data(f, places))
    return whole_vector(f, e);
  return tm_row_push(
      f, (tm_row_node){.kind = TM_ROW_PICK, .value = base, .data = places});
}

static int index_node(tm_row_finder *f, tm_expression *e) {
  return tm_rank(e->type) == 0 ? element_node(f, e) : places_node(f, e);
}

/* rows of data times a vector */
int tm_row_dot(tm_row_finder *f, tm_expression *data, tm_expression *vector) {
  int rank = tm_rank(data->type);
  if (!tm_row_is_data(f, data) || !tm_row_vector(vector->type) ||
      !tm_row_is_shared(f, vector) || tm_is_complex(data->type) || rank < 1 ||
      rank > 2)
    return -1;
  return tm_row_push(
      f, (tm_row_node){.kind = TM_ROW_DOT, .value = vector, .data = data});
}

static int product_node(tm_row_finder *f, tm_expression *e) {
  tm_expression *a = e->parts[0], *b = e->parts[1];
  if (tm_is_scalar(a->type) || tm_is_scalar(b->type))
    return push_call(f, "elt_multiply", e->parts, 2);
  bool row = tm_rank(e->type) == 0 && a->type.base == TM_ROW_VECTOR &&
             b->type.base == TM_VECTOR;
  bool matrix = a->type.base == TM_MATRIX && b->type.base == TM_VECTOR;
  int node = row || matrix ? tm_row_dot(f, a, b) : -1;
  return node >= 0 ? node : whole_vector(f, e);
}

static int binary_node(tm_row_finder *f, tm_expression *e) {
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
static const char *density_name(tm_row_finder *f, const tm_builtin *b) {
  char *name = tm_arena_text(f->program->source.arena, b->name);
  if (!name) {
    f->failed = true;
    return "";
  }
  name[strlen(name) - 5] = '\0';
  return name;
}

int tm_row_density(tm_row_finder *f, const tm_expression *e) {
  tm_row_node node = {.kind = TM_ROW_DENSITY,
                      .name = density_name(f, e->builtin)};
  if (e->part_count > 4 || !tm_density_kernel(node.name))
    return -1;
  for (size_t i = 0; i < e->part_count; i++) {
    int part = tm_row_of(f, e->parts[i]);
    if (part < 0)
      return -1;
    node.parts[node.part_count++] = (short)part;
  }
  return tm_row_push(f, node);
}

/* rep_vector(x, n) */
static int repeated_node(tm_row_finder *f, const tm_expression *e) {
  if (!tm_is_scalar(e->parts[0]->type) ||
      !tm_row_everywhere(f, e->parts[1], fixed_holds))
    return -1;
  int node = tm_row_of(f, e->parts[0]);
  if (node >= 0)
    f->row->nodes[node].length = e->parts[1];
  return node;
}

static int call_node(tm_row_finder *f, tm_expression *e) {
  const tm_builtin *b = e->builtin;
  if (e->function || e->system || !b)
    return whole_vector(f, e);
  if (b->kind == TM_B_UNARY || b->kind == TM_B_BINARY)
    return push_call(f, b->name, e->parts, e->part_count);
  if (b->kind == TM_B_DENSITY && f->loop && tm_is_scalar_density(e))
    return tm_row_density(f, e);
  if (!strcmp(b->name, "log_mix") && e->part_count == 3 && f->loop)
    return push_call(f, "log_mix", e->parts, 3);
  if (!strcmp(b->name, "rep_vector"))
    return repeated_node(f, e);
  if (!strcmp(b->name, "dot_product") && f->loop) {
    bool first = tm_row_is_data(f, e->parts[0]);
    return tm_row_dot(f, e->parts[first ? 0 : 1], e->parts[first ? 1 : 0]);
  }
  return whole_vector(f, e);
}

static int parameter_node(tm_row_finder *f, tm_expression *e) {
  switch (e->kind) {
  case TM_E_NAME:
    return name_node(f, e);
  case TM_E_INDEX:
    return index_node(f, e);
  case TM_E_BINARY:
    return binary_node(f, e);
  case TM_E_UNARY:
    return e->text[0] == '-'   ? push_call(f, "minus", e->parts, 1)
           : e->text[0] == '+' ? tm_row_of(f, e->parts[0])
                               : -1;
  case TM_E_TRANSPOSE:
    return tm_row_vector(e->type) ? tm_row_of(f, e->parts[0]) : -1;
  case TM_E_CALL:
    return call_node(f, e);
  default:
    return whole_vector(f, e);
  }
}

/* Does it belong to another part of the target? */
bool tm_row_another(const tm_row_finder *f, const tm_expression *e) {
  return e->part && e->part != f->row->part;
}

/* Integers that are computed from parameters: their arithmetic (division!) is
 * another. */
static bool counts(tm_row_finder *f, const tm_expression *e) {
  return e->type.base == TM_INT && e->kind != TM_E_NAME &&
         e->kind != TM_E_INDEX && !tm_row_is_data(f, e) &&
         !tm_row_is_shared(f, e);
}

/* The operation whose value is e in every row; -1: not understood. */
int tm_row_of(tm_row_finder *f, tm_expression *e) {
  if (tm_row_another(f, e) || tm_rank(e->type) > (f->row->powers ? 0 : 1) ||
      tm_is_complex(e->type) || e->type.base == TM_TUPLE ||
      f->depth > TM_ROW_DEPTH || counts(f, e))
    return -1;
  f->depth++;
  int node;
  if (tm_row_is_data(f, e))
    node = data_node(f, e);
  else if (tm_rank(e->type) == 0 && tm_row_is_shared(f, e))
    node = tm_row_push(f, (tm_row_node){.kind = TM_ROW_SCALAR, .value = e});
  else
    node = parameter_node(f, e);
  f->depth--;
  if (node >= 0)
    f->why = NULL;
  else if (!f->why) {
    f->why = "this is not the same work for every row";
    f->at = e->token;
  }
  return node;
}
