/* local.c - functions that are one node: statements, variables, and functions
 * in functions. See local.h. */
#include "language/emit/local.h"

#include "base/memory.h"
#include "language/check/types.h"

#include <string.h>

enum { MOST_PATHS = 8, MOST_DEPTH = 6 };

/* What is to be done after a statement: the rest of its list, then of the list
 * that this stands in. */
typedef struct rest {
  tm_statement *const *body;
  size_t count;
  const struct rest *next;
} rest;

static void emit_rest(tm_local *l, rest r);

bool tm_local_is_vector(tm_type type) {
  return type.depth == 0
             ? type.base == TM_VECTOR || type.base == TM_ROW_VECTOR
             : type.depth == 1 && type.base <= TM_REAL && type.base != TM_VOID;
}

static bool is_scalar(tm_type type) {
  return type.depth == 0 && (type.base == TM_INT || type.base == TM_REAL);
}

bool tm_is_one_node(const tm_expression *e) {
  return e->kind == TM_E_CALL && e->function && e->function->one_node;
}

/* ---- variables ---------------------------------------------------------- */

/* A variable has a name of its own in C, for what is computed from it without
 * slopes: sizes, indices, conditions. */
static void emit_shadow(tm_local *l, const tm_variable *v, int k) {
  tm_emit_variable(l->g, v);
  if (!tm_local_is_vector(v->type))
    tm_emit(l->g, " = x%d_;\n", k);
  else
    tm_emit(l->g, " = tm_seen(x%d_, n%d_);\n", k, k);
}

static void emit_declared(tm_local *l, const tm_variable *v) {
  tm_emit(l->g, "  %s ",
          tm_local_is_vector(v->type) ? "tm_tensor"
          : v->type.base == TM_INT    ? "long"
                                      : "double");
}

static void assign(tm_local *l, const tm_variable *v, const tm_expression *e,
                   const tm_token *token) {
  tm_emitter *g = l->g;
  if (v->type.base == TM_INT && is_scalar(v->type)) {
    tm_emit(g, "  ");
    tm_emit_variable(g, v);
    tm_emit(g, " = ");
    tm_emit_expression(g, e);
    tm_emit(g, ";\n");
    return;
  }
  int k = tm_local_part_of(l, e);
  if (l->failed)
    return;
  if (tm_local_is_vector(v->type) != l->all[k].vector) {
    l->failed = true;
    return;
  }
  if (l->all[k].vector) {
    tm_emit(g, "  tm_fits(t, z%d_%d_, n%d_, \"%s\", ", v->index, g->shadow, k,
            v->name);
    tm_emit_place(g, token);
    tm_emit(g, ");\n");
  }
  l->bound[v->index] = k;
  tm_emit(g, "  ");
  emit_shadow(l, v, k);
}

static void declare(tm_local *l, const tm_variable *v) {
  tm_emitter *g = l->g;
  bool vector = tm_local_is_vector(v->type) && v->type.base != TM_INT;
  if (v->items || (!vector && !is_scalar(v->type))) {
    l->failed = true;
    return;
  }
  if (vector) {
    tm_emit(g, "  long z%d_%d_ = tm_size(t, ", v->index, g->shadow);
    tm_emit_expression(g, v->sizes[0]);
    tm_emit(g, ", ");
    tm_emit_place(g, v->token);
    tm_emit(g, ");\n");
  }
  emit_declared(l, v);
  tm_emit_variable(g, v);
  tm_emit(g, " = %s;\n",
          vector                    ? "{0}"
          : v->type.base == TM_REAL ? "NAN"
                                    : "-2147483647L");
  l->bound[v->index] = -1;
  if (v->initial)
    assign(l, v, v->initial, v->token);
}

/* ---- statements --------------------------------------------------------- */

/* Messages alone: nothing that a path would have to know of. */
static bool only_says(const tm_statement *s) {
  bool says = s->kind == TM_S_PRINT || s->kind == TM_S_REJECT ||
              s->kind == TM_S_EMPTY || s->kind == TM_S_BLOCK ||
              s->kind == TM_S_IF;
  for (size_t i = 0; i < s->body_count && says; i++)
    says = only_says(s->body[i]);
  return says && (!s->otherwise || only_says(s->otherwise));
}

