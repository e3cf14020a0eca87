/* emit_memo.c - what loops need not compute again.
 *
 *   for (t in 2:N) for (k in 1:K) for (j in 1:K)
 *     acc[j] = gamma[t - 1, j] + log(theta[j, k]) + normal_lpdf(y[t] | mu[k],
 * 1)
 *
 * log(theta[j, k]) is the same for every t, and the density for every j. Each
 * such expression has a place before the outermost loop that does not change
 * it: one value, or one for each turn of the loops inside that do. It is
 * computed where it is first needed, and not when it never is. */
#include "language/emit/emit.h"

#include "base/memory.h"
#include "language/check/types.h"

#include <string.h>

enum { MOST_LOOPS = 4 };

typedef struct tm_memo {
  const tm_expression *e;
  int number;
  bool log;                              /* its logarithm, of a density */
  const tm_statement *loops[MOST_LOOPS]; /* that change it */
  int loop_count;
} tm_memo;

/* A walk through the body of `loop`, `inner` being the loops on the way. */
typedef struct seeker {
  tm_emitter *g;
  const tm_statement *loop, *inner[MOST_LOOPS];
  int inner_count;
} seeker;

/* ---- what changes what -------------------------------------------------- */

static bool changes(const tm_statement *s, const tm_variable *v);

static bool any_changes(tm_statement *const *body, size_t count,
                        const tm_variable *v) {
  for (size_t i = 0; i < count; i++)
    if (changes(body[i], v))
      return true;
  return false;
}

/* Does s assign or declare v, its loops' variables included? */
static bool changes(const tm_statement *s, const tm_variable *v) {
  if (s->variable == v ||
      (s->kind == TM_S_ASSIGN && tm_root(s->left)->variable == v))
    return true;
  return any_changes(s->body, s->body_count, v) ||
         (s->otherwise && changes(s->otherwise, v)) ||
         (s->shadow && changes(s->shadow, v)) ||
         (s->instead && changes(s->instead, v));
}

static const tm_statement *inner_loop(const seeker *k, const tm_variable *v) {
  for (int i = 0; i < k->inner_count; i++)
    if (k->inner[i]->variable == v)
      return k->inner[i];
  return NULL;
}

/* A bound that is known before the loop. */
static bool is_known(const seeker *k, const tm_expression *e) {
  if (e->kind == TM_E_INT)
    return true;
  if (e->kind == TM_E_NAME)
    return e->type.base == TM_INT && tm_rank(e->type) == 0 &&
           !changes(k->loop, e->variable);
  return e->kind == TM_E_BINARY && (e->text[0] == '+' || e->text[0] == '-') &&
         e->type.base == TM_INT && tm_rank(e->type) == 0 &&
         is_known(k, e->parts[0]) && is_known(k, e->parts[1]);
}

static bool add_loop(const seeker *k, tm_memo *m, const tm_statement *loop) {
  for (int i = 0; i < m->loop_count; i++)
    if (m->loops[i] == loop)
      return true;
  if (!is_known(k, loop->lower) || !is_known(k, loop->upper))
    return false;
  m->loops[m->loop_count++] = loop;
  return true;
}

/* ---- what can be remembered --------------------------------------------- */

static bool is_operation(const tm_expression *e) {
  if (e->kind == TM_E_CALL)
    return !e->function && !e->system && e->builtin &&
           (e->builtin->kind == TM_B_UNARY || e->builtin->kind == TM_B_BINARY ||
            tm_is_scalar_density(e));
  return e->kind == TM_E_UNARY || e->kind == TM_E_BINARY ||
         e->kind == TM_E_INT || e->kind == TM_E_REAL;
}

/* The same at every turn of the loop but for the loops inside that `m` gets;
 * made of numbers, variables and their elements by operations on scalars. */
