/* check_expression.c - the types of expressions, and constant folding. */
#include "language/check/higher.h"

#include <stdio.h>
#include <string.h>

bool tm_ends_with(const char *text, const char *suffix) {
  size_t n = strlen(text), m = strlen(suffix);
  return n >= m && !strcmp(text + n - m, suffix);
}

const char *tm_joined(tm_checker *c, const char *stem, size_t stem_length,
                      const char *suffix) {
  size_t more = strlen(suffix);
  char *text = TM_NEW(c->arena, char, stem_length + more + 1);
  if (text) {
    memcpy(text, stem, stem_length);
    memcpy(text + stem_length, suffix, more);
  }
  return text;
}

static tm_level higher(tm_level a, tm_level b) { return a > b ? a : b; }

static tm_level parts_level(const tm_expression *e) {
  tm_level level = TM_LEVEL_CONSTANT;
  for (size_t i = 0; i < e->part_count; i++)
    level = higher(level, e->parts[i]->level);
  return level;
}

/* ---- names -------------------------------------------------------------- */

tm_variable *tm_scope_find(const tm_checker *c, const char *name) {
  for (size_t i = c->scope_count; i-- > 0;)
    if (!strcmp(c->scope[i]->name, name))
      return c->scope[i];
  return NULL;
}

static tm_level variable_level(const tm_variable *v) {
  if (v->block == TM_BLOCK_DATA || v->block == TM_BLOCK_TRANSFORMED_DATA ||
      v->data_only)
    return TM_LEVEL_DATA;
  return TM_LEVEL_PARAMETER;
}

/* The line of a declaration of this name in these statements, or 0. */
static int line_of(tm_statement *const *body, size_t count, const char *name) {
  int line = 0;
  for (size_t i = 0; i < count && !line; i++) {
    const tm_statement *s = body[i];
    if (s->kind == TM_S_DECLARE && !strcmp(s->variable->name, name))
      line = s->variable->token->line;
    else
      line = line_of(s->body, s->body_count, name);
  }
  return line;
}

static int declared_later(const tm_checker *c, const char *name) {
  if (c->function)
    return line_of(&c->function->body, 1, name);
  const tm_block_node *block = &c->program->blocks[c->block];
  return line_of(block->statements, block->count, name);
}

static tempera_status unknown_name(tm_checker *c, const tm_expression *e) {
  tm_suggestion s = {.wanted = e->text};
  for (size_t i = 0; i < c->scope_count; i++)
    tm_suggestion_offer(&s, c->scope[i]->name);
  for (size_t i = 0; i < c->program->global_count; i++)
    if (!strcmp(c->program->globals[i]->name, e->text) &&
        c->program->globals[i]->block != c->block)
      return tm_complain(c->source, e->token,
                         "'%s' belongs to the %s block and cannot be used here",
                         e->text,
                         tm_block_names[c->program->globals[i]->block]);
  int later = declared_later(c, e->text);
  if (later)
    return tm_complain(c->source, e->token,
                       "'%s' is used here, but declared in line %d: move the "
                       "declaration up",
                       e->text, later);
  char hint[96];
  return tm_complain(c->source, e->token, "unknown variable '%s'%s", e->text,
                     tm_suggestion_text(&s, hint, sizeof hint));
}

/* The loop's tuple: of[at]. */
static tempera_status check_element(tm_checker *c, tm_expression *e,
                                    const tm_variable *v) {
  tm_expression *of = tm_copy_path(c, v->of, e->token);
  tm_expression *at = TM_NEW(c->arena, tm_expression, 1);
  tm_expression **parts = TM_NEW(c->arena, tm_expression *, 1);
  tm_index *index = TM_NEW(c->arena, tm_index, 1);
  if (!of || !at || !parts || !index)
    return tm_fail_memory(c->source->error);
  const tm_token *token = e->token;
  *at = (tm_expression){.kind = TM_E_NAME, .token = token, .text = v->at};
  parts[0] = of;
  *index = (tm_index){.kind = TM_INDEX_ONE, .from = at};
  *e = (tm_expression){.kind = TM_E_INDEX,
                       .token = token,
                       .text = token->text,
                       .parts = parts,
                       .part_count = 1,
                       .indices = index,
                       .index_count = 1};
  return tm_check_expression(c, e);
}

