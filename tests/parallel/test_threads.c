/* Facts about threads: every piece is done, turns of one piece follow each
 * other, pieces inside of pieces are done too. */
#include "cmocka_all.h"
#include "parallel/threads.h"

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
    for (size_t i = 0; i < PIECES; i++)
      assert_int_equal(t.count[i], 1);
  }
}

static void turns_of_a_piece_follow_each_other(void **state) {
  (void)state;
  for (int threads = 1; threads <= 64; threads *= 2) {
    tally t = {0};
    tm_parallel_turns(PIECES, TURNS, threads, add, &t);
    for (size_t i = 0; i < PIECES; i++)
      assert_int_equal(t.count[i], TURNS);
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
  for (size_t i = 0; i < PIECES; i++)
    for (size_t k = 0; k < 4; k++)
      assert_int_equal(t.inner[i][k], 1);
  assert_true(tm_threads(0) >= 1);
  assert_int_equal(tm_threads(3), 3);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_piece_is_done_once),
      cmocka_unit_test(turns_of_a_piece_follow_each_other),
      cmocka_unit_test(pieces_may_have_pieces)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
