/* local_slopes.c - where a function that is one node returns: adjoints from the
 * result back to the arguments, and the node. See local.h. */
#include "language/emit/local.h"

#include <stdio.h>

static void mark(tm_local *l, int k) {
  tm_local_part *p = &l->all[k];
  if (p->reached || !p->active)
    return;
  p->reached = true;
  for (int i = 0;
       i < p->count && p->kind != TM_LOCAL_VIEW && p->kind != TM_LOCAL_LEAF;
       i++)
    mark(l, p->parts[i]);
}

/* ---- zeros -------------------------------------------------------------- */

static void emit_adjoint(tm_local *l, int k, int root) {
  const tm_local_part *p = &l->all[k];
  if (p->kind == TM_LOCAL_CUT)
    tm_emit(l->g, "  double *g%d_ = g%d_ + (x%d_ - x%d_);\n", k, p->parts[0], k,
            p->parts[0]);
  else if (p->vector)
    tm_emit(l->g, "  double *g%d_ = tm_zeros_for(t, &w_, n%d_);\n", k, k);
  else
    tm_emit(l->g, "  double g%d_ = %d;\n", k, k == root);
}

/* ---- from the last part to the first ------------------------------------ */

static const char *element(const tm_local *l, int k) {
  return l->all[k].vector ? "[i_]" : "";
}

static void operation_back(tm_local *l, int k) {
  const tm_local_part *p = &l->all[k];
  tm_operands names = {0};
  for (int i = 0; i < p->count; i++)
    snprintf(names.of[i], sizeof names.of[i], "x%d_%s", p->parts[i],
             element(l, p->parts[i]));
  snprintf(names.value, sizeof names.value, "x%d_%s", k, element(l, k));
  snprintf(names.adjoint, sizeof names.adjoint, "g%d_%s", k, element(l, k));
  for (int i = 0; i < p->count; i++) {
    int to = p->parts[i];
    if (!l->all[to].reached)
      continue;
    tm_emit(l->g, "  ");
    if (p->vector)
      tm_emit(l->g, "for (long i_ = 0; i_ < n%d_; i_++) ", k);
    tm_emit(l->g, "g%d_%s += ", to, element(l, to));
    tm_emit_operation_slope(l->g, p->op, p->e, i, &names);
    tm_emit(l->g, ";\n");
  }
}

static void density_back(tm_local *l, int k) {
  const tm_local_part *p = &l->all[k];
  for (int i = 0; i < p->count; i++)
    if (l->all[p->parts[i]].reached)
      tm_emit(l->g, "  g%d_ += g%d_ * d%d_[%d];\n", p->parts[i], k, k, i);
}

static void join_back(tm_local *l, int k) {
  const tm_local_part *p = &l->all[k];
  tm_emit(l->g, "  { const double *h_ = g%d_;", k);
  for (int i = 0; i < p->count; i++) {
    int to = p->parts[i];
    bool vector = l->all[to].vector;
    if (l->all[to].reached)
      tm_emit(l->g,
              vector ? " tm_add_numbers(g%d_, h_, n%d_);" : " g%d_ += *h_;", to,
              to);
    tm_emit(l->g, vector ? " h_ += n%d_;" : " h_++;", to);
  }
  tm_emit(l->g, " }\n");
}

static void dot_back(tm_local *l, int k) {
  const int *parts = l->all[k].parts;
  for (int i = 0; i < 2; i++)
    if (l->all[parts[i]].reached)
      tm_emit(l->g, "  tm_add_times(g%d_, g%d_, x%d_, n%d_);\n", parts[i], k,
              parts[1 - i], k);
}