static tempera_status check_name(tm_checker *c, tm_expression *e) {
  tm_variable *v = tm_scope_find(c, e->text);
  if (!v)
    return unknown_name(c, e);
  if (v->items)
    return tm_check_items(c, e, v);
  if (v->of)
    return check_element(c, e, v);
  e->variable = v;
  e->type = v->type;
  e->level = variable_level(v);
  return v->reads_target ? tm_check_reading(c, e) : TEMPERA_OK;
}

/* ---- operators ---------------------------------------------------------- */

static bool is_matrix_type(tm_type t) {
  return t.depth == 0 && t.base >= TM_VECTOR && t.base <= TM_MATRIX;
}

static tm_type scalar_result(tm_type a, tm_type b) {
  return tm_type_of(a.base == TM_INT && b.base == TM_INT ? TM_INT : TM_REAL, 0);
}

/* + - .* ./ .^: scalars, equal shapes, or a scalar with a shape. */
static bool elementwise(tm_type a, tm_type b, tm_type *out) {
  if (tm_is_scalar(a) && tm_is_scalar(b))
    *out = scalar_result(a, b);
  else if (tm_is_scalar(a) && is_matrix_type(b))
    *out = b;
  else if (is_matrix_type(a) && (tm_is_scalar(b) || tm_type_equal(a, b)))
    *out = a;
  else
    return false;
  return true;
}

static bool times(tm_type a, tm_type b, tm_type *out) {
  if (tm_is_scalar(a) || tm_is_scalar(b))
    return elementwise(a, b, out);
  if (!is_matrix_type(a) || !is_matrix_type(b))
    return false;
  static const int R = TM_REAL, V = TM_VECTOR, W = TM_ROW_VECTOR, M = TM_MATRIX;
  const int table[][3] = {
      {W, V, R}, {V, W, M}, {M, V, V}, {W, M, W}, {M, M, M}};
  for (size_t i = 0; i < sizeof table / sizeof *table; i++)
    if ((int)a.base == table[i][0] && (int)b.base == table[i][1]) {
      *out = tm_type_of((tm_base)table[i][2], 0);
      return true;
    }
  return false;
}

static bool divided(tm_type a, tm_type b, tm_type *out) {
  if ((tm_is_scalar(a) || tm_is_scalar(b)) && elementwise(a, b, out))
    return true;
  *out = a;
  return b.base == TM_MATRIX && b.depth == 0 && a.depth == 0 &&
         (a.base == TM_MATRIX || a.base == TM_ROW_VECTOR);
}

static bool power(tm_type a, tm_type b, tm_type *out) {
  if (!elementwise(a, b, out))
    return false;
  if (out->base == TM_INT)
    out->base = TM_REAL; /* int ^ int is real in Stan */
  return true;
}

static bool binary_type(const char *op, tm_type a, tm_type b, tm_type *out) {
  bool scalars = tm_is_scalar(a) && tm_is_scalar(b);
  if (!strcmp(op, "+") || !strcmp(op, "-") || !strcmp(op, ".*") ||
      !strcmp(op, "./"))
    return elementwise(a, b, out);
  if (!strcmp(op, ".^") || !strcmp(op, "^"))
    return power(a, b, out);
  if (!strcmp(op, "*"))
    return times(a, b, out);
  if (!strcmp(op, "/"))
    return divided(a, b, out);
  if (!strcmp(op, "%") || !strcmp(op, "%/%")) {
    *out = tm_type_of(TM_INT, 0);
    return scalars && a.base == TM_INT && b.base == TM_INT;
  }
  if (!strcmp(op, "\\")) {
    *out = b;
    return a.base == TM_MATRIX && a.depth == 0 && b.depth == 0 &&
           (b.base == TM_VECTOR || b.base == TM_MATRIX);
  }
  *out = tm_type_of(TM_INT, 0); /* comparisons and logic */
  return scalars;
}

