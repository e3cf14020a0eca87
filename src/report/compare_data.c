/* compare_data.c - are these runs on the same data?
 *
 * Evidences compare only on the same observations, but models of the same
 * observations may need other sizes, constants or covariates. Arrays are taken
 * for observations: those of one name must agree, and there must be one that
 * agrees, under whatever name. Single numbers may differ and are listed; where
 * neither run has an array, they are the observations. */
#include "report/compare.h"

#include <math.h>
#include <string.h>

static const tempera_data_mark *find(const tempera_summary *s,
                                     const char *name) {
  for (size_t i = 0; i < s->data_count; i++)
    if (s->data[i].name && name && strcmp(s->data[i].name, name) == 0)
      return &s->data[i];
  return NULL;
}

static bool has_arrays(const tempera_summary *s) {
  for (size_t i = 0; i < s->data_count; i++)
    if (s->data[i].array)
      return true;
  return false;
}

static bool same(const tempera_data_mark *a, const tempera_data_mark *b) {
  return a->array == b->array && a->hash == b->hash;
}

/* Some observation of a's, under any name, in b. */
static bool shares(const tempera_summary *a, const tempera_summary *b,
                   bool arrays) {
  for (size_t i = 0; i < a->data_count; i++)
    for (size_t j = 0; j < b->data_count; j++)
      if (a->data[i].array == arrays && same(&a->data[i], &b->data[j]))
        return true;
  return false;
}

static tempera_status check_pair(const tempera_summary *a, const char *a_name,
                                 const tempera_summary *b, const char *b_name,
                                 tempera_error *error) {
  bool arrays = has_arrays(a) || has_arrays(b);
  const char *only = "evidences compare only on the same data";
  if (a->data_count == 0 && b->data_count == 0 && a->data_hash == b->data_hash)
    return TEMPERA_OK;
  for (size_t i = 0; i < a->data_count; i++) {
    const tempera_data_mark *mine = &a->data[i], *other = find(b, mine->name);
    bool observed = !arrays || mine->array || (other && other->array);
    if (other && observed && !same(mine, other))
      return tm_fail(error, TEMPERA_ERROR_INPUT,
                     "%s and %s are on different data (variable %s differs); "
                     "%s",
                     a_name, b_name, mine->name, only);
  }
  if (shares(a, b, arrays))
    return TEMPERA_OK;
  return tm_fail(error, TEMPERA_ERROR_INPUT,
                 "%s and %s are on different data (they have no variable in "
                 "common); %s",
                 a_name, b_name, only);
}

static void add_number(tm_text *notes, const char *name, double value) {
  if (notes->length)
    tm_text_add(notes, "; ");
  tm_text_printf(notes, "%s: ", name);
  tm_text_number(notes, value);
}

/* "K: 3 in a, 4 in b". */
static void note_number(const tempera_summary *const *summaries,
                        const char *const *names, size_t count,
                        const tempera_data_mark *mark, tm_text *notes) {
  bool said = false;
  for (size_t r = 1; r < count; r++) {
    const tempera_data_mark *other = find(summaries[r], mark->name);
    if (!other || other->array || same(mark, other))
      continue;
    if (!said) {
      add_number(notes, mark->name, mark->value);
      tm_text_printf(notes, " in %s", names[0]);
    }
    tm_text_add(notes, ", ");
    tm_text_number(notes, other->value);
    tm_text_printf(notes, " in %s", names[r]);
    said = true;
  }
}

/* Arrays of `s` that the first run does not have under any name. */
static void note_extra(const tempera_summary *s, const char *name,
                       const tempera_summary *first, const char *first_name,
                       tm_text *notes) {
  for (size_t i = 0; i < s->data_count; i++) {
    bool known = !s->data[i].array;
    for (size_t j = 0; j < first->data_count && !known; j++)
      known = same(&s->data[i], &first->data[j]);
    if (!known)
      tm_text_printf(notes, "%s%s: in %s, not in %s", notes->length ? "; " : "",
                     s->data[i].name, name, first_name);
  }
}

tempera_status tm_compare_data(const tempera_summary *const *summaries,
                               const char *const *names, size_t count,
                               tm_text *numbers, tm_text *extras,
                               tempera_error *error) {
  for (size_t i = 0; i < count; i++)
    for (size_t j = i + 1; j < count; j++)
      TM_TRY(check_pair(summaries[i], names[i], summaries[j], names[j], error));
  for (size_t i = 0; i < summaries[0]->data_count; i++)
    if (!summaries[0]->data[i].array)
      note_number(summaries, names, count, &summaries[0]->data[i], numbers);
  for (size_t r = 1; r < count; r++) {
    note_extra(summaries[r], names[r], summaries[0], names[0], extras);
    note_extra(summaries[0], names[0], summaries[r], names[r], extras);
  }
  return numbers->failed || extras->failed ? tm_fail_memory(error) : TEMPERA_OK;
}
