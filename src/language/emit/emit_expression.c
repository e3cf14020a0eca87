/* emit_expression.c - expressions to C. */
#include "language/emit/emit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- numbers, names ----------------------------------------------------- */

static void emit_real(tm_emitter *g, double x) {
  if (isnan(x))
    tm_emit(g, "NAN");
  else if (isinf(x))
    tm_emit(g, x > 0 ? "INFINITY" : "(-INFINITY)");
  else
    tm_emit(g, "(%a)", x);
}

static bool in_instance(const tm_variable *v) {
  return v->global &&
         (v->block == TM_BLOCK_DATA || v->block == TM_BLOCK_TRANSFORMED_DATA);
}

void tm_emit_variable(tm_emitter *g, const tm_variable *v) {
  bool own = g->drawn && g->drawn[v->index];
  tm_emit(g, "%sv_%s", in_instance(v) && !own ? "I->" : "", v->name);
  if (g->shadow)
    tm_emit(g, "_%d_%d", v->index, g->shadow);
}

/* ---- conversions -------------------------------------------------------- */

void tm_emit_as(tm_emitter *g, const tm_expression *e, tm_held held) {
  tm_held from = tm_held_of(g, e);
  if (from == held || held == TM_TENSOR || held == TM_STRUCT) {
    tm_emit_expression(g, e);
    return;
  }
  tm_emit(g, held == TM_VAR ? "tm_constant(" : "");
  tm_emit(g, from == TM_LONG && held != TM_LONG ? "(double)(" : "(");
  tm_emit_expression(g, e);
  tm_emit(g, from == TM_VAR ? ").v" : ")");
  tm_emit(g, held == TM_VAR ? ")" : "");
}

void tm_emit_number(tm_emitter *g, const tm_expression *e) {
  if (tm_held_of(g, e) == TM_LONG)
    tm_emit_expression(g, e);
  else
    tm_emit_as(g, e, TM_DOUBLE);
}

/* Is it a field of the instance? */
static bool is_kept(const tm_expression *e) {
  return e->kept && !e->kept_terms;
}

/* Is the storage behind this tensor assigned after it is made? */
bool tm_is_steady(const tm_expression *e) {
  const tm_expression *root = e;
  while ((root->kind == TM_E_INDEX || tm_is_cut(root)) && !is_kept(root))
    root = root->parts[0];
  if (is_kept(root))
    return true;
  if (root->kind == TM_E_NAME)
    return root->variable->global &&
           (root->variable->block == TM_BLOCK_PARAMETERS ||
            in_instance(root->variable));
  if (root->kind == TM_E_PROJECT)
    return false;
  if (root->kind == TM_E_UNARY && root->text[0] == '+')
    return tm_is_steady(root->parts[0]);
  if (root->kind == TM_E_CONDITIONAL)
    return tm_is_steady(root->parts[1]) && tm_is_steady(root->parts[2]);
  return !(root->kind == TM_E_CALL && root->function);
}

bool tm_is_loose(const tm_expression *e) {
  return tm_aliases(e) && !(e->kind == TM_E_INDEX && tm_is_steady(e));
}

void tm_emit_any(tm_emitter *g, const tm_expression *e) {
  static const char *const makers[] = {"tm_any_int(", "tm_any_real(",
                                       "tm_any_var(", "tm_any_tensor("};
  tm_held held = tm_held_of(g, e);
  tm_emit(g, "%s",
          held == TM_VAR && tm_is_loose(e) ? "tm_any_loose(" : makers[held]);
  tm_emit_lent(g, e);
  if (held == TM_TENSOR)
    tm_emit(g, ", %d", tm_is_steady(e));
  tm_emit(g, ")");
}

