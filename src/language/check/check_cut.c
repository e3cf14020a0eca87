/* check_cut.c - parameters between bounds that data give, such as censored
 * values:
 *   vector<lower=U>[N] c;  c ~ normal(mu, sigma);
 * If that c lies above U was observed, the mass there, which other parameters
 * decide, is likelihood, and the prior is the law between the bounds:
 *   c[n] ~ normal(mu, sigma) T[U, ];  target += normal_lccdf(U | mu, sigma);
 * The sum is what was written. If the bounds are a range that somebody chose,
 * all of it is prior, whose integral is divided by. The two look alike, and
 * their evidence differs: so we ask, and do what the mark says. */
#include "language/check/check.h"
#include "language/check/split.h"

#include <string.h>

static bool is_datum(const tm_expression *bound) {
  return bound && bound->level == TM_LEVEL_DATA;
}

/* The bounds of a parameter that is named, whole or by one index. */
static const tm_variable *bounded(const tm_expression *left) {
  const tm_expression *root = left;
  if (left->kind == TM_E_INDEX && left->index_count == 1)
    root = left->parts[0];
  const tm_variable *v = root->kind == TM_E_NAME ? root->variable : NULL;
  bool fits = v && v->block == TM_BLOCK_PARAMETERS && v->global &&
              v->constraint == TM_BOUNDED && v->type.base != TM_INT &&
              tm_index_rank(v->type) <= 1 &&
              (is_datum(v->lower) || is_datum(v->upper));
  return fits ? v : NULL;
}

static bool has_mass(tm_checker *c, const tm_statement *s, const char *suffix) {
  const char *name =
      tm_joined(c, s->distribution, strlen(s->distribution), suffix);
  return name && tm_density_known(c, name);
}

static const tm_variable *cut(tm_checker *c, const tm_statement *s) {
  bool moves = false;
  for (size_t i = 0; i < s->argument_count; i++)
    moves = moves || s->arguments[i]->level == TM_LEVEL_PARAMETER;
  if (!moves || s->truncated || s->mark == TM_MARK_PRIOR || c->function ||
      c->block != TM_BLOCK_MODEL)
    return NULL;
  const tm_variable *v = bounded(s->left);
  return v && !tm_bounds_are_own(v, s->density) && has_mass(c, s, "_lcdf") &&
                 has_mass(c, s, "_lccdf")
             ? v
             : NULL;
}

/* The bound of c[i] where the bound is a container. */
static tm_expression *bound_at(tm_checker *c, tm_expression *bound,
                               const tm_expression *left) {
  if (!bound || left->kind != TM_E_INDEX || tm_rank(bound->type) == 0)
    return bound;
  tm_expression *made = TM_NEW(c->arena, tm_expression, 1);
  tm_expression **parts = TM_NEW(c->arena, tm_expression *, 1);
  if (!made || !parts)
    return NULL;
  *made = *left;
  parts[0] = bound;
  made->parts = parts;
  return made;
}

tempera_status tm_cut_by_data(tm_checker *c, tm_statement *s, bool *found) {
  const tm_variable *v = cut(c, s);
  *found = v != NULL;
  if (!v)
    return TEMPERA_OK;
  if (s->mark == TM_MARK_NONE)
    return tm_complain(
        c->source, s->token,
        "data bound %s, which cuts this density by a factor that depends on "
        "parameters: is that an observation, as of censored values, or a range "
        "of the prior? Add // @likelihood (that factor is) or // @prior",
        v->name);
  s->mark = TM_MARK_NONE;
  s->truncated = s->cut = true;
  s->lower = bound_at(c, v->lower, s->left);
  s->upper = bound_at(c, v->upper, s->left);
  return (v->lower && !s->lower) || (v->upper && !s->upper)
             ? tm_fail_memory(c->source->error)
             : TEMPERA_OK;
}

/* target += density(c | ...) is c ~ density(...). */
void tm_read_as_tilde(tm_checker *c, tm_statement *s) {
  const tm_expression *e = s->value;
  size_t n = e->kind == TM_E_CALL && e->builtin && e->part_count > 1
                 ? strlen(e->text)
                 : 0;
  bool density = n > 6 && (!strcmp(e->text + n - 5, "_lpdf") ||
                           !strcmp(e->text + n - 6, "_lupdf"));
  if (!density || s->jacobian || !bounded(e->parts[0]))
    return;
  tm_statement tilde = *s;
  tilde.kind = TM_S_TILDE;
  tilde.left = e->parts[0];
  tilde.value = NULL;
  tilde.density = s->value;
  tilde.arguments = e->parts + 1;
  tilde.argument_count = e->part_count - 1;
  tilde.distribution =
      tm_joined(c, e->text, n - (e->text[n - 5] == '_' ? 5 : 6), "");
  if (tilde.distribution && cut(c, &tilde))
    *s = tilde;
}

static tm_expression *difference(tm_checker *c, const tm_token *token,
                                 tm_expression *more, tm_expression *less) {
  tm_expression *made = tm_call_of(c, token, "log_diff_exp", more, &less, 1);
  if (made)
    made->bar = false;
  return made;
}

/* log P(lower < c < upper), by the tails that are the smaller. */
static tm_expression *mass(tm_checker *c, const tm_statement *s) {
  enum { NODES = 7 }; /* nodes of its own: terms are marked by the splitter */
  tm_expression *made = TM_NEW(c->arena, tm_expression, NODES), *cdf[4];
  tm_expression **parts = TM_NEW(c->arena, tm_expression *, 5);
  if (!made || !parts)
    return NULL;
  for (size_t i = 0; i < 4; i++) {
    cdf[i] = s->cdf[i] ? &made[3 + i] : NULL;
    if (cdf[i])
      *cdf[i] = *s->cdf[i];
  }
  if (!cdf[0] || !cdf[1])
    return cdf[0] ? cdf[0] : cdf[1];
  made[0] = (tm_expression){.kind = TM_E_CONDITIONAL,
                            .token = s->token,
                            .parts = parts,
                            .part_count = 3};
  made[1] = (tm_expression){.kind = TM_E_BINARY,
                            .token = s->token,
                            .text = ">",
                            .parts = parts + 3,
                            .part_count = 2};
  made[2] = (tm_expression){
      .kind = TM_E_REAL, .token = s->token, .text = "-0.69", .number = -0.69};
  parts[0] = &made[1];
  parts[1] = difference(c, s->token, cdf[3], cdf[2]);
  parts[2] = difference(c, s->token, cdf[0], cdf[1]);
  parts[3] = cdf[1];
  parts[4] = &made[2];
  return parts[1] && parts[2] ? made : NULL;
}

tempera_status tm_observe_bounds(tm_checker *c, tm_statement *s) {
  tm_statement *made = TM_NEW(c->arena, tm_statement, 2);
  tm_statement **body = TM_NEW(c->arena, tm_statement *, 2);
  tm_expression *value = mass(c, s);
  if (!made || !body || !value)
    return tm_fail_memory(c->source->error);
  TM_TRY(tm_check_expression(c, value));
  made[0] = *s;
  made[1] = (tm_statement){
      .kind = TM_S_TARGET, .token = s->token, .last = s->last, .value = value};
  body[0] = &made[0];
  body[1] = &made[1];
  *s = (tm_statement){.kind = TM_S_BLOCK,
                      .token = s->token,
                      .last = s->last,
                      .body = body,
                      .body_count = 2};
  return TEMPERA_OK;
}
