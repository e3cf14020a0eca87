/* Facts about threads: every piece is done, turns of one piece follow each
 * other, pieces inside of pieces are done too. */
#include "cmocka_all.h"
#include "parallel/threads.h"

#include <pthread.h>

enum { PIECES = 37, TURNS = 50 };

typedef struct tally {
  size_t count[PIECES]; /* each is written by one thread at a time */
  size_t inner[PIECES][4];
} tally;

static void add(size_t i, void *context) { ((tally *)context)->count[i]++; }

static void each_piece_is_done_once(void **state) {
  (void)state;
  for (int threads = 1; threads <= 64; threads *= 2) {
    tally t = {0};
    tm_parallel_for(PIECES, threads, add, &t);
    tm_parallel_for(PIECES, -threads, add, &t);
    for (size_t i = 0; i < PIECES; i++)
      assert_int_equal(t.count[i], 2);
  }
}

static void turns_of_a_piece_follow_each_other(void **state) {
  (void)state;
  for (int threads = 1; threads <= 64; threads *= 2) {
    tally t = {0};
    tm_parallel_turns(PIECES, TURNS, threads, add, &t);
    tm_parallel_turns(PIECES, TURNS, -threads, add, &t);
    for (size_t i = 0; i < PIECES; i++)
      assert_int_equal(t.count[i], 2 * TURNS);
  }
}

static void add_inner(size_t i, void *context) { ((size_t *)context)[i]++; }

static void nest(size_t i, void *context) {
  tm_parallel_for(4, 4, add_inner, ((tally *)context)->inner[i]);
}

static void pieces_may_have_pieces(void **state) {
  (void)state;
  tally t = {0};
  tm_parallel_for(PIECES, 4, nest, &t);
  tm_parallel_for(PIECES, -4, nest, &t);
  for (size_t i = 0; i < PIECES; i++)
    for (size_t k = 0; k < 4; k++)
      assert_int_equal(t.inner[i][k], 2);
  assert_true(tm_threads(0) >= 1);
  assert_int_equal(tm_threads(3), 3);
}

/* ---- questions ----------------------------------------------------------- */

typedef struct question {
  size_t asked, answered;
} question;

static pthread_t answering;
static size_t most_at_once, answers;

/* Now and then the last is put off. */
static void answer(void *const *questions, size_t count, bool *answered) {
  assert_true(pthread_equal(pthread_self(), answering));
  count -= count > 1 && answers % 3 == 0;
  for (size_t i = 0; i < count; i++) {
    question *q = questions[i];
    assert_int_equal(q->answered, 0);
    q->answered = q->asked + 1;
    answered[i] = true;
  }
  most_at_once = count > most_at_once ? count : most_at_once;
  answers += count;
}

/* Some pieces ask more often than others, one never. */
static void ask(size_t i, void *context) {
  for (size_t k = 0; k < i; k++) {
    question q = {.asked = i * 100 + k};
    tm_ask_caller(answer, &q);
    ((tally *)context)->count[i] += q.answered == q.asked + 1;
  }
}

static void questions_are_answered_together_by_the_caller(void **state) {
  (void)state;
  answering = pthread_self();
  for (int threads = 1; threads <= 64; threads *= 2) {
    tally t = {0};
    most_at_once = answers = 0;
    tm_parallel_for(PIECES, -threads, ask, &t);
    for (size_t i = 0; i < PIECES; i++)
      assert_int_equal(t.count[i], i);
    assert_int_equal(answers, PIECES * (PIECES - 1) / 2);
    assert_true(most_at_once <= (size_t)threads);
    assert_true(threads == 1 || most_at_once > 1);
    tm_parallel_turns(PIECES, 3, -threads, ask, &t);
    for (size_t i = 0; i < PIECES; i++)
      assert_int_equal(t.count[i], 4 * i);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_piece_is_done_once),
      cmocka_unit_test(turns_of_a_piece_follow_each_other),
      cmocka_unit_test(pieces_may_have_pieces),
      cmocka_unit_test(questions_are_answered_together_by_the_caller)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
