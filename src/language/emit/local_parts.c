/* local_parts.c - expressions as parts with values, operands first. See
 * local.h. */
#include "language/emit/local.h"

#include "language/check/types.h"

#include <stdio.h>
#include <string.h>

static int fail(tm_local *l) {
  l->failed = true;
  return -1;
}

int tm_local_push(tm_local *l, tm_local_part part) {
  if (l->count == TM_LOCAL_MOST)
    return fail(l);
  l->all[l->count] = part;
  return l->count++;
}

static bool is_scalar(const tm_expression *e) {
  return e->type.depth == 0 &&
         (e->type.base == TM_INT || e->type.base == TM_REAL);
}

static bool is_vector(const tm_expression *e) {
  return tm_local_is_vector(e->type);
}

/* A part of this kind, of operands that are there. */
static int push(tm_local *l, tm_local_kind kind, const tm_expression *e,
                const int *parts, int count) {
  tm_local_part p = {.kind = kind, .e = e, .count = count};
  p.vector = is_vector(e);
  for (int i = 0; i < count; i++) {
    p.parts[i] = parts[i];
    p.active = p.active || l->all[parts[i]].active;
  }
  return tm_local_push(l, p);
}

/* ---- what is taken as it is --------------------------------------------- */

static int number(tm_local *l, const tm_expression *e) {
  int k = push(l, TM_LOCAL_NUMBER, e, NULL, 0);
  if (l->failed)
    return -1;
  tm_emit(l->g, "  double x%d_ = ", k);
  tm_emit_number(l->g, e);
  tm_emit(l->g, ";\n");
  return k;
}

/* l<k>_ is there: its numbers. */
static int see(tm_local *l, int k) {
  tm_emit(l->g, "  const double *x%d_ = l%d_.v; long n%d_ = l%d_.dim[0];\n", k,
          k, k, k);
  return k;
}

/* A vector that is an argument. */
static int view_of(tm_local *l, int tensor) {
  for (int i = 0; i < l->count; i++)
    if (l->all[i].kind == TM_LOCAL_VIEW && l->all[i].parts[0] == tensor)
      return i;
  tm_local_part p = {
      .kind = TM_LOCAL_VIEW, .vector = true, .active = l->all[tensor].active};
  p.parts[0] = tensor;
  int k = tm_local_push(l, p);
  if (l->failed)
    return -1;
  tm_emit(l->g, "  tm_tensor l%d_ = l%d_;\n", k, tensor);
  return see(l, k);
}

/* A vector of data, as the library makes it. */
static int passive(tm_local *l, const tm_expression *e) {
  tm_local_part p = {.kind = TM_LOCAL_VIEW, .vector = true};
  p.parts[0] = -1;
  int k = tm_local_push(l, p);
  if (l->failed)
    return -1;
  tm_emit(l->g, "  tm_tensor l%d_ = ", k);
  tm_emit_expression(l->g, e);
  tm_emit(l->g, ";\n");
  return see(l, k);
}

/* ---- elements and cuts -------------------------------------------------- */

static bool is_range(const tm_index *index) {
  return index->kind == TM_INDEX_RANGE;
}

/* An element (to NULL) or a range of a vector. */
static int from_vector(tm_local *l, const tm_expression *e, int base) {
  const tm_index *index = &e->indices[0];
  bool one = tm_index_single(e), view = l->all[base].kind == TM_LOCAL_VIEW;
  if (e->index_count != 1 || (!one && !is_range(index)))
    return fail(l);
  int k = push(l,
               one    ? view ? TM_LOCAL_LEAF : TM_LOCAL_ELEMENT
               : view ? TM_LOCAL_VIEW
                      : TM_LOCAL_CUT,
               e, &base, 1);
  if (l->failed)
    return -1;
  if (!one) {
    char x[60];
    snprintf(x, sizeof x, view ? "l%d_" : "tm_seen(x%d_, n%d_)", base, base);
    tm_emit(l->g, "  tm_tensor l%d_ = ", k);
    tm_emit_range(l->g, e, index, x, "1");
    tm_emit(l->g, ";\n");
    return see(l, k);
  }
  tm_emit(l->g, "  long k%d_ = tm_at(t, ", k);
  tm_emit_expression(l->g, index->from);
  tm_emit(l->g, ", (int)n%d_, ", base);
  tm_emit_place(l->g, e->token);
  tm_emit(l->g, ");\n");
  if (view)
    tm_emit(l->g, "  tm_var a%d_ = tm_element_of(l%d_, k%d_);\n", k, base, k);
  tm_emit(l->g, "  double x%d_ = x%d_[k%d_];\n", k, base, k);
  return k;
}

