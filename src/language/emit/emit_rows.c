/* emit_rows.c - statements over rows (find_rows.c) to C: their list of
 * operations, the data that go with it, and the call that stands for them. */
#include "language/emit/find_rows.h"
#include "language/emit/powers.h"

#include <string.h>

bool tm_emit_has_rows(const tm_emitter *g, tm_part part) {
  const tm_list *list = &g->program->tree.rows;
  for (size_t i = 0; i < list->count && g->way != TM_ONE_BY_ONE; i++)
    if (((const tm_row_statement *)list->items[i])->part == part)
      return true;
  return false;
}

/* ---- when the data are read --------------------------------------------- */

static void emit_operations(tm_emitter *g, const tm_row_statement *r) {
  tm_emit(g, "    static const tm_row_op ops_[] = {");
  for (int i = 0; i < r->count; i++) {
    const tm_row_node *n = &r->nodes[i];
    tm_emit(g, "%s{%d, %d, ", i ? ", " : "", (int)n->kind, n->leaf);
    tm_emit(g, n->name ? "\"%s\"" : "0", n->name);
    tm_emit(g, ", {%d, %d, %d, %d}, %d}", n->parts[0], n->parts[1], n->parts[2],
            n->parts[3], n->part_count);
  }
  tm_emit(g, "};\n");
}

/* Is `data` of a PICK an array of places, rather than v[i, j] itself? */
static bool has_places(const tm_row_node *n) {
  return n->data && tm_rank(n->data->type) == 1;
}

/* A data vector that has an element for each row, as a C expression that says
 * how many; there is one (is_counted of rows.c). */
static void emit_length(tm_emitter *g, const tm_row_statement *r) {
  for (int i = 0; i < r->count; i++) {
    const tm_row_node *n = &r->nodes[i];
    const tm_expression *e = NULL;
    if (n->kind == TM_ROW_COLUMN && tm_rank(n->value->type) == 1)
      e = n->value;
    else if (n->kind == TM_ROW_PICK && has_places(n))
      e = n->data;
    else if (n->kind == TM_ROW_DOT && tm_rank(n->data->type) == 2)
      e = n->data;
    if (!e)
      continue;
    tm_emit(g, "({ tm_tensor l_ = ");
    tm_emit_expression(g, e);
    tm_emit(g, "; l_.dim[0]; })");
    return;
  }
  tm_emit(g, "0");
}

static void emit_declared_size(tm_emitter *g, const tm_variable *v) {
  tm_emit(g, "(1L");
  for (size_t i = 0; i < v->size_count; i++) {
    tm_emit(g, " * (");
    tm_emit_expression(g, v->sizes[i]);
    tm_emit(g, ")");
  }
  tm_emit(g, ")");
}

/* How many elements the vector has of which this is one. */
static void emit_owner_size(tm_emitter *g, const tm_row_node *n) {
  if (n->owner)
    emit_declared_size(g, n->owner);
  else
    tm_emit(g, "r_->n");
}

/* A vector of data: a column, or places. */
static void emit_vector(tm_emitter *g, const tm_row_node *n, int i) {
  const tm_expression *vector =
      n->kind == TM_ROW_COLUMN && tm_rank(n->value->type) == 1 ? n->value
      : n->kind == TM_ROW_PICK && has_places(n)                ? n->data
                                                               : NULL;
  if (!vector)
    return;
  tm_emit(g, "    t->runtime->rows_vector(r_, %d, ", i);
  tm_emit_expression(g, vector);
  tm_emit(g, ", from_ - 1, ");
  emit_owner_size(g, n);
  tm_emit(g, ");\n");
}

static void emit_pick(tm_emitter *g, const tm_row_node *n, int i) {
  tm_emit(g, "    r_->sizes[%d] = ", i);
  if (n->value->kind == TM_E_NAME)
    emit_declared_size(g, n->value->variable);
  else
    tm_emit(g, "r_->n");
  tm_emit(g, ";\n");
  if (n->data)
    return;
  tm_emit(g, "    if (r_->sizes[%d] != ", i);
  emit_owner_size(g, n);
  tm_emit(g, ") r_->bad = 1;\n");
}

