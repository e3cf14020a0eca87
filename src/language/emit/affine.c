/* affine.c - a term that scores a multiple of a parameter, shifted: (r + 1) / 2
 * ~ beta(2, 2). The outcome is drawn, and the parameter solved for. What it is
 * multiplied with and shifted by comes from the expression itself, at 0 and 1.
 */
#include "language/emit/factor.h"

#include <string.h>

/* Numbers and data alone. */
static bool is_fixed(const tm_expression *e) {
  const tm_variable *v = e->kind == TM_E_NAME ? e->variable : NULL;
  if (v && !(v->global && (v->block == TM_BLOCK_DATA ||
                           v->block == TM_BLOCK_TRANSFORMED_DATA)))
    return false;
  for (size_t i = 0; i < e->part_count; i++)
    if (!is_fixed(e->parts[i]))
      return false;
  return e->kind != TM_E_INDEX || tm_is_scalar(e->type);
}

static bool same_shape(const tm_expression *a, const tm_expression *b) {
  return a->type.depth == b->type.depth &&
         (a->type.base == b->type.base ||
          (tm_is_scalar(a->type) && tm_is_scalar(b->type)));
}

const tm_expression *tm_affine_inner(const tm_expression *e) {
  if (e->kind == TM_E_UNARY && e->text[0] == '-')
    e = e->parts[0];
  if (e->kind != TM_E_BINARY || !strchr("+-*/", e->text[0]) || e->text[1])
    return e;
  bool left = is_fixed(e->parts[1]);
  if ((!left && (e->text[0] == '/' || !is_fixed(e->parts[0]))) ||
      !same_shape(e, e->parts[!left]))
    return e;
  return tm_affine_inner(e->parts[!left]);
}

/* The outcome as it is where the parameter is `value` throughout. */
static void emit_at(tm_emitter *g, const tm_factor *f, int value) {
  const tm_variable *v = f->variable;
  tm_held held = tm_held_variable(g, v);
  tm_emit_line(g, "for (long i_ = 0; i_ < tm_count(&z_); i_++) z_.v[i_] = %d;",
               value);
  if (held != TM_TENSOR)
    tm_emit_line(g, "v_%s = %d;", v->name, value);
  tm_emit(g, "%*stm_any at_%d = ", 2 * g->indent, "", value);
  tm_emit_any(g, f->components[0].density->parts[0]);
  tm_emit(g, ";\n");
}

void tm_emit_affine_begin(tm_emitter *g, const tm_factor *f) {
  tm_emit_line(g, "tm_tensor z_ = x_;");
  tm_emit_line(g, "if (tm_count(&z_) && !isnan(z_.v[0]))");
  tm_emit_line(g, "  t->runtime->fail(t, \"\", \"an element has two prior "
                  "statements\");");
  emit_at(g, f, 0);
  emit_at(g, f, 1);
  tm_emit_line(g, "double shift_ = tm_first(&at_0), "
                  "slope_ = tm_first(&at_1) - shift_;");
  tm_emit_line(g, "if (!tm_is_uniform(&at_0) || !tm_is_uniform(&at_1))");
  tm_emit_line(g, "  t->runtime->fail(t, \"\", \"elements differ\");");
  tm_emit_line(g, "x_ = tm_declare(t, z_.rank, z_.dim, 0);");
}

void tm_emit_affine_end(tm_emitter *g) {
  tm_emit_line(g, "for (long i_ = 0; i_ < tm_count(&z_); i_++) {");
  tm_emit_line(g, "  z_.v[i_] = (x_.v[i_] - shift_) / slope_;");
  tm_emit_line(g, "  t->log_density += log(fabs(slope_));");
  tm_emit_line(g, "}");
}