static void fold_binary(tm_expression *e) {
  const tm_expression *a = e->parts[0], *b = e->parts[1];
  bool numbers = (a->kind == TM_E_INT || a->kind == TM_E_REAL) &&
                 (b->kind == TM_E_INT || b->kind == TM_E_REAL);
  if (!numbers || strlen(e->text) != 1 || !strchr("+-*/", e->text[0]))
    return;
  char op = e->text[0];
  if (e->type.base == TM_INT) {
    int64_t x = a->whole, y = b->whole;
    if (op == '/' && y == 0)
      return;
    e->whole = op == '+'   ? x + y
               : op == '-' ? x - y
               : op == '*' ? x * y
                           : x / y;
    if (e->whole > 2147483647 || e->whole < -2147483647)
      return;
    e->number = (double)e->whole;
    e->kind = TM_E_INT;
  } else {
    double x = a->number, y = b->number;
    e->number = op == '+'   ? x + y
                : op == '-' ? x - y
                : op == '*' ? x * y
                            : x / y;
    e->kind = TM_E_REAL;
  }
}

static tempera_status warn(tm_checker *c, const tm_token *token,
                           const char *what) {
  char place[TM_PLACE];
  tm_place_text(token, place);
  size_t size = strlen(place) + strlen(what) + 3;
  char *text = TM_NEW(c->arena, char, size);
  if (!text || !tm_list_add(c->arena, &c->program->warnings, text))
    return tm_fail_memory(c->source->error);
  snprintf(text, size, "%s: %s", place, what);
  return TEMPERA_OK;
}

/* Arrays are raised to powers element by element. */
static bool is_power(const tm_expression *e) {
  const tm_type types[] = {e->parts[0]->type, e->parts[1]->type};
  bool exists;
  tm_type result;
  return tm_builtin_find("pow", types, 2, &result, &exists) != NULL;
}

static tempera_status check_binary(tm_checker *c, tm_expression *e) {
  tm_type a = e->parts[0]->type, b = e->parts[1]->type;
  bool complex = tm_is_complex_operation(e);
  if (!binary_type(e->text, tm_real_type(a), tm_real_type(b), &e->type)) {
    if (e->text[strlen(e->text) - 1] == '^' && !complex && is_power(e))
      return tm_call_instead(c, e, "pow");
    char left[TM_TYPE_NAME], right[TM_TYPE_NAME];
    return tm_complain(c->source, e->token, "'%s' does not apply to %s and %s",
                       e->text, tm_type_name(a, left, sizeof left),
                       tm_type_name(b, right, sizeof right));
  }
  if (complex)
    return tm_check_complex_binary(c, e);
  if (e->type.base == TM_INT && strchr("/%", e->text[0]) &&
      e->parts[1]->kind == TM_E_INT && e->parts[1]->whole == 0)
    TM_TRY(warn(c, e->token,
                "an integer is divided by 0, which fails where it is reached"));
  else if (e->type.base == TM_INT && e->text[strlen(e->text) - 1] == '/')
    TM_TRY(warn(c, e->token,
                "this division of integers drops the remainder; write %/% to "
                "say so, or make one of them a real"));
  fold_binary(e);
  return TEMPERA_OK;
}

static tempera_status check_unary(tm_checker *c, tm_expression *e) {
  tm_expression *a = e->parts[0];
  if (tm_is_complex(a->type))
    return tm_check_complex_unary(c, e);
  bool number = a->type.base >= TM_INT && a->type.base <= TM_MATRIX;
  bool fine = e->text[0] == '!' ? tm_is_scalar(a->type) : number;
  char name[TM_TYPE_NAME];
  if (!fine)
    return tm_complain(c->source, e->token, "'%s' does not apply to %s",
                       e->text, tm_type_name(a->type, name, sizeof name));
  e->type = e->text[0] == '!' ? tm_type_of(TM_INT, 0) : a->type;
  if (e->text[0] == '-' && (a->kind == TM_E_INT || a->kind == TM_E_REAL)) {
    e->kind = a->kind;
    e->whole = -a->whole;
    e->number = -a->number;
  }
  return TEMPERA_OK;
}

static tempera_status check_transpose(tm_checker *c, tm_expression *e) {
  tm_type t = e->parts[0]->type;
  char name[TM_TYPE_NAME];
  if (!is_matrix_type(tm_real_type(t)))
    return tm_complain(c->source, e->token,
                       "' transposes vectors and matrices, not %s",
                       tm_type_name(t, name, sizeof name));
  if (tm_is_complex(t))
    return tm_check_complex_transpose(c, e);
  e->type = t;
  if (t.base != TM_MATRIX)
    e->type.base = t.base == TM_VECTOR ? TM_ROW_VECTOR : TM_VECTOR;
  return TEMPERA_OK;
}

