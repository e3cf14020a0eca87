/* terms.c - the target in pieces, so that a change of one integer costs what it
 * changes (method 4.6).
 *
 * A piece is one turn of a loop (or of up to MOST_LOOPS, one right inside the
 * other) that raises the target and assigns nothing outside of itself, one
 * element of a density of containers, or else a statement. Which integers it
 * reads follows from indices of data and loop variables, known when the data
 * are there: `reads` tells the loader, piece by piece. An index that is not
 * known so stands for all its values; a variable computed outside of the piece,
 * for all the integers that it depends on. `terms` evaluates pieces from a
 * list, in the program's order, with the statements that are no pieces between
 * them. */
#include "language/emit/terms.h"

#include "language/check/term.h"

#include <string.h>

enum { MOST_LOOPS = 3 };

typedef enum tm_walk { WALK_LOOK, WALK_TERMS, WALK_READS } tm_walk;

typedef struct splitter {
  tm_emitter *g;
  tm_walk walk;
  bool fails;  /* some statement cannot be taken apart */
  long pieces; /* so far: their numbers */
  long common; /* statements between them */
  const tm_statement *loops[MOST_LOOPS];
  size_t loop_count;
  bool *inside; /* by variable index: declared in the piece */
} splitter;

/* ---- looking at statements ---------------------------------------------- */

typedef void (*visit_fn)(splitter *p, const tm_expression *e);

static void visit_parts(splitter *p, const tm_expression *e, visit_fn visit) {
  for (size_t i = 0; i < e->part_count; i++)
    visit(p, e->parts[i]);
  for (size_t i = 0; i < e->index_count; i++) {
    if (e->indices[i].from)
      visit(p, e->indices[i].from);
    if (e->indices[i].to)
      visit(p, e->indices[i].to);
  }
}

static void visit_variable(splitter *p, const tm_variable *v, visit_fn visit) {
  for (size_t i = 0; i < v->size_count; i++)
    visit(p, v->sizes[i]);
  if (v->initial)
    visit(p, v->initial);
}

/* Every expression that the statement's code holds. */
static void visit_statement(splitter *p, const tm_statement *s,
                            visit_fn visit) {
  if (s->shadow)
    visit_statement(p, s->shadow, visit);
  if (!tm_emit_keeps(p->g, s))
    return;
  if (s->instead) {
    visit_statement(p, s->instead, visit);
    return;
  }
  const tm_expression *all[] = {s->left,   s->value,  s->density,
                                s->lower,  s->upper,  s->cdf[0],
                                s->cdf[1], s->cdf[2], s->cdf[3]};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (all[i])
      visit(p, all[i]);
  for (size_t i = 0; i < s->argument_count; i++)
    visit(p, s->arguments[i]);
  if (s->kind == TM_S_DECLARE)
    visit_variable(p, s->variable, visit);
  for (size_t i = 0; i < s->body_count; i++)
    visit_statement(p, s->body[i], visit);
  if (s->otherwise)
    visit_statement(p, s->otherwise, visit);
}

static void note_inside(splitter *p, const tm_statement *s) {
  if (s->variable)
    p->inside[s->variable->index] = true;
  if (s->shadow)
    note_inside(p, s->shadow);
  if (s->instead)
    note_inside(p, s->instead);
  for (size_t i = 0; i < s->body_count; i++)
    note_inside(p, s->body[i]);
  if (s->otherwise)
    note_inside(p, s->otherwise);
}

static void begin_piece(splitter *p, const tm_statement *s) {
  size_t count = (size_t)p->g->program->tree.variable_count + 1;
  memset(p->inside, 0, count * sizeof *p->inside);
  note_inside(p, s);
}

/* Does it assign a variable of others? */
static bool assigns_outside(const splitter *p, const tm_statement *s) {
  if (s->kind == TM_S_ASSIGN && !p->inside[tm_root(s->left)->variable->index])
    return true;
  for (size_t i = 0; i < s->body_count; i++)
    if (assigns_outside(p, s->body[i]))
      return true;
  return (s->otherwise && assigns_outside(p, s->otherwise)) ||
         (s->shadow && assigns_outside(p, s->shadow)) ||
         (s->instead && assigns_outside(p, s->instead));
}