/* What is simple; false: it is not. */
static bool emit_simple(tm_local *l, const tm_statement *s) {
  if (s->shadow || s->instead || s->raises || s->summed) {
    l->failed = true;
  } else if (only_says(s)) {
    tm_emit_statements(l->g, (tm_statement *const *)&s, 1);
  } else if (s->kind == TM_S_DECLARE) {
    declare(l, s->variable);
  } else if (s->kind == TM_S_ASSIGN && s->left->kind == TM_E_NAME) {
    assign(l, s->left->variable, s->value, s->token);
  } else {
    return false;
  }
  return true;
}

/* One way through a condition, with all that follows. */
static void emit_path(tm_local *l, tm_statement *const *body, size_t count,
                      const rest *next) {
  int *before = TM_NEW(l->g->arena, int, l->variable_count), parts = l->count;
  if (!before || ++l->paths > MOST_PATHS) {
    l->failed = true;
    return;
  }
  memcpy(before, l->bound, l->variable_count * sizeof *before);
  emit_rest(l, (rest){body, count, next});
  memcpy(l->bound, before, l->variable_count * sizeof *before);
  l->count = parts;
}

static void emit_condition(tm_local *l, const tm_statement *s,
                           const rest *next) {
  const tm_statement *other = s->otherwise;
  tm_emit(l->g, "  if (");
  tm_emit_number(l->g, s->value);
  tm_emit(l->g, " != 0) {\n");
  emit_path(l, s->body, s->body_count, next);
  tm_emit(l->g, "  } else {\n");
  if (!l->failed)
    emit_path(l, other ? other->body : NULL, other ? other->body_count : 0,
              next);
  tm_emit(l->g, "  }\n");
}

static void emit_rest(tm_local *l, rest r) {
  while (!l->failed) {
    while (r.count == 0 && r.next)
      r = *r.next;
    if (r.count == 0)
      return; /* without returning */
    const tm_statement *s = *r.body++;
    r.count--;
    if (emit_simple(l, s))
      continue;
    const rest after = r;
    if (s->kind == TM_S_BLOCK) {
      emit_rest(l, (rest){s->body, s->body_count, &after});
    } else if (s->kind == TM_S_IF) {
      emit_condition(l, s, &after);
    } else if (s->kind == TM_S_RETURN && s->value) {
      int k = tm_local_part_of(l, s->value);
      if (!l->failed)
        tm_local_return(l, k);
    } else {
      l->failed = true;
    }
    return;
  }
}

/* ---- functions in functions --------------------------------------------- */

/* The value of a body without conditions. */
static int straight_value(tm_local *l, tm_statement *const *body,
                          size_t count) {
  for (size_t i = 0; i < count && !l->failed; i++) {
    const tm_statement *s = body[i];
    if (emit_simple(l, s))
      continue;
    if (s->kind == TM_S_RETURN && s->value)
      return tm_local_part_of(l, s->value);
    if (s->kind == TM_S_BLOCK && i + 1 == count)
      return straight_value(l, s->body, s->body_count);
    break;
  }
  l->failed = true;
  return -1;
}

/* What an argument is given, while names are still the caller's: a part, or of
 * an integer the number i<number>_. */
static int given(tm_local *l, const tm_expression *e) {
  int number = l->numbers;
  if (!is_scalar(e->type) || e->type.base != TM_INT)
    return tm_local_part_of(l, e);
  l->numbers++;
  tm_emit(l->g, "  long i%d_ = ", number);
  tm_emit_expression(l->g, e);
  tm_emit(l->g, ";\n");
  return number;
}

/* An integer for a real. */
static int as_real(tm_local *l, int number) {
  int k = tm_local_push(l, (tm_local_part){.kind = TM_LOCAL_NUMBER});
  if (!l->failed)
    tm_emit(l->g, "  double x%d_ = (double)i%d_;\n", k, number);
  return k;
}

static void bind_given(tm_local *l, const tm_variable *v, bool whole, int k) {
  l->failed = l->failed || !(is_scalar(v->type) || tm_local_is_vector(v->type));
  bool real = v->type.base != TM_INT || !is_scalar(v->type);
  if (!l->failed && whole && real)
    k = as_real(l, k);
  if (l->failed)
    return;
  emit_declared(l, v);
  if (real) {
    l->bound[v->index] = k;
    emit_shadow(l, v, k);
    return;
  }
  tm_emit_variable(l->g, v);
  tm_emit(l->g, " = i%d_;\n", k);
}

