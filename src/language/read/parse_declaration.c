/* parse_declaration.c - types, declarations of variables and functions.
 *
 *   declaration = type declarator {"," declarator} ";"
 *   type        = [array_type] (base [constraint] [sizes] | tuple)
 *   tuple       = "tuple" "(" type {"," type} ")"
 *   declarator  = name ["[" sizes "]"] ["=" expression]
 *   function    = [type] name "(" arguments ")" (block | ";")
 */
#include "language/read/parser.h"

#include <stdio.h>
#include <string.h>

typedef struct type_word {
  const char *word;
  tm_base base;
  tm_constraint constraint;
  int sizes;    /* how many sizes follow in brackets */
  int optional; /* of which this many may be absent */
} type_word;

static const type_word TYPE_WORDS[] = {
    {"int", TM_INT, TM_FREE, 0, 0},
    {"real", TM_REAL, TM_FREE, 0, 0},
    {"vector", TM_VECTOR, TM_FREE, 1, 0},
    {"row_vector", TM_ROW_VECTOR, TM_FREE, 1, 0},
    {"matrix", TM_MATRIX, TM_FREE, 2, 0},
    {"simplex", TM_VECTOR, TM_SIMPLEX, 1, 0},
    {"unit_vector", TM_VECTOR, TM_UNIT_VECTOR, 1, 0},
    {"ordered", TM_VECTOR, TM_ORDERED, 1, 0},
    {"positive_ordered", TM_VECTOR, TM_POSITIVE_ORDERED, 1, 0},
    {"sum_to_zero_vector", TM_VECTOR, TM_SUM_TO_ZERO, 1, 0},
    {"cholesky_factor_corr", TM_MATRIX, TM_CHOLESKY_CORR, 1, 0},
    {"cholesky_factor_cov", TM_MATRIX, TM_CHOLESKY_COV, 2, 1},
    {"corr_matrix", TM_MATRIX, TM_CORRELATION, 1, 0},
    {"cov_matrix", TM_MATRIX, TM_COVARIANCE, 1, 0},
    {"row_stochastic_matrix", TM_MATRIX, TM_ROW_STOCHASTIC, 2, 0},
    {"column_stochastic_matrix", TM_MATRIX, TM_COLUMN_STOCHASTIC, 2, 0},
    {"sum_to_zero_matrix", TM_MATRIX, TM_SUM_TO_ZERO_MATRIX, 2, 0},
    {"complex", TM_COMPLEX, TM_FREE, 0, 0},
    {"complex_vector", TM_COMPLEX_VECTOR, TM_FREE, 1, 0},
    {"complex_row_vector", TM_COMPLEX_ROW_VECTOR, TM_FREE, 1, 0},
    {"complex_matrix", TM_COMPLEX_MATRIX, TM_FREE, 2, 0},
};

static const type_word *find_type(const char *word) {
  for (size_t i = 0; i < sizeof TYPE_WORDS / sizeof *TYPE_WORDS; i++)
    if (!strcmp(TYPE_WORDS[i].word, word))
      return &TYPE_WORDS[i];
  return NULL;
}

bool tm_begins_type(const tm_parser *p) {
  const tm_token *token = tm_peek(p);
  if (token->kind != TM_TOKEN_NAME)
    return false;
  if (!strcmp(token->text, "array"))
    return tm_is_ahead(p, 1, "[");
  if (!strcmp(token->text, "tuple"))
    return tm_is_ahead(p, 1, "(");
  return find_type(token->text) != NULL;
}

