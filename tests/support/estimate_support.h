/* estimate_support.h - summaries of draws, and estimates they must have. */
#ifndef TM_TESTS_ESTIMATE_SUPPORT_H
#define TM_TESTS_ESTIMATE_SUPPORT_H

#include "cmocka_all.h"
#include "estimate/estimate.h"
#include "estimate/evidence/evidence.h"
#include "estimate/findings.h"

/* As a run does it, without the bridge; labels are looked for where there is a
 * model to ask (else NULL). */
static inline tempera_summary *summarise_of(const tempera_model *model,
                                            const tempera_draws *draws) {
  tempera_summary *s = tm_heap_alloc(1, sizeof *s);
  tempera_error error = {0};
  assert_int_equal(tm_estimate_summary(draws, 1, s, &error), TEMPERA_OK);
  uint64_t calls = 0;
  if (model)
    assert_int_equal(tm_estimate_labels(model, draws, 1, s, &calls, &error),
                     TEMPERA_OK);
  assert_int_equal(tm_estimate_modes(draws, s, &error), TEMPERA_OK);
  assert_int_equal(tm_estimate_label_findings(s, &error), TEMPERA_OK);
  assert_int_equal(tm_estimate_verdict(s, &error), TEMPERA_OK);
  return s;
}

static inline tempera_summary *summarise(const tempera_draws *draws) {
  return summarise_of(NULL, draws);
}

static inline const tempera_estimate *estimate(const tempera_summary *summary,
                                               const char *name) {
  const tempera_estimate *e = tm_estimate_find(summary, name);
  if (!e)
    fail_msg("there is no estimate %s", name);
  return e;
}

#endif
