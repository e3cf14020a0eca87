/* describe.c - what `tempera check` says of a program: its parameters with
 * their support and unconstrained size, each statement's part and why, and
 * which parameters have no proper prior. */
#include "language/check/split.h"
#include "language/check/term.h"

#include <string.h>

static void add_expression(tm_text *text, const tm_expression *e);

static void add_list(tm_text *text, tm_expression *const *parts, size_t count,
                     bool bar) {
  for (size_t i = 0; i < count; i++) {
    if (i)
      tm_text_add(text, bar && i == 1 ? " | " : ", ");
    add_expression(text, parts[i]);
  }
}

static void add_index(tm_text *text, const tm_index *index) {
  if (index->from)
    add_expression(text, index->from);
  if (index->kind != TM_INDEX_ONE)
    tm_text_add(text, ":");
  if (index->to)
    add_expression(text, index->to);
}

/* a + -b, as the splitter leaves it, is a - b. */
static void add_difference(tm_text *text, const tm_expression *e) {
  const tm_expression *right = e->parts[1]->parts[0];
  bool nested = right->kind == TM_E_BINARY && tm_is_sum(right);
  add_expression(text, e->parts[0]);
  tm_text_add(text, nested ? " - (" : " - ");
  add_expression(text, right);
  tm_text_add(text, nested ? ")" : "");
}

/* Operators on complex numbers have become calls. */
static bool is_operator_call(const tm_expression *e) {
  return e->kind == TM_E_CALL && !strncmp(e->text, "operator", 8);
}

static bool is_infix(const tm_expression *e) {
  return e->kind == TM_E_BINARY || (is_operator_call(e) && e->part_count == 2 &&
                                    strcmp(e->text, "operator="));
}

static void add_operator(tm_text *text, const tm_expression *e) {
  bool inner = e->part_count == 2;
  if (inner && !strcmp(e->text, "+") && e->parts[1]->kind == TM_E_UNARY &&
      e->parts[1]->text[0] == '-') {
    add_difference(text, e);
    return;
  }
  if (!inner)
    tm_text_add(text, e->text);
  for (size_t i = 0; i < e->part_count; i++) {
    bool nested = is_infix(e->parts[i]);
    if (i)
      tm_text_printf(text, " %s ", e->text);
    tm_text_add(text, nested ? "(" : "");
    add_expression(text, e->parts[i]);
    tm_text_add(text, nested ? ")" : "");
  }
}

/* As it was written: 2i, a real as it is, a * b. */
static void add_operator_call(tm_text *text, const tm_expression *e) {
  tm_expression shown = *e;
  shown.text += strlen("operator");
  shown.kind = e->part_count == 2 ? TM_E_BINARY : TM_E_UNARY;
  if (!strcmp(shown.text, "=")) {
    add_expression(text, e->parts[e->part_count - 1]);
    tm_text_add(text, e->part_count == 2 ? "i" : "");
  } else if (!strcmp(shown.text, "'")) {
    add_expression(text, e->parts[0]);
    tm_text_add(text, "'");
  } else {
    bool scalar = tm_index_rank(e->parts[0]->type) == 0 ||
                  tm_index_rank(e->parts[e->part_count - 1]->type) == 0;
    shown.text += scalar && shown.text[0] == '.';
    add_operator(text, &shown);
  }
}

static void add_call(tm_text *text, const tm_expression *e) {
  if (is_operator_call(e)) {
    add_operator_call(text, e);
    return;
  }
  tm_text_printf(text, "%s(%s%s", e->text, e->system ? e->system->name : "",
                 e->system ? ", " : "");
  add_list(text, e->parts, e->part_count, e->bar);
  tm_text_add(text, ")");
}

static void add_indexed(tm_text *text, const tm_expression *e) {
  add_expression(text, e->parts[0]);
  tm_text_add(text, "[");
  for (size_t i = 0; i < e->index_count; i++) {
    tm_text_add(text, i ? ", " : "");
    add_index(text, &e->indices[i]);
  }
  tm_text_add(text, "]");
}

static void add_bracketed(tm_text *text, const tm_expression *e,
                          const char *open, const char *close) {
  tm_text_add(text, open);
  add_list(text, e->parts, e->part_count, false);
  tm_text_add(text, close);
}