/* The type both promote to; of tuples item by item. */
static bool unify(tm_checker *c, tm_type a, tm_type b, tm_type *out) {
  *out = tm_type_promotes(a, b) ? b : a;
  if (tm_type_promotes(a, b) || tm_type_promotes(b, a))
    return true;
  if (a.base != TM_TUPLE || b.base != TM_TUPLE || a.depth != b.depth ||
      a.tuple->count != b.tuple->count)
    return false;
  tm_tuple *tuple = TM_NEW(c->arena, tm_tuple, 1);
  tm_type *items = TM_NEW(c->arena, tm_type, a.tuple->count);
  if (!tuple || !items)
    return false;
  *tuple = (tm_tuple){a.tuple->count, items};
  *out = (tm_type){.base = TM_TUPLE, .depth = a.depth, .tuple = tuple};
  for (size_t i = 0; i < a.tuple->count; i++)
    if (!unify(c, a.tuple->items[i], b.tuple->items[i], &items[i]))
      return false;
  return true;
}

static tempera_status check_conditional(tm_checker *c, tm_expression *e) {
  tm_type a = e->parts[1]->type, b = e->parts[2]->type;
  char left[TM_TYPE_NAME], right[TM_TYPE_NAME];
  if (!tm_is_scalar(e->parts[0]->type) || e->parts[0]->type.base != TM_INT)
    return tm_complain(c->source, e->token,
                       "the condition before ? must be an int");
  if (!unify(c, a, b, &e->type))
    return tm_complain(c->source, e->token,
                       "the two sides of this conditional differ: %s and %s",
                       tm_type_name(a, left, sizeof left),
                       tm_type_name(b, right, sizeof right));
  return tm_widen_parts(c, e, 1, e->type);
}

/* [ ] is rep_row_vector(0, 0). */
static tempera_status check_empty(tm_checker *c, tm_expression *e) {
  tm_expression **parts = TM_NEW(c->arena, tm_expression *, 2);
  tm_expression *zero = TM_NEW(c->arena, tm_expression, 1);
  if (e->kind == TM_E_ARRAY)
    return tm_complain(c->source, e->token,
                       "an empty array has no type here; use rep_array(0, 0)");
  if (!parts || !zero)
    return tm_fail_memory(c->source->error);
  *zero = (tm_expression){.kind = TM_E_INT, .token = e->token, .text = "0"};
  parts[0] = parts[1] = zero;
  e->kind = TM_E_CALL;
  e->text = "rep_row_vector";
  e->parts = parts;
  e->part_count = 2;
  return tm_check_expression(c, e);
}

static tempera_status check_literal(tm_checker *c, tm_expression *e) {
  bool row = e->kind == TM_E_ROW_VECTOR;
  if (e->part_count == 0)
    return check_empty(c, e);
  tm_type type = e->parts[0]->type;
  for (size_t i = 1; i < e->part_count; i++)
    if (!unify(c, type, e->parts[i]->type, &type))
      return tm_complain(c->source, e->parts[i]->token,
                         "the elements of this list differ in type");
  if (!row) {
    if (type.depth == TM_MAX_RANK || type.base == TM_STRING ||
        type.base == TM_VOID)
      return tm_complain(c->source, e->token, "this array cannot be made");
    if (type.base == TM_TUPLE)
      return tm_check_tuple_array(c, e, type);
    e->type = tm_type_at(type, type.depth + 1);
    return tm_widen_parts(c, e, 0, type);
  }
  tm_type real = tm_real_type(type);
  if (!tm_is_scalar(real) && !(real.base == TM_ROW_VECTOR && type.depth == 0))
    return tm_complain(c->source, e->token,
                       "[ ] holds numbers (a row_vector) or row_vectors (a "
                       "matrix); arrays are written { }");
  e->type = tm_type_of(tm_is_scalar(real) ? TM_ROW_VECTOR : TM_MATRIX, 0);
  if (tm_is_complex(type))
    e->type = tm_complex_type(e->type);
  return tm_widen_parts(c, e, 0, type);
}

/* ---- indices ------------------------------------------------------------ */