static bool is_settled(const seeker *k, tm_memo *m, const tm_expression *e) {
  if (e->part)
    return false; /* a term that may be left out */
  if (e->kind == TM_E_NAME) {
    const tm_statement *loop = inner_loop(k, e->variable);
    return loop ? add_loop(k, m, loop)
                : !e->variable->items && !changes(k->loop, e->variable);
  }
  bool index = e->kind == TM_E_INDEX && tm_index_single(e);
  if (!(index || is_operation(e)) || tm_rank(e->type) > 0)
    return false;
  for (size_t i = 0; i < e->part_count; i++)
    if (!is_settled(k, m, e->parts[i]))
      return false;
  for (size_t i = 0; i < e->index_count; i++)
    if (!is_settled(k, m, e->indices[i].from))
      return false;
  return true;
}

static bool is_costly(const tm_expression *e) {
  static const char *const cheap[] = {"square", "fabs", "abs",   "fmin",
                                      "fmax",   "step", "floor", "ceil"};
  bool costly = e->kind == TM_E_CALL ||
                (e->kind == TM_E_BINARY && strchr("^/", e->text[0]) &&
                 e->type.base == TM_REAL && e->parts[1]->kind != TM_E_INT);
  for (size_t i = 0; i < sizeof cheap / sizeof *cheap && costly; i++)
    costly = e->kind != TM_E_CALL || strcmp(e->builtin->name, cheap[i]) != 0;
  for (size_t i = 0; i < e->part_count && !costly; i++)
    costly = is_costly(e->parts[i]);
  return costly;
}

static const tm_memo *find_as(const tm_emitter *g, const tm_expression *e,
                              bool log) {
  for (size_t i = g->memo_count; i-- > 0;)
    if (g->memos[i].e == e && g->memos[i].log == log)
      return &g->memos[i];
  return NULL;
}

static const tm_memo *find(const tm_emitter *g, const tm_expression *e) {
  return find_as(g, e, false);
}

/* ---- finding them ------------------------------------------------------- */

static void declare(seeker *k, const tm_memo *m) {
  tm_emitter *g = k->g;
  const char *type = tm_held_of(g, m->e) == TM_VAR && !m->log
                         ? "tm_memo_var"
                         : "tm_memo_number";
  if (m->loop_count == 0) {
    tm_emit_line(g, "%s m%d_[1] = {{0}};", type, m->number);
    return;
  }
  tm_emit(g, "%*s%s *m%d_ = tm_memos(t, sizeof(%s), %d, (long[]){",
          2 * g->indent, "", type, m->number, type, m->loop_count);
  for (int i = 0; i < m->loop_count; i++) {
    tm_emit(g, i ? ", " : "");
    tm_emit_expression(g, m->loops[i]->upper);
    tm_emit(g, " - ");
    tm_emit_expression(g, m->loops[i]->lower);
  }
  tm_emit(g, "});\n");
}

static void remember(seeker *k, tm_memo m) {
  tm_emitter *g = k->g;
  if (g->memo_count == g->memo_capacity) {
    size_t more = g->memo_capacity ? 2 * g->memo_capacity : 16;
    tm_memo *bigger = TM_NEW(g->arena, tm_memo, more);
    if (!bigger) {
      g->body.failed = true;
      return;
    }
    if (g->memo_count)
      memcpy(bigger, g->memos, g->memo_count * sizeof *bigger);
    g->memos = bigger;
    g->memo_capacity = more;
  }
  m.number = ++g->memo_number;
  g->memos[g->memo_count++] = m;
  declare(k, &m);
}

/* The logarithm that a density takes of an argument. */
static void seek_log(seeker *k, const tm_expression *e) {
  size_t logged;
  if (!tm_inline_density(e, &logged))
    return;
  const tm_expression *scale = e->parts[logged];
  tm_memo m = {.e = scale, .log = true};
  if (scale->kind != TM_E_INT && scale->kind != TM_E_REAL &&
      !find_as(k->g, scale, true) && is_settled(k, &m, scale))
    remember(k, m);
}