static void add_expression(tm_text *text, const tm_expression *e) {
  switch (e->kind) {
  case TM_E_INT:
    tm_text_printf(text, "%lld", (long long)e->whole);
    break;
  case TM_E_REAL:
    tm_text_number(text, e->number);
    break;
  case TM_E_CALL:
    add_call(text, e);
    break;
  case TM_E_UNARY:
  case TM_E_BINARY:
    add_operator(text, e);
    break;
  case TM_E_INDEX:
    add_indexed(text, e);
    break;
  case TM_E_TUPLE:
    add_bracketed(text, e, "(", ")");
    break;
  case TM_E_PROJECT:
    add_expression(text, e->parts[0]);
    tm_text_printf(text, ".%lld", (long long)e->whole);
    break;
  case TM_E_NAME:
    if (e->variable && e->variable->held)
      add_expression(text, e->variable->initial);
    else
      tm_text_add(text, e->variable ? tm_shown_name(e->variable) : e->text);
    break;
  case TM_E_TRANSPOSE:
    add_expression(text, e->parts[0]);
    tm_text_add(text, "'");
    break;
  case TM_E_ARRAY:
    add_bracketed(text, e, "{", "}");
    break;
  case TM_E_ROW_VECTOR:
    add_bracketed(text, e, "[", "]");
    break;
  case TM_E_CONDITIONAL:
    add_expression(text, e->parts[0]);
    tm_text_add(text, " ? ");
    add_expression(text, e->parts[1]);
    tm_text_add(text, " : ");
    add_expression(text, e->parts[2]);
    break;
  default:
    tm_text_add(text, e->text);
  }
}

static void add_support(tm_text *text, const tm_variable *v) {
  static const char *const names[] = {
      [TM_SIMPLEX] = "a simplex",
      [TM_UNIT_VECTOR] = "a unit vector",
      [TM_ORDERED] = "ordered",
      [TM_POSITIVE_ORDERED] = "positive and ordered",
      [TM_SUM_TO_ZERO] = "sums to zero",
      [TM_CHOLESKY_CORR] = "a Cholesky factor of a correlation matrix",
      [TM_CHOLESKY_COV] = "a Cholesky factor of a covariance matrix",
      [TM_CORRELATION] = "a correlation matrix",
      [TM_COVARIANCE] = "a covariance matrix",
      [TM_ROW_STOCHASTIC] = "a matrix whose rows are simplexes",
      [TM_COLUMN_STOCHASTIC] = "a matrix whose columns are simplexes",
      [TM_SUM_TO_ZERO_MATRIX] = "rows and columns sum to zero"};
  if (v->constraint >= TM_SIMPLEX) {
    tm_text_add(text, names[v->constraint]);
    return;
  }
  bool bounded = v->constraint == TM_BOUNDED;
  bool whole = v->type.base == TM_INT;
  tm_text_add(text, whole ? "whole numbers " : "");
  tm_text_add(text, bounded && v->lower ? (whole ? "[" : "(") : "(");
  if (bounded && v->lower)
    add_expression(text, v->lower);
  else
    tm_text_add(text, "-inf");
  tm_text_add(text, ", ");
  if (bounded && v->upper)
    add_expression(text, v->upper);
  else
    tm_text_add(text, "inf");
  tm_text_add(text, bounded && v->upper && whole ? "]" : ")");
}

/* "(K - 1)" and the like: coordinates of one element of a special type. */
static void add_inner_size(tm_text *text, const tm_variable *v) {
  const tm_expression *n = v->sizes[v->type.depth];
  switch (v->constraint) {
  case TM_SIMPLEX:
  case TM_UNIT_VECTOR:
  case TM_SUM_TO_ZERO:
    tm_text_add(text, "(");
    add_expression(text, n);
    tm_text_add(text, " - 1)");
    break;
  case TM_CHOLESKY_CORR:
  case TM_CORRELATION:
    tm_text_add(text, "choose(");
    add_expression(text, n);
    tm_text_add(text, ", 2)");
    break;
  case TM_COVARIANCE:
  case TM_CHOLESKY_COV:
    tm_text_add(text, "choose(");
    add_expression(text, n);
    tm_text_add(text, " + 1, 2)");
    break;
  default:
    for (size_t i = 0; i + (size_t)v->type.depth < v->size_count; i++) {
      bool less =
          v->constraint == TM_SUM_TO_ZERO_MATRIX ||
          v->constraint == (i ? TM_ROW_STOCHASTIC : TM_COLUMN_STOCHASTIC);
      tm_text_add(text, i ? " * " : "");
      tm_text_add(text, less ? "(" : "");
      add_expression(text, v->sizes[i + (size_t)v->type.depth]);
      tm_text_add(text, less ? " - 1)" : "");
    }
  }
}

static void add_size(tm_text *text, const tm_variable *v) {
  bool complex = tm_is_complex(v->type);
  if (v->size_count == 0) {
    tm_text_add(text, complex ? "2" : "1");
    return;
  }
  tm_text_add(text, complex ? "2 * " : "");
  for (int i = 0; i < v->type.depth; i++) {
    tm_text_add(text, i ? " * " : "");
    add_expression(text, v->sizes[i]);
  }
  if ((int)v->size_count > v->type.depth) {
    tm_text_add(text, v->type.depth ? " * " : "");
    add_inner_size(text, v);
  }
}