/* x[i, j] or row x[i] of an argument. */
static int from_tensor(tm_local *l, const tm_expression *e, int tensor) {
  if (!tm_index_single(e) || (!is_scalar(e) && !is_vector(e)))
    return fail(l);
  bool one = is_scalar(e);
  tm_local_part p = {.kind = one ? TM_LOCAL_LEAF : TM_LOCAL_VIEW,
                     .e = e,
                     .vector = !one,
                     .active = l->all[tensor].active};
  p.parts[0] = -1;
  int k = tm_local_push(l, p);
  if (l->failed)
    return -1;
  tm_emit(l->g, "  %s%d_ = ({ tm_tensor x_ = l%d_; ",
          one ? "tm_var a" : "tm_tensor l", k, tensor);
  tm_emit_offset(l->g, e);
  if (one)
    tm_emit(l->g, " tm_element_of(x_, k_); }); double x%d_ = a%d_.v;\n", k, k);
  else
    tm_emit(l->g, " tm_sub(x_, k_, %zu); });\n", e->index_count);
  return one ? k : see(l, k);
}

static int index_of(tm_local *l, const tm_expression *e) {
  tm_flat_index flat;
  const tm_expression *whole = tm_flat_of(e, &flat);
  const tm_expression *base = whole->parts[0];
  int tensor = base->kind == TM_E_NAME ? l->bound[base->variable->index] : -1;
  if (tensor >= 0 && l->all[tensor].kind == TM_LOCAL_TENSOR &&
      !is_vector(base)) {
    if (tm_index_single(e))
      return from_tensor(l, whole, tensor);
    base = e->parts[0];
    whole = e;
  }
  if (!is_vector(base))
    return fail(l);
  int k = tm_local_part_of(l, base);
  return l->failed ? -1 : from_vector(l, whole, k);
}

/* head, tail, segment */
static int cut(tm_local *l, const tm_expression *e) {
  const char *name = e->builtin->name;
  int base = tm_local_part_of(l, e->parts[0]);
  if (l->failed)
    return -1;
  bool view = l->all[base].kind == TM_LOCAL_VIEW;
  int k = push(l, view ? TM_LOCAL_VIEW : TM_LOCAL_CUT, e, &base, 1);
  if (l->failed)
    return -1;
  tm_emit(l->g, "  long c%d_ = ", k);
  tm_emit_expression(l->g, e->parts[e->part_count - 1]);
  tm_emit(l->g, "; tm_tensor l%d_ = tm_cut(t, ", k);
  tm_emit(l->g, view ? "l%d_, 1, " : "tm_seen(x%d_, n%d_), 1, ", base, base);
  if (!strcmp(name, "head")) {
    tm_emit(l->g, "0");
  } else if (!strcmp(name, "tail")) {
    tm_emit(l->g, "n%d_ - c%d_", base, k);
  } else {
    tm_emit(l->g, "-1 + ");
    tm_emit_expression(l->g, e->parts[1]);
  }
  tm_emit(l->g, ", c%d_);\n", k);
  return see(l, k);
}

/* ---- operations --------------------------------------------------------- */

static tm_operands names_of(const tm_local *l, int k) {
  const tm_local_part *p = &l->all[k];
  tm_operands names = {0};
  for (int i = 0; i < p->count && i < 2; i++)
    snprintf(names.of[i], sizeof names.of[i], "x%d_%s", p->parts[i],
             l->all[p->parts[i]].vector ? "[i_]" : "");
  return names;
}

