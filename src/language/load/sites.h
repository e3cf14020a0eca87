/* sites.h - which pieces of the target hold which integer (emit/terms.c). */
#ifndef TM_LANGUAGE_SITES_H
#define TM_LANGUAGE_SITES_H

#include "language/runtime/runtime.h"

#include "base/memory.h"

typedef struct tm_sites tm_sites;

/* What the program tells of its pieces, by tm_sites_piece and tm_sites_reads,
 * whose binding this is. NULL: no memory. */
tm_sites *tm_sites_new(size_t theta_count);
void tm_sites_free(tm_sites *sites);
/* All was told. What the terms of one integer cost, as a share of an
 * evaluation, in the mean over those in use; > 1 where there is no list. */
double tm_sites_finish(tm_sites *sites, const bool *integer);
/* The pieces of theta[i] in this part, from *at on; the number behind the last.
 * NULL: nothing to evaluate. */
const long *tm_sites_of(const tm_sites *sites, int part, size_t i,
                        const long **at);

#endif
