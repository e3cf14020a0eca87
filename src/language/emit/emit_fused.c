/* emit_fused.c - a whole expression of scalars as one node of the tape.
 *
 * Its operations become statements on numbers, operands first:
 *
 *   tm_var a0_ = v_mu; double x0_ = a0_.v; ... double x4_ = x0_ + x3_;
 *
 * and then its slopes in the values that may depend on parameters, from the
 * root down, which go to one node (or, when the target is raised, straight to
 * the adjoints). A value that is used twice is read once. */
#include "language/emit/operation.h"

#include "language/check/types.h"
#include "language/emit/powers.h"

#include <stdio.h>
#include <string.h>

enum { MOST = 48, PARTS = 4 }; /* operations and values; operands of one */

typedef enum kind {
  NUMBER, /* does not depend on parameters */
  VALUE,  /* a tm_var */
  OPERATION,
  DENSITY
} kind;

typedef struct part {
  kind kind;
  const tm_expression *e;
  tm_operation op;
  int parts[PARTS], count;
  bool active, reached; /* has an adjoint; it is declared */
} part;

typedef struct fused {
  tm_emitter *g;
  part all[MOST];
  int count;
} fused;

/* ---- what can be fused -------------------------------------------------- */

/* VALUE: it is taken as it is. */
static kind kind_of(const tm_emitter *g, const tm_expression *e) {
  if (tm_held_of(g, e) != TM_VAR || tm_emit_leaves_out(g, e) ||
      tm_emit_remembers(g, e))
    return VALUE;
  if (e->kind == TM_E_BINARY &&
      (!tm_is_scalar(e->parts[0]->type) || !tm_is_scalar(e->parts[1]->type)))
    return VALUE;
  if (tm_is_scalar_density(e) && e->part_count <= PARTS)
    return DENSITY;
  return tm_operation_of(e) ? OPERATION : VALUE;
}

bool tm_is_fused(const tm_emitter *g, const tm_expression *e) {
  return g->gradient && kind_of(g, e) != VALUE;
}

/* ---- the operations ----------------------------------------------------- */

/* Is it read once for both? */
static bool same(const tm_expression *a, const tm_expression *b) {
  if (a->kind != b->kind || a->kept || b->kept)
    return false;
  if (a->kind == TM_E_NAME)
    return a->variable == b->variable;
  if (a->kind == TM_E_INT)
    return a->whole == b->whole;
  if (a->kind != TM_E_INDEX || a->index_count != b->index_count ||
      !tm_index_single(a) || !tm_index_single(b) ||
      !same(a->parts[0], b->parts[0]))
    return false;
  for (size_t i = 0; i < a->index_count; i++)
    if (!same(a->indices[i].from, b->indices[i].from))
      return false;
  return true;
}

static int leaf(fused *f, const tm_expression *e) {
  bool active = tm_held_of(f->g, e) == TM_VAR && !tm_emit_leaves_out(f->g, e);
  for (int i = 0; i < f->count && active; i++)
    if (f->all[i].kind == VALUE && same(f->all[i].e, e))
      return i;
  f->all[f->count] =
      (part){.kind = active ? VALUE : NUMBER, .e = e, .active = active};
  return f->count++;
}

/* `left`: places that are there for e. What does not fit is a value, and fused
 * on its own. */
static int add(fused *f, const tm_expression *e, int left) {
  while (e->kind == TM_E_UNARY && e->text[0] == '+' && !e->kept)
    e = e->parts[0];
  kind k = kind_of(f->g, e);
  part p = {.kind = k, .e = e, .op = tm_operation_of(e), .active = true};
  int operands = tm_operands_of(p.op, e);
  if (k == VALUE || left <= operands)
    return leaf(f, e);
  left--;
  for (int i = 0; i < operands; i++) {
    int before = f->count, others = operands - 1 - i;
    p.parts[p.count++] = add(f, e->parts[i], left - others);
    left -= f->count - before;
  }
  f->all[f->count] = p;
  return f->count++;
}

/* x<i>_ = a density of the numbers x<parts>_, with its slopes d<i>_ where
 * they are asked for. */