/* Of one operand, a vector. */
static void vector_back(tm_local *l, int k) {
  tm_emitter *g = l->g;
  int x = l->all[k].parts[0];
  switch (l->all[k].kind) {
  case TM_LOCAL_SUM:
    tm_emit(g, "  for (long i_ = 0; i_ < n%d_; i_++) g%d_[i_] += g%d_;\n", x, x,
            k);
    break;
  case TM_LOCAL_RUNNING_SUM:
    tm_emit(g, "  tm_running_sum_back(g%d_, n%d_, g%d_);\n", k, k, x);
    break;
  case TM_LOCAL_SOFTMAX:
    tm_emit(g, "  tm_shares_back(x%d_, g%d_, n%d_, g%d_);\n", k, k, k, x);
    break;
  case TM_LOCAL_LOG_SOFTMAX:
    tm_emit(g, "  tm_log_shares_back(s%d_, g%d_, n%d_, g%d_);\n", k, k, k, x);
    break;
  case TM_LOCAL_LOG_SUM_EXP:
    tm_emit(g, "  tm_add_times(g%d_, g%d_, s%d_, n%d_);\n", x, k, k, x);
    break;
  case TM_LOCAL_CATEGORY:
    tm_emit(g, "  g%d_[y%d_ - 1] += g%d_ / x%d_[y%d_ - 1];\n", x, k, k, x, k);
    break;
  default: /* CATEGORY_LOGIT */
    tm_emit(g,
            "  tm_add_times(g%d_, -g%d_, s%d_, n%d_); g%d_[y%d_ - 1] += "
            "g%d_;\n",
            x, k, k, x, x, k, k);
  }
}

static void part_back(tm_local *l, int k) {
  const tm_local_part *p = &l->all[k];
  switch (p->kind) {
  case TM_LOCAL_NUMBER:
  case TM_LOCAL_LEAF:
  case TM_LOCAL_TENSOR:
  case TM_LOCAL_VIEW:
  case TM_LOCAL_CUT:
    break;
  case TM_LOCAL_OPERATION:
    operation_back(l, k);
    break;
  case TM_LOCAL_DENSITY:
    density_back(l, k);
    break;
  case TM_LOCAL_ELEMENT:
    tm_emit(l->g, "  g%d_[k%d_] += g%d_;\n", p->parts[0], k, k);
    break;
  case TM_LOCAL_REPEAT:
    tm_emit(l->g, "  g%d_ += tm_sum_of(g%d_, n%d_);\n", p->parts[0], k, k);
    break;
  case TM_LOCAL_JOIN:
    join_back(l, k);
    break;
  case TM_LOCAL_DOT:
    dot_back(l, k);
    break;
  default:
    vector_back(l, k);
  }
}

/* ---- the node ----------------------------------------------------------- */

/* A scalar or a vector of the arguments that the result depends on. */
static bool is_end(const tm_local_part *p) {
  return p->reached && (p->kind == TM_LOCAL_LEAF || p->kind == TM_LOCAL_VIEW);
}

static void emit_node(tm_local *l, int root) {
  tm_emitter *g = l->g;
  tm_emit(g, "  long c_ = 0");
  for (int k = 0; k < l->count; k++)
    if (is_end(&l->all[k]))
      tm_emit(g,
              l->all[k].vector ? " + (l%d_.d ? n%d_ : 0)" : " + (a%d_.d != 0)",
              k, k);
  tm_emit(g, ";\n  if (!c_) return tm_constant(x%d_);\n", root);
  tm_emit(g, "  tm_linear *p_ = tm_linear_new(t, (int)c_); tm_slope *s_ = "
             "p_->slopes;\n");
  for (int k = 0; k < l->count; k++)
    if (is_end(&l->all[k]) && l->all[k].vector)
      tm_emit(g, "  s_ = tm_put_slopes(s_, l%d_.d, g%d_, n%d_);\n", k, k, k);
    else if (is_end(&l->all[k]))
      tm_emit(g, "  s_ = tm_put_slopes(s_, a%d_.d, &g%d_, 1);\n", k, k);
  tm_emit(g, "  return (tm_var){x%d_, &p_->adjoint.own};\n", root);
}

void tm_local_return(tm_local *l, int root) {
  if (l->all[root].vector) {
    l->failed = true;
    return;
  }
  if (!l->gradient) {
    tm_emit(l->g, "  return x%d_;\n", root);
    return;
  }
  for (int k = 0; k < l->count; k++)
    l->all[k].reached = false;
  mark(l, root);
  if (!l->all[root].reached) {
    tm_emit(l->g, "  return tm_constant(x%d_);\n", root);
    return;
  }
  for (int k = 0; k <= root; k++)
    if (l->all[k].reached)
      emit_adjoint(l, k, root);
  for (int k = root; k >= 0; k--)
    if (l->all[k].reached)
      part_back(l, k);
  emit_node(l, root);
}