/* x<k>_, of as many elements as n<k>_ says. */
static void emit_room(tm_local *l, int k) {
  tm_emit(l->g, "  double *restrict x%d_ = tm_room_for(t, &w_, n%d_);\n", k, k);
}

static void emit_common_length(tm_local *l, int k) {
  const tm_local_part *p = &l->all[k];
  int first = l->all[p->parts[0]].vector ? 0 : 1;
  bool both =
      p->count == 2 && l->all[p->parts[0]].vector && l->all[p->parts[1]].vector;
  if (both) {
    tm_emit(l->g, "  long n%d_ = tm_same_length(t, n%d_, n%d_, \"%s\", ", k,
            p->parts[0], p->parts[1], p->e->text);
    tm_emit_place(l->g, p->e->token);
    tm_emit(l->g, ");\n");
  } else {
    tm_emit(l->g, "  long n%d_ = n%d_;\n", k, p->parts[first]);
  }
}

static int add_operation(tm_local *l, const tm_expression *e, tm_operation op) {
  int parts[2], count = tm_operands_of(op, e);
  for (int i = 0; i < count && !l->failed; i++)
    parts[i] = tm_local_part_of(l, e->parts[i]);
  int k = l->failed ? -1 : push(l, TM_LOCAL_OPERATION, e, parts, count);
  if (l->failed)
    return -1;
  l->all[k].op = op;
  tm_operands names = names_of(l, k);
  if (l->all[k].vector) {
    emit_common_length(l, k);
    emit_room(l, k);
    tm_emit(l->g, "  for (long i_ = 0; i_ < n%d_; i_++) x%d_[i_] = ", k, k);
  } else {
    tm_emit(l->g, "  double x%d_ = ", k);
  }
  tm_emit_operation(l->g, op, e, &names);
  tm_emit(l->g, ";\n");
  return k;
}

static int add_density(tm_local *l, const tm_expression *e) {
  int parts[4];
  for (size_t i = 0; i < e->part_count && !l->failed; i++)
    parts[i] = tm_local_part_of(l, e->parts[i]);
  int k =
      l->failed ? -1 : push(l, TM_LOCAL_DENSITY, e, parts, (int)e->part_count);
  if (l->failed)
    return -1;
  tm_emit(l->g, "  ");
  tm_emit_density_slopes(l->g, e, k, parts, l->gradient);
  tm_emit(l->g, "\n");
  return k;
}

/* ---- vectors ------------------------------------------------------------ */

static int repeat(tm_local *l, const tm_expression *e) {
  int part = tm_local_part_of(l, e->parts[0]);
  int k = l->failed ? -1 : push(l, TM_LOCAL_REPEAT, e, &part, 1);
  if (l->failed)
    return -1;
  tm_emit(l->g, "  long n%d_ = tm_size(t, ", k);
  tm_emit_expression(l->g, e->parts[1]);
  tm_emit(l->g, ", ");
  tm_emit_place(l->g, e->token);
  tm_emit(l->g, ");\n");
  emit_room(l, k);
  tm_emit(l->g, "  for (long i_ = 0; i_ < n%d_; i_++) x%d_[i_] = x%d_;\n", k, k,
          part);
  return k;
}

/* Where operand i of a join begins; of i = count, where it ends. */
static void emit_begin(tm_local *l, int k, int i) {
  const tm_local_part *p = &l->all[k];
  int scalars = 0;
  for (int j = 0; j < i; j++)
    if (l->all[p->parts[j]].vector)
      tm_emit(l->g, "n%d_ + ", p->parts[j]);
    else
      scalars++;
  tm_emit(l->g, "%d", scalars);
}

