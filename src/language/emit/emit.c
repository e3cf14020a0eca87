/* emit.c - a program's C text: the instance, the functions of its user, and
 * the entry points of prelude.h's tm_entry. */
#include "language/emit/emit.h"

#include "language/emit/find_rows.h"
#include "language/emit/terms.h"

#include <string.h>

/* ---- the instance: data, transformed data, parameters' places ----------- */

static void emit_instance(tm_emitter *g) {
  const tm_program *tree = &g->program->tree;
  tm_emit_line(g, "typedef struct instance {");
  for (size_t i = 0; i < tree->global_count; i++) {
    const tm_variable *v = tree->globals[i];
    if (v->block == TM_BLOCK_DATA || v->block == TM_BLOCK_TRANSFORMED_DATA)
      tm_emit_line(g, "  %s v_%s; /* line %d */",
                   tm_held_name(tm_held_variable(g, v)), v->name,
                   v->token->line);
    if (v->block == TM_BLOCK_PARAMETERS)
      tm_emit_line(g, "  long o_%s; int d_%s[TM_RANK]; /* line %d */", v->name,
                   v->name, v->token->line);
  }
  for (size_t i = 0; i < tree->kept_count; i++) {
    const tm_expression *e = tree->kept[i];
    tm_emit_line(g, "  %s kept_%d; /* line %d */",
                 tm_held_name(tm_held_type(g, e->type, TM_LEVEL_DATA)), e->kept,
                 e->token->line);
  }
  for (size_t i = 0; i < tree->rows.count; i++)
    tm_emit_line(g, "  tm_rows *rows_%zu;", i + 1);
  tm_emit_line(g, "  int lean; /* rows are done by the library */");
  tm_emit_line(g, "  char end_;");
  tm_emit_line(g, "} instance;");
}

void tm_emit_bound(tm_emitter *g, const tm_expression *e, const char *without) {
  if (e)
    tm_emit_any(g, e);
  else
    tm_emit(g, "tm_any_real(%s)", without);
}

static void emit_bounds(tm_emitter *g, const tm_variable *v) {
  bool scale = v->constraint == TM_OFFSET;
  tm_emit_bound(g, v->lower, scale ? "0" : "-INFINITY");
  tm_emit(g, ", ");
  tm_emit_bound(g, v->upper, scale ? "1" : "INFINITY");
}

static void emit_any_variable(tm_emitter *g, const tm_variable *v) {
  static const char *const makers[] = {"tm_any_int(", "tm_any_real(",
                                       "tm_any_var(", "tm_any_tensor("};
  tm_held held = tm_held_variable(g, v);
  tm_emit(g, "%s", makers[held]);
  tm_emit_variable(g, v);
  tm_emit(g, held == TM_TENSOR ? ", 0)" : ")");
}

static void emit_check(tm_emitter *g, const tm_variable *v, bool reject) {
  if (v->constraint == TM_FREE || v->constraint == TM_OFFSET)
    return;
  tm_emit(g, "  t->runtime->check(t, ");
  emit_any_variable(g, v);
  tm_emit(g, ", %d, ", (int)v->constraint);
  emit_bounds(g, v);
  char place[TM_PLACE];
  if (reject)
    tm_emit(g, ", \"line %s: %s\", 1);\n", tm_place_text(v->token, place),
            tm_shown_name(v));
  else
    tm_emit(g, ", \"%s\", 0);\n", tm_shown_name(v));
}

static void emit_checks(tm_emitter *g, tm_block_kind block, bool reject) {
  const tm_program *tree = &g->program->tree;
  for (size_t i = 0; i < tree->global_count; i++) {
    const tm_variable *v = tree->globals[i];
    if (v->block == block && (!g->needed || g->needed[v->index]))
      emit_check(g, v, reject);
  }
}

void tm_emit_transformed_checks(tm_emitter *g) {
  int indent = g->indent;
  g->indent = 0;
  emit_checks(g, TM_BLOCK_TRANSFORMED_PARAMETERS, true);
  g->indent = indent;
}

