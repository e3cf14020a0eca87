/* reference_walker.h - the third walker of a pt-stwnc group: (theta, tau) on
 * the path from q to the posterior (method 5.3), beside the target chain, with
 * which it exchanges. */
#ifndef TM_SAMPLERS_REFERENCE_WALKER_H
#define TM_SAMPLERS_REFERENCE_WALKER_H

#include "groups/group.h"
#include "groups/tau_move.h"
#include "tempering/reference.h"

typedef struct tm_reference_walker {
  tm_reference_chain chain;
  tm_kernel *kernel;     /* of the leg's model */
  tm_point point, spare; /* of the leg's model */
  tm_point natural;      /* of the model itself: theta for the row, and room */
  double tau;
  tm_tau_mover mover;
  tempera_random stream, tau_stream, exchange_stream;
  double target_ratio, target_log_q; /* D and log q of the target's theta, */
  double target_excess;              /* and tm_reference_excess */
} tm_reference_walker;

/* `reference` must have been fitted and outlive the walker, which starts from
 * a point of the model at tau = 1. Everything comes from the arena but what
 * tm_reference_walker_release frees. */
TEMPERA_CHECKED tempera_status tm_reference_walker_create(
    const tm_reference *reference, tempera_kernel kernel, uint64_t seed,
    uint32_t chain, const tm_point *start, tm_arena *arena,
    tm_reference_walker **walker, tempera_error *error);
void tm_reference_walker_release(tm_reference_walker *walker);
void tm_reference_walker_archive(tm_reference_walker *walker,
                                 tm_archive *archive);
/* q has been fitted anew: theta stays (as `theta`, evaluated, has it). */
void tm_reference_walker_settle(tm_reference_walker *walker,
                                const tm_point *theta);
/* Where theta is, on the model's own scales. */
void tm_reference_walker_leave(tm_reference_walker *walker, tm_point *theta);
TEMPERA_CHECKED tempera_status
tm_reference_walker_set_prior(tm_reference_walker *walker, tm_arena *arena,
                              const tm_tau_prior *prior, tempera_error *error);

/* theta given tau, then tau given theta. At the atom theta is redrawn from
 * q. */
void tm_reference_walker_mutate(tm_reference_walker *walker, tm_row *row);
/* Propose to exchange with the target chain; gives whether it was done. */
bool tm_reference_walker_exchange(tm_reference_walker *walker,
                                  tm_point *target);
/* The rows of the leg's draws: the walker's, and the target's with its D. */
void tm_reference_walker_fill(tm_reference_walker *walker,
                              const tm_point *target, tm_row *row,
                              tm_row *target_row);

#endif