/* What is not done row by row. */
static void emit_whole(tm_emitter *g, const tm_row_statement *r, int i) {
  const tm_row_node *n = &r->nodes[i];
  if (n->kind == TM_ROW_NUMBER) {
    tm_emit(g, "    r_->numbers[%d] = ", i);
    tm_emit_number(g, n->value);
    tm_emit(g, ";\n");
  }
  if (n->kind == TM_ROW_PICK)
    emit_pick(g, n, i);
  emit_vector(g, n, i);
  if (n->length) {
    tm_emit(g, "    if ((");
    tm_emit_expression(g, n->length);
    tm_emit(g, ") != ");
    emit_owner_size(g, n);
    tm_emit(g, ") r_->bad = 1;\n");
  }
  if (n->kind == TM_ROW_DOT && !n->inner && tm_rank(n->data->type) == 2) {
    tm_emit(g, "    t->runtime->rows_matrix(t, r_, %d, ", i);
    tm_emit_expression(g, n->data);
    tm_emit(g, ", from_ - 1, ");
    emit_owner_size(g, n);
    tm_emit(g, ");\n");
  }
}

/* Vectors that the rows are written in place of must have as many elements:
 * those that a loop takes, or all. */
static void emit_inlined_sizes(tm_emitter *g, const tm_row_statement *r) {
  for (int i = 0; i < r->inlined_count; i++) {
    tm_emit(g, "    if (");
    emit_declared_size(g, r->inlined[i]);
    tm_emit(g, " %s from_ - 1 + r_->n) r_->bad = 1;\n",
            r->statement->kind == TM_S_FOR ? "<" : "!=");
  }
}

/* v[i, j] of the row. */
static void emit_place(tm_emitter *g, const tm_row_node *n, int i) {
  const tm_variable *v = n->value->variable;
  tm_emit(g, "      { long at_ = 0, i_;\n");
  for (size_t k = 0; k < n->data->index_count; k++) {
    tm_emit(g, "        i_ = ");
    tm_emit_expression(g, n->data->indices[k].from);
    tm_emit(g, "; if (i_ < 1 || i_ > (");
    tm_emit_expression(g, v->sizes[k]);
    tm_emit(g, ")) r_->bad = 1, i_ = 1;\n        at_ = at_ * (");
    tm_emit_expression(g, v->sizes[k]);
    tm_emit(g, ") + i_ - 1;\n");
  }
  tm_emit(g, "        r_->picks[%d][k_] = (int)at_; }\n", i);
}

/* A row of data, as a vector or number by number. */
static void emit_data_row(tm_emitter *g, const tm_row_node *n, int i) {
  if (!n->inner) {
    tm_emit(g, "      t->runtime->rows_row(t, r_, %d, ", i);
    tm_emit_expression(g, n->data);
    tm_emit(g, ", k_);\n");
    return;
  }
  tm_emit(g, "      { tm_tensor x_ = tm_tensor_new(t, 1, (int[]){(int)");
  emit_declared_size(g, n->value->variable);
  tm_emit(g, "}, 0);\n        for (long v_%s = 1; v_%s <= x_.dim[0]; v_%s++)\n",
          n->inner->name, n->inner->name, n->inner->name);
  tm_emit(g, "          x_.v[v_%s - 1] = ", n->inner->name);
  tm_emit_number(g, n->data);
  tm_emit(g, ";\n        t->runtime->rows_row(t, r_, %d, x_, k_); }\n", i);
}

static void emit_in_row(tm_emitter *g, const tm_row_node *n, int i) {
  if (n->kind == TM_ROW_COLUMN && tm_rank(n->value->type) == 0) {
    tm_emit(g, "      r_->columns[%d][k_] = ", i);
    tm_emit_number(g, n->value);
    tm_emit(g, ";\n");
  } else if (n->kind == TM_ROW_PICK && !n->data) {
    tm_emit(g,
            "      { long at_ = from_ - 1 + k_; if (at_ >= r_->sizes[%d]) "
            "r_->bad = 1; r_->picks[%d][k_] = (int)at_; }\n",
            i, i);
  } else if (n->kind == TM_ROW_PICK && !has_places(n)) {
    emit_place(g, n, i);
  } else if (n->kind == TM_ROW_DOT &&
             (n->inner || tm_rank(n->data->type) == 1)) {
    emit_data_row(g, n, i);
  }
}

static void emit_counters(tm_emitter *g, const tm_row_statement *r) {
  for (int i = 0; i < r->counter_count; i++) {
    bool again = false;
    for (int k = 0; k < i; k++)
      again = again || !strcmp(r->counters[k]->name, r->counters[i]->name);
    const char *name = r->counters[i]->name;
    if (r->powers)
      tm_emit(g, "      long v_%s = %s group_; (void)v_%s;\n", name,
              i ? "1 + k_ %" : "from_ + k_ /", name);
    else if (!again)
      tm_emit(g, "      long v_%s = from_ + k_; (void)v_%s;\n", name, name);
  }
}