static void emit_read(tm_emitter *g, const tm_variable *v) {
  tm_held held = tm_held_variable(g, v);
  tm_emit(g, "  { tm_tensor r_ = t->runtime->read(t, binding, \"%s\", %d, ",
          tm_shown_name(v), v->type.base == TM_INT);
  tm_emit_sizes(g, v);
  tm_emit(g, ");\n    I->v_%s = %s; }\n", v->name,
          held == TM_TENSOR ? "r_"
          : held == TM_LONG ? "(long)r_.v[0]"
                            : "r_.v[0]");
  emit_check(g, v, false);
}

/* The terms of a density that need only data. */
static void emit_hoisted_terms(tm_emitter *g, const tm_expression *e) {
  tm_emit(g, "F[%zu](t, (tm_any[]){",
          tm_emit_call_number(g, e->builtin->name, e->builtin->signature));
  for (size_t i = 0; i < e->part_count; i++) {
    tm_emit(g, i ? ", " : "");
    if (e->kept_terms >> i & 1)
      tm_emit_any(g, e->parts[i]);
    else
      tm_emit(g, "tm_any_real(1)"); /* not looked at */
  }
  tm_emit(g, "}, %zu | TM_ONLY | %u << TM_CHOSEN).u.r.v", e->part_count,
          e->kept_terms);
}

static void emit_hoisted(tm_emitter *g) {
  const tm_program *tree = &g->program->tree;
  for (size_t i = 0; i < tree->kept_count; i++) {
    const tm_expression *e = tree->kept[i];
    tm_emit(g, "  I->kept_%d = ", e->kept);
    if (e->kept_terms)
      emit_hoisted_terms(g, e);
    else
      tm_emit_expression(g, e);
    tm_emit(g, ";\n");
  }
}

static void emit_data(tm_emitter *g) {
  const tm_program *tree = &g->program->tree;
  g->needed = NULL;
  tm_emit_line(g, TM_SELDOM);
  tm_emit_line(g, "static void data(tm_tape *t, void *i_, void *binding) {");
  tm_emit_line(g, "  instance *I = i_;");
  tm_emit_line(g, "  (void)t, (void)I, (void)binding;");
  for (size_t i = 0; i < tree->global_count; i++)
    if (tree->globals[i]->block == TM_BLOCK_DATA)
      emit_read(g, tree->globals[i]);
  g->indent = 1;
  g->placing = true;
  const tm_block_node *block = &tree->blocks[TM_BLOCK_TRANSFORMED_DATA];
  tm_emit_statements(g, block->statements, block->count);
  tm_emit_line(g, "t->place = 0;");
  g->placing = false;
  g->indent = 0;
  emit_checks(g, TM_BLOCK_TRANSFORMED_DATA, false);
  g->reading = true;
  emit_hoisted(g);
  g->reading = false;
  tm_emit_line(g, "}");
}

/* Prior statements name none, or the first few elements: are there (more)? */
static void emit_propriety(tm_emitter *g, const tm_variable *v) {
  const tm_split *split = &g->program->split;
  for (size_t i = 0; i < split->parameter_count; i++) {
    const tm_parameter_info *info = &split->parameters[i];
    if (info->variable == v && tm_surely_improper(info))
      tm_emit_line(g, "  t->runtime->improper(binding);");
    if (info->variable == v && info->covered_to && !info->flat_is_proper)
      tm_emit_line(g, "  if (I->d_%s[0] > %lld) t->runtime->improper(binding);",
                   v->name, (long long)info->covered_to);
    if (info->variable == v && info->conditional && v->type.base != TM_INT)
      tm_emit_line(g, "  t->runtime->conditional(binding, I->o_%s);", v->name);
  }
}

