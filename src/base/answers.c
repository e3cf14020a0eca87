/* answers.c - see answers.h. */
#include "base/answers.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

_Thread_local tm_answers *tm_answers_now
    __attribute__((tls_model("initial-exec")));

/* Of the process: its ranks are. */
static void (*when_lost)(const char *why);

void tm_answers_when_lost(void (*lost)(const char *why)) { when_lost = lost; }

static void lose(const char *why) {
  if (when_lost)
    when_lost(why);
  abort();
}

static void make_room(tm_answers *tape, size_t count) {
  if (tape->capacity - tape->length >= count)
    return;
  size_t capacity = 2 * tape->capacity + count + 4096;
  unsigned char *larger = tm_heap_resize(tape->data, capacity, 1);
  if (!larger)
    lose("out of memory for what ranks tell each other");
  tape->data = larger;
  tape->capacity = capacity;
}

enum { CHUNK = 1 << 16 };

void tm_answers_pass(tm_answers *tape, void *bytes, size_t count) {
  if (!tape->replays) {
    make_room(tape, count);
    memcpy(tape->data + tape->length, bytes, count);
    tape->length += count;
    if (tape->turn && tape->length >= CHUNK)
      tape->turn(tape);
    return;
  }
  if (tape->at == tape->length && tape->turn)
    tape->turn(tape);
  if (tape->length - tape->at < count)
    lose("ranks have parted ways: one asks for more than another told; is the "
         "model, its data or a library another one there?");
  memcpy(bytes, tape->data + tape->at, count);
  tape->at += count;
}

void tm_answers_check(tm_answers *tape, uint64_t mark) {
  uint64_t theirs = mark;
  tm_answers_pass(tape, &theirs, sizeof theirs);
  if (theirs != mark)
    lose("ranks have parted ways: they are at different points; is the model, "
         "its data, a library or the processor another one there?");
}

void tm_answers_clear(tm_answers *tape) {
  tm_heap_free(tape->data);
  *tape = (tm_answers){0};
}