static bool raises(const tm_emitter *g, const tm_statement *s) {
  bool call = s->kind == TM_S_CALL && s->value->function &&
              s->value->function->uses_target;
  if (s->kind == TM_S_TILDE || s->kind == TM_S_TARGET || call || s->raises)
    return (s->part & g->part) != 0;
  for (size_t i = 0; i < s->body_count; i++)
    if (raises(g, s->body[i]))
      return true;
  return s->otherwise && raises(g, s->otherwise);
}

static bool leaves_loops(const tm_statement *s) {
  if (s->kind == TM_S_BREAK || s->kind == TM_S_RETURN)
    return true;
  for (size_t i = 0; i < s->body_count; i++)
    if (leaves_loops(s->body[i]))
      return true;
  return s->otherwise && leaves_loops(s->otherwise);
}

static bool is_loop_variable(const splitter *p, const tm_variable *v) {
  for (size_t i = 0; i < p->loop_count; i++)
    if (p->loops[i]->variable == v)
      return true;
  return false;
}

/* Can it be computed from data and the piece's loop variables? */
static bool is_known(const splitter *p, const tm_expression *e) {
  if (e->kind == TM_E_NAME)
    return is_loop_variable(p, e->variable) ||
           (e->variable->global &&
            (e->variable->block == TM_BLOCK_DATA ||
             e->variable->block == TM_BLOCK_TRANSFORMED_DATA));
  if (e->kind == TM_E_CALL && (!e->builtin || e->builtin->kind == TM_B_RNG))
    return false;
  for (size_t i = 0; i < e->part_count; i++)
    if (!is_known(p, e->parts[i]))
      return false;
  for (size_t i = 0; i < e->index_count; i++)
    if ((e->indices[i].from && !is_known(p, e->indices[i].from)) ||
        (e->indices[i].to && !is_known(p, e->indices[i].to)))
      return false;
  return true;
}

/* ---- what a piece reads ------------------------------------------------- */

static bool is_integer_parameter(const tm_variable *v) {
  return v->global && v->block == TM_BLOCK_PARAMETERS && v->type.base == TM_INT;
}

/* The first `count` indices are known: emitted; of the others, all values. */
static void emit_read(tm_emitter *g, const tm_variable *v,
                      const tm_expression *e, size_t count) {
  tm_emit(g,
          "  t->runtime->reads(binding, I->o_%s, %zu, I->d_%s, %zu, (long[]){",
          v->name, v->size_count, v->name, count);
  for (size_t i = 0; i < count; i++) {
    tm_emit(g, i ? ", " : "");
    tm_emit_expression(g, e->indices[i].from);
  }
  tm_emit(g, "%s});\n", count ? "" : "0");
}

/* All integers that v, computed elsewhere, depends on. */
static void read_behind(splitter *p, const tm_variable *v) {
  const tm_split *split = &p->g->program->split;
  const tm_dependence *d = &split->variables[v->index];
  for (size_t i = 0; i < split->parameter_count; i++)
    if (d->mask[i / 64] >> (i % 64) & 1 &&
        is_integer_parameter(split->parameters[i].variable))
      emit_read(p->g, split->parameters[i].variable, NULL, 0);
}

static size_t known_indices(const splitter *p, const tm_expression *e) {
  size_t count = 0;
  while (count < e->index_count && e->indices[count].kind == TM_INDEX_ONE &&
         e->indices[count].from->type.depth == 0 &&
         is_known(p, e->indices[count].from))
    count++;
  return count;
}

static void visit_reads(splitter *p, const tm_expression *e) {
  if (tm_emit_leaves_out(p->g, e))
    return;
  bool element = e->kind == TM_E_INDEX && e->parts[0]->kind == TM_E_NAME &&
                 is_integer_parameter(e->parts[0]->variable);
  if (element) {
    emit_read(p->g, e->parts[0]->variable, e, known_indices(p, e));
    for (size_t i = 0; i < e->index_count; i++) {
      if (e->indices[i].from)
        visit_reads(p, e->indices[i].from);
      if (e->indices[i].to)
        visit_reads(p, e->indices[i].to);
    }
    return;
  }
  if (e->kind == TM_E_NAME && is_integer_parameter(e->variable))
    emit_read(p->g, e->variable, NULL, 0);
  else if (e->kind == TM_E_NAME && !p->inside[e->variable->index] &&
           !is_loop_variable(p, e->variable))
    read_behind(p, e->variable);
  visit_parts(p, e, visit_reads);
}