static void emit_announcements(tm_emitter *g, tm_block_kind block) {
  const tm_program *tree = &g->program->tree;
  for (size_t i = 0; i < tree->global_count; i++) {
    const tm_variable *v = tree->globals[i];
    if (v->block != block)
      continue;
    tm_emit(g, "  t->runtime->announce(t, binding, \"%s\", %s%s, ",
            tm_shown_name(v),
            block == TM_BLOCK_GENERATED_QUANTITIES ? "TM_GENERATED" : "0",
            tm_is_complex(v->type) ? " | TM_PAIRS" : "");
    tm_emit_sizes(g, v);
    tm_emit(g, ");\n");
  }
}

/* ---- parameters --------------------------------------------------------- */

static void emit_complex_theta(tm_emitter *g, const tm_variable *v) {
  const char *n = v->name;
  tm_emit_line(g, "tm_tensor v_%s = tm_shape(%d, I->d_%s);", n,
               tm_rank(v->type), n);
  tm_emit_line(g, "v_%s.v = (double *)theta + I->o_%s;", n, n);
  if (g->gradient)
    tm_emit_line(g, "v_%s.d = gradient + I->o_%s;", n, n);
  tm_emit_line(g,
               "v_%s = F[%zu](t, (tm_any[]){tm_any_tensor(v_%s, 1)}, 1).u.t;",
               n, tm_emit_call_number(g, "from_columns", "Z"), n);
}

static void emit_theta(tm_emitter *g, const tm_variable *v) {
  tm_held held = tm_held_variable(g, v);
  const char *n = v->name;
  bool gradient = g->gradient && v->type.base != TM_INT;
  if (tm_is_complex(v->type))
    emit_complex_theta(g, v);
  else if (held == TM_TENSOR)
    tm_emit_line(g,
                 "tm_tensor v_%s = tm_unpack(t, theta + I->o_%s, %s%s%s, "
                 "%zu, I->d_%s);",
                 n, n, gradient ? "gradient + I->o_" : "0", gradient ? n : "",
                 "", v->size_count, n);
  else if (held == TM_VAR)
    tm_emit_line(g, "tm_var v_%s = {theta[I->o_%s], gradient + I->o_%s};", n, n,
                 n);
  else
    tm_emit_line(g, "%s v_%s = (%s)theta[I->o_%s];", tm_held_name(held), n,
                 tm_held_name(held), n);
  tm_emit_line(g, "(void)v_%s;", n);
}

void tm_emit_thetas(tm_emitter *g) {
  const tm_program *tree = &g->program->tree;
  for (size_t i = 0; i < tree->global_count; i++) {
    const tm_variable *v = tree->globals[i];
    bool taken = g->direct && g->direct[v->index];
    if (v->block == TM_BLOCK_PARAMETERS && !taken &&
        (!g->needed || g->needed[v->index]))
      emit_theta(g, v);
  }
}

bool tm_mentions(const tm_expression *e, const tm_variable *v) {
  if (!e)
    return false;
  bool found = e->kind == TM_E_NAME && e->variable == v;
  for (size_t i = 0; i < e->part_count && !found; i++)
    found = tm_mentions(e->parts[i], v);
  for (size_t i = 0; i < e->index_count && !found; i++)
    found =
        tm_mentions(e->indices[i].from, v) || tm_mentions(e->indices[i].to, v);
  return found;
}

static void emit_limits(tm_emitter *g, const tm_variable *v, bool gradient) {
  const tm_program *tree = &g->program->tree;
  g->gradient = gradient;
  tm_emit_line(g,
               "static void limits_%s_%s(tm_tape *t, const void *i_, "
               "const double *theta, double *gradient, tm_any *out) {",
               v->name, gradient ? "g" : "v");
  g->indent = 1;
  tm_emit_line(g, "const instance *I = i_;");
  tm_emit_line(g, "(void)t, (void)I, (void)theta, (void)gradient;");
  for (size_t i = 0; i < tree->global_count && tree->globals[i] != v; i++)
    if (tree->globals[i]->block == TM_BLOCK_PARAMETERS &&
        (tm_mentions(v->lower, tree->globals[i]) ||
         tm_mentions(v->upper, tree->globals[i])))
      emit_theta(g, tree->globals[i]);
  g->indent = 0;
  tm_emit(g, "  tm_any limits[2] = {");
  emit_bounds(g, v);
  tm_emit(g, "};\n  memcpy(out, limits, sizeof limits);\n}\n");
  g->gradient = false;
}