void tm_emit_density_slopes(tm_emitter *g, const tm_expression *e, int i,
                            const int *parts, bool slopes) {
  size_t logged;
  int count = (int)e->part_count;
  const char *own = tm_inline_density(e, &logged);
  tm_emit(g, "double q%d_[] = {", i);
  for (int k = 0; k < count; k++)
    tm_emit(g, "%sx%d_", k ? ", " : "", parts[k]);
  tm_emit(g, "}, d%d_[%d]; double x%d_ = ", i, count, i);
  size_t number = tm_emit_kernel_number(g, e->builtin->name);
  if (!own && slopes)
    tm_emit(g, "tm_density_slopes(K[%zu], %d, q%d_, d%d_); ", number, count, i,
            i);
  else if (!own)
    tm_emit(g, "tm_density_value(K[%zu], %d, q%d_); ", number, count, i);
  if (!own)
    return;
  char x[40];
  snprintf(x, sizeof x, "x%d_", parts[logged]);
  tm_emit(g, "tm_%s_density(K[%zu], q%d_, ", own, number, i);
  tm_emit(g, slopes ? "d%d_, " : "0, ", i);
  tm_emit_log(g, e->parts[logged], x);
  tm_emit(g, "); ");
}

static tm_operands names_of(const part *p, int i) {
  tm_operands names;
  for (int k = 0; k < 2; k++)
    snprintf(names.of[k], sizeof names.of[k], "x%d_", p->parts[k]);
  snprintf(names.value, sizeof names.value, "x%d_", i);
  snprintf(names.adjoint, sizeof names.adjoint, "g%d_", i);
  return names;
}

static void emit_values(fused *f) {
  for (int i = 0; i < f->count; i++) {
    const part *p = &f->all[i];
    tm_operands names = names_of(p, i);
    if (p->kind == DENSITY) {
      tm_emit_density_slopes(f->g, p->e, i, p->parts, true);
      continue;
    }
    if (p->kind == VALUE) {
      tm_emit(f->g, "tm_var a%d_ = ", i);
      tm_emit_expression(f->g, p->e);
      tm_emit(f->g, "; double x%d_ = a%d_.v; ", i, i);
      continue;
    }
    tm_emit(f->g, "double x%d_ = ", i);
    if (p->kind == NUMBER)
      tm_emit_number(f->g, p->e);
    else
      tm_emit_operation(f->g, p->op, p->e, &names);
    tm_emit(f->g, "; ");
  }
}

/* ---- slopes ------------------------------------------------------------- */

/* The adjoint of operand k of operation i. */
static void emit_slope(fused *f, int i, int k) {
  const part *p = &f->all[i];
  tm_operands names = names_of(p, i);
  if (p->kind == DENSITY)
    tm_emit(f->g, "g%d_ * d%d_[%d]", i, i, k);
  else
    tm_emit_operation_slope(f->g, p->op, p->e, k, &names);
}

static void emit_slopes(fused *f) {
  int root = f->count - 1;
  tm_emit(f->g, "double g%d_ = 1; ", root);
  for (int i = root; i >= 0; i--) {
    const part *p = &f->all[i];
    for (int k = 0; k < p->count; k++) {
      part *to = &f->all[p->parts[k]];
      if (!to->active)
        continue;
      tm_emit(f->g, to->reached ? "g%d_ += " : "double g%d_ = ", p->parts[k]);
      to->reached = true;
      emit_slope(f, i, k);
      tm_emit(f->g, "; ");
    }
  }
}

/* The values; or those that lie in storage that is assigned. */
static bool is_taken(const part *p, bool only_loose) {
  return p->kind == VALUE && (!only_loose || tm_is_loose(p->e));
}

static int count_taken(const fused *f, bool only_loose) {
  int count = 0;
  for (int i = 0; i < f->count; i++)
    count += is_taken(&f->all[i], only_loose);
  return count;
}

static void emit_set(fused *f, bool only_loose) {
  for (int i = 0, k = 0; i < f->count; i++)
    if (is_taken(&f->all[i], only_loose))
      tm_emit(f->g, "tm_linear_set(t, p_, %d, a%d_.d, g%d_); ", k++, i, i);
}

/* r_: a node, where one of the values has an adjoint. */
static void emit_node(fused *f, bool only_loose) {
  int count = count_taken(f, only_loose);
  tm_emit(f->g, "tm_var r_ = {x%d_, 0}; ", f->count - 1);
  if (!count)
    return;
  const char *before = "if (";
  for (int i = 0; i < f->count; i++)
    if (is_taken(&f->all[i], only_loose)) {
      tm_emit(f->g, "%sa%d_.d", before, i);
      before = " || ";
    }
  tm_emit(f->g, ") { tm_linear *p_ = tm_linear_new(t, %d); ", count);
  emit_set(f, only_loose);
  tm_emit(f->g, "r_.d = &p_->adjoint.own; } ");
}

/* ---- powers -------------------------------------------------------------- */

/* Values and slopes, those of the node pp_ from `first` on; the value goes to
 * `to`. */
