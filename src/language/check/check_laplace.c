/* check_laplace.c - calls of the embedded Laplace approximation, which Stan
 * writes with functions and tuples of their arguments:
 *   laplace_marginal(f, (x, ...), block, cov, (z, ...) [, options])
 * is read as laplace_marginal(f, block, cov(z, ...) [, options' items], x, ...)
 *   laplace_marginal_poisson_log_lpmf(y | ..., block, cov, (z, ...) [,
 * options]) with the call of cov and the items in their places,
 * and laplace_latent_solve as the tuple of two such calls. */
#include "language/check/higher.h"

#include <string.h>

enum { OPTIONS = 6, MOST = 40 };

/* Parts of the new call, one after the other. */
typedef struct parts {
  tm_expression *list[MOST];
  size_t count;
} parts;

static tm_expression *node(tm_checker *c, tm_expression_kind kind,
                           const tm_token *token, const char *text,
                           size_t count) {
  tm_expression *e = TM_NEW(c->arena, tm_expression, 1);
  tm_expression **list = TM_NEW(c->arena, tm_expression *, count + 1);
  if (!e || !list)
    return NULL;
  *e = (tm_expression){.kind = kind,
                       .token = token,
                       .text = text,
                       .parts = list,
                       .part_count = count};
  return e;
}

/* The items of a tuple, seen or not. */
static tempera_status spread(tm_checker *c, const tm_expression *call,
                             tm_expression *tuple, const char *what,
                             parts *out) {
  TM_TRY(tm_check_expression(c, tuple));
  if (tuple->type.base != TM_TUPLE || tuple->type.depth > 0)
    return tm_complain(c->source, tuple->token,
                       "%s: %s must be a tuple, as in (a, b) or (a, )",
                       call->text, what);
  for (size_t i = 0; i < tuple->type.tuple->count; i++) {
    tm_expression *item = tuple->kind == TM_E_TUPLE
                              ? tuple->parts[i]
                              : node(c, TM_E_PROJECT, tuple->token, "", 1);
    if (!item)
      return tm_fail_memory(c->source->error);
    if (tuple->kind != TM_E_TUPLE) {
      item->parts[0] = tuple;
      item->whole = (int64_t)i + 1;
    }
    if (out->count == MOST)
      return tm_complain(c->source, tuple->token, "%s: too many arguments",
                         call->text);
    out->list[out->count++] = item;
  }
  return TEMPERA_OK;
}

/* cov(z, ...) of the function's name and the tuple behind it. */
static tempera_status covariance(tm_checker *c, const tm_expression *e,
                                 size_t at, parts *out) {
  const tm_expression *f = e->parts[at];
  parts arguments = {.count = 0};
  if (f->kind != TM_E_NAME)
    return tm_complain(c->source, f->token,
                       "%s: this must be the covariance function", e->text);
  TM_TRY(
      spread(c, e, e->parts[at + 1], "the covariance's arguments", &arguments));
  tm_expression *call = node(c, TM_E_CALL, f->token, f->text, arguments.count);
  if (!call)
    return tm_fail_memory(c->source->error);
  memcpy(call->parts, arguments.list, arguments.count * sizeof *arguments.list);
  out->list[out->count++] = call;
  return TEMPERA_OK;
}

static tempera_status become(tm_checker *c, tm_expression *e,
                             const parts *made) {
  tm_expression **list = TM_NEW(c->arena, tm_expression *, made->count);
  if (!list)
    return tm_fail_memory(c->source->error);
  memcpy(list, made->list, made->count * sizeof *list);
  e->parts = list;
  e->part_count = made->count;
  return TEMPERA_OK;
}

/* The six options, from the tuple that is the call's last part. */
static tempera_status options(tm_checker *c, tm_expression *e, parts *made) {
  size_t before = made->count;
  TM_TRY(spread(c, e, e->parts[e->part_count - 1], "the options", made));
  if (made->count != before + OPTIONS)
    return tm_complain(c->source, e->parts[e->part_count - 1]->token,
                       "%s: the options are (start, tolerance, steps, solver, "
                       "halvings, fallback)",
                       e->text);
  return TEMPERA_OK;
}

/* f, (x, ...), block, cov, (z, ...) [, options] */
static tempera_status general(tm_checker *c, tm_expression *e, bool tol) {
  parts made = {.count = 0};
  if (e->part_count != (tol ? 6 : 5))
    return tm_complain(c->source, e->token,
                       "%s takes (likelihood, (arguments), block size, "
                       "covariance, (arguments)%s)",
                       e->text, tol ? ", options" : "");
  made.list[made.count++] = e->parts[0];
  made.list[made.count++] = e->parts[2];
  TM_TRY(covariance(c, e, 3, &made));
  if (tol)
    TM_TRY(options(c, e, &made));
  TM_TRY(spread(c, e, e->parts[1], "the likelihood's arguments", &made));
  return become(c, e, &made);
}

