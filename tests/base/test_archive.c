/* The serialiser: what is written is read, and what lies is refused. */
#include "base/archive.h"
#include "cmocka_all.h"

typedef struct part {
  double x, *list;
  size_t count, place;
  bool on;
  uint64_t calls;
  char text[16];
  double fixed[3];
  tempera_random stream;
} part;

static void part_archive(part *p, tm_archive *a) {
  tm_archive_tag(a, "part");
  tm_archive_double(a, &p->x);
  tm_archive_grown(a, &p->list, &p->count, 10);
  tm_archive_index(a, &p->place, 4);
  tm_archive_bool(a, &p->on);
  tm_archive_u64(a, &p->calls);
  tm_archive_text(a, p->text, sizeof p->text);
  tm_archive_doubles(a, p->fixed, 3);
  tm_archive_random(a, &p->stream);
}

static tm_archive written(void) {
  double list[] = {1, -0.0, 1e-310};
  part p = {.x = 0.1,
            .list = list,
            .count = 3,
            .place = 3,
            .on = true,
            .calls = UINT64_MAX,
            .text = "words",
            .fixed = {3, 2, 1},
            .stream = tm_random(7, 1, TM_PURPOSE_TEST)};
  (void)tm_random_bits(&p.stream);
  tm_archive a = tm_archive_writer();
  part_archive(&p, &a);
  assert_int_equal(tm_archive_seal(&a, NULL), TEMPERA_OK);
  return a;
}

static void what_is_written_is_read(void **state) {
  (void)state;
  tm_archive a = written(), b;
  part p = {0};
  assert_int_equal(tm_archive_open(a.data, a.length, &b, NULL), TEMPERA_OK);
  part_archive(&p, &b);
  assert_int_equal(tm_archive_end(&b, NULL), TEMPERA_OK);
  assert_true(p.x == 0.1 && p.count == 3 && p.list[2] == 1e-310 && p.on);
  assert_int_equal(p.place, 3);
  assert_true(p.calls == UINT64_MAX && p.fixed[0] == 3 && p.fixed[2] == 1);
  assert_string_equal(p.text, "words");
  tempera_random same = tm_random(7, 1, TM_PURPOSE_TEST);
  (void)tm_random_bits(&same);
  for (int i = 0; i < 100; i++)
    assert_true(tm_random_bits(&same) == tm_random_bits(&p.stream));
  tm_heap_free(p.list);
  tm_archive_clear(&a);
}

/* Whatever single byte is changed, or wherever it is cut. */
static void damage_is_noticed(void **state) {
  (void)state;
  tm_archive a = written(), b;
  for (size_t i = 0; i < a.length; i++) {
    if (i >= 56 && i < TM_ARCHIVE_HEAD)
      continue; /* room in the head */
    a.data[i] ^= 0x10;
    assert_int_not_equal(tm_archive_open(a.data, a.length, &b, NULL),
                         TEMPERA_OK);
    a.data[i] ^= 0x10;
    assert_int_not_equal(tm_archive_open(a.data, i, &b, NULL), TEMPERA_OK);
  }
  tm_archive_clear(&a);
}

/* With a right checksum: any byte of the contents may lie. */
static void lies_never_crash(void **state) {
  (void)state;
  tm_archive a = written();
  size_t refused = 0;
  for (size_t i = TM_ARCHIVE_HEAD; i < a.length; i++)
    for (int bit = 0; bit < 8; bit++) {
      a.data[i] ^= (unsigned char)(1 << bit);
      assert_int_equal(tm_archive_seal(&a, NULL), TEMPERA_OK);
      tm_archive b;
      part p = {0};
      assert_int_equal(tm_archive_open(a.data, a.length, &b, NULL), TEMPERA_OK);
      part_archive(&p, &b);
      refused += tm_archive_end(&b, NULL) != TEMPERA_OK;
      assert_true(p.count <= 10 && p.place < 4);
      tm_heap_free(p.list);
      a.data[i] ^= (unsigned char)(1 << bit);
    }
  assert_true(refused > 100);
  tm_archive_clear(&a);
}

static void a_refusal_says_why(void **state) {
  (void)state;
  tm_archive a = written(), b;
  tempera_error error = {0};
  a.data[16] = '9';
  assert_int_equal(tm_archive_open(a.data, a.length, &b, &error),
                   TEMPERA_ERROR_INPUT);
  assert_non_null(strstr(error.message, "written by version 9"));
  tm_archive_clear(&a);
  a = written();
  assert_int_equal(tm_archive_open(a.data, a.length, &b, NULL), TEMPERA_OK);
  tm_archive_tag(&b, "another");
  assert_int_equal(tm_archive_end(&b, &error), TEMPERA_ERROR_INPUT);
  assert_non_null(strstr(error.message, "another"));
  tm_archive_clear(&a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_written_is_read),
      cmocka_unit_test(damage_is_noticed),
      cmocka_unit_test(lies_never_crash),
      cmocka_unit_test(a_refusal_says_why),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