/* ---- loops -------------------------------------------------------------- */

static bool is_parameter(const tm_expression *e) {
  return e->kind == TM_E_NAME && e->variable->global &&
         e->variable->block == TM_BLOCK_PARAMETERS;
}

/* The one statement of a body that this part keeps, or NULL. */
static tm_statement *only(splitter *p, tm_statement *const *body,
                          size_t count) {
  tm_statement *found = NULL;
  for (size_t i = 0; i < count; i++) {
    if (!tm_emit_keeps(p->g, body[i]) && !body[i]->shadow)
      continue;
    if (found || body[i]->shadow)
      return NULL;
    found = body[i];
  }
  if (found && found->kind == TM_S_BLOCK)
    return only(p, found->body, found->body_count);
  return found;
}

static bool can_turn(const splitter *p, const tm_statement *s) {
  return s->kind == TM_S_FOR && p->loop_count < MOST_LOOPS &&
         is_known(p, s->lower) && is_known(p, s->upper) && !leaves_loops(s);
}

/* Loops, each the only statement of the one around it, and the elements of a
 * density below them. Gives what is below. */
static const tm_statement *descend(splitter *p, tm_statement *s) {
  const tm_statement *below = s;
  p->loop_count = 0;
  while (s && can_turn(p, s)) {
    p->loops[p->loop_count++] = below = s;
    s = only(p, s->body, s->body_count);
  }
  tm_statement *each =
      s && p->loop_count < MOST_LOOPS ? tm_each_of(p->g, s) : NULL;
  if (each && (is_parameter(each->value) || is_known(p, each->value)))
    p->loops[p->loop_count++] = below = each;
  return below;
}

static void emit_length(tm_emitter *g, const tm_expression *e) {
  if (is_parameter(e)) {
    tm_emit(g, "I->d_%s[0]", e->variable->name);
    return;
  }
  tm_emit(g, "({ tm_tensor x_ = ");
  tm_emit_expression(g, e);
  tm_emit(g, "; x_.dim[0]; })");
}

static void emit_loop(tm_emitter *g, const tm_statement *s, size_t depth) {
  const char *n = s->variable->name;
  tm_emit(g, "  for (long v_%s = ", n);
  if (s->lower)
    tm_emit_expression(g, s->lower);
  else
    tm_emit(g, "1");
  tm_emit(g, ", end%zu_ = ", depth);
  if (s->lower)
    tm_emit_expression(g, s->upper);
  else
    emit_length(g, s->value);
  tm_emit(g, "; v_%s <= end%zu_; v_%s++) {\n", n, depth, n);
}

/* ---- pieces ------------------------------------------------------------- */

static void emit_turn(splitter *p, const tm_statement *below) {
  tm_emitter *g = p->g;
  tm_emit_line(g, "for (; at_ < last_ && at_[0] == %ld; at_ += 4) {",
               p->pieces);
  g->indent++;
  for (size_t i = 0; i < p->loop_count; i++)
    tm_emit_line(g, "long v_%s = at_[%zu]; (void)v_%s;",
                 p->loops[i]->variable->name, i + 1,
                 p->loops[i]->variable->name);
  if (p->loop_count)
    tm_emit_statements(g, below->body, below->body_count);
  else
    tm_emit_statements(g, (tm_statement *const *)&below, 1);
  g->indent--;
  tm_emit_line(g, "}");
}

/* A density of containers that was not taken apart weighs what it has of
 * outcomes. */
static void emit_weight(splitter *p, const tm_statement *s) {
  const tm_expression *d = s->kind == TM_S_TILDE    ? s->density
                           : s->kind == TM_S_TARGET ? s->value
                                                    : NULL;
  bool known = !p->loop_count && d && tm_is_density(d) &&
               tm_rank(d->parts[0]->type) > 0 && is_known(p, d->parts[0]);
  if (!known) {
    tm_emit(p->g, "1");
    return;
  }
  tm_emit(p->g, "({ tm_tensor x_ = ");
  tm_emit_expression(p->g, d->parts[0]);
  tm_emit(p->g, "; tm_count(&x_); })");
}