/* y, y_index, perhaps eta, m, block, cov, (z, ...) [, options] */
static tempera_status family(tm_checker *c, tm_expression *e, bool tol) {
  size_t first = strstr(e->text, "neg_binomial") ? 5 : 4;
  parts made = {.count = first};
  if (e->part_count != first + (tol ? 3 : 2))
    return tm_complain(c->source, e->token,
                       "%s takes (y | y_index,%s m, block size, covariance, "
                       "(arguments)%s)",
                       e->text, first == 5 ? " eta," : "",
                       tol ? ", options" : "");
  memcpy(made.list, e->parts, first * sizeof *made.list);
  TM_TRY(covariance(c, e, first, &made));
  if (tol)
    TM_TRY(options(c, e, &made));
  return become(c, e, &made);
}

/* generate_laplace_options(n or start): the tuple itself. */
static tempera_status default_options(tm_checker *c, tm_expression *e) {
  static const double values[OPTIONS] = {0, 1.4901161193847656e-8, 500, 1, 1000,
                                         1};
  if (e->part_count != 1)
    return tm_complain(c->source, e->token,
                       "generate_laplace_options takes a size or a start");
  TM_TRY(tm_check_expression(c, e->parts[0]));
  tm_expression *start = e->parts[0];
  tm_expression *made = node(c, TM_E_TUPLE, e->token, e->text, OPTIONS);
  if (made && start->type.base == TM_INT && start->type.depth == 0) {
    start = node(c, TM_E_CALL, e->token, "zeros_vector", 1);
    if (start)
      start->parts[0] = e->parts[0];
  }
  if (!made || !start)
    return tm_fail_memory(c->source->error);
  made->parts[0] = start;
  for (size_t i = 1; i < OPTIONS; i++) {
    made->parts[i] = node(c, i == 1 ? TM_E_REAL : TM_E_INT, e->token, "1", 0);
    if (!made->parts[i])
      return tm_fail_memory(c->source->error);
    made->parts[i]->number = values[i];
    made->parts[i]->whole = (int64_t)values[i];
  }
  *e = *made;
  return TEMPERA_OK;
}

/* laplace_latent_solve: (mode, factor of the spread), each by a call of its
 * own. They have no slopes. */
static tempera_status solve(tm_checker *c, tm_expression *e, bool tol) {
  static const char *const items[][2] = {
      {"laplace_latent_solve.1", "laplace_latent_solve.2"},
      {"laplace_latent_solve_tol.1", "laplace_latent_solve_tol.2"}};
  TM_TRY(general(c, e, tol));
  tm_expression *made = node(c, TM_E_TUPLE, e->token, e->text, 2);
  for (size_t i = 0; made && i < 2; i++) {
    made->parts[i] = node(c, TM_E_CALL, e->token, items[tol][i], 0);
    if (!made->parts[i])
      return tm_fail_memory(c->source->error);
    made->parts[i]->parts = e->parts;
    made->parts[i]->part_count = e->part_count;
  }
  if (!made)
    return tm_fail_memory(c->source->error);
  *e = *made;
  return TEMPERA_OK;
}

static bool is_item(const char *name) { return strchr(name, '.') != NULL; }

tempera_status tm_check_laplace(tm_checker *c, tm_expression *e) {
  bool users = false;
  if (e->kind != TM_E_CALL || e->system || e->builtin ||
      !strstr(e->text, "laplace_") || is_item(e->text))
    return TEMPERA_OK;
  (void)tm_function_find(c, e->text, NULL, 0, &users);
  if (users)
    return TEMPERA_OK;
  if (!strcmp(e->text, "generate_laplace_options"))
    return default_options(c, e);
  bool tol = strstr(e->text, "_tol") != NULL;
  if (tm_higher_find(e->text))
    return general(c, e, tol);
  if (!strcmp(e->text, "laplace_latent_solve") ||
      !strcmp(e->text, "laplace_latent_solve_tol"))
    return solve(c, e, tol);
  bool ready = strstr(e->text, "_poisson_log_") ||
               strstr(e->text, "_bernoulli_logit_") ||
               strstr(e->text, "_neg_binomial_2_log_");
  bool starts = !strncmp(e->text, "laplace_marginal_", 17) ||
                !strncmp(e->text, "laplace_latent_", 15);
  return ready && starts ? family(c, e, tol) : TEMPERA_OK;
}
