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

/* ---- help ---------------------------------------------------------------- */

static void add_within(size_t i, void *context) { ((size_t *)context)[i]++; }

static void share(size_t i, void *context) {
  for (int k = 0; k < 50; k++)
    tm_parallel_within(4, add_within, ((tally *)context)->inner[i]);
}

/* With fewer and with more pieces than threads, in turns, and on no crew. */
static void pieces_are_shared_with_threads_that_have_none(void **state) {
  (void)state;
  for (size_t pieces = 1; pieces <= 5; pieces += 2)
    for (int threads = 1; threads <= 8; threads *= 2) {
      tally t = {0};
      tm_parallel_for(pieces, threads, share, &t);
      tm_parallel_turns(pieces, 3, threads, share, &t);
      tm_parallel_for(pieces, -threads, share, &t);
      for (size_t i = 0; i < pieces; i++)
        for (size_t k = 0; k < 4; k++)
          assert_int_equal(t.inner[i][k], 250);
    }
}

typedef struct meeting {
  pthread_mutex_t lock;
  pthread_cond_t all;
  size_t here;
} meeting;

/* Ends only where two are at it at a time. */
static void meet(size_t i, void *context) {
  (void)i;
  meeting *m = context;
  pthread_mutex_lock(&m->lock);
  m->here++;
  pthread_cond_broadcast(&m->all);
  while (m->here < 2)
    pthread_cond_wait(&m->all, &m->lock);
  pthread_mutex_unlock(&m->lock);
}

static void meet_within(size_t i, void *context) {
  (void)i;
  tm_parallel_within(2, meet, context);
}

static void a_single_piece_has_help(void **state) {
  (void)state;
  meeting m = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};
  tm_parallel_for(1, 2, meet_within, &m);
  assert_int_equal(m.here, 2);
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
      cmocka_unit_test(pieces_are_shared_with_threads_that_have_none),
      cmocka_unit_test(a_single_piece_has_help),
      cmocka_unit_test(questions_are_answered_together_by_the_caller)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