static int join(tm_local *l, const tm_expression *e) {
  int parts[TM_LOCAL_OPERANDS];
  if (e->part_count == 0 || e->part_count > TM_LOCAL_OPERANDS)
    return fail(l);
  for (size_t i = 0; i < e->part_count && !l->failed; i++)
    parts[i] = tm_local_part_of(l, e->parts[i]);
  int count = (int)e->part_count;
  int k = l->failed ? -1 : push(l, TM_LOCAL_JOIN, e, parts, count);
  if (l->failed)
    return -1;
  tm_emit(l->g, "  long n%d_ = ", k);
  emit_begin(l, k, count);
  tm_emit(l->g, ";\n");
  emit_room(l, k);
  for (int i = 0; i < count; i++) {
    bool vector = l->all[parts[i]].vector;
    tm_emit(l->g, vector ? "  tm_put_numbers(x%d_ + " : "  x%d_[", k);
    emit_begin(l, k, i);
    tm_emit(l->g, vector ? ", x%d_, n%d_);\n" : "] = x%d_;\n", parts[i],
            parts[i]);
  }
  return k;
}

/* Of one vector: its sum, softmax and the like. */
static int of_vector(tm_local *l, const tm_expression *e, tm_local_kind kind) {
  int x = tm_local_part_of(l, e->parts[0]);
  if (l->failed || !l->all[x].vector)
    return fail(l);
  int k = push(l, kind, e, &x, 1);
  if (l->failed)
    return -1;
  tm_emitter *g = l->g;
  if (kind >= TM_LOCAL_LOG_SOFTMAX)
    tm_emit(g, "  double *s%d_ = tm_room_for(t, &w_, n%d_);\n", k, x);
  if (l->all[k].vector) {
    tm_emit(g, "  long n%d_ = n%d_;\n", k, x);
    emit_room(l, k);
  } else {
    tm_emit(g, "  double x%d_ = ", k);
  }
  if (kind == TM_LOCAL_SUM)
    tm_emit(g, "tm_sum_of(x%d_, n%d_);\n", x, x);
  else if (kind == TM_LOCAL_LOG_SUM_EXP)
    tm_emit(g, "tm_log_of_powers(t->runtime, x%d_, n%d_, s%d_);\n", x, x, k);
  else if (kind == TM_LOCAL_RUNNING_SUM)
    tm_emit(g, "  tm_running_sum(x%d_, n%d_, x%d_);\n", x, x, k);
  else if (kind == TM_LOCAL_SOFTMAX)
    tm_emit(g, "  tm_shares(t->runtime, x%d_, n%d_, x%d_);\n", x, x, k);
  else
    tm_emit(g, "  tm_log_shares(t->runtime, x%d_, n%d_, x%d_, s%d_);\n", x, x,
            k, k);
  return k;
}

static int category(tm_local *l, const tm_expression *e, tm_local_kind kind) {
  if (!is_scalar(e->parts[0]) || e->part_count != 2)
    return fail(l);
  int p = tm_local_part_of(l, e->parts[1]);
  int k = l->failed ? -1 : push(l, kind, e, &p, 1);
  if (l->failed)
    return -1;
  tm_emit(l->g, "  long y%d_ = ", k);
  tm_emit_expression(l->g, e->parts[0]);
  if (kind == TM_LOCAL_CATEGORY) {
    tm_emit(l->g, "; double x%d_ = tm_log_category(t, y%d_, x%d_, n%d_);\n", k,
            k, p, p);
    return k;
  }
  tm_emit(l->g,
          "; double *s%d_ = tm_room_for(t, &w_, n%d_);\n  double x%d_ = "
          "-tm_log_of_powers(t->runtime, x%d_, n%d_, s%d_) + "
          "x%d_[tm_at(t, y%d_, (int)n%d_, \"\")];\n",
          k, p, k, p, p, k, p, k, p);
  return k;
}

static int dot(tm_local *l, const tm_expression *e) {
  int parts[2];
  for (int i = 0; i < 2 && !l->failed; i++)
    parts[i] = tm_local_part_of(l, e->parts[i]);
  int k = l->failed ? -1 : push(l, TM_LOCAL_DOT, e, parts, 2);
  if (l->failed)
    return -1;
  emit_common_length(l, k);
  tm_emit(l->g, "  double x%d_ = tm_products_of(x%d_, x%d_, n%d_);\n", k,
          parts[0], parts[1], k);
  return k;
}

/* ---- which of these ----------------------------------------------------- */

