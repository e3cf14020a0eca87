/* replicate.c - outcomes drawn given the parameters: replicated data.
 *
 * The model's statements in the order of the program, with a draw in place of
 * every likelihood term that is the density of data (factor.h); what is drawn
 * is what later statements read, so that series are simulated step by step. It
 * is all or nothing: one likelihood term that is no density of data, and there
 * are no replicated data, for the others would not be what the model says.
 *
 * The same function gives every drawn element the number of its term (tape->
 * replicating is 2), in the order of emit_points.c. */
#include "language/emit/factor.h"

#include "language/check/term.h"

#include <stdio.h>
#include <string.h>

/* ---- laws that are not univariate ---------------------------------------- */

static const char *const LAWS[] = {"categorical",
                                   "categorical_logit",
                                   "ordered_logistic",
                                   "ordered_probit",
                                   "dirichlet",
                                   "multi_normal",
                                   "multi_normal_cholesky",
                                   "multi_student_t",
                                   "multi_student_t_cholesky",
                                   "wishart",
                                   "inv_wishart",
                                   "multinomial",
                                   "multinomial_logit",
                                   "dirichlet_multinomial",
                                   NULL};
static const char *const LINEAR[] = {
    "bernoulli_logit_glm",    "poisson_log_glm",    "normal_id_glm",
    "neg_binomial_2_log_glm", "binomial_logit_glm", NULL};

static bool is_among(const tm_expression *e, const char *const *names) {
  size_t n = tm_stem_length(e->builtin->name);
  for (; *names; names++)
    if (strlen(*names) == n && !strncmp(*names, e->builtin->name, n))
      return true;
  return false;
}

/* Is the total of the outcome an argument of the random function? */
static bool asks_for_total(const tm_expression *e) {
  return strstr(e->builtin->name, "multinomial") != NULL;
}

/* The type of one outcome's argument i. */
static tm_type own_type(const tm_expression *e, size_t i) {
  const char *s = e->builtin->signature;
  for (size_t k = 0; k < i; k++)
    s = strchr(s, ',') + 1;
  tm_type type = e->parts[i]->type;
  switch (*s) {
  case 'I':
    return tm_type_of(TM_INT, 0);
  case 'R':
  case 'P':
    return tm_type_of(TM_REAL, 0);
  case 'V':
    return tm_type_at(type, 0);
  case '[':
    return tm_type_at(type, type.depth - 1);
  default:
    return type;
  }
}

static const tm_builtin *rng_of(const tm_expression *e) {
  char name[80];
  tm_type types[6], result;
  bool exists;
  size_t count = 0;
  snprintf(name, sizeof name, "%.*s_rng", (int)tm_stem_length(e->builtin->name),
           e->builtin->name);
  for (size_t i = 1; i < e->part_count && count < 5; i++)
    types[count++] = own_type(e, i);
  if (asks_for_total(e))
    types[count++] = tm_type_of(TM_INT, 0);
  return tm_builtin_find(name, types, count, &result, &exists);
}

bool tm_replica_law(tm_emitter *g, const tm_expression *e) {
  (void)g;
  return is_among(e, LINEAR) || (is_among(e, LAWS) && rng_of(e));
}

static void emit_arguments(tm_emitter *g, const tm_expression *e) {
  tm_emit(g, "(tm_any[]){tm_any_tensor(x_, 1)");
  for (size_t i = 1; i < e->part_count; i++) {
    tm_emit(g, ", ");
    tm_emit_any(g, e->parts[i]);
  }
}

void tm_emit_replica_law(tm_emitter *g, const tm_expression *e) {
  size_t stem = tm_stem_length(e->builtin->name), count = e->part_count;
  if (is_among(e, LINEAR)) {
    char *name = TM_NEW(g->arena, char, stem + 6);
    if (!name) {
      g->body.failed = true;
      return;
    }
    snprintf(name, stem + 6, "%.*s_fill", (int)stem, e->builtin->name);
    tm_emit(g, "%*sF[%zu](t, ", 2 * g->indent, "",
            tm_emit_call_number(g, name, "g"));
    emit_arguments(g, e);
    tm_emit(g, "}, %zu);\n", count);
    return;
  }
  const tm_builtin *rng = rng_of(e);
  bool total = asks_for_total(e);
  if (total)
    tm_emit_line(g, "long n_ = 0; for (long k_ = 0; k_ < tm_count(&x_); k_++) "
                    "n_ += (long)x_.v[k_];");
  tm_emit(g, "%*st->runtime->draw_each(t, F[%zu], \"%s\", ", 2 * g->indent, "",
          tm_emit_call_number(g, rng->name, rng->signature),
          total ? "[i,v,i:r" : e->builtin->signature);
  emit_arguments(g, e);
  tm_emit(g, "%s}, %zu);\n", total ? ", tm_any_int(n_)" : "", count + total);
}

/* ---- what can be drawn ----------------------------------------------------
 */