int tm_local_call(tm_local *l, const tm_expression *e) {
  const tm_function *f = e->function;
  int parts[TM_LOCAL_OPERANDS], before = l->g->shadow;
  bool whole[TM_LOCAL_OPERANDS];
  if (!f->body || f->uses_target || f->argument_count > TM_LOCAL_OPERANDS ||
      l->depth == MOST_DEPTH)
    l->failed = true;
  for (size_t i = 0; i < f->argument_count && !l->failed; i++) {
    whole[i] = e->parts[i]->type.base == TM_INT && is_scalar(e->parts[i]->type);
    parts[i] = given(l, e->parts[i]);
  }
  if (l->failed)
    return -1;
  l->depth++;
  l->g->shadow = ++l->instances;
  for (size_t i = 0; i < f->argument_count; i++)
    bind_given(l, f->arguments[i], whole[i], parts[i]);
  int k = straight_value(l, f->body->body, f->body->body_count);
  l->g->shadow = before;
  l->depth--;
  return k;
}

/* ---- the function ------------------------------------------------------- */

static void bind_argument(tm_local *l, const tm_variable *v) {
  tm_emitter *g = l->g;
  bool data = v->data_only || v->type.base == TM_INT;
  if (is_scalar(v->type) && v->type.base == TM_INT) {
    tm_emit(g, "  long v_%s_%d_%d = v_%s;\n", v->name, v->index, g->shadow,
            v->name);
    return;
  }
  if (v->type.base == TM_TUPLE || tm_is_complex(v->type) ||
      v->type.base > TM_MATRIX) {
    l->failed = true;
    return;
  }
  tm_local_part p = {.active = l->gradient && !data};
  bool scalar = is_scalar(v->type);
  p.kind = !scalar    ? TM_LOCAL_TENSOR
           : p.active ? TM_LOCAL_LEAF
                      : TM_LOCAL_NUMBER;
  int k = tm_local_push(l, p);
  l->bound[v->index] = k;
  if (!scalar)
    tm_emit(g,
            "  tm_tensor l%d_ = v_%s, v_%s_%d_%d = tm_without_adjoints(l%d_);"
            "\n",
            k, v->name, v->name, v->index, g->shadow, k);
  else if (p.active)
    tm_emit(g, "  tm_var a%d_ = v_%s; double x%d_ = a%d_.v", k, v->name, k, k);
  else
    tm_emit(g, "  double x%d_ = v_%s", k, v->name);
  if (scalar)
    tm_emit(g, ", v_%s_%d_%d = x%d_;\n", v->name, v->index, g->shadow, k);
}

static void emit_body(tm_local *l, const tm_function *f) {
  tm_emitter *g = l->g;
  tm_emit(g, "  double b_[256]; tm_room_left w_ = {b_, b_ + 256};\n"
             "  (void)t, (void)w_;\n");
  g->shadow = l->instances = 1;
  for (size_t i = 0; i < f->argument_count && !l->failed; i++)
    bind_argument(l, f->arguments[i]);
  if (!l->failed)
    emit_rest(l, (rest){f->body->body, f->body->body_count, NULL});
  g->shadow = 0;
}

/* What was written so far is taken back when it fails. */
bool tm_emit_local(tm_emitter *g, const tm_function *f, tm_text *own) {
  if (f->uses_target || f->result.base != TM_REAL || f->result.depth > 0 ||
      f->argument_count > 40)
    return false;
  size_t count = (size_t)g->program->tree.variable_count + 1;
  tm_local *l = TM_NEW(g->arena, tm_local, 1);
  int *bound = TM_NEW(g->arena, int, count);
  if (!l || !bound) {
    g->body.failed = true;
    return false;
  }
  *l = (tm_local){
      .g = g, .gradient = g->gradient, .bound = bound, .variable_count = count};
  for (size_t i = 0; i < count; i++)
    bound[i] = -1;
  tm_text before = g->body;
  size_t calls = g->call_count, kernels = g->kernel_count;
  g->body = *own;
  g->gradient = false;
  emit_body(l, f);
  g->gradient = l->gradient;
  *own = g->body;
  g->body = before;
  if (l->failed) {
    g->call_count = calls;
    g->kernel_count = kernels;
  }
  g->body.failed = g->body.failed || own->failed;
  return !l->failed;
}