static tempera_status check_index_part(tm_checker *c, tm_expression *part,
                                       bool many, tm_level *level,
                                       bool *multiple) {
  if (!part)
    return TEMPERA_OK;
  TM_TRY(tm_check_expression(c, part));
  *level = higher(*level, part->level);
  if (part->type.base == TM_INT && part->type.depth == 0)
    return TEMPERA_OK;
  char name[TM_TYPE_NAME];
  if (!many || part->type.base != TM_INT || part->type.depth != 1)
    return tm_complain(c->source, part->token,
                       "an index must be an int%s, not %s",
                       many ? " or an array of ints" : "",
                       tm_type_name(part->type, name, sizeof name));
  *multiple = true;
  return TEMPERA_OK;
}

/* Single indices drop a dimension; others keep it. Arrays are indexed first,
 * then the rows and columns of what they hold. */
static tempera_status check_index(tm_checker *c, tm_expression *e) {
  tm_type type = e->parts[0]->type;
  if (type.base == TM_TUPLE)
    return tm_check_tuple_index(c, e);
  int arrays = 0, kept_arrays = 0, kept[2] = {1, 1};
  char name[TM_TYPE_NAME];
  for (size_t i = 0; i < e->index_count; i++) {
    tm_index *index = &e->indices[i];
    if ((int)i >= tm_index_rank(type))
      return tm_complain(c->source, e->token, "%s takes %d indices, not %zu",
                         tm_type_name(type, name, sizeof name),
                         tm_index_rank(type), e->index_count);
    bool multiple = index->kind != TM_INDEX_ONE;
    TM_TRY(check_index_part(c, index->from, index->kind == TM_INDEX_ONE,
                            &e->level, &multiple));
    TM_TRY(check_index_part(c, index->to, false, &e->level, &multiple));
    if ((int)i < type.depth) {
      arrays++;
      kept_arrays += multiple;
    } else {
      kept[(int)i - type.depth] = multiple;
    }
  }
  int depth = type.depth - arrays + kept_arrays;
  tm_base base = tm_real_type(type).base;
  if (base == TM_MATRIX)
    base = kept[0] && kept[1] ? TM_MATRIX
           : kept[0]          ? TM_VECTOR
           : kept[1]          ? TM_ROW_VECTOR
                              : TM_REAL;
  else if (base == TM_VECTOR || base == TM_ROW_VECTOR)
    base = kept[0] ? base : TM_REAL;
  e->type = tm_type_of(base, depth);
  if (tm_is_complex(type))
    e->type = tm_complex_type(e->type);
  return TEMPERA_OK;
}

/* ---- all ---------------------------------------------------------------- */

/* multiply(a, b) is a * b, and so on, unless the user has such a function. */
static void read_as_operator(const tm_checker *c, tm_expression *e) {
  static const struct {
    const char *name, *op;
    size_t count;
  } names[] = {{"multiply", "*", 2},     {"divide", "/", 2},
               {"modulus", "%", 2},      {"logical_and", "&&", 2},
               {"logical_or", "||", 2},  {"logical_eq", "==", 2},
               {"logical_neq", "!=", 2}, {"logical_lt", "<", 2},
               {"logical_lte", "<=", 2}, {"logical_gt", ">", 2},
               {"logical_gte", ">=", 2}, {"plus", "+", 1},
               {"minus", "-", 1},        {"add", "+", 2},
               {"subtract", "-", 2},     {"elt_multiply", ".*", 2},
               {"elt_divide", "./", 2},  {"mdivide_right", "/", 2}};
  for (size_t i = 0; e->kind == TM_E_CALL && i < sizeof names / sizeof *names;
       i++) {
    bool users = false;
    if (strcmp(names[i].name, e->text) || e->part_count != names[i].count)
      continue;
    (void)tm_function_find(c, e->text, NULL, 0, &users);
    if (users)
      return;
    e->kind = names[i].count == 2 ? TM_E_BINARY : TM_E_UNARY;
    e->text = names[i].op;
  }
}