typedef struct looker {
  tm_emitter *g;
  const tm_statement *culprit;
  const char *why;
} looker;

/* Sizes stay as they are. */
static bool asks_for_size(const tm_expression *e) {
  static const char *const names[] = {"size", "num_elements", "rows",
                                      "cols", "dims",         NULL};
  for (const char *const *n = names; e->kind == TM_E_CALL && *n; n++)
    if (!strcmp(e->text, *n))
      return true;
  return false;
}

static bool mentions_drawn(const tm_emitter *g, const tm_expression *e) {
  if (!e || asks_for_size(e))
    return false;
  bool found = e->kind == TM_E_NAME && g->drawn[e->variable->index];
  for (size_t i = 0; i < e->part_count && !found; i++)
    found = mentions_drawn(g, e->parts[i]);
  for (size_t i = 0; i < e->index_count && !found; i++)
    found = mentions_drawn(g, e->indices[i].from) ||
            mentions_drawn(g, e->indices[i].to);
  return found;
}

static void blame(looker *l, const tm_statement *s, const char *why) {
  if (l->culprit)
    return;
  l->culprit = s;
  l->why = why;
}

/* `real lp = 0;`, and lp in `lp += ...`, add nothing of their own. */
static bool is_nothing(const tm_split *split, const tm_expression *term) {
  const tm_variable *v = tm_summand(term);
  return term->level == TM_LEVEL_CONSTANT || (v && tm_gathers(split, v));
}

/* Why the terms of s cannot be drawn; NULL: they can. */
static const char *obstacle(looker *l, const tm_statement *s) {
  tm_emitter *g = l->g;
  tm_factor f;
  const tm_expression *term;
  size_t drawn = 0, all = 0;
  if (s->kind == TM_S_DECLARE &&
      s->variable->initial->level == TM_LEVEL_CONSTANT)
    return NULL;
  if (s->kind == TM_S_CALL || s->raises)
    return "a function raises the target";
  if (s->instead)
    return "some elements of its outcome are missing";
  for (size_t i = 0; (term = tm_part_term(s, TM_PART_LIKELIHOOD, i)); i++) {
    if (is_nothing(&g->program->split, term))
      continue;
    all++;
    if (!tm_factor_of(g, s, term, &f))
      return tm_is_cdf(term) ? "censoring: it is a probability, not a density"
             : !tm_is_density(term) ? "it is not the density of data"
             : term->function ? "a density of your own has no law to draw "
                                "from"
                              : "its outcome cannot be drawn";
    g->drawn[f.variable->index] = true;
    drawn++;
  }
  for (size_t k = 0; k < s->term_count; k++)
    if (s->terms[k].minus && s->terms[k].part & TM_PART_LIKELIHOOD)
      return "a term is subtracted from the density";
  return all > 1 ? "it is a sum of terms"
         : drawn ? NULL
                 : "it is not the density of data";
}

static void look(looker *l, tm_statement *const *body, size_t count) {
  for (size_t i = 0; i < count; i++) {
    const tm_statement *s = body[i];
    const tm_split *split = &l->g->program->split;
    if (s->part & TM_PART_LIKELIHOOD && s->kind != TM_S_REJECT &&
        !tm_passes_on(split, s)) {
      const char *why = obstacle(l, s);
      if (why)
        blame(l, s, why);
    }
    look(l, s->body, s->body_count);
    if (s->otherwise)
      look(l, &s->otherwise, 1);
  }
}

/* Which way a program goes must not hang on what is drawn. */
static void look_at_conditions(looker *l, tm_statement *const *body,
                               size_t count) {
  for (size_t i = 0; i < count; i++) {
    const tm_statement *s = body[i];
    bool condition = s->kind == TM_S_IF || s->kind == TM_S_WHILE;
    bool range = s->kind == TM_S_FOR || s->kind == TM_S_FOREACH;
    if ((condition && mentions_drawn(l->g, s->value)) ||
        (range &&
         (mentions_drawn(l->g, s->lower) || mentions_drawn(l->g, s->upper))))
      blame(l, s, "what is reached depends on the outcome itself");
    look_at_conditions(l, s->body, s->body_count);
    if (s->otherwise)
      look_at_conditions(l, &s->otherwise, 1);
  }
}

static const tm_block_kind BLOCKS[] = {TM_BLOCK_TRANSFORMED_PARAMETERS,
                                       TM_BLOCK_MODEL};

/* Marks g->drawn. */
static bool can_replicate(tm_emitter *g, char *why, size_t size) {
  const tm_program *tree = &g->program->tree;
  looker l = {.g = g};
  g->drawn = TM_NEW(g->arena, bool, (size_t)tree->variable_count + 1);
  if (!g->drawn) {
    g->body.failed = true;
    return false;
  }
  for (size_t b = 0; b < 2; b++)
    look(&l, tree->blocks[BLOCKS[b]].statements, tree->blocks[BLOCKS[b]].count);
  for (size_t b = 0; b < 2; b++)
    look_at_conditions(&l, tree->blocks[BLOCKS[b]].statements,
                       tree->blocks[BLOCKS[b]].count);
  bool any = false;
  for (int v = 0; v <= tree->variable_count; v++)
    any = any || g->drawn[v];
  if (l.culprit)
    snprintf(why, size, "line %d: %s", l.culprit->token->line, l.why);
  else if (!any)
    snprintf(why, size, "no statement has data for its outcome");
  return any && !l.culprit;
}

