/* run.h - the words for options, shared by what sets and what records them. */
#ifndef TM_RUN_RUN_H
#define TM_RUN_RUN_H

#include "base/status.h"

/* Options that are one word out of a list, by their command-line names. */
typedef enum tm_choice {
  TM_CHOICE_METHOD,
  TM_CHOICE_TAU_PRIOR,
  TM_CHOICE_RIDGE,
  TM_CHOICE_TAU_MOVE,
  TM_CHOICE_KERNEL,
  TM_CHOICE_WEIGHTS,
  TM_CHOICE_SWAPS,
  TM_CHOICE_SCHEDULE
} tm_choice;
/* The word for a value, as "pt-stwnc". */
const char *tm_choice_word(tm_choice choice, int value);

#endif
