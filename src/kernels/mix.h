/* mix.h - what the measured choice between moves has settled on, for tests
 * and reports. */
#ifndef TM_KERNELS_MIX_H
#define TM_KERNELS_MIX_H

#include "kernels/move.h"

enum { TM_MIX_MOST = 6 };

typedef struct tm_mix_view {
  size_t count;
  const char *names[TM_MIX_MOST];
  double shares[TM_MIX_MOST];     /* probabilities at this tau */
  double efficiency[TM_MIX_MOST]; /* as measured; 0: not measured */
} tm_mix_view;

/* Of the state that tm_move_mix created. */
tm_mix_view tm_mix_inspect(const void *state, double tau);

#endif