static void emit_dependent(tm_emitter *g, const tm_variable *v) {
  tm_emit_line(
      g,
      "    I->o_%s = t->runtime->dependent(t, binding, \"%s\", %d, "
      "%d, s_.rank, s_.dim, I, (tm_limits){limits_%s_v, limits_%s_g}); }",
      v->name, tm_shown_name(v), v->constraint == TM_OFFSET, v->type.depth,
      v->name, v->name);
}

static void emit_parameters(tm_emitter *g) {
  const tm_program *tree = &g->program->tree;
  for (size_t i = 0; i < tree->global_count; i++)
    if (tm_has_dependent_limits(tree->globals[i])) {
      emit_limits(g, tree->globals[i], false);
      emit_limits(g, tree->globals[i], true);
    }
  tm_emit_line(g, TM_ONCE);
  tm_emit_line(g, "static void parameters(tm_tape *t, void *i_, "
                  "void *binding) {");
  tm_emit_line(g, "  instance *I = i_;");
  tm_emit_line(g, "  (void)t, (void)I, (void)binding;");
  for (size_t i = 0; i < tree->global_count; i++) {
    const tm_variable *v = tree->globals[i];
    if (v->block != TM_BLOCK_PARAMETERS)
      continue;
    tm_emit(g, "  { tm_tensor s_ = tm_shape(");
    tm_emit_sizes(g, v);
    tm_emit(g, ");\n    memcpy(I->d_%s, s_.dim, sizeof s_.dim);\n", v->name);
    if (tm_has_dependent_limits(v)) {
      emit_dependent(g, v);
      emit_propriety(g, v);
      continue;
    }
    tm_emit(g,
            "    I->o_%s = t->runtime->parameter(t, binding, \"%s\", %d, "
            "%s, %d, s_.rank, s_.dim, ",
            v->name, tm_shown_name(v), (int)v->constraint,
            v->type.base == TM_INT   ? "TM_WHOLE"
            : tm_is_complex(v->type) ? "TM_PAIRS"
                                     : "0",
            v->type.depth);
    emit_bounds(g, v);
    tm_emit(g, "); }\n");
    emit_propriety(g, v);
  }
  emit_announcements(g, TM_BLOCK_TRANSFORMED_PARAMETERS);
  emit_announcements(g, TM_BLOCK_GENERATED_QUANTITIES);
  tm_emit_row_plans(g);
  tm_emit_line(g, "}");
}

/* ---- densities ---------------------------------------------------------- */

static void emit_block(tm_emitter *g, tm_block_kind kind) {
  const tm_block_node *block = &g->program->tree.blocks[kind];
  tm_emit_statements(g, block->statements, block->count);
}

/* `kind` is "", or says which of two ways of doing it this is. */
static void emit_way(tm_emitter *g, tm_part part, bool gradient,
                     const char *kind) {
  g->part = part;
  g->gradient = gradient;
  g->remembers = true;
  tm_emit_need(g);
  tm_emit_line(g,
               "static void %s_%s%s(tm_tape *t, const void *i_, "
               "const double *theta%s) {",
               part == TM_PART_PRIOR ? "prior" : "likelihood",
               gradient ? "gradient" : "value", kind,
               gradient ? ", double *gradient" : "");
  g->indent = 1;
  tm_emit_line(g, "const instance *I = i_;");
  tm_emit_line(g, "(void)t, (void)I, (void)theta;");
  if (gradient)
    tm_emit_line(g, "(void)gradient;");
  tm_emit_thetas(g);
  emit_block(g, TM_BLOCK_TRANSFORMED_PARAMETERS);
  tm_emit_transformed_checks(g);
  emit_block(g, TM_BLOCK_MODEL);
  g->indent = 0;
  tm_emit_line(g, "}");
  g->gradient = g->remembers = false;
  g->needed = NULL;
}