static void emit_reads(splitter *p, const tm_statement *below) {
  tm_emitter *g = p->g;
  for (size_t i = 0; i < p->loop_count; i++)
    emit_loop(g, p->loops[i], i);
  tm_emit(g, "  t->runtime->piece(binding, %d, ",
          g->part == TM_PART_LIKELIHOOD);
  emit_weight(p, below);
  tm_emit(g, ", (long[]){%ld", p->pieces);
  for (size_t i = 0; i < MOST_LOOPS; i++)
    if (i < p->loop_count)
      tm_emit(g, ", v_%s", p->loops[i]->variable->name);
    else
      tm_emit(g, ", 0");
  tm_emit(g, "});\n");
  if (!p->loop_count)
    visit_statement(p, below, visit_reads);
  for (size_t i = 0; p->loop_count && i < below->body_count; i++)
    visit_statement(p, below->body[i], visit_reads);
  for (size_t i = 0; i < p->loop_count; i++)
    tm_emit(g, "  }");
  tm_emit(g, "\n");
}

static void walk_piece(splitter *p, tm_statement *s) {
  begin_piece(p, s);
  bool assigns = s->kind == TM_S_DECLARE || assigns_outside(p, s);
  if (assigns) {
    p->fails = true;
    return;
  }
  const tm_statement *below = descend(p, s);
  if (p->walk == WALK_TERMS)
    emit_turn(p, below);
  else if (p->walk == WALK_READS)
    emit_reads(p, below);
  p->pieces++;
  p->loop_count = 0;
}

static void walk_list(splitter *p, tm_statement *const *body, size_t count);

static void walk_block(splitter *p, const tm_statement *s) {
  if (p->walk != WALK_LOOK)
    tm_emit_line(p->g, "{");
  walk_list(p, s->body, s->body_count);
  if (p->walk != WALK_LOOK)
    tm_emit_line(p->g, "}");
}

static void walk_condition(splitter *p, const tm_statement *s) {
  if (p->walk != WALK_LOOK) {
    tm_emit(p->g, "  if (");
    tm_emit_number(p->g, s->value);
    tm_emit(p->g, " != 0)\n");
  }
  walk_block(p, s);
  if (!s->otherwise)
    return;
  if (p->walk != WALK_LOOK)
    tm_emit_line(p->g, "else");
  walk_block(p, s->otherwise);
}

static void walk_statement(splitter *p, tm_statement *s) {
  bool raised = tm_emit_keeps(p->g, s) && raises(p->g, s);
  if (!raised) {
    p->common += tm_emit_keeps(p->g, s);
    if (p->walk == WALK_TERMS)
      tm_emit_statements(p->g, &s, 1);
  } else if (s->kind == TM_S_BLOCK && !s->instead) {
    walk_block(p, s);
  } else if (s->kind == TM_S_IF && !s->instead && is_known(p, s->value)) {
    walk_condition(p, s);
  } else {
    walk_piece(p, s);
  }
}

static void walk_list(splitter *p, tm_statement *const *body, size_t count) {
  for (size_t i = 0; i < count && !p->fails; i++)
    walk_statement(p, body[i]);
}

static void walk_block_of(splitter *p, tm_block_kind kind) {
  const tm_block_node *block = &p->g->program->tree.blocks[kind];
  walk_list(p, block->statements, block->count);
}

/* ---- elements of theta without a copy of the whole ---------------------- */

static void visit_whole_uses(splitter *p, const tm_expression *e) {
  bool element = e->kind == TM_E_INDEX && e->parts[0]->kind == TM_E_NAME &&
                 tm_index_single(e) && tm_is_scalar(e->type);
  if (e->kind == TM_E_NAME)
    p->g->direct[e->variable->index] = false;
  for (size_t i = 0; i < e->part_count && !element; i++)
    visit_whole_uses(p, e->parts[i]);
  for (size_t i = 0; i < e->index_count; i++) {
    if (e->indices[i].from)
      visit_whole_uses(p, e->indices[i].from);
    if (e->indices[i].to)
      visit_whole_uses(p, e->indices[i].to);
  }
}

/* Parameters of which only elements are asked for. */
static void find_direct(splitter *p) {
  const tm_program *tree = &p->g->program->tree;
  static const tm_block_kind blocks[] = {TM_BLOCK_TRANSFORMED_PARAMETERS,
                                         TM_BLOCK_MODEL};
  for (size_t i = 0; i < tree->global_count; i++) {
    const tm_variable *v = tree->globals[i];
    p->g->direct[v->index] =
        v->block == TM_BLOCK_PARAMETERS && v->size_count > 1;
  }
  for (size_t k = 0; k < 2; k++)
    for (size_t i = 0; i < tree->blocks[blocks[k]].count; i++)
      visit_statement(p, tree->blocks[blocks[k]].statements[i],
                      visit_whole_uses);
}

