/* merge.c - draws by name, and draws of several runs as one. */
#include "draws/draws.h"
#include "draws/named_array.h"

#include <string.h>

void tempera_draws_free(tempera_draws *draws) { tm_draws_free(draws); }

size_t tempera_draws_size(const tempera_draws *draws) { return draws->size; }

const char *tempera_draws_name(const tempera_draws *draws, size_t i) {
  return i < draws->size ? draws->names[i] : NULL;
}

/* ---- by name --------------------------------------------------------------
 */

/* Is it the variable's, as p[2] is p's? */
static bool belongs(const char *value, const char *variable) {
  size_t length = strlen(variable);
  return !strncmp(value, variable, length) &&
         (value[length] == '\0' || value[length] == '[');
}

/* Its values lie side by side. */
static size_t find(const tempera_draws *draws, const char *name,
                   size_t *first) {
  size_t count = 0;
  for (size_t i = 0; i < draws->size; i++)
    if (belongs(draws->names[i], name)) {
      *first = count++ ? *first : i;
    }
  return count;
}

tempera_status tempera_draws_variable(const tempera_draws *draws,
                                      tempera_role role, const char *name,
                                      double *values, size_t *elements,
                                      tempera_error *error) {
  size_t first = 0, count = find(draws, name, &first);
  if (count == 0 || !draws->has_role[role])
    return tm_fail(error, TEMPERA_ERROR_ARGUMENT,
                   count ? "the method made no draws of this role to read %s "
                           "from"
                         : "no variable %s in the draws",
                   name);
  size_t rows = tm_draws_rows(draws, role);
  for (size_t c = 0; values && c < draws->chains; c++)
    for (size_t e = 0; e < count; e++) {
      const double *column = tm_draws_column(draws, role, c, first + e);
      for (size_t i = 0; i < rows; i++)
        values[(c * rows + i) * count + e] = column[i];
    }
  *elements = count;
  return TEMPERA_OK;
}

/* What does not make a whole array has one size: how many values there are. */
static void shape_of(const tm_named_array *arrays, size_t array_count,
                     size_t count, size_t *dims, size_t most, size_t *rank,
                     size_t *places) {
  const tm_named_array *a = array_count == 1 ? arrays : NULL;
  *rank = a ? a->rank : 1;
  for (size_t d = 0; d < *rank && d < most; d++)
    dims[d] = a ? a->dims[d] : count;
  for (size_t i = 0; places && i < count; i++)
    places[i] = a && a->rank ? a->place[i] : i;
}

tempera_status tempera_draws_shape(const tempera_draws *draws, const char *name,
                                   size_t *dims, size_t most, size_t *rank,
                                   size_t *places, tempera_error *error) {
  size_t first = 0, count = find(draws, name, &first), array_count = 0;
  tm_named_array *arrays = NULL;
  if (count == 0)
    return tm_fail(error, TEMPERA_ERROR_ARGUMENT, "no variable %s in the draws",
                   name);
  tm_arena *arena = tm_arena_create();
  tempera_status status =
      arena ? tm_named_arrays(draws->names + first, count, arena, &arrays,
                              &array_count, error)
            : tm_fail_memory(error);
  if (status == TEMPERA_OK)
    shape_of(arrays, array_count, count, dims, most, rank, places);
  tm_arena_free(arena);
  return status;
}

/* ---- merging --------------------------------------------------------------
 */

static bool fits(const tempera_draws *a, const tempera_draws *b) {
  if (a->size != b->size || a->width != b->width)
    return false;
  for (size_t i = 0; i < a->size; i++)
    if (strcmp(a->names[i], b->names[i]) != 0)
      return false;
  return true;
}

tempera_status tm_draws_keep_names(tempera_draws *draws,
                                   const char *const *names,
                                   tempera_error *error) {
  const char **kept = TM_NEW(draws->arena, const char *, draws->size);
  for (size_t i = 0; kept && i < draws->size; i++)
    if (!(kept[i] = tm_arena_text(draws->arena, names[i])))
      return tm_fail_memory(error);
  draws->names = kept;
  return kept ? TEMPERA_OK : tm_fail_memory(error);
}

static void copy_chains(const tempera_draws *from, size_t first,
                        tempera_draws *to) {
  for (size_t role = 0; role < 2; role++)
    for (size_t c = 0; to->has_role[role] && c < from->chains; c++)
      for (size_t k = 0; k < to->size + TM_COLUMNS; k++)
        memcpy(tm_draws_column(to, (tempera_role)role, first + c, k),
               tm_draws_column(from, (tempera_role)role, c, k),
               tm_draws_rows(to, (tempera_role)role) * sizeof(double));
}

tempera_status tempera_draws_merge(const tempera_draws *const *parts,
                                   size_t count, tempera_draws **draws,
                                   tempera_error *error) {
  size_t chains = 0, sweeps = count ? parts[0]->count : 0;
  bool role[2] = {count > 0, count > 0};
  for (size_t i = 0; i < count; i++) {
    if (!fits(parts[0], parts[i]))
      return tm_fail(error, TEMPERA_ERROR_INPUT,
                     "draws %zu are of other variables than the first", i + 1);
    chains += parts[i]->chains;
    sweeps = parts[i]->count < sweeps ? parts[i]->count : sweeps;
    role[0] = role[0] && parts[i]->has_role[0];
    role[1] = role[1] && parts[i]->has_role[1];
  }
  if (sweeps == 0)
    return tm_fail(error, TEMPERA_ERROR_INPUT, "there are no draws to merge");
  tempera_draws *made = NULL;
  TM_TRY(tm_draws_create(chains, parts[0]->size, NULL, NULL, role[0], role[1],
                         &made, error));
  made->width = parts[0]->width;
  tempera_status status = tm_draws_keep_names(made, parts[0]->names, error);
  if (status == TEMPERA_OK)
    status = tm_draws_reserve(made, sweeps, error);
  if (status != TEMPERA_OK) {
    tm_draws_free(made);
    return status;
  }
  made->count = sweeps;
  for (size_t i = 0, first = 0; i < count; first += parts[i++]->chains)
    copy_chains(parts[i], first, made);
  *draws = made;
  return TEMPERA_OK;
}