/* Statements over rows by the library and, where the program has to do for any
 * data, one by one as well. */
static void emit_density(tm_emitter *g, tm_part part, bool gradient) {
  const char *name = part == TM_PART_PRIOR ? "prior" : "likelihood";
  const char *what = gradient ? "gradient" : "value";
  if (!tm_emit_has_rows(g, part)) {
    emit_way(g, part, gradient, "");
    return;
  }
  g->rows = true;
  emit_way(g, part, gradient, g->way == TM_EITHER ? "_lean" : "");
  g->rows = false;
  if (g->way != TM_EITHER)
    return;
  emit_way(g, part, gradient, "_plain");
  tm_emit_line(g,
               "static void %s_%s(tm_tape *t, const void *i_, "
               "const double *theta%s) {",
               name, what, gradient ? ", double *gradient" : "");
  tm_emit_line(g,
               "  (((const instance *)i_)->lean ? %s_%s_lean : %s_%s_plain)"
               "(t, i_, theta%s);",
               name, what, name, what, gradient ? ", gradient" : "");
  tm_emit_line(g, "}");
}

/* Everything once more, to find out which statement makes the density zero:
 * called when somebody asks, so it need not be fast. */
static void emit_explain(tm_emitter *g) {
  g->explaining = true;
  g->needed = NULL;
  tm_emit_line(g, TM_ONCE);
  tm_emit_line(g, "static void explain(tm_tape *t, const void *i_, "
                  "const double *theta) {");
  g->indent = 1;
  tm_emit_line(g, "const instance *I = i_;");
  tm_emit_line(g, "(void)t, (void)I, (void)theta;");
  tm_emit_thetas(g);
  emit_block(g, TM_BLOCK_TRANSFORMED_PARAMETERS);
  emit_checks(g, TM_BLOCK_TRANSFORMED_PARAMETERS, true);
  emit_block(g, TM_BLOCK_MODEL);
  g->indent = 0;
  tm_emit_line(g, "}");
  g->explaining = false;
}

static bool program_guards(const tempera_program *program) {
  const tm_block_node *b = program->tree.blocks;
  const tm_block_node *t = &b[TM_BLOCK_TRANSFORMED_PARAMETERS];
  const tm_block_node *m = &b[TM_BLOCK_MODEL];
  return tm_has_guards(t->statements, t->count) ||
         tm_has_guards(m->statements, m->count);
}

/* The program as it is written, prior and likelihood together. */
static void emit_whole(tm_emitter *g, const char *name) {
  tm_emit_line(g,
               "static void %s(tm_tape *t, const void *i_, "
               "const double *theta) {",
               name);
  g->indent = 1;
  tm_emit_line(g, "const instance *I = i_;");
  tm_emit_line(g, "(void)t, (void)I, (void)theta;");
  tm_emit_thetas(g);
  emit_block(g, TM_BLOCK_TRANSFORMED_PARAMETERS);
  emit_block(g, TM_BLOCK_MODEL);
  g->indent = 0;
  tm_emit_line(g, "}");
}

/* The same, with what its guards say in place of the first that closes. */
static void emit_shortfall(tm_emitter *g) {
  g->measuring = true;
  g->needed = NULL;
  emit_whole(g, "shortfall");
  g->measuring = false;
}

/* ---- quantities --------------------------------------------------------- */