static void emit_summand(fused *f, const char *to, const char *first) {
  tm_emit(f->g, "{ ");
  emit_values(f);
  tm_emit(f->g, "%s = x%d_; ", to, f->count - 1);
  emit_slopes(f);
  for (int i = 0, k = 0; i < f->count; i++)
    if (is_taken(&f->all[i], false))
      tm_emit(f->g, "tm_linear_set(t, pp_, (int)(%s + %d), a%d_.d, g%d_); ",
              first, k++, i, i);
  tm_emit(f->g, "} ");
}

static void emit_power_loop(tm_emitter *g, const tm_powers *p, fused *f,
                            int width) {
  const char *name = p->loop->variable->name;
  char to[200], first[200];
  snprintf(to, sizeof to, "pe_[v_%.150s - 1]", name);
  snprintf(first, sizeof first, "(v_%.150s - 1) * %d", name, width);
  tm_emit(g, "for (long v_%s = 1; v_%s <= pn_; v_%s++) { ", name, name, name);
  if (f) {
    emit_summand(f, to, first);
  } else {
    tm_emit(g, "%s = ", to);
    tm_emit_number(g, p->each);
    tm_emit(g, "; ");
  }
  tm_emit(g, "} ");
}

/* pn_, the number of terms, and room for them. */
static void emit_room(tm_emitter *g, const tm_powers *p) {
  tm_emit(g, "({ long pn_ = tm_size(t, ");
  tm_emit_expression(g, p->loop->upper);
  tm_emit(g, ", ");
  tm_emit_place(g, p->terms->token);
  tm_emit(g, "); double few_[8], *pe_ = pn_ <= 8 ? few_ : (double *)"
             "tm_take_blank(t, (size_t)pn_ * sizeof(double)), pc_ = 0;\n");
}

void tm_emit_powers(tm_emitter *g, const tm_expression *e) {
  const tm_powers *p = e->powers;
  bool active = tm_held_of(g, e) == TM_VAR;
  fused each = {.g = g}, rest = {.g = g};
  size_t around = g->memo_count;
  emit_room(g, p);
  if (active && p->rest)
    add(&rest, p->rest, MOST);
  if (!active && p->rest) {
    tm_emit(g, "pc_ = ");
    tm_emit_number(g, p->rest);
    tm_emit(g, "; ");
  }
  tm_emit_memos(g, p->loop);
  if (active) {
    add(&each, p->each, MOST);
    int width = count_taken(&each, false), tail = count_taken(&rest, false);
    char first[40];
    snprintf(first, sizeof first, "pn_ * %d", width);
    tm_emit(g, "tm_linear *pp_ = tm_powers_new(t, %s + %d); ", first, tail);
    if (p->rest)
      emit_summand(&rest, "pc_", first);
    emit_power_loop(g, p, &each, width);
    tm_emit(g, "t->runtime->powers(t, pp_, pe_, pn_, %d, %d, pc_); })", width,
            tail);
  } else {
    emit_power_loop(g, p, NULL, 0);
    tm_emit(g, "t->runtime->powers_value(pe_, pn_, pc_); })");
  }
  g->memo_count = around;
}

/* ---- as what ------------------------------------------------------------ */

static void begin(fused *f, const tm_expression *e) {
  add(f, e, MOST);
  emit_values(f);
  emit_slopes(f);
}

void tm_emit_fused(tm_emitter *g, const tm_expression *e) {
  fused f = {.g = g};
  tm_emit(g, "({ ");
  begin(&f, e);
  emit_node(&f, false);
  tm_emit(g, "r_; })");
}

void tm_emit_fused_into(tm_emitter *g, const tm_expression *e) {
  fused f = {.g = g};
  begin(&f, e);
  tm_emit(g, "tm_linear *p_ = tm_linear_into(t, y_, i_, x%d_, %d); ",
          f.count - 1, count_taken(&f, false));
  tm_emit(g, "if (p_) { ");
  emit_set(&f, false);
  tm_emit(g, "} ");
}

void tm_emit_fused_target(tm_emitter *g, const tm_expression *e) {
  fused f = {.g = g};
  tm_emit(g, "{ ");
  begin(&f, e);
  for (int i = 0; i < f.count; i++)
    if (f.all[i].kind == VALUE && !tm_is_loose(f.all[i].e))
      tm_emit(g, "tm_raise(a%d_.d, g%d_); ", i, i);
  if (count_taken(&f, true)) {
    emit_node(&f, true);
    tm_emit(g, "tm_add(t, r_); ");
  } else {
    tm_emit(g, "t->log_density += x%d_; ", f.count - 1);
  }
  tm_emit(g, "}");
}
