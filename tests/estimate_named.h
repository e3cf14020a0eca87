/* estimate_named.h - an estimate that a summary must have. */
#ifndef TM_TESTS_ESTIMATE_NAMED_H
#define TM_TESTS_ESTIMATE_NAMED_H

#include "cmocka_all.h"
#include "estimate/evidence.h"

static inline const tempera_estimate *estimate(const tempera_summary *summary,
                                               const char *name) {
  const tempera_estimate *e = tm_estimate_find(summary, name);
  if (!e)
    fail_msg("there is no estimate %s", name);
  return e;
}

#endif
