/* hypothesis.h - a null hypothesis read from text: conditions on values. */
#ifndef TM_ESTIMATE_HYPOTHESIS_H
#define TM_ESTIMATE_HYPOTHESIS_H

#include "base/text.h"
#include "draws/draws.h"

enum { TM_MOST_CONDITIONS = 32 };

/* Of one value of the draws: lower < value < upper, or value = lower. */
typedef struct tm_condition {
  size_t value;
  bool fixed;
  double lower, upper;
} tm_condition;

typedef struct tm_hypothesis {
  size_t count;
  tm_condition conditions[TM_MOST_CONDITIONS];
} tm_hypothesis;

/* Names are those of the draws. `words` gets it back as it was understood. */
TEMPERA_CHECKED tempera_status
tm_hypothesis_read(const tempera_draws *draws, const char *text,
                   tm_hypothesis *hypothesis, tm_text *words,
                   tempera_error *error);

#endif