static int builtin(tm_local *l, const tm_expression *e) {
  static const struct {
    const char *name;
    tm_local_kind kind;
  } of_one[] = {{"sum", TM_LOCAL_SUM},
                {"softmax", TM_LOCAL_SOFTMAX},
                {"log_softmax", TM_LOCAL_LOG_SOFTMAX},
                {"log_sum_exp", TM_LOCAL_LOG_SUM_EXP},
                {"cumulative_sum", TM_LOCAL_RUNNING_SUM}};
  const char *name = e->builtin->name;
  for (size_t i = 0; i < sizeof of_one / sizeof *of_one; i++)
    if (!strcmp(name, of_one[i].name) && e->part_count == 1 &&
        is_vector(e->parts[0]) && !e->powers)
      return of_vector(l, e, of_one[i].kind);
  if (!strcmp(name, "head") || !strcmp(name, "tail") ||
      !strcmp(name, "segment"))
    return is_vector(e) ? cut(l, e) : fail(l);
  if (!strcmp(name, "rep_vector") || !strcmp(name, "rep_row_vector"))
    return repeat(l, e);
  if (!strncmp(name, "append_", 7))
    return is_vector(e) ? join(l, e) : fail(l);
  if (!strcmp(name, "categorical_lpmf"))
    return category(l, e, TM_LOCAL_CATEGORY);
  if (!strcmp(name, "categorical_logit_lpmf"))
    return category(l, e, TM_LOCAL_CATEGORY_LOGIT);
  bool same = !strcmp(name, "to_vector") || !strcmp(name, "to_row_vector") ||
              !strcmp(name, "to_array_1d");
  return same && is_vector(e->parts[0]) ? tm_local_part_of(l, e->parts[0])
                                        : fail(l);
}

static bool is_fit(const tm_expression *e) {
  return is_scalar(e) || is_vector(e);
}

/* Element by element; products of vectors are something else. */
static bool is_operation(const tm_expression *e, tm_operation op) {
  if (!op || !is_fit(e))
    return false;
  for (int i = 0; i < tm_operands_of(op, e); i++)
    if (!is_fit(e->parts[i]))
      return false;
  bool linear = e->kind == TM_E_BINARY &&
                (!strcmp(e->text, "*") || !strcmp(e->text, "/")) &&
                is_vector(e->parts[1]);
  return !linear || (is_scalar(e->parts[0]) && e->text[0] == '*');
}

static int name(tm_local *l, const tm_expression *e) {
  int k = l->bound[e->variable->index];
  if (k < 0 || !is_fit(e))
    return fail(l);
  return l->all[k].kind == TM_LOCAL_TENSOR ? view_of(l, k) : k;
}

static int call(tm_local *l, const tm_expression *e) {
  if (e->function && !e->sliced && !e->system)
    return tm_local_call(l, e);
  if (e->function || e->system || !e->builtin)
    return fail(l);
  return tm_is_scalar_density(e) && e->part_count <= 4 ? add_density(l, e)
                                                       : builtin(l, e);
}

int tm_local_part_of(tm_local *l, const tm_expression *e) {
  while (e->kind == TM_E_UNARY && e->text[0] == '+')
    e = e->parts[0];
  tm_operation op = tm_operation_of(e);
  if (l->failed || e->kept || tm_is_complex(e->type))
    return fail(l);
  if (is_scalar(e) &&
      (e->type.base == TM_INT || e->level != TM_LEVEL_PARAMETER))
    return number(l, e);
  if (tm_is_dot(e))
    return dot(l, e);
  if (is_operation(e, op))
    return add_operation(l, e, op);
  switch (e->kind) {
  case TM_E_NAME:
    return name(l, e);
  case TM_E_INDEX:
    return index_of(l, e);
  case TM_E_TRANSPOSE:
    return is_vector(e) ? tm_local_part_of(l, e->parts[0]) : fail(l);
  case TM_E_ARRAY:
  case TM_E_ROW_VECTOR:
    return is_vector(e) && e->type.base != TM_INT ? join(l, e) : fail(l);
  case TM_E_CALL:
    return call(l, e);
  default:
    return is_vector(e) && e->level != TM_LEVEL_PARAMETER ? passive(l, e)
                                                          : fail(l);
  }
}