/* From where, and how many. */
static void emit_range(tm_emitter *g, const tm_row_statement *r) {
  const tm_statement *s = r->statement;
  bool loop = s->kind == TM_S_FOR;
  tm_emit(g, "    long from_ = ");
  if (loop)
    tm_emit_expression(g, s->lower);
  else
    tm_emit(g, "1");
  tm_emit(g, ", n_ = ");
  if (loop)
    tm_emit_expression(g, s->upper);
  else
    emit_length(g, r);
  tm_emit(g, " - from_ + 1;\n");
  if (!r->powers)
    return;
  tm_emit(g, "    long group_ = ");
  tm_emit_expression(g, r->powers->loop->upper);
  tm_emit(g, "; n_ *= group_;\n");
}

/* What the statement stands behind; data that it is not for may not do. */
static void emit_conditions(tm_emitter *g, const tm_row_statement *r) {
  for (int i = 0; i < r->condition_count; i++) {
    tm_emit(g, "  if (");
    tm_emit_number(g, r->conditions[i].statement->value);
    tm_emit(g, r->conditions[i].otherwise ? " == 0)\n" : " != 0)\n");
  }
}

/* A loop without rows looks at nothing. */
static void emit_plan(tm_emitter *g, const tm_row_statement *r) {
  const tm_statement *s = r->statement;
  char place[TM_PLACE];
  emit_conditions(g, r);
  tm_emit(g, "  { /* rows of line %d */\n", s->token->line);
  emit_operations(g, r);
  emit_range(g, r);
  tm_emit(g,
          "    tm_rows *r_ = t->runtime->rows_plan(t, ops_, %d, n_, \"%s\");\n",
          r->count, tm_place_text(s->token, place));
  if (r->powers)
    tm_emit(g, "    r_->group = group_; r_->bad = group_ < 1;\n");
  tm_emit(g, "    if (r_->n || %d) {\n", s->kind != TM_S_FOR);
  emit_inlined_sizes(g, r);
  for (int i = 0; i < r->count; i++)
    emit_whole(g, r, i);
  tm_emit(g, "    for (long k_ = 0; k_ < r_->n; k_++) {\n");
  emit_counters(g, r);
  for (int i = 0; i < r->count; i++)
    emit_in_row(g, &r->nodes[i], i);
  tm_emit(g, "    } }\n    I->rows_%d = t->runtime->rows_ready(t, r_);\n",
          r->number);
  tm_emit(g, "    I->lean = I->lean && I->rows_%d;\n  }\n", r->number);
}

void tm_emit_row_plans(tm_emitter *g) {
  const tm_list *list = &g->program->tree.rows;
  if (!list->count || g->way == TM_ONE_BY_ONE)
    return;
  tm_emit(g, "  I->lean = 1;\n");
  for (size_t i = 0; i < list->count; i++)
    emit_plan(g, list->items[i]);
  if (g->way == TM_BY_ROWS)
    tm_emit(g, "  if (!I->lean) t->runtime->refuse_rows(binding);\n");
}

/* ---- for every point ---------------------------------------------------- */

/* The storage of transformed parameters is not assigned to any more. */
static void emit_argument(tm_emitter *g, const tm_expression *e) {
  bool settled = e->kind == TM_E_NAME && e->variable->global &&
                 e->variable->block == TM_BLOCK_TRANSFORMED_PARAMETERS;
  if (tm_held_of(g, e) != TM_TENSOR || !settled) {
    tm_emit_any(g, e);
    return;
  }
  tm_emit(g, "tm_any_tensor(");
  tm_emit_expression(g, e);
  tm_emit(g, ", 1)");
}

void tm_emit_rows(tm_emitter *g, const tm_row_statement *r) {
  tm_emit_line(g, "/* rows of line %d */", r->statement->token->line);
  tm_emit(g,
          "%*sif (I->rows_%d->n) tm_add(t, t->runtime->rows_sum(t, I->rows_%d, "
          "(tm_any[]){",
          2 * g->indent, "", r->number, r->number);
  int leaf = 0;
  for (int i = 0; i < r->count; i++) {
    if (r->nodes[i].leaf < 0)
      continue;
    tm_emit(g, leaf++ ? ", " : "");
    emit_argument(g, r->nodes[i].value);
  }
  tm_emit(g, "}));\n");
}