static void add_parameter(tm_text *text, const tm_parameter_info *info) {
  const tm_variable *v = info->variable;
  char name[TM_TYPE_NAME];
  tm_text_printf(text, "  %s: %s, ", tm_shown_name(v),
                 tm_type_name(v->type, name, sizeof name));
  add_support(text, v);
  tm_text_add(text, ", unconstrained size ");
  add_size(text, v);
  if (tm_surely_improper(info))
    tm_text_add(text, "; improper prior");
  else if (info->cover != TM_COVER_ALL && info->flat_is_proper)
    tm_text_add(text, "; flat where no statement names it");
  else if (info->cover != TM_COVER_ALL)
    tm_text_printf(text, "; improper prior if its size is above %lld",
                   (long long)info->covered_to);
  tm_text_add(text, "\n");
}

static const char *part_name(tm_part part) {
  return part == TM_PART_BOTH    ? "both"
         : part == TM_PART_PRIOR ? "prior"
                                 : "likelihood";
}

static void add_target(tm_text *text, const tm_statement *s) {
  if (s->kind == TM_S_TARGET) {
    tm_text_add(text, "target += ");
    add_expression(text, s->value);
  } else if (s->kind == TM_S_DECLARE) {
    if (!s->variable->held)
      tm_text_printf(text, "%s = ", s->variable->name);
    add_expression(text, s->variable->initial);
  } else {
    if (s->kind == TM_S_ASSIGN) {
      add_expression(text, s->left);
      tm_text_add(text, " = ");
    }
    add_expression(text, s->value);
  }
}

static void add_terms(tm_text *text, const tm_statement *s) {
  for (size_t i = 0; s->term_count > 1 && i < s->term_count; i++) {
    tm_text_add(text, s->terms[i].minus ? "        - " : "        + ");
    add_expression(text, s->terms[i].value);
    tm_text_printf(text, "\n          %s: %s\n",
                   s->terms[i].part ? part_name(s->terms[i].part) : "neither",
                   s->terms[i].reason);
  }
}

static void add_statement(tm_text *text, const tm_statement *s) {
  tm_text_printf(text, "  %d: ", s->token->line);
  if (s->kind == TM_S_TILDE) {
    add_expression(text, s->left);
    tm_text_printf(text, " ~ %s(", s->distribution);
    add_list(text, s->arguments, s->argument_count, false);
    tm_text_add(text, s->truncated ? ") T[...]" : ")");
  } else {
    add_target(text, s);
  }
  tm_text_printf(text, "\n      %s: %s\n", part_name(s->part), s->reason);
  add_terms(text, s);
}

/* A bound that cuts a prior density by a varying factor. */
static bool cut_and_varying(const tm_split *split, const tm_statement *s) {
  const tm_expression *root = s->kind == TM_S_TILDE ? s->left : NULL;
  if (!root || s->part != TM_PART_PRIOR || s->truncated)
    return false;
  root = tm_root(root);
  return root->kind == TM_E_NAME &&
         root->variable->block == TM_BLOCK_PARAMETERS &&
         tm_cut_varies(split, root->variable, s->density);
}

static bool depends_on_sizes(const tm_split *split) {
  for (size_t i = 0; i < split->parameter_count; i++)
    if (split->parameters[i].covered_to && !split->parameters[i].flat_is_proper)
      return true;
  return false;
}

void tm_describe(const tm_split *split, tm_text *text) {
  tm_text_add(text, "parameters\n");
  for (size_t i = 0; i < split->parameter_count; i++)
    add_parameter(text, &split->parameters[i]);
  tm_text_add(text, "statements\n");
  for (size_t i = 0; i < split->statement_count; i++)
    add_statement(text, split->statements[i]);
  for (size_t i = 0; i < split->statement_count; i++)
    if (cut_and_varying(split, split->statements[i]))
      tm_text_printf(text,
                     "warning: line %d: the bounds of %s cut a density by a "
                     "factor that depends on parameters; its normaliser "
                     "varies and is not added\n",
                     split->statements[i]->token->line,
                     split->statements[i]->left->kind == TM_E_NAME
                         ? split->statements[i]->left->text
                         : "the parameter");
  if (!split->likelihood)
    tm_text_add(text, "no likelihood: no statement has data for its outcome; "
                      "there is no evidence\n");
  if (split->proper) {
    tm_text_printf(text, "the prior is proper%s\n",
                   depends_on_sizes(split) ? ", if sizes are as said above"
                                           : "");
    return;
  }
  for (size_t i = 0; i < split->parameter_count; i++) {
    const tm_parameter_info *info = &split->parameters[i];
    if (tm_surely_improper(info))
      tm_text_printf(text,
                     "improper prior: %s of %s %s no prior statement and no "
                     "two bounds; there is no evidence\n",
                     info->cover == TM_COVER_SOME ? "some elements"
                                                  : "every element",
                     tm_shown_name(info->variable),
                     info->cover == TM_COVER_SOME ? "have" : "has");
  }
}