bool tm_reserved(const char *name) {
  static const char *const words[] = {
      "for",         "in",         "while",       "repeat",     "until",
      "if",          "then",       "else",        "true",       "false",
      "target",      "var",        "void",        "return",     "break",
      "continue",    "functions",  "data",        "parameters", "model",
      "generated",   "quantities", "transformed", "print",      "reject",
      "fatal_error", "profile",    "struct",      "typedef",    "export",
      "auto",        "extern",     "static",      "array",      "tuple"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (!strcmp(words[i], name) && strcmp(name, "array"))
      return true;
  return find_type(name) != NULL;
}

bool tm_parse_name(tm_parser *p, const tm_token **token, const char *what) {
  const tm_token *t = tm_peek(p);
  if (t->kind != TM_TOKEN_NAME)
    return tm_unexpected(p, what);
  if (tm_reserved(t->text)) {
    (void)tm_complain(p->source, t,
                      "'%s' is a word of the language and cannot be %s",
                      t->text, what);
    return false;
  }
  if (t->length > 2 && !strcmp(t->text + t->length - 2, "__")) {
    (void)tm_complain(p->source, t,
                      "names ending in __ are reserved; rename '%s'", t->text);
    return false;
  }
  p->at++;
  *token = t;
  return true;
}

/* What stands before the declarators; shared by them. */
typedef struct declared {
  const type_word *word;
  tm_constraint constraint;
  tm_expression *lower, *upper;
  tm_expression *array[TM_MAX_RANK], *inner[2];
  size_t array_count, inner_count;
  struct declared *items; /* of a tuple; `word` is NULL */
  size_t item_count;
} declared;

enum { MOST_ITEMS = 64 };

static bool type_prefix(tm_parser *p, declared *d);

/* A comma with an item behind it: (real, ) has one. */
static bool another(tm_parser *p) {
  return tm_accept(p, ",") && !tm_is(p, ")");
}

static bool tuple_prefix(tm_parser *p, declared *d) {
  p->at += 2;
  d->items = TM_NEW(p->arena, declared, MOST_ITEMS);
  if (!d->items)
    return false;
  do {
    if (d->item_count == MOST_ITEMS)
      return tm_unexpected(p, "no more than 64 items in a tuple");
    if (!tm_deeper(p) || !type_prefix(p, &d->items[d->item_count++]))
      return false;
    p->depth--;
  } while (another(p));
  if (d->item_count < 2 && !tm_is_ahead(p, (size_t)-1, ","))
    return tm_unexpected(p, "',': a tuple of one item is written (real, )");
  return tm_expect(p, ")", "or ',' in this tuple");
}

static bool size_list(tm_parser *p, tm_expression **sizes, size_t *count,
                      size_t most, const char *what) {
  const tm_token *token = tm_peek(p);
  do {
    if (*count == most) {
      (void)tm_complain(p->source, token, "too many sizes for %s", what);
      return false;
    }
    sizes[*count] = tm_parse_expression(p);
    if (!sizes[(*count)++])
      return false;
  } while (tm_accept(p, ","));
  return tm_expect(p, "]", "after the sizes");
}

/* < lower = a, upper = b > or < offset = a, multiplier = b > */
static bool constraint(tm_parser *p, declared *d) {
  if (d->constraint != TM_FREE || d->word->base >= TM_COMPLEX) {
    (void)tm_complain(p->source, tm_peek(p),
                      "a %s takes no bounds, offset or multiplier",
                      d->word->word);
    return false;
  }
  p->at++;
  do {
    bool bound = tm_is(p, "lower") || tm_is(p, "upper");
    bool second = tm_is(p, "upper") || tm_is(p, "multiplier");
    if (!bound && !tm_is(p, "offset") && !tm_is(p, "multiplier"))
      return tm_unexpected(p, "lower, upper, offset or multiplier");
    tm_constraint kind = bound ? TM_BOUNDED : TM_OFFSET;
    tm_expression **slot = second ? &d->upper : &d->lower;
    if ((d->constraint != TM_FREE && d->constraint != kind) || *slot) {
      (void)tm_complain(p->source, tm_peek(p),
                        *slot ? "this was given already"
                              : "bounds and offset/multiplier do not mix");
      return false;
    }
    d->constraint = kind;
    p->at++;
    if (!tm_expect(p, "=", "here"))
      return false;
    *slot = tm_parse_addition(p);
    if (!*slot)
      return false;
  } while (tm_accept(p, ","));
  return tm_expect(p, ">", "or ',' after the bound");
}

static bool type_prefix(tm_parser *p, declared *d) {
  if (tm_is(p, "array") && tm_is_ahead(p, 1, "[")) {
    p->at += 2;
    if (!size_list(p, d->array, &d->array_count, TM_MAX_RANK, "an array"))
      return false;
  }
  if (tm_is(p, "tuple") && tm_is_ahead(p, 1, "("))
    return tuple_prefix(p, d);
  const tm_token *token = tm_peek(p);
  d->word = token->kind == TM_TOKEN_NAME ? find_type(token->text) : NULL;
  if (!d->word)
    return tm_unexpected(p, "a type");
  p->at++;
  d->constraint = d->word->constraint;
  if (tm_is(p, "<") && !constraint(p, d))
    return false;
  if (d->word->sizes == 0)
    return true;
  if (!tm_expect(p, "[", "and the size of this type") ||
      !size_list(p, d->inner, &d->inner_count, (size_t)d->word->sizes,
                 d->word->word))
    return false;
  if ((int)d->inner_count < d->word->sizes - d->word->optional) {
    (void)tm_complain(p->source, token,
                      "a matrix has rows and columns: "
                      "expected matrix[rows, columns]");
    return false;
  }
  return true;
}

static tm_variable *variable_new(tm_parser *p, const tm_token *token) {
  tm_variable *v = tm_parser_alloc(p, sizeof *v);
  if (v) {
    v->name = token->text;
    v->token = token;
    v->block = p->block;
    v->index = p->program->variable_count++;
  }
  return v;
}

static void set_variable(const declared *d, tm_variable *v) {
  v->type = (tm_type){.base = d->word->base, .depth = (int)d->array_count};
  v->constraint = d->constraint;
  v->lower = d->lower;
  v->upper = d->upper;
  for (size_t i = 0; i < d->array_count; i++)
    v->sizes[v->size_count++] = d->array[i];
  for (size_t i = 0; i < d->inner_count; i++)
    v->sizes[v->size_count++] = d->inner[i];
  if (d->word->base == TM_MATRIX && d->inner_count == 1)
    v->sizes[v->size_count++] = d->inner[0]; /* square */
}

/* Array sizes may stand behind the name, as in old programs. */
static bool fill_variable(tm_parser *p, const declared *d, tm_variable *v) {
  declared own = *d;
  if (tm_is(p, "[") && d->array_count) {
    (void)tm_complain(p->source, v->token,
                      "the array's sizes belong in one "
                      "place: array[...] before the type");
    return false;
  }
  if (tm_accept(p, "[") &&
      !size_list(p, own.array, &own.array_count, TM_MAX_RANK, "an array"))
    return false;
  set_variable(&own, v);
  return true;
}

static bool declare(tm_parser *p, tm_variable *v, tm_list *statements) {
  tm_statement *s = tm_statement_new(p, TM_S_DECLARE, v->token);
  if (!s)
    return false;
  s->variable = v;
  return tm_list_add(p->arena, statements, s);
}

/* The value after = in a declaration, or NULL: `*fine` says which. */
static tm_expression *initial_value(tm_parser *p, const tm_token *token,
                                    bool *fine) {
  *fine = true;
  if (!tm_accept(p, "=") && !tm_accept(p, "<-"))
    return NULL;
  tm_expression *value = NULL;
  if (p->block == TM_BLOCK_DATA || p->block == TM_BLOCK_PARAMETERS)
    (void)tm_complain(p->source, token,
                      "a variable in the %s block cannot be given a value",
                      tm_block_names[p->block]);
  else
    value = tm_parse_expression(p);
  *fine = value != NULL;
  return value;
}

/* ---- tuples -------------------------------------------------------------- */

/* Item k of v: its names, in the program's C and outside. */
static bool name_item(tm_parser *p, const tm_variable *v, size_t k,
                      tm_variable *item) {
  const char *outside = v->shown ? v->shown : v->name;
  size_t size = strlen(outside) + 3 * strlen(v->name) + 32;
  char *name = tm_parser_alloc(p, size), *shown = tm_parser_alloc(p, size);
  if (!name || !shown)
    return false;
  snprintf(name, size, "%s__%zu__", v->name, k + 1);
  snprintf(shown, size, "%s:%zu", outside, k + 1);
  item->name = name;
  item->shown = shown;
  return true;
}

static bool tuple_type(tm_parser *p, const declared *d, tm_type *type) {
  tm_tuple *tuple = tm_parser_alloc(p, sizeof *tuple);
  *type = (tm_type){.base = d->word ? d->word->base : TM_TUPLE,
                    .depth = (int)d->array_count};
  if (d->word)
    return true;
  if (!tuple || !(tuple->items = TM_NEW(p->arena, tm_type, d->item_count)))
    return false;
  tuple->count = d->item_count;
  type->tuple = tuple;
  for (size_t i = 0; i < d->item_count; i++)
    if (!tuple_type(p, &d->items[i], &tuple->items[i]))
      return false;
  return true;
}

/* An array of tuples is a tuple of arrays: an item has the sizes of what it
 * is in before its own. */
static bool take_outer_sizes(tm_parser *p, const tm_variable *v,
                             const declared *outer, declared *d) {
  size_t own = d->array_count, count = outer->array_count;
  if (own + count > TM_MAX_RANK) {
    (void)tm_complain(p->source, v->token, "more than %d array dimensions",
                      TM_MAX_RANK);
    return false;
  }
  memmove(d->array + count, d->array, own * sizeof *d->array);
  memcpy(d->array, outer->array, count * sizeof *d->array);
  d->array_count += count;
  return true;
}

static bool add_items(tm_parser *p, const declared *d, tm_variable *v,
                      tm_list *statements) {
  v->items = TM_NEW(p->arena, tm_variable *, d->item_count);
  if (!v->items)
    return false;
  for (size_t i = 0; i < d->item_count; i++) {
    tm_variable *item = v->items[i] = variable_new(p, v->token);
    declared own = d->items[i];
    if (!item || !name_item(p, v, i, item) ||
        !take_outer_sizes(p, v, d, &own) || !tuple_type(p, &own, &item->type))
      return false;
    item->global = v->global;
    if (own.word)
      set_variable(&own, item);
    if (!(own.word ? declare(p, item, statements)
                   : add_items(p, &own, item, statements)))
      return false;
  }
  return declare(p, v, statements);
}

/* t = value, after the declaration of t. */
static bool assign_tuple(tm_parser *p, const tm_token *token,
                         tm_expression *value, tm_list *statements) {
  tm_statement *s = tm_statement_new(p, TM_S_ASSIGN, token);
  tm_expression *left = tm_expression_new(p, TM_E_NAME, token);
  if (!s || !left)
    return false;
  s->left = left;
  s->op = "=";
  s->value = value;
  return tm_list_add(p->arena, statements, s);
}

/* ---- declarators --------------------------------------------------------- */

static bool declarator(tm_parser *p, const declared *d, tm_list *statements,
                       bool global) {
  const tm_token *token;
  bool fine = false;
  if (!tm_parse_name(p, &token, "a variable's name"))
    return false;
  tm_variable *v = variable_new(p, token);
  if (!v || !(d->word ? fill_variable(p, d, v) : tuple_type(p, d, &v->type)))
    return false;
  v->global = global;
  tm_expression *initial = initial_value(p, token, &fine);
  if (!fine)
    return false;
  if (!d->word)
    return add_items(p, d, v, statements) &&
           (!initial || assign_tuple(p, token, initial, statements));
  v->initial = initial;
  return declare(p, v, statements);
}

bool tm_parse_declaration(tm_parser *p, tm_list *statements, bool global) {
  declared d = {0};
  if (!type_prefix(p, &d))
    return false;
  do {
    if (!declarator(p, &d, statements, global))
      return false;
  } while (tm_accept(p, ","));
  return tm_expect(p, ";", "after the declaration");
}

/* [] or [,] or [,,]: how many dimensions. */
static bool unsized_brackets(tm_parser *p, int *depth) {
  *depth = 1;
  while (tm_accept(p, ","))
    ++*depth;
  return tm_expect(p, "]", "(functions' types have no sizes)");
}

static bool unsized_type(tm_parser *p, tm_type *type, bool or_void);

static bool unsized_tuple(tm_parser *p, int depth, tm_type *type) {
  tm_list list = {0};
  p->at += 2;
  do {
    tm_type *item = tm_parser_alloc(p, sizeof *item);
    if (!item || !tm_deeper(p) || !unsized_type(p, item, false) ||
        !tm_list_add(p->arena, &list, item))
      return false;
    p->depth--;
  } while (another(p));
  tm_tuple *tuple = tm_parser_alloc(p, sizeof *tuple);
  if (!tuple || !(tuple->items = TM_NEW(p->arena, tm_type, list.count)))
    return false;
  tuple->count = list.count;
  for (size_t i = 0; i < list.count; i++)
    tuple->items[i] = *(tm_type *)list.items[i];
  *type = (tm_type){.base = TM_TUPLE, .depth = depth, .tuple = tuple};
  return tm_expect(p, ")", "or ',' in this tuple");
}

/* real[,] of old programs. */
static bool old_brackets(tm_parser *p, int *depth) {
  if (!tm_accept(p, "["))
    return true;
  if (*depth) {
    p->at--;
    return tm_unexpected(p, "a name (array[] was given before the type)");
  }
  return unsized_brackets(p, depth);
}

/* array[,] vector; a tuple of such; void where allowed. */
static bool unsized_type(tm_parser *p, tm_type *type, bool or_void) {
  int depth = 0;
  if (tm_accept(p, "array"))
    if (!tm_expect(p, "[", "after array") || !unsized_brackets(p, &depth))
      return false;
  if (tm_is(p, "tuple") && tm_is_ahead(p, 1, "("))
    return unsized_tuple(p, depth, type);
  const tm_token *token = tm_peek(p);
  const type_word *word =
      token->kind == TM_TOKEN_NAME ? find_type(token->text) : NULL;
  if (or_void && tm_accept(p, "void")) {
    *type = (tm_type){.base = TM_VOID};
    return true;
  }
  if (!word || word->constraint != TM_FREE)
    return tm_unexpected(p, "a type: int, real, vector, row_vector, matrix, "
                            "one of complex numbers, a tuple or array[] of "
                            "one");
  p->at++;
  if (!old_brackets(p, &depth))
    return false;
  *type = (tm_type){.base = word->base, .depth = depth};
  return true;
}

static tm_variable *argument(tm_parser *p) {
  bool data_only = tm_accept(p, "data");
  tm_type type;
  const tm_token *token;
  if (!unsized_type(p, &type, false) ||
      !tm_parse_name(p, &token, "an argument's name"))
    return NULL;
  tm_variable *v = variable_new(p, token);
  if (v) {
    v->type = type;
    v->argument = true;
    v->data_only = data_only;
  }
  return v;
}

static bool arguments(tm_parser *p, tm_function *f) {
  tm_list list = {0};
  if (!tm_expect(p, "(", "and the arguments of this function"))
    return false;
  if (!tm_is(p, ")"))
    do {
      tm_variable *v = argument(p);
      if (!v || !tm_list_add(p->arena, &list, v))
        return false;
    } while (tm_accept(p, ",") || tm_accept(p, "|"));
  f->arguments = (tm_variable **)list.items;
  f->argument_count = list.count;
  return tm_expect(p, ")", "or ',' after the argument");
}

static bool ends_with(const char *text, const char *suffix) {
  size_t n = strlen(text), m = strlen(suffix);
  return n >= m && !strcmp(text + n - m, suffix);
}

tm_function *tm_parse_function(tm_parser *p) {
  tm_function *f = tm_parser_alloc(p, sizeof *f);
  const tm_token *token;
  if (!f || !unsized_type(p, &f->result, true) ||
      !tm_parse_name(p, &token, "a function's name"))
    return NULL;
  f->name = token->text;
  f->token = token;
  f->jacobian = ends_with(f->name, "_jacobian");
  f->uses_target = f->jacobian || ends_with(f->name, "_lp");
  if (!arguments(p, f))
    return NULL;
  if (tm_accept(p, ";"))
    return f;
  tm_list body = {0};
  if (!tm_is(p, "{")) {
    tm_unexpected(p, "'{' and the function's body, or ';'");
    return NULL;
  }
  if (!tm_parse_statement(p, &body))
    return NULL;
  f->body = body.items[0];
  return f;
}
