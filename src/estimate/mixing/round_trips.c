/* round_trips.c - round trips of thetas along u = Lambda(tau)/Lambda(1),
 * followed through exchanges (method 4.8).
 *
 * Each chain carries two walkers: the one in the tempered place, and the one
 * in the target place at u = 1; and a third where there is another leg, which
 * is beyond u = 1 while it is there. An accepted exchange swaps them; a draw
 * from the prior replaces the tempered one at u = 0. Every row says which
 * walker it is, as exchanges between the rows that were kept do not show; trips
 * that end between them do not count. They cannot be counted while sampling:
 * which taus are the ends, the barrier of the finished draws tells. */
#include "estimate/summary.h"

#include <math.h>
#include <stdint.h>

/* Where a walker last was: nowhere yet, at the bottom, or at the top having
 * come from the bottom. */
typedef enum stage { FRESH, BOTTOM, TOP } stage;

typedef struct counts {
  size_t restarts, round_trips;
} counts;

static void visit(stage *walker, double u, counts *c) {
  if (u <= 0.05) {
    if (*walker == TOP)
      c->round_trips++;
    *walker = BOTTOM;
  } else if (u >= 0.95 && *walker == BOTTOM) {
    c->restarts++;
    *walker = TOP;
  }
}

static void follow_chain(const tempera_draws *draws, size_t chain,
                         const tm_barrier *barrier, counts *c) {
  const tempera_role role = TEMPERA_TEMPERED;
  size_t n = draws->size;
  const double *tau = tm_draws_column(draws, role, chain, n + TM_TAU);
  const double *swap = tm_draws_column(draws, role, chain, n + TM_EXCHANGE);
  const double *renewed = tm_draws_column(draws, role, chain, n + TM_RENEWED);
  const double *walker = tm_draws_column(draws, role, chain, n + TM_WALKER);
  const double *other =
      draws->has_role[TEMPERA_TARGET]
          ? tm_draws_column(draws, TEMPERA_TARGET, chain, n + TM_WALKER)
          : NULL;
  stage walkers[3] = {FRESH, FRESH, FRESH};
  for (size_t i = 0; i < draws->count; i++) {
    stage *tempered = &walkers[(size_t)walker[i]];
    stage *target = other ? &walkers[(size_t)other[i]] : NULL;
    /* It came down to tau = 0, and another leaves; the sweep's exchange is
     * after that. Where that took it, a third walker makes unclear: then the
     * row before has to do. */
    if (renewed[i] == 1 && swap[i] != 2)
      visit(tempered, 0, c);
    else if (renewed[i] == 1 && target && walker[i] + other[i] == 1)
      visit(target, 0, c);
    visit(tempered, tm_barrier_share(barrier, tau[i]), c);
    if (target)
      visit(target, 1, c);
  }
}

size_t tm_trips_fewest(const tempera_draws *draws, const tm_barrier *barrier) {
  size_t fewest = SIZE_MAX;
  for (size_t chain = 0; chain < draws->chains; chain++) {
    counts c = {0};
    follow_chain(draws, chain, barrier, &c);
    fewest = c.round_trips < fewest ? c.round_trips : fewest;
  }
  return fewest;
}

/* Several walkers in a chain: each row says which it is. `stages` has room for
 * all of them. */
static void follow_walkers(const tempera_draws *draws, size_t chain,
                           const tm_barrier *barrier, stage *stages,
                           counts *c) {
  const tempera_role role = TEMPERA_TEMPERED;
  size_t rows = tm_draws_rows(draws, role), n = draws->size;
  const double *tau = tm_draws_column(draws, role, chain, n + TM_TAU);
  const double *walker = tm_draws_column(draws, role, chain, n + TM_WALKER);
  const double *renewed = tm_draws_column(draws, role, chain, n + TM_RENEWED);
  for (size_t w = 0; w < draws->width; w++)
    stages[w] = FRESH;
  for (size_t i = 0; i < rows; i++) {
    stage *at = &stages[(size_t)walker[i]];
    if (renewed[i] == 1)
      visit(at, 0, c);
    visit(at, tm_barrier_share(barrier, tau[i]), c);
  }
}

tempera_status tm_trips_count(const tempera_draws *draws,
                              const tm_barrier *barrier, size_t *round_trips,
                              size_t *restarts, tempera_error *error) {
  counts c = {0};
  stage *stages = tm_heap_alloc(draws->width, sizeof *stages);
  if (!stages)
    return tm_fail_memory(error);
  size_t chains = draws->has_role[TEMPERA_TEMPERED] ? draws->chains : 0;
  for (size_t chain = 0; chain < chains; chain++)
    if (draws->width > 1)
      follow_walkers(draws, chain, barrier, stages, &c);
    else
      follow_chain(draws, chain, barrier, &c);
  tm_heap_free(stages);
  *round_trips = c.round_trips;
  *restarts = c.restarts;
  return TEMPERA_OK;
}