bool tm_aliases(const tm_expression *e) {
  if (is_kept(e))
    return tm_rank(e->type) > 0;
  switch (e->kind) {
  case TM_E_NAME:
    return tm_rank(e->type) > 0;
  case TM_E_INDEX:
  case TM_E_PROJECT:
    return true;
  case TM_E_CONDITIONAL:
    return true;
  case TM_E_CALL:
    return e->function != NULL && !tm_is_one_node(e);
  case TM_E_UNARY:
    return e->text[0] == '+';
  default:
    return false;
  }
}

/* ---- calls -------------------------------------------------------------- */

void tm_emit_library(tm_emitter *g, const char *name, const char *signature,
                     tm_expression *const *parts, size_t count,
                     const char *flags) {
  tm_emit(g, "F[%zu](t, (tm_any[]){", tm_emit_call_number(g, name, signature));
  for (size_t i = 0; i < count; i++) {
    if (i)
      tm_emit(g, ", ");
    tm_emit_any(g, parts[i]);
  }
  tm_emit(g, "%s}, %zu%s)", count ? "" : "{0}", count, flags);
}

/* The field of a tm_any that holds e. */
static void emit_field(tm_emitter *g, const tm_expression *e) {
  static const char *const fields[] = {".u.i", ".u.r.v", ".u.r", ".u.t"};
  tm_emit(g, "%s", fields[tm_held_of(g, e)]);
}

static void emit_library_value(tm_emitter *g, const tm_expression *e,
                               const char *name, const char *signature) {
  tm_emit_library(g, name, signature, e->parts, e->part_count, "");
  emit_field(g, e);
}

static void emit_user_call(tm_emitter *g, const tm_expression *e) {
  const tm_function *f = e->function;
  tm_emit(g, "f%d_%s_%s(t", f->index, f->name, tm_emit_variant(g, f));
  for (size_t i = 0; i < e->part_count; i++) {
    tm_emit(g, ", ");
    if (tm_held_of(g, e->parts[i]) == TM_TENSOR)
      tm_emit_lent(g, e->parts[i]);
    else
      tm_emit_given(g, e->parts[i], f->arguments[i]->type,
                    tm_held_variable(g, f->arguments[i]));
  }
  tm_emit(g, ")");
}

/* tm_d_name(R, a, b) or tm_v_name(t, a, b) */
static void emit_scalar_function(tm_emitter *g, const tm_expression *e,
                                 const char *name, tm_held held) {
  tm_emit(g, held == TM_VAR ? "tm_v_%s(t" : "tm_d_%s(t->runtime", name);
  for (size_t i = 0; i < e->part_count; i++) {
    tm_emit(g, ", ");
    tm_emit_as(g, e->parts[i], held);
  }
  tm_emit(g, ")");
}

bool tm_is_scalar_density(const tm_expression *e) {
  if (e->kind != TM_E_CALL || !e->builtin || e->builtin->kind != TM_B_DENSITY)
    return false;
  for (size_t i = 0; i < e->part_count; i++)
    if (!tm_is_scalar(e->parts[i]->type))
      return false;
  return true;
}

/* Its value; where it may depend on parameters, see emit_fused.c. */
static void emit_scalar_density(tm_emitter *g, const tm_expression *e) {
  size_t number = tm_emit_kernel_number(g, e->builtin->name), logged;
  const char *own = tm_inline_density(e, &logged);
  if (own)
    tm_emit(g, "({ double q_[] = {");
  else
    tm_emit(g, "tm_density_value(K[%zu], %zu, (double[]){", number,
            e->part_count);
  for (size_t i = 0; i < e->part_count; i++) {
    tm_emit(g, i ? ", " : "");
    tm_emit_number(g, e->parts[i]);
  }
  if (!own) {
    tm_emit(g, "})");
    return;
  }
  char x[40];
  snprintf(x, sizeof x, "q_[%zu]", logged);
  tm_emit(g, "}; tm_%s_density(K[%zu], q_, 0, ", own, number);
  tm_emit_log(g, e->parts[logged], x);
  tm_emit(g, "); })");
}

