/* answers.h - what the outside world answered (a model's values, a clock, a
 * signal), kept in order, so that another process that does the same work can
 * be told instead of asking again. Work is a function of its answers: with the
 * same tape it ends in the same state, bit for bit.
 *
 * A thread has a tape or none. With none everything is asked. */
#ifndef TM_BASE_ANSWERS_H
#define TM_BASE_ANSWERS_H

#include "base/status.h"

typedef struct tm_answers tm_answers;
struct tm_answers {
  bool replays; /* answers come from the tape, and nobody is asked */
  unsigned char *data;
  size_t length, capacity, at;
  /* A recorder's that is full, and a replayer's that is at its end; NULL: it
   * just grows, and must not end. */
  void (*turn)(tm_answers *tape);
};

/* This thread's tape, or NULL. */
extern _Thread_local tm_answers *tm_answers_now
    __attribute__((tls_model("initial-exec")));

/* Put these bytes on the tape, or take them from it. */
void tm_answers_pass(tm_answers *tape, void *bytes, size_t count);
/* A number that both sides know: a replayer that has another one is lost. */
void tm_answers_check(tm_answers *tape, uint64_t mark);
void tm_answers_clear(tm_answers *tape);
/* What to do when processes have parted ways, or memory is short: it does not
 * return. */
void tm_answers_when_lost(void (*lost)(const char *why));

/* Of this thread's tape, if any: is the answer there already? */
static inline bool tm_answers_replays(void) {
  return tm_answers_now && tm_answers_now->replays;
}
/* The recorder's answer for all, who are told at once: between such answers
 * there may be work that all can do at the same time. */
static inline void tm_answers_agree(void *bytes, size_t count) {
  tm_answers *tape = tm_answers_now;
  if (tape)
    tm_answers_pass(tape, bytes, count);
  if (tape && tape->turn && !tape->replays && tape->length > 0)
    tape->turn(tape);
}
static inline bool tm_answers_agree_on(bool mine) {
  tm_answers_agree(&mine, sizeof mine);
  return mine;
}

#endif
