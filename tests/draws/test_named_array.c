/* Flat names become the arrays they came from. */
#include "cmocka_all.h"
#include "draws/named_array.h"

static tm_named_array *arrays_of(tm_arena *arena, const char *const *names,
                                 size_t count, size_t *found) {
  tm_named_array *arrays = NULL;
  assert_int_equal(tm_named_arrays(names, count, arena, &arrays, found, NULL),
                   TEMPERA_OK);
  return arrays;
}

static void names_become_arrays(void **state) {
  (void)state;
  static const char *const names[] = {"a",      "mu[1]",  "mu[2]",  "B[1,1]",
                                      "B[2,1]", "B[1,2]", "B[2,2]", "B[1,3]",
                                      "B[2,3]", "mu2[1]"};
  tm_arena *arena = tm_arena_create();
  size_t count = 0;
  tm_named_array *a = arrays_of(arena, names, 10, &count);
  assert_int_equal(count, 4);
  assert_string_equal(a[0].name, "a");
  assert_int_equal(a[0].rank, 0);
  assert_string_equal(a[1].name, "mu");
  assert_true(a[1].rank == 1 && a[1].dims[0] == 2 && a[1].first == 1);
  assert_string_equal(a[2].name, "B");
  assert_true(a[2].rank == 2 && a[2].dims[0] == 2 && a[2].dims[1] == 3);
  /* Column-major names have row-major places. */
  static const size_t places[] = {0, 3, 1, 4, 2, 5};
  assert_memory_equal(a[2].place, places, sizeof places);
  assert_string_equal(a[3].name, "mu2");
  assert_true(a[3].rank == 1 && a[3].dims[0] == 1 && a[3].first == 9);
  tm_arena_free(arena);
}

/* The parts of complex numbers are a last dimension of two. */
static void parts_are_a_dimension(void **state) {
  (void)state;
  static const char *const names[] = {"z[real]",   "z[imag]",   "v[1,real]",
                                      "v[1,imag]", "v[2,real]", "v[2,imag]"};
  tm_arena *arena = tm_arena_create();
  size_t count = 0;
  tm_named_array *a = arrays_of(arena, names, 6, &count);
  assert_int_equal(count, 2);
  assert_string_equal(a[0].name, "z");
  assert_true(a[0].rank == 1 && a[0].dims[0] == 2);
  assert_true(a[1].rank == 2 && a[1].dims[0] == 2 && a[1].dims[1] == 2);
  tm_arena_free(arena);
}

/* What is no full array keeps its names. */
static void the_rest_stays_single(void **state) {
  (void)state;
  static const char *const names[] = {"x[1]", "x[3]", "y[1]",   "y[1]", "z[0]",
                                      "w[a]", "v[1",  "u[1,1]", "u[2]", ""};
  tm_arena *arena = tm_arena_create();
  size_t count = 0, values = 0;
  tm_named_array *a = arrays_of(arena, names, 10, &count);
  for (size_t i = 0; i < count; i++) {
    bool single = a[i].rank == 0;
    assert_int_equal(a[i].first, values);
    if (single)
      assert_string_equal(a[i].name, names[a[i].first]);
    values += a[i].count;
  }
  assert_int_equal(values, 10);
  assert_string_equal(a[0].name, "x[1]");
  assert_string_equal(a[1].name, "x[3]");
  tm_arena_free(arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(names_become_arrays),
                                     cmocka_unit_test(parts_are_a_dimension),
                                     cmocka_unit_test(the_rest_stays_single)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
