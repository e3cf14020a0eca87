/* hypothesis_read.c - "delta = 0, |mu| < 0.1": see hypothesis.h. */
#include "estimate/answers/hypothesis.h"

#include "base/locale.h"

#include <math.h>
#include <string.h>

enum { MOST_PARTS = 3, LONGEST = 256 };

/* One condition cut at its relations: A < NAME < B has three parts. */
typedef struct cut {
  char text[LONGEST];
  char *part[MOST_PARTS];
  char relation[MOST_PARTS - 1];
  size_t parts;
} cut;

static char *trimmed(char *text) {
  while (*text == ' ' || *text == '\t')
    text++;
  char *end = text + strlen(text);
  while (end > text && (end[-1] == ' ' || end[-1] == '\t'))
    *--end = '\0';
  return text;
}

static bool make_cut(const char *from, size_t length, cut *c) {
  if (length >= LONGEST)
    return false;
  memcpy(c->text, from, length);
  c->text[length] = '\0';
  c->parts = 0;
  c->part[c->parts++] = c->text;
  for (char *at = c->text; *at; at++)
    if (strchr("<>=", *at)) {
      if (c->parts == MOST_PARTS)
        return false;
      c->relation[c->parts - 1] = *at;
      char *next = at + 1 + (at[1] == '=');
      *at = '\0';
      c->part[c->parts++] = next;
      at = next - 1;
    }
  for (size_t k = 0; k < c->parts; k++)
    c->part[k] = trimmed(c->part[k]);
  return c->parts >= 2;
}

static bool number(const char *text, double *value) {
  char *end;
  *value = tm_strtod(text, &end);
  return end != text && !*end && isfinite(*value);
}

static bool find_value(const tempera_draws *draws, const char *name,
                       size_t *value) {
  for (size_t i = 0; i < draws->size; i++)
    if (!strcmp(draws->names[i], name)) {
      *value = i;
      return true;
    }
  return false;
}

/* |NAME| < X. */
static bool absolute(cut *c, tm_condition *made) {
  size_t n = strlen(c->part[0]);
  double x;
  if (c->parts != 2 || n < 3 || c->part[0][0] != '|' ||
      c->part[0][n - 1] != '|' || c->relation[0] != '<' ||
      !number(c->part[1], &x) || !(x > 0))
    return false;
  c->part[0][n - 1] = '\0';
  c->part[0] = trimmed(c->part[0] + 1);
  *made = (tm_condition){.lower = -x, .upper = x};
  return true;
}

/* A < NAME < B, or the other way round; the name becomes part 0. */
static bool between(cut *c, tm_condition *made) {
  double a, b;
  if (c->parts != 3 || c->relation[0] != c->relation[1] ||
      c->relation[0] == '=' || !number(c->part[0], &a) ||
      !number(c->part[2], &b))
    return false;
  c->part[0] = c->part[1];
  *made = (tm_condition){.lower = fmin(a, b), .upper = fmax(a, b)};
  return a != b && (a < b) == (c->relation[0] == '<');
}

static bool simple(const cut *c, tm_condition *made) {
  double x;
  if (c->parts != 2 || !number(c->part[1], &x))
    return false;
  *made = (tm_condition){.fixed = c->relation[0] == '=',
                         .lower = c->relation[0] == '<' ? -INFINITY : x,
                         .upper = c->relation[0] == '>' ? INFINITY : x};
  return true;
}

static tempera_status read_one(const tempera_draws *draws, const char *from,
                               size_t length, tm_hypothesis *h,
                               tempera_error *error) {
  cut c;
  tm_condition made;
  if (h->count == TM_MOST_CONDITIONS)
    return tm_fail(error, TEMPERA_ERROR_ARGUMENT,
                   "more than %d conditions at once", TM_MOST_CONDITIONS);
  if (!make_cut(from, length, &c) ||
      !(absolute(&c, &made) || between(&c, &made) || simple(&c, &made)))
    return tm_fail(error, TEMPERA_ERROR_ARGUMENT,
                   "\"%.*s\": wanted NAME = X, NAME < X, NAME > X, "
                   "A < NAME < B or |NAME| < X, several separated by commas",
                   (int)(length < 200 ? length : 200), from);
  if (!find_value(draws, c.part[0], &made.value))
    return tm_fail(error, TEMPERA_ERROR_ARGUMENT,
                   "the run has no parameter or quantity %.200s; "
                   "elements are written as in a[1] and a[1,2]",
                   c.part[0]);
  for (size_t k = 0; k < h->count; k++)
    if (h->conditions[k].value == made.value)
      return tm_fail(error, TEMPERA_ERROR_ARGUMENT,
                     "%.200s has two conditions; A < %.100s < B is one",
                     c.part[0], c.part[0]);
  h->conditions[h->count++] = made;
  return TEMPERA_OK;
}

static void describe(const tempera_draws *draws, const tm_condition *c,
                     tm_text *words) {
  const char *name = draws->names[c->value];
  if (words->length)
    tm_text_add(words, ", ");
  if (c->fixed)
    tm_text_printf(words, "%s = %.10g", name, c->lower);
  else if (c->lower == -INFINITY)
    tm_text_printf(words, "%s < %.10g", name, c->upper);
  else if (c->upper == INFINITY)
    tm_text_printf(words, "%s > %.10g", name, c->lower);
  else
    tm_text_printf(words, "%.10g < %s < %.10g", c->lower, name, c->upper);
}

tempera_status tm_hypothesis_read(const tempera_draws *draws, const char *text,
                                  tm_hypothesis *hypothesis, tm_text *words,
                                  tempera_error *error) {
  *hypothesis = (tm_hypothesis){0};
  int depth = 0;
  const char *from = text;
  for (const char *at = text;; at++) {
    depth += (*at == '[') - (*at == ']');
    if (*at && (*at != ',' || depth > 0))
      continue;
    TM_TRY(read_one(draws, from, (size_t)(at - from), hypothesis, error));
    from = at + 1;
    if (!*at)
      break;
  }
  for (size_t k = 0; k < hypothesis->count; k++)
    describe(draws, &hypothesis->conditions[k], words);
  return words->failed ? tm_fail_memory(error) : TEMPERA_OK;
}
