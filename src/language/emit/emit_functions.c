/* emit_functions.c - the functions that the user wrote, for values, for
 * gradients and term by term. */
#include "language/emit/local.h"

static bool has_silent_variant(const tm_function *f) {
  return f->uses_target && f->result.base != TM_VOID;
}

const char *tm_emit_variant(const tm_emitter *g, const tm_function *f) {
  if (g->silent && has_silent_variant(f))
    return g->gradient ? "gs" : "vs";
  if (g->pointing && f->uses_target)
    return "p";
  return g->gradient ? "g" : "v";
}

static void emit_signature(tm_emitter *g, const tm_function *f) {
  tm_emit(g, "static %s f%d_%s_%s(tm_tape *t",
          f->result.base == TM_VOID
              ? "void"
              : tm_c_type(g, f->result,
                          tm_held_type(g, f->result, TM_LEVEL_PARAMETER)),
          f->index, f->name, tm_emit_variant(g, f));
  for (size_t i = 0; i < f->argument_count; i++)
    tm_emit(g, ", %s v_%s",
            tm_c_type(g, f->arguments[i]->type,
                      tm_held_variable(g, f->arguments[i])),
            f->arguments[i]->name);
  tm_emit(g, ")");
}

static void emit_function(tm_emitter *g, tm_function *f) {
  tm_text own = {0};
  g->function = f;
  f->one_node = tm_emit_local(g, f, &own);
  if (f->one_node) /* not once more wherever it is called */
    tm_emit(g, "__attribute__((noinline)) ");
  emit_signature(g, f);
  tm_emit(g, " {\n");
  g->indent = 1;
  tm_emit_line(g, "(void)t;");
  if (f->one_node && !own.failed)
    tm_text_add_bytes(&g->body, own.data, own.length);
  else if (!f->one_node)
    tm_emit_statements(g, f->body->body, f->body->body_count);
  char place[TM_PLACE];
  if (f->result.base != TM_VOID)
    tm_emit_line(g,
                 "t->runtime->fail(t, \"%s\", \"%s ended without "
                 "returning\");",
                 tm_place_text(f->token, place), f->name);
  g->indent = 0;
  tm_emit_line(g, "}");
  tm_text_clear(&own);
  g->function = NULL;
}

/* Into the declarations or, defined, into the body. */
static void emit_variants(tm_emitter *g, tm_function *f, bool defined) {
  for (int silent = 0; silent <= has_silent_variant(f); silent++) {
    g->silent = silent;
    if (defined) {
      emit_function(g, f);
    } else {
      emit_signature(g, f);
      tm_emit(g, " TM_UNUSED;\n");
    }
  }
  g->silent = false;
}

void tm_emit_functions(tm_emitter *g, bool gradient) {
  const tm_program *tree = &g->program->tree;
  g->gradient = gradient;
  g->needed = NULL;
  g->remembers = true;
  tm_text body = g->body;
  g->body = g->declarations;
  for (size_t i = 0; i < tree->function_count; i++)
    if (tree->functions[i]->body)
      emit_variants(g, tree->functions[i], false);
  g->declarations = g->body;
  g->body = body;
  for (size_t i = 0; i < tree->function_count; i++)
    if (tree->functions[i]->body)
      emit_variants(g, tree->functions[i], true);
  g->gradient = g->remembers = false;
}

void tm_emit_pointing_functions(tm_emitter *g) {
  const tm_program *tree = &g->program->tree;
  g->pointing = true;
  for (int defined = 0; defined < 2; defined++)
    for (size_t i = 0; i < tree->function_count; i++) {
      tm_function *f = tree->functions[i];
      if (!f->body || !f->uses_target)
        continue;
      if (defined) {
        emit_function(g, f);
      } else {
        emit_signature(g, f);
        tm_emit(g, " TM_UNUSED;\n");
      }
    }
  g->pointing = false;
}