/* ---- both functions ----------------------------------------------------- */

static const char *part_name(const tm_emitter *g) {
  return g->part == TM_PART_PRIOR ? "prior" : "likelihood";
}

static void emit_terms(splitter *p) {
  tm_emitter *g = p->g;
  p->walk = WALK_TERMS;
  p->pieces = 0;
  find_direct(p);
  tm_emit_line(g,
               "static void %s_terms(tm_tape *t, const void *i_, const double "
               "*theta, const long *at_, const long *last_) {",
               part_name(g));
  g->indent = 1;
  tm_emit_line(g, "const instance *I = i_;");
  tm_emit_line(g, "(void)t, (void)I, (void)theta, (void)at_, (void)last_;");
  tm_emit_thetas(g);
  walk_block_of(p, TM_BLOCK_TRANSFORMED_PARAMETERS);
  tm_emit_transformed_checks(g);
  walk_block_of(p, TM_BLOCK_MODEL);
  g->indent = 0;
  tm_emit_line(g, "}");
  memset(g->direct, 0, ((size_t)g->program->tree.variable_count + 1));
}

static void emit_all_reads(splitter *p) {
  tm_emitter *g = p->g;
  p->walk = WALK_READS;
  p->pieces = 0;
  tm_emit_line(g, TM_ONCE);
  tm_emit_line(g,
               "static void %s_reads(tm_tape *t, const void *i_, void "
               "*binding) {",
               part_name(g));
  tm_emit_line(g, "  const instance *I = i_;");
  tm_emit_line(g, "  (void)t, (void)I, (void)binding;");
  p->common = 0;
  walk_block_of(p, TM_BLOCK_TRANSFORMED_PARAMETERS);
  walk_block_of(p, TM_BLOCK_MODEL);
  tm_emit_line(g, "  t->runtime->piece(binding, %d, %ld, 0);\n}",
               g->part == TM_PART_LIKELIHOOD, p->common);
}

static bool has_integers(const tm_program *tree) {
  for (size_t i = 0; i < tree->global_count; i++)
    if (is_integer_parameter(tree->globals[i]))
      return true;
  return false;
}

static bool reads_target(const tm_program *tree) {
  for (size_t i = 0; i < tree->function_count; i++)
    if (tree->functions[i]->reads_target)
      return true;
  return false;
}

/* target() holds all that stands before it. */
static void visit_target(splitter *p, const tm_expression *e) {
  if (e->kind == TM_E_CALL && !e->builtin && !e->function && !e->system)
    p->fails = true;
  visit_parts(p, e, visit_target);
}

static void look(splitter *p, tm_block_kind kind) {
  const tm_block_node *block = &p->g->program->tree.blocks[kind];
  for (size_t i = 0; i < block->count; i++)
    visit_statement(p, block->statements[i], visit_target);
  walk_block_of(p, kind);
}

static bool emit_part(splitter *p, tm_part part) {
  p->g->part = part;
  tm_emit_need(p->g);
  if (!p->g->needed)
    return false;
  p->walk = WALK_LOOK;
  p->pieces = 0;
  look(p, TM_BLOCK_TRANSFORMED_PARAMETERS);
  look(p, TM_BLOCK_MODEL);
  if (!p->fails) {
    emit_terms(p);
    emit_all_reads(p);
  }
  p->g->needed = NULL;
  return !p->fails;
}

bool tm_emit_terms(tm_emitter *g) {
  const tempera_program *program = g->program;
  size_t count = (size_t)program->tree.variable_count + 1;
  if (!has_integers(&program->tree) || reads_target(&program->tree) ||
      program->split.parameter_count > TM_MOST_PARAMETERS)
    return false;
  splitter p = {.g = g, .inside = TM_NEW(g->arena, bool, count)};
  g->direct = TM_NEW(g->arena, bool, count);
  if (!p.inside || !g->direct) {
    g->body.failed = true;
    return false;
  }
  bool made = emit_part(&p, TM_PART_PRIOR) && emit_part(&p, TM_PART_LIKELIHOOD);
  g->direct = NULL;
  return made;
}