static void emit_outputs(tm_emitter *g, tm_block_kind block) {
  const tm_program *tree = &g->program->tree;
  for (size_t i = 0; i < tree->global_count; i++) {
    const tm_variable *v = tree->globals[i];
    if (v->block != block)
      continue;
    bool complex = tm_is_complex(v->type);
    tm_emit(g, "  t->runtime->output(t, binding, ");
    if (complex)
      tm_emit(g, "F[%zu](t, (tm_any[]){",
              tm_emit_call_number(g, "to_columns", "Z"));
    emit_any_variable(g, v);
    tm_emit(g, "%s);\n", complex ? "}, 1)" : "");
  }
}

static void emit_quantities(tm_emitter *g) {
  g->outputs = g->placing = true;
  tm_emit_line(g, TM_SELDOM);
  tm_emit_line(g, "static void quantities(tm_tape *t, const void *i_, "
                  "const double *theta, void *binding) {");
  g->indent = 1;
  tm_emit_line(g, "const instance *I = i_;");
  tm_emit_line(g, "(void)t, (void)I, (void)theta, (void)binding;");
  tm_emit_thetas(g);
  emit_block(g, TM_BLOCK_TRANSFORMED_PARAMETERS);
  emit_outputs(g, TM_BLOCK_TRANSFORMED_PARAMETERS);
  tm_emit_line(g, "if (t->runtime->enough(binding)) return;");
  emit_block(g, TM_BLOCK_GENERATED_QUANTITIES);
  emit_checks(g, TM_BLOCK_GENERATED_QUANTITIES, true);
  emit_outputs(g, TM_BLOCK_GENERATED_QUANTITIES);
  g->indent = 0;
  tm_emit_line(g, "}");
  g->outputs = g->placing = false;
}

/* ---- print -------------------------------------------------------------- */

static bool prints(tm_statement *const *body, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (body[i]->kind == TM_S_PRINT ||
        prints(body[i]->body, body[i]->body_count) ||
        (body[i]->otherwise && prints(&body[i]->otherwise, 1)))
      return true;
  return false;
}

static bool program_prints(const tm_program *tree) {
  for (size_t i = 0; i < tree->function_count; i++)
    if (tree->functions[i]->body && prints(&tree->functions[i]->body, 1))
      return true;
  const tm_block_node *b = &tree->blocks[TM_BLOCK_TRANSFORMED_PARAMETERS];
  const tm_block_node *m = &tree->blocks[TM_BLOCK_MODEL];
  return prints(b->statements, b->count) || prints(m->statements, m->count);
}

/* Densities drop prints, which would slow them down; this is the program as
 * it is written, prior and likelihood together. */
static void emit_show(tm_emitter *g) {
  tm_emit_line(g, TM_ONCE);
  emit_whole(g, "show");
}

/* May the prior be zero inside the parameters' support? */
static bool rejects(tm_statement *const *body, size_t count) {
  for (size_t i = 0; i < count; i++)
    if ((body[i]->kind == TM_S_REJECT && body[i]->part != TM_PART_LIKELIHOOD) ||
        rejects(body[i]->body, body[i]->body_count) ||
        (body[i]->otherwise && rejects(&body[i]->otherwise, 1)))
      return true;
  return false;
}

static bool program_rejects(const tempera_program *program) {
  const tm_program *tree = &program->tree;
  const tm_block_node *b = &tree->blocks[TM_BLOCK_TRANSFORMED_PARAMETERS];
  const tm_block_node *m = &tree->blocks[TM_BLOCK_MODEL];
  bool found =
      rejects(b->statements, b->count) || rejects(m->statements, m->count);
  for (size_t i = 0; i < tree->function_count; i++)
    found = found ||
            (tree->functions[i]->body && rejects(&tree->functions[i]->body, 1));
  for (size_t i = 0; i < tree->global_count; i++) {
    const tm_variable *v = tree->globals[i];
    found = found || (v->block == TM_BLOCK_TRANSFORMED_PARAMETERS &&
                      v->constraint != TM_FREE && v->constraint != TM_OFFSET);
  }
  return found;
}

/* ---- all ---------------------------------------------------------------- */

