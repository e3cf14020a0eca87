/* check_density.c - which density a ~ statement means. */
#include "language/check/check.h"

#include <string.h>

static tempera_status unknown_distribution(tm_checker *c,
                                           const tm_statement *s) {
  const tm_token *token = s->density->token;
  const char *lpdf =
      tm_joined(c, s->distribution, strlen(s->distribution), "_lpdf");
  const char *lpmf =
      tm_joined(c, s->distribution, strlen(s->distribution), "_lpmf");
  if (lpdf && lpmf &&
      (tm_builtin_unsupported(lpdf) || tm_builtin_unsupported(lpmf)))
    return tm_complain(c->source, token, "the distribution %s is not supported",
                       s->distribution);
  tm_suggestion suggestion = {.wanted = s->distribution};
  for (size_t i = 0; i < tm_builtin_count(); i++) {
    const char *name = tm_builtin_at(i)->name;
    if (!tm_ends_with(name, "_lpdf") && !tm_ends_with(name, "_lpmf"))
      continue;
    const char *stem = tm_joined(c, name, strlen(name) - 5, "");
    if (stem)
      tm_suggestion_offer(&suggestion, stem);
  }
  char hint[96];
  return tm_complain(c->source, token, "unknown distribution '%s'%s",
                     s->distribution,
                     tm_suggestion_text(&suggestion, hint, sizeof hint));
}

/* Ints, or tuples of nothing else. */
bool tm_is_whole(tm_type type) {
  for (size_t i = 0; type.base == TM_TUPLE && i < type.tuple->count; i++)
    if (!tm_is_whole(type.tuple->items[i]))
      return false;
  return type.base == TM_INT || type.base == TM_TUPLE;
}

/* The density that a ~ statement means: of two by one name, one of ints and
 * one of reals, that of its outcome. */
tempera_status tm_find_density(tm_checker *c, tm_statement *s,
                               const char **name) {
  const char *const suffixes[] = {"_lpdf", "_lpmf", "_log"};
  for (size_t i = 0; i < 3; i++) {
    const char *tried =
        tm_joined(c, s->distribution, strlen(s->distribution), suffixes[i]);
    if (!tried)
      return tm_fail_memory(c->source->error);
    if (!tm_density_known(c, tried))
      continue;
    if (i == 1 && *name)
      TM_TRY(tm_check_expression(c, s->left));
    if (!*name || (i == 1 && tm_is_whole(s->left->type)))
      *name = tried;
  }
  return *name ? TEMPERA_OK : unknown_distribution(c, s);
}
