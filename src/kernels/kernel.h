/* kernel.h - moves of theta at fixed tau that leave the tempered posterior
 * invariant (method 4.6).
 *
 * A tm_kernel is one chain's set of moves with their tuned scales (functions
 * of tau, learned in warmup, then frozen) and workspaces. A sweep allocates
 * nothing. */
#ifndef TM_KERNELS_KERNEL_H
#define TM_KERNELS_KERNEL_H

#include "tempering/laplace.h"
#include "tempering/ridge.h"

typedef struct tm_kernel tm_kernel;

typedef struct tm_kernel_settings {
  tempera_kernel kind;
  const tm_laplace *laplace; /* for jumps (AUTO); NULL: none, for now */
} tm_kernel_settings;

TEMPERA_CHECKED tempera_status
tm_kernel_create(const tempera_model *model, const tm_kernel_settings *settings,
                 tm_arena *arena, tm_kernel **kernel, tempera_error *error);

/* Jumps by this Laplace ridge from now on (NULL or an absent one: none). It
 * is borrowed. Warmup only: ignored once frozen. The ridge itself may be
 * improved between sweeps in warmup, and must not change afterwards. */
void tm_kernel_set_laplace(tm_kernel *kernel, const tm_laplace *laplace);

/* What a sweep did. */
typedef struct tm_sweep {
  double acceptance; /* mean acceptance probability over its proposals */
  bool renewed;      /* theta was replaced by an independent prior draw */
} tm_sweep;

/* One sweep at tau. With AUTO a short one: a jump, or moves of some of the
 * coordinates (tm_part_of_sweep); with the others every coordinate may move. On
 * entry the point is evaluated and has positive density at tau; so on exit. */
tm_sweep tm_kernel_sweep(tm_kernel *kernel, tm_evaluator *evaluator,
                         tm_point *point, double tau, tempera_random *random);

/* Adaptation is on from creation until tm_kernel_freeze. At the end of each
 * warmup round, what is learned in rounds (covariances) is put to use, from
 * the next warmup sweep on: a freeze straight after leaves it. */
void tm_kernel_end_round(tm_kernel *kernel);
void tm_kernel_freeze(tm_kernel *kernel);
/* What was learned so far (base/archive.h); the Laplace ridge is to be set
 * before. */
void tm_kernel_archive(tm_kernel *kernel, tm_archive *archive);

#endif
