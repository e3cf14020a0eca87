/* draws.c - see draws.h. */
#include "draws/draws.h"

#include <math.h>
#include <string.h>

enum { LINE = 8 }; /* doubles of a cache line */

static size_t column_index(const tempera_draws *draws, tempera_role role,
                           size_t chain, size_t c) {
  size_t width = draws->size + TM_COLUMNS;
  return ((size_t)role * draws->chains + chain) * width + c;
}

tempera_status tm_draws_create(size_t chains, size_t size,
                               const char *const *names, const bool *integer,
                               bool target, bool tempered,
                               tempera_draws **draws, tempera_error *error) {
  tm_arena *arena;
  tempera_draws *made = TM_BEGIN(&arena, tempera_draws);
  if (made) {
    *made = (tempera_draws){.arena = arena,
                            .chains = chains,
                            .size = size,
                            .names = names,
                            .integer = integer,
                            .has_role = {target, tempered},
                            .width = 1,
                            .prior = {.log_atom = -INFINITY},
                            .evidence = true};
    made->columns = TM_NEW(arena, double *, 2 * chains * (size + TM_COLUMNS));
  }
  if (!made || !made->columns) {
    tm_arena_free(arena);
    return tm_fail_memory(error);
  }
  *draws = made;
  return TEMPERA_OK;
}

static size_t column_total(const tempera_draws *draws) {
  return 2 * draws->chains * (draws->size + TM_COLUMNS);
}

void tm_draws_free(tempera_draws *draws) {
  if (!draws)
    return;
  tm_heap_free(draws->slab);
  tm_arena_free(draws->arena);
}

size_t tm_draws_width(const tempera_draws *draws, tempera_role role) {
  return role == TEMPERA_TARGET ? 1 : draws->width;
}

size_t tm_draws_rows(const tempera_draws *draws, tempera_role role) {
  return draws->count * tm_draws_width(draws, role);
}

size_t tm_draws_row_bytes(const tempera_draws *draws) {
  size_t bytes = 0;
  for (size_t role = 0; role < 2; role++)
    if (draws->has_role[role])
      bytes += tm_draws_width(draws, (tempera_role)role) * draws->chains *
               ((draws->bare[role] ? 0 : draws->size) + TM_COLUMNS) *
               sizeof(double);
  return bytes;
}

/* Doubles from one column to the next: an odd number of cache lines, and one
 * more. A row is written to all columns at once; even numbers would send many
 * of these to the same few places of the cache, and without the one more all
 * columns would begin a line with the same row. */
static size_t stride_of(size_t rows) {
  size_t lines = (rows + LINE - 1) / LINE;
  return (lines | 1) * LINE + 1;
}

/* Is there a column i of them all? */
static bool is_kept(const tempera_draws *draws, size_t i) {
  size_t role = i / (column_total(draws) / 2);
  bool value = i % (draws->size + TM_COLUMNS) < draws->size;
  return draws->has_role[role] && !(value && draws->bare[role]);
}

tempera_status tm_draws_reserve(tempera_draws *draws, size_t sweeps,
                                tempera_error *error) {
  if (sweeps <= draws->capacity)
    return TEMPERA_OK;
  size_t half = column_total(draws) / 2, total = 0;
  for (size_t i = 0; i < 2 * half; i++)
    if (is_kept(draws, i))
      total +=
          stride_of(sweeps * tm_draws_width(draws, (tempera_role)(i / half)));
  double *slab = tm_heap_large(total, sizeof(double)), *next = slab;
  if (!slab)
    return tm_fail_memory(error);
  for (size_t i = 0; i < 2 * half; i++) {
    if (!is_kept(draws, i))
      continue;
    size_t width = tm_draws_width(draws, (tempera_role)(i / half));
    if (draws->slab)
      memcpy(next, draws->columns[i], draws->capacity * width * sizeof(double));
    draws->columns[i] = next;
    next += stride_of(sweeps * width);
  }
  tm_heap_free(draws->slab);
  draws->slab = slab;
  draws->capacity = sweeps;
  return TEMPERA_OK;
}

/* A copy in the draws' own memory; NULL when out of it. */
static double *kept(tempera_draws *draws, const double *values, size_t count) {
  double *copy = TM_NEW(draws->arena, double, count);
  if (copy && count)
    memcpy(copy, values, count * sizeof(double));
  return copy;
}

