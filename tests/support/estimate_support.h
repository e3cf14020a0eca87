/* estimate_support.h - summaries of draws, and estimates they must have. */
#ifndef TM_TESTS_ESTIMATE_SUPPORT_H
#define TM_TESTS_ESTIMATE_SUPPORT_H

#include "cmocka_all.h"
#include "estimate/estimate.h"
#include "estimate/evidence/evidence.h"
#include "estimate/findings.h"

static inline tempera_summary *summarise(const tempera_draws *draws) {
  tempera_summary *s = tm_heap_alloc(1, sizeof *s);
  tempera_error error = {0};
  assert_int_equal(tm_estimate_summary(draws, 1, s, &error), TEMPERA_OK);
  assert_int_equal(tm_estimate_modes(draws, s, &error), TEMPERA_OK);
  assert_int_equal(tm_estimate_labels(draws, 1, s, &error), TEMPERA_OK);
  assert_int_equal(tm_estimate_verdict(s, &error), TEMPERA_OK);
  return s;
}

static inline const tempera_estimate *estimate(const tempera_summary *summary,
                                               const char *name) {
  const tempera_estimate *e = tm_estimate_find(summary, name);
  if (!e)
    fail_msg("there is no estimate %s", name);
  return e;
}

#endif