static void emit_call(tm_emitter *g, const tm_expression *e) {
  tm_held held = tm_held_of(g, e);
  if (!e->function && !e->system && !e->builtin) { /* target() */
    tm_emit(g, "t->log_density");
    return;
  }
  if (e->function) {
    if (tm_is_sliced(g, e))
      tm_emit_sliced(g, e);
    else
      emit_user_call(g, e);
    return;
  }
  if (e->system) {
    tm_emit_solver(g, e);
    return;
  }
  if (tm_is_scalar_density(e)) {
    emit_scalar_density(g, e);
    return;
  }
  if (tm_emit_length(g, e))
    return;
  const tm_builtin *b = e->builtin;
  bool elementwise = b->kind == TM_B_UNARY || b->kind == TM_B_BINARY;
  if (elementwise && held == TM_LONG) {
    tm_emit(g, "tm_abs_int(");
    tm_emit_expression(g, e->parts[0]);
    tm_emit(g, ")");
  } else if (elementwise && held != TM_TENSOR) {
    emit_scalar_function(g, e, b->name, held);
  } else {
    emit_library_value(g, e, b->name, b->signature);
  }
}

/* ---- operators ---------------------------------------------------------- */

typedef struct operator_name {
  const char *op, *c, *function;
} operator_name;

static const operator_name ARITHMETIC[] = {
    {"+", "+", "add"},           {"-", "-", "subtract"},
    {"*", "*", "elt_multiply"},  {"/", "/", "elt_divide"},
    {".*", "*", "elt_multiply"}, {"./", "/", "elt_divide"},
    {"^", NULL, "pow"},          {".^", NULL, "pow"}};

static const operator_name *find_operator(const char *op) {
  for (size_t i = 0; i < sizeof ARITHMETIC / sizeof *ARITHMETIC; i++)
    if (!strcmp(ARITHMETIC[i].op, op))
      return &ARITHMETIC[i];
  return NULL;
}

static void emit_infix(tm_emitter *g, const tm_expression *e, const char *op,
                       tm_held held) {
  tm_emit(g, "(");
  tm_emit_as(g, e->parts[0], held);
  tm_emit(g, " %s ", op);
  tm_emit_as(g, e->parts[1], held);
  tm_emit(g, ")");
}

static void emit_int_function(tm_emitter *g, const tm_expression *e,
                              const char *name) {
  tm_emit(g, "%s(t, ", name);
  tm_emit_expression(g, e->parts[0]);
  tm_emit(g, ", ");
  tm_emit_expression(g, e->parts[1]);
  tm_emit(g, ", ");
  tm_emit_place(g, e->token);
  tm_emit(g, ")");
}

static void emit_logic(tm_emitter *g, const tm_expression *e) {
  bool logical = !strcmp(e->text, "&&") || !strcmp(e->text, "||");
  tm_emit(g, "(long)(");
  tm_emit_number(g, e->parts[0]);
  tm_emit(g, logical ? " != 0 %s " : " %s ", e->text);
  tm_emit_number(g, e->parts[1]);
  tm_emit(g, logical ? " != 0)" : ")");
}

/* Is this a product of matrices (or a division by one)? */
static bool is_linear_algebra(const tm_expression *e) {
  return !tm_is_scalar(e->parts[0]->type) && !tm_is_scalar(e->parts[1]->type);
}

static void emit_linear_algebra(tm_emitter *g, const tm_expression *e) {
  char signature[8] = "";
  static const char letters[] = "?irvwm??";
  snprintf(signature, sizeof signature, "%c%c", letters[e->parts[0]->type.base],
           letters[e->parts[1]->type.base]);
  const char *name = e->text[0] == '*'   ? "operator*"
                     : e->text[0] == '/' ? "operator/"
                                         : "operator|";
  tm_emit_library(g, name, signature, e->parts, 2, "");
  emit_field(g, e);
}