/* A file's name may hold anything: letters as they are, the rest in octal. */
static void emit_name(tm_emitter *g, const char *name) {
  for (const char *c = name; *c; c++) {
    bool letter = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z');
    tm_emit(g, letter ? "%c" : "\\%03o", (unsigned char)*c);
  }
}

typedef struct offered {
  bool drawn, shown, terms, guarded, replicated;
  char why[200]; /* they are not replicated */
} offered;

static void emit_entry(tm_emitter *g, const offered *o) {
  tm_emit_line(g, "static void start(const tm_runtime *runtime) {");
  for (size_t i = 0; i < g->call_count; i++)
    tm_emit_line(g, "  F[%zu] = runtime->find(\"%s\");", i, g->calls[i]);
  for (size_t i = 0; i < g->kernel_count; i++)
    tm_emit_line(g, "  K[%zu] = runtime->kernel(\"%s\");", i, g->kernels[i]);
  tm_emit_line(g, "  (void)runtime;\n}");
  tm_emit(g, "extern const tm_entry tempera_program_entry;\n"
             "const tm_entry tempera_program_entry = {\n"
             "  TM_ENTRY_VERSION, \"");
  emit_name(g, g->program->name);
  tm_emit_line(
      g,
      "\", %d, %d, sizeof(instance), start, data, parameters,\n"
      "  {prior_value, likelihood_value},\n"
      "  {prior_gradient, likelihood_gradient},\n"
      "  explain, quantities, %s, %s,\n"
      "  {%s}, {%s}, %s, points, %s,",
      g->program->split.likelihood + g->program->split.likelihood_sure,
      program_rejects(g->program), o->drawn ? "draw_prior" : "0",
      o->shown ? "show" : "0", o->terms ? "prior_terms, likelihood_terms" : "0",
      o->terms ? "prior_reads, likelihood_reads" : "0",
      o->guarded ? "shortfall" : "0", o->replicated ? "replicate" : "0");
  tm_emit_line(g, "  \"%s\"};", o->why);
}

tempera_status tm_emit_program(const tempera_program *program, tm_way way,
                               tm_text *text, tempera_error *error) {
  tm_emitter g = {.program = program, .way = way, .arena = program->arena};
  tm_emit_functions(&g, false);
  tm_emit_functions(&g, true);
  emit_data(&g);
  emit_parameters(&g);
  for (int k = 0; k < 4; k++)
    emit_density(&g, k % 2 ? TM_PART_LIKELIHOOD : TM_PART_PRIOR, k >= 2);
  emit_explain(&g);
  emit_quantities(&g);
  offered o = {.drawn = tm_emit_prior_draw(&g),
               .shown = program_prints(&program->tree),
               .guarded = program_guards(program)};
  if (o.shown)
    emit_show(&g);
  o.terms = tm_emit_terms(&g);
  if (o.guarded)
    emit_shortfall(&g);
  tm_emit_pointing_functions(&g);
  tm_emit_points(&g);
  o.replicated = tm_emit_replicate(&g, o.why, sizeof o.why);
  emit_entry(&g, &o);
  tm_emitter head = {.program = program, .arena = program->arena};
  tm_emit_tuple_types(&g, &head.body);
  emit_instance(&head);
  tm_emit_line(&head, "static tm_fn F[%zu];", g.call_count + 1);
  tm_emit_line(&head, "static tm_kernel K[%zu];", g.kernel_count + 1);
  const tm_text *parts[] = {&head.body, &g.declarations, &g.systems, &g.body};
  bool failed = false;
  for (size_t i = 0; i < 4; i++) {
    failed = failed || parts[i]->failed;
    if (!failed && parts[i]->length)
      tm_text_add_bytes(text, parts[i]->data, parts[i]->length);
  }
  tm_text_clear(&g.body);
  tm_text_clear(&g.declarations);
  tm_text_clear(&g.systems);
  tm_text_clear(&head.body);
  return failed || text->failed ? tm_fail_memory(error) : TEMPERA_OK;
}