/* ---- emitting --------------------------------------------------------------
 */

bool tm_emit_replicated(tm_emitter *g, const tm_statement *s) {
  tm_factor f;
  const tm_expression *term;
  if (s->part & TM_PART_LIKELIHOOD && !tm_passes_on(&g->program->split, s))
    for (size_t i = 0; (term = tm_part_term(s, TM_PART_LIKELIHOOD, i)); i++)
      if (tm_factor_of(g, s, term, &f))
        tm_factor_emit(g, &f);
  return s->kind == TM_S_TILDE || s->kind == TM_S_TARGET;
}

static void emit_storage(tm_emitter *g, const tm_variable *v) {
  tm_held held = tm_held_variable(g, v);
  const char *n = v->name;
  if (held == TM_TENSOR) {
    tm_emit_line(g, "tm_tensor v_%s = tm_duplicate(t, I->v_%s);", n, n);
    tm_emit_line(g,
                 "tm_tensor p_%s = t->replicating == 2 ? tm_declare(t, "
                 "v_%s.rank, v_%s.dim, 0) : v_%s;",
                 n, n, n, n);
    return;
  }
  tm_emit_line(g, "%s v_%s = I->v_%s; (void)v_%s;", tm_held_name(held), n, n,
               n);
  tm_emit_line(g, "tm_tensor p_%s = tm_declare(t, 0, (int[]){0}, 0);", n);
}

static void emit_replica(tm_emitter *g, const tm_variable *v) {
  static const char *const makers[] = {"tm_any_int(", "tm_any_real(",
                                       "tm_any_var(", "tm_any_tensor("};
  tm_held held = tm_held_variable(g, v);
  tm_emit_line(g,
               "t->runtime->replica(t, binding, \"%s\", %d, %sI->v_%s%s), "
               "p_%s);",
               tm_shown_name(v), v->type.base == TM_INT, makers[held], v->name,
               held == TM_TENSOR ? ", 0" : "", v->name);
}

static void emit_body(tm_emitter *g) {
  const tm_program *tree = &g->program->tree;
  tm_emit_line(g, "const instance *I = i_;");
  tm_emit_line(g, "(void)t, (void)I, (void)theta, (void)binding;");
  for (size_t i = 0; i < tree->global_count; i++)
    if (g->drawn[tree->globals[i]->index])
      emit_storage(g, tree->globals[i]);
  tm_emit_thetas(g);
  for (size_t b = 0; b < 2; b++)
    tm_emit_statements(g, tree->blocks[BLOCKS[b]].statements,
                       tree->blocks[BLOCKS[b]].count);
  for (size_t i = 0; i < tree->global_count; i++)
    if (g->drawn[tree->globals[i]->index])
      emit_replica(g, tree->globals[i]);
}

bool tm_emit_replicate(tm_emitter *g, char *why, size_t size) {
  g->part = TM_PART_LIKELIHOOD;
  g->replicating = true;
  bool can = can_replicate(g, why, size);
  if (can) {
    tm_emit_need(g);
    tm_emit_line(g, TM_SELDOM);
    tm_emit_line(g, "static void replicate(tm_tape *t, const void *i_, "
                    "const double *theta, void *binding) {");
    g->indent = 1;
    emit_body(g);
    g->indent = 0;
    tm_emit_line(g, "}");
  }
  g->replicating = false;
  g->drawn = NULL;
  g->needed = NULL;
  return can;
}

/* ---- tempera check ---------------------------------------------------------
 */

static void add_drawn(const tm_emitter *g, tm_text *text) {
  const tm_program *tree = &g->program->tree;
  tm_text_add(text, "replicated data: ");
  for (size_t i = 0, shown = 0; i < tree->global_count; i++)
    if (g->drawn[tree->globals[i]->index])
      tm_text_printf(text, "%s%s", shown++ ? ", " : "",
                     tm_shown_name(tree->globals[i]));
  tm_text_add(text, " can be drawn from the likelihood statements\n");
}

void tm_describe_predictive(const tempera_program *program, tm_text *text) {
  char why[200];
  if (!program->split.likelihood)
    return;
  tm_emitter g = {.program = program,
                  .arena = program->arena,
                  .part = TM_PART_LIKELIHOOD,
                  .replicating = true};
  if (can_replicate(&g, why, sizeof why))
    add_drawn(&g, text);
  else
    tm_text_printf(text, "replicated data: cannot be drawn: %s\n", why);
  tm_text_clear(&g.body);
}