static void emit_arithmetic(tm_emitter *g, const tm_expression *e) {
  const operator_name *op = find_operator(e->text);
  tm_held held = tm_held_of(g, e);
  if (held == TM_TENSOR)
    emit_library_value(g, e, op->function, "RR");
  else if (held == TM_LONG && strchr(e->text, '/'))
    emit_int_function(g, e, "tm_divide_int");
  else if (!op->c && e->parts[1]->kind == TM_E_INT && e->parts[1]->whole == 2) {
    tm_emit(g, held == TM_VAR ? "tm_v_square(t, " : "tm_d_square(0, ");
    tm_emit_as(g, e->parts[0], held);
    tm_emit(g, ")");
  } else if (held == TM_VAR || !op->c)
    emit_scalar_function(g, e, op->function, held);
  else
    emit_infix(g, e, op->c, held);
}

static void emit_binary(tm_emitter *g, const tm_expression *e) {
  if (!strcmp(e->text, "%"))
    emit_int_function(g, e, "tm_modulo_int");
  else if (!strcmp(e->text, "%/%"))
    emit_int_function(g, e, "tm_divide_int");
  else if (!strcmp(e->text, "\\") ||
           ((!strcmp(e->text, "*") || !strcmp(e->text, "/")) &&
            is_linear_algebra(e)))
    emit_linear_algebra(g, e);
  else if (find_operator(e->text))
    emit_arithmetic(g, e);
  else
    emit_logic(g, e);
}

static void emit_unary(tm_emitter *g, const tm_expression *e) {
  tm_held held = tm_held_of(g, e);
  if (e->text[0] == '+') {
    tm_emit_expression(g, e->parts[0]);
  } else if (e->text[0] == '!') {
    tm_emit(g, "(long)(");
    tm_emit_number(g, e->parts[0]);
    tm_emit(g, " == 0)");
  } else if (held == TM_TENSOR && e->type.base == TM_INT) {
    tm_expression zero = {.kind = TM_E_INT, .type = {.base = TM_INT}};
    tm_expression *parts[] = {&zero, e->parts[0]}; /* 0 - 0 has no sign */
    tm_emit_library(g, "subtract", "RR", parts, 2, "");
    emit_field(g, e);
  } else if (held == TM_TENSOR) {
    emit_library_value(g, e, "minus", "R");
  } else {
    tm_emit(g, held == TM_VAR ? "tm_v_negative(t, " : "(-");
    tm_emit_expression(g, e->parts[0]);
    tm_emit(g, ")");
  }
}

/* ---- indices ------------------------------------------------------------ */

static bool is_single(const tm_index *index) {
  return index->kind == TM_INDEX_ONE && index->from->type.depth == 0;
}

bool tm_index_single(const tm_expression *e) {
  for (size_t i = 0; i < e->index_count; i++)
    if (!is_single(&e->indices[i]))
      return false;
  return true;
}

void tm_emit_slices(tm_emitter *g, const tm_expression *e) {
  tm_emit(g, "%zu, (tm_slice[]){", e->index_count);
  for (size_t i = 0; i < e->index_count; i++) {
    const tm_index *index = &e->indices[i];
    const char *kind = is_single(index)                ? "TM_SLICE_ONE"
                       : index->kind == TM_INDEX_ALL   ? "TM_SLICE_ALL"
                       : index->kind == TM_INDEX_RANGE ? "TM_SLICE_RANGE"
                                                       : "TM_SLICE_MANY";
    bool many = !strcmp(kind, "TM_SLICE_MANY");
    tm_emit(g, "%s{.kind = %s", i ? ", " : "", kind);
    if (index->from) {
      tm_emit(g, many ? ", .many = " : ", .from = ");
      tm_emit_expression(g, index->from);
    } else {
      tm_emit(g, ", .from = 1");
    }
    tm_emit(g, ", .to = ");
    if (index->to)
      tm_emit_expression(g, index->to);
    else
      tm_emit(g, "-1");
    tm_emit(g, "}");
  }
  tm_emit(g, "}");
}