static void seek(seeker *k, const tm_expression *e) {
  if (!e || tm_emit_leaves_out(k->g, e) || e->kept || find(k->g, e))
    return;
  tm_memo m = {.e = e};
  if (e->type.base == TM_REAL && tm_rank(e->type) == 0 && is_operation(e) &&
      (e->kind != TM_E_CALL || e->builtin) && is_settled(k, &m, e) &&
      is_costly(e)) {
    remember(k, m);
    return;
  }
  if (tm_is_scalar_density(e))
    seek_log(k, e);
  for (size_t i = 0; i < e->part_count; i++)
    seek(k, e->parts[i]);
}

static void seek_statement(seeker *k, const tm_statement *s) {
  if (!tm_emit_keeps(k->g, s) || s->shadow || s->instead ||
      (k->g->rows && s->rows))
    return;
  seek(k, s->kind == TM_S_TILDE ? s->density : s->value);
  if (s->kind == TM_S_DECLARE)
    seek(k, s->variable->initial);
  bool loop = s->kind == TM_S_FOR;
  if (loop && k->inner_count == MOST_LOOPS)
    return;
  if (loop)
    k->inner[k->inner_count++] = s;
  for (size_t i = 0; i < s->body_count; i++)
    seek_statement(k, s->body[i]);
  k->inner_count -= loop;
  if (s->otherwise)
    seek_statement(k, s->otherwise);
}

void tm_emit_memos(tm_emitter *g, const tm_statement *loop) {
  seeker k = {.g = g, .loop = loop};
  for (size_t i = 0; i < loop->body_count; i++)
    seek_statement(&k, loop->body[i]);
}

/* ---- using them --------------------------------------------------------- */

bool tm_emit_remembers(const tm_emitter *g, const tm_expression *e) {
  return g->memo_count && e != g->remembered && find(g, e);
}

/* w_: its place at this turn of the loops. */
static void emit_place_of(tm_emitter *g, const tm_memo *m, const char *type) {
  tm_emit(g, "({ %s s_ = {0}, *w_ = ", type);
  if (m->loop_count)
    tm_emit(g, "!m%d_ ? &s_ : ", m->number);
  tm_emit(g, "m%d_%s", m->number, m->loop_count ? " + " : "");
  for (int i = 1; i < m->loop_count; i++)
    tm_emit(g, "(");
  for (int i = 0; i < m->loop_count; i++) {
    const tm_statement *loop = m->loops[i];
    if (i) {
      tm_emit(g, " * (1 + ");
      tm_emit_expression(g, loop->upper);
      tm_emit(g, " - ");
      tm_emit_expression(g, loop->lower);
      tm_emit(g, ") + ");
    }
    tm_emit(g, "(v_%s - ", loop->variable->name);
    tm_emit_expression(g, loop->lower);
    tm_emit(g, i ? "))" : ")");
  }
}

void tm_emit_remembered(tm_emitter *g, const tm_expression *e) {
  const tm_memo m = *find(g, e);
  bool var = tm_held_of(g, e) == TM_VAR;
  emit_place_of(g, &m, var ? "tm_memo_var" : "tm_memo_number");
  const tm_expression *before = g->remembered;
  g->remembered = e;
  tm_emit(g, "; if (!w_->known) { w_->known = 1; w_->value = ");
  tm_emit_as(g, e, var ? TM_VAR : TM_DOUBLE);
  tm_emit(g, "; } w_->value; })");
  g->remembered = before;
}

const char *tm_inline_density(const tm_expression *e, size_t *logged) {
  if (!tm_is_scalar_density(e))
    return NULL;
  *logged = e->part_count - 1;
  return !strcmp(e->builtin->name, "normal_lpdf")        ? "normal"
         : !strcmp(e->builtin->name, "exponential_lpdf") ? "exponential"
                                                         : NULL;
}

void tm_emit_log(tm_emitter *g, const tm_expression *e, const char *x) {
  const tm_memo *m = g->memo_count ? find_as(g, e, true) : NULL;
  if (!m) {
    tm_emit(g, "log(%s)", x);
    return;
  }
  emit_place_of(g, m, "tm_memo_number");
  tm_emit(g,
          "; if (!w_->known) { w_->known = 1; w_->value = log(%s); } "
          "w_->value; })",
          x);
}