/* Decompositions in one: qr(A) is (qr_Q(A), qr_R(A)). */
static tempera_status read_as_tuple(tm_checker *c, tm_expression *e) {
  enum { ITEMS = 3 };
  static const char *const names[][1 + ITEMS] = {
      {"qr", "qr_Q", "qr_R"},
      {"qr_thin", "qr_thin_Q", "qr_thin_R"},
      {"svd", "svd_U", "singular_values", "svd_V"},
      {"eigendecompose_sym", "eigenvectors_sym", "eigenvalues_sym"},
      {"eigendecompose", "eigenvectors", "eigenvalues"},
      {"complex_schur_decompose", "complex_schur_decompose_u",
       "complex_schur_decompose_t"},
      {"csr_extract", "csr_extract_w", "csr_extract_v", "csr_extract_u"}};
  bool users = false;
  size_t i = 0, n = sizeof names / sizeof *names;
  while (i < n && (e->kind != TM_E_CALL || strcmp(names[i][0], e->text)))
    i++;
  if (i == n || e->part_count != 1)
    return TEMPERA_OK;
  (void)tm_function_find(c, e->text, NULL, 0, &users);
  if (users)
    return TEMPERA_OK;
  tm_expression **items = TM_NEW(c->arena, tm_expression *, ITEMS);
  size_t count = 0;
  for (; items && count < ITEMS && names[i][1 + count]; count++) {
    items[count] = TM_NEW(c->arena, tm_expression, 1);
    if (!items[count])
      return tm_fail_memory(c->source->error);
    *items[count] = (tm_expression){.kind = TM_E_CALL,
                                    .token = e->token,
                                    .text = names[i][1 + count],
                                    .parts = e->parts,
                                    .part_count = 1};
  }
  if (!items)
    return tm_fail_memory(c->source->error);
  e->kind = TM_E_TUPLE;
  e->parts = items;
  e->part_count = count;
  return TEMPERA_OK;
}

static tempera_status check_parts(tm_checker *c, tm_expression *e) {
  read_as_operator(c, e);
  TM_TRY(read_as_tuple(c, e));
  TM_TRY(tm_check_laplace(c, e));
  if (e->kind == TM_E_CALL &&
      (!strcmp(e->text, "reduce_sum") || !strcmp(e->text, "reduce_sum_static")))
    TM_TRY(tm_check_reduce_sum(c, e));
  if (e->kind == TM_E_CALL && !e->system && tm_is_solver(e->text))
    return tm_check_solver(c, e);
  bool exists = false;
  if (e->kind == TM_E_CALL && tm_builtin_unsupported(e->text) &&
      !tm_function_find(c, e->text, NULL, 0, &exists) && !exists)
    return tm_complain(c->source, e->token, "the function %s is not supported",
                       e->text);
  for (size_t i = 0; i < e->part_count; i++) {
    TM_TRY(tm_check_expression(c, e->parts[i]));
    if (e->parts[i]->type.base == TM_VOID)
      return tm_complain(c->source, e->parts[i]->token,
                         "this function returns nothing");
    if (e->parts[i]->type.base == TM_STRING)
      return tm_complain(c->source, e->parts[i]->token,
                         "a string may only stand in print and reject");
  }
  e->level = parts_level(e);
  return TEMPERA_OK;
}

static tempera_status check_kind(tm_checker *c, tm_expression *e) {
  switch (e->kind) {
  case TM_E_INT:
    e->type = tm_type_of(TM_INT, 0);
    return TEMPERA_OK;
  case TM_E_REAL:
    e->type = tm_type_of(TM_REAL, 0);
    return TEMPERA_OK;
  case TM_E_STRING:
    e->type = tm_type_of(TM_STRING, 0);
    return TEMPERA_OK;
  case TM_E_NAME:
    return check_name(c, e);
  case TM_E_CALL:
    return e->system ? TEMPERA_OK : tm_check_call(c, e);
  case TM_E_UNARY:
    return check_unary(c, e);
  case TM_E_BINARY:
    return check_binary(c, e);
  case TM_E_TRANSPOSE:
    return check_transpose(c, e);
  case TM_E_CONDITIONAL:
    return check_conditional(c, e);
  case TM_E_INDEX:
    return check_index(c, e);
  case TM_E_TUPLE:
    return tm_check_tuple(c, e);
  case TM_E_PROJECT:
    return tm_check_project(c, e);
  default:
    return check_literal(c, e);
  }
}

tempera_status tm_check_expression(tm_checker *c, tm_expression *e) {
  enum { TALLEST = 4000 }; /* a + b + c + ... is a tall tree */
  if (++c->depth > TALLEST)
    return tm_complain(c->source, e->token, "this expression is too long");
  TM_TRY(check_parts(c, e));
  TM_TRY(check_kind(c, e));
  c->depth--;
  return TEMPERA_OK;
}