void tm_emit_offset(tm_emitter *g, const tm_expression *e) {
  tm_emit(g, " long k_ = 0;");
  for (size_t i = 0; i < e->index_count; i++) {
    tm_emit(g, " k_ = k_ * x_.dim[%zu] + tm_at(t, ", i);
    tm_emit_expression(g, e->indices[i].from);
    tm_emit(g, ", x_.dim[%zu], ", i);
    tm_emit_place(g, e->token);
    tm_emit(g, ");");
  }
}

/* x[i], x[i, j] with single indices: an element or a sub-tensor, by an offset
 * computed in one statement expression. */
static void emit_single_index(tm_emitter *g, const tm_expression *e) {
  tm_held held = tm_held_of(g, e);
  tm_flat_index flat;
  e = tm_flat_of(e, &flat);
  tm_emit(g, "({ tm_tensor x_ = ");
  tm_emit_expression(g, e->parts[0]);
  tm_emit(g, ";");
  tm_emit_offset(g, e);
  if (held == TM_TENSOR)
    tm_emit(g, " tm_sub(x_, k_, %zu); })", e->index_count);
  else if (held == TM_VAR)
    tm_emit(g, " tm_element_of(x_, k_); })");
  else
    tm_emit(g, " %sx_.v[k_]; })", held == TM_LONG ? "(long)" : "");
}

/* An element of a parameter, from theta, whose first index runs fastest. */
static bool is_direct(const tm_emitter *g, const tm_expression *e) {
  return g->direct && e->parts[0]->kind == TM_E_NAME &&
         g->direct[e->parts[0]->variable->index];
}

static void emit_direct(tm_emitter *g, const tm_expression *e) {
  const char *n = e->parts[0]->variable->name;
  tm_emit(g, "({ long k_ = 0;");
  for (size_t i = e->index_count; i-- > 0;) {
    tm_emit(g, " k_ = k_ * I->d_%s[%zu] + tm_at(t, ", n, i);
    tm_emit_expression(g, e->indices[i].from);
    tm_emit(g, ", I->d_%s[%zu], ", n, i);
    tm_emit_place(g, e->token);
    tm_emit(g, ");");
  }
  tm_emit(g, " (%s)theta[I->o_%s + k_]; })", tm_held_name(tm_held_of(g, e)), n);
}

static void emit_index(tm_emitter *g, const tm_expression *e) {
  if (is_direct(g, e)) {
    emit_direct(g, e);
    return;
  }
  if (tm_index_single(e)) {
    emit_single_index(g, e);
    return;
  }
  tm_emit(g, "t->runtime->gather(t, ");
  tm_emit_expression(g, e->parts[0]);
  tm_emit(g, ", ");
  tm_emit_slices(g, e);
  tm_emit(g, ", ");
  tm_emit_place(g, e->token);
  tm_emit(g, ")");
}

/* ---- the rest ----------------------------------------------------------- */

/* Scalars one after the other, each written where it is to be. */
static void emit_scalars(tm_emitter *g, const tm_expression *e) {
  bool active = g->gradient && e->level == TM_LEVEL_PARAMETER;
  tm_emit(g, "({ tm_tensor y_ = tm_tensor_blank(t, 1, (int[]){%zu}, %d);",
          e->part_count, active);
  for (size_t i = 0; i < e->part_count; i++) {
    if (active && tm_is_fused(g, e->parts[i])) {
      tm_emit(g, " { long i_ = %zu; ", i);
      tm_emit_fused_into(g, e->parts[i]);
      tm_emit(g, "}");
    } else if (active) {
      tm_emit(g, " tm_set(t, y_, %zu, ", i);
      tm_emit_as(g, e->parts[i], TM_VAR);
      tm_emit(g, ");");
    } else {
      tm_emit(g, " y_.v[%zu] = (double)", i);
      tm_emit_number(g, e->parts[i]);
      tm_emit(g, ";");
    }
  }
  tm_emit(g, " y_; })");
}

