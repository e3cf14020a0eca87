/* separation.h - do the values of an integer parameter part the posterior? */
#ifndef TM_ESTIMATE_MODES_SEPARATION_H
#define TM_ESTIMATE_MODES_SEPARATION_H

#include "base/memory.h"
#include "draws/draws.h"

/* Are neighbouring values of this column of the target draws modes of their
 * own? `*apart` is true when the real parameters that go with one value and
 * with the next hardly overlap, as in an epidemic's first infected; false when
 * they do, as with a change point, whose values then make one hump. Returns
 * false when memory runs out. */
bool tm_values_stand_apart(const tempera_draws *draws, tm_arena *arena,
                           size_t column, bool *apart);

#endif