tempera_status tm_draws_set_prior(tempera_draws *draws,
                                  const tm_draws_prior *prior,
                                  tempera_error *error) {
  tm_draws_prior made = *prior;
  made.tau = kept(draws, prior->tau, prior->knots);
  made.log_prior = kept(draws, prior->log_prior, prior->knots);
  if (!made.tau || !made.log_prior)
    return tm_fail_memory(error);
  draws->prior = made;
  return TEMPERA_OK;
}

tempera_status tm_draws_set_levels(tempera_draws *draws,
                                   const tm_draws_levels *levels,
                                   tempera_error *error) {
  const double *weight = levels->log_weight;
  tm_draws_levels made = {levels->count,
                          kept(draws, levels->tau, levels->count),
                          weight ? kept(draws, weight, levels->count) : NULL};
  if (!made.tau || (weight && !made.log_weight))
    return tm_fail_memory(error);
  draws->levels = made;
  return TEMPERA_OK;
}

tempera_status tm_draws_set_ridge(tempera_draws *draws,
                                  const tm_draws_ridge *ridge,
                                  tempera_error *error) {
  tm_draws_ridge made = {ridge->knots,
                         kept(draws, ridge->tau, ridge->knots),
                         kept(draws, ridge->height, ridge->knots),
                         NULL,
                         ridge->weighed,
                         ridge->log_mass};
  if (ridge->idle)
    made.idle = kept(draws, ridge->idle, ridge->knots);
  if (!made.tau || !made.height || (ridge->idle && !made.idle))
    return tm_fail_memory(error);
  draws->ridge = made;
  return TEMPERA_OK;
}

double *tm_draws_column(const tempera_draws *draws, tempera_role role,
                        size_t chain, size_t c) {
  return draws->columns[column_index(draws, role, chain, c)];
}

/* The line after this one is fetched ahead: by the time it is written to, the
 * processor would wait for it. */
static inline void put(double *column, size_t row, double value) {
  column[row] = value;
  __builtin_prefetch(column + row + LINE, 1);
}

void tm_draws_put(tempera_draws *draws, tempera_role role, size_t chain,
                  size_t row, const double *theta,
                  const double extra[TM_COLUMNS]) {
  double **columns = draws->columns + column_index(draws, role, chain, 0);
  for (size_t i = 0; i < draws->size && !draws->bare[role]; i++)
    put(columns[i], row, theta[i]);
  for (size_t i = 0; i < TM_COLUMNS; i++)
    put(columns[draws->size + i], row, extra[i]);
}

void tm_draws_take(const tempera_draws *draws, tempera_role role, size_t chain,
                   size_t row, size_t count, double *values) {
  double *const *columns = draws->columns + column_index(draws, role, chain, 0);
  for (size_t i = 0; i < count; i++)
    values[i] = columns[i][row];
}

double tm_draws_log_density(const tempera_draws *draws, tempera_role role,
                            size_t chain, size_t row) {
  double *const *extra =
      draws->columns + column_index(draws, role, chain, draws->size);
  double tau = extra[TM_TAU][row];
  double tempered = tau > 0 ? tau * extra[TM_LOG_LIKELIHOOD][row] : 0;
  return tempered + extra[TM_LOG_PRIOR][row] + extra[TM_LOG_JACOBIAN][row];
}

size_t tempera_draws_chains(const tempera_draws *draws) {
  return draws->chains;
}

size_t tempera_draws_count(const tempera_draws *draws) { return draws->count; }

size_t tempera_draws_rows(const tempera_draws *draws, tempera_role role) {
  return draws->has_role[role] ? tm_draws_rows(draws, role) : 0;
}

const double *tempera_draws_values(const tempera_draws *draws,
                                   tempera_role role, size_t chain, size_t i) {
  return i < draws->size ? tm_draws_column(draws, role, chain, i) : NULL;
}

const double *tempera_draws_tau(const tempera_draws *draws, tempera_role role,
                                size_t chain) {
  return tm_draws_column(draws, role, chain, draws->size + TM_TAU);
}

const double *tempera_draws_log_likelihood(const tempera_draws *draws,
                                           tempera_role role, size_t chain) {
  return tm_draws_column(draws, role, chain, draws->size + TM_LOG_LIKELIHOOD);
}

const double *tempera_draws_log_prior(const tempera_draws *draws,
                                      tempera_role role, size_t chain) {
  return tm_draws_column(draws, role, chain, draws->size + TM_LOG_PRIOR);
}