static bool of_scalars(const tm_expression *e) {
  bool all = e->part_count > 0 && tm_rank(e->type) == 1 &&
             !tm_is_complex(e->type) && e->type.base != TM_TUPLE;
  for (size_t i = 0; i < e->part_count && all; i++)
    all = tm_is_scalar(e->parts[i]->type);
  return all;
}

static void emit_stack(tm_emitter *g, const tm_expression *e) {
  if (of_scalars(e)) {
    emit_scalars(g, e);
    return;
  }
  tm_emit(g, "t->runtime->stack(t, (tm_any[]){");
  for (size_t i = 0; i < e->part_count; i++) {
    tm_emit(g, i ? ", " : "");
    tm_emit_any(g, e->parts[i]);
  }
  tm_emit(g, "}, %zu)", e->part_count);
}

static void emit_conditional(tm_emitter *g, const tm_expression *e) {
  tm_held held = tm_held_of(g, e);
  tm_emit(g, "(");
  tm_emit_number(g, e->parts[0]);
  tm_emit(g, " != 0 ? ");
  tm_emit_given(g, e->parts[1], e->type, held);
  tm_emit(g, " : ");
  tm_emit_given(g, e->parts[2], e->type, held);
  tm_emit(g, ")");
}

static void emit_kind(tm_emitter *g, const tm_expression *e) {
  if (tm_is_dot(e)) {
    tm_emit_dot(g, e);
    return;
  }
  switch (e->kind) {
  case TM_E_INT:
    tm_emit(g, "(%lldL)", (long long)e->whole);
    break;
  case TM_E_REAL:
    emit_real(g, e->number);
    break;
  case TM_E_NAME:
    tm_emit_variable(g, e->variable);
    break;
  case TM_E_CALL:
    if (e->powers && g->remembers)
      tm_emit_powers(g, e);
    else
      emit_call(g, e);
    break;
  case TM_E_UNARY:
    emit_unary(g, e);
    break;
  case TM_E_BINARY:
    emit_binary(g, e);
    break;
  case TM_E_TRANSPOSE:
    emit_library_value(g, e, "transpose",
                       e->type.base == TM_MATRIX   ? "m:m"
                       : e->type.base == TM_VECTOR ? "w:v"
                                                   : "v:w");
    break;
  case TM_E_CONDITIONAL:
    emit_conditional(g, e);
    break;
  case TM_E_INDEX:
    emit_index(g, e);
    break;
  case TM_E_ARRAY:
  case TM_E_ROW_VECTOR:
    emit_stack(g, e);
    break;
  case TM_E_TUPLE:
    tm_emit_tuple(g, e, e->type);
    break;
  case TM_E_PROJECT:
    tm_emit_project(g, e);
    break;
  case TM_E_STRING:
    break;
  }
}

/* What does not depend on parameters is computed without derivatives. */
void tm_emit_expression(tm_emitter *g, const tm_expression *e) {
  if (tm_emit_leaves_out(g, e)) { /* a scalar: a term of a sum */
    tm_emit(g, tm_held_of(g, e) == TM_VAR ? "tm_constant(0)" : "0");
    return;
  }
  if (is_kept(e) && !g->reading && !g->replicating) {
    tm_emit(g, "I->kept_%d", e->kept);
    return;
  }
  bool gradient = g->gradient;
  if (e->level != TM_LEVEL_PARAMETER)
    g->gradient = false;
  if (tm_emit_remembers(g, e))
    tm_emit_remembered(g, e);
  else if (tm_is_fused(g, e))
    tm_emit_fused(g, e);
  else
    emit_kind(g, e);
  g->gradient = gradient;
}
