/* term.c - see term.h. */
#include "language/check/term.h"

#include <string.h>

static const char *const DENSITIES[] = {"_lpdf", "_lpmf", "_lupdf", "_lupmf",
                                        NULL};
static const char *const CDFS[] = {"_lcdf", "_lccdf", "_cdf_log", "_ccdf_log",
                                   NULL};

static bool ends_with(const char *text, const char *ending) {
  size_t n = strlen(text), m = strlen(ending);
  return n > m && !strcmp(text + n - m, ending);
}

static bool ends_with_any(const char *text, const char *const *endings) {
  for (; *endings; endings++)
    if (ends_with(text, *endings))
      return true;
  return false;
}

bool tm_is_density(const tm_expression *e) {
  if (e->kind != TM_E_CALL || e->part_count == 0)
    return false;
  return ends_with_any(e->text, DENSITIES) ||
         (ends_with(e->text, "_log") && !ends_with_any(e->text, CDFS) &&
          (e->builtin || e->function));
}

bool tm_is_cdf(const tm_expression *e) {
  return e->kind == TM_E_CALL && e->part_count > 0 &&
         ends_with_any(e->text, CDFS);
}

size_t tm_stem_length(const char *name) {
  static const char *const longest_first[] = {
      "_ccdf_log", "_cdf_log", "_lupdf", "_lupmf", "_lccdf",
      "_lpdf",     "_lpmf",    "_lcdf",  "_log",   NULL};
  for (const char *const *s = longest_first; *s; s++)
    if (ends_with(name, *s))
      return strlen(name) - strlen(*s);
  return strlen(name);
}

bool tm_is_sum(const tm_expression *e) {
  return e->kind == TM_E_BINARY &&
         (!strcmp(e->text, "+") || !strcmp(e->text, "-"));
}

const tm_variable *tm_summand(const tm_expression *e) {
  if (e->kind == TM_E_CALL && !strcmp(e->text, "sum") && e->part_count == 1)
    e = e->parts[0];
  e = tm_root(e);
  return e->kind == TM_E_NAME ? e->variable : NULL;
}

static bool same_index(const tm_index *a, const tm_index *b) {
  if (a->kind != b->kind || !a->from != !b->from || !a->to != !b->to)
    return false;
  return (!a->from || tm_same_text(a->from, b->from)) &&
         (!a->to || tm_same_text(a->to, b->to));
}

bool tm_same_text(const tm_expression *a, const tm_expression *b) {
  if (a->kind != b->kind || a->part_count != b->part_count ||
      a->index_count != b->index_count)
    return false;
  if (a->kind == TM_E_INT)
    return a->whole == b->whole;
  if (a->kind == TM_E_REAL)
    return a->number == b->number;
  if (a->kind == TM_E_NAME && a->variable && b->variable)
    return a->variable == b->variable;
  if (a->text && b->text && strcmp(a->text, b->text))
    return false;
  for (size_t i = 0; i < a->part_count; i++)
    if (!tm_same_text(a->parts[i], b->parts[i]))
      return false;
  for (size_t i = 0; i < a->index_count; i++)
    if (!same_index(&a->indices[i], &b->indices[i]))
      return false;
  return true;
}
