/* Facts about src/language, mostly from files: tests/language/good/NAME.stan
 * is described as NAME.expected says; tests/language/bad/NAME.stan is refused
 * with the message in NAME.expected. TEMPERA_BLESS=1 rewrites these files. */
#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "language/check/types.h"
#include "language/read/source.h"
#include "tempera.h"

#include "cmocka_all.h"
#include "failing_memory.h"

#include <dirent.h>
#include <stdio.h>

static void join_path(char *out, size_t size, const char *folder,
                      const char *name, const char *ending) {
  snprintf(out, size, "%s/tests/language/%s/%s%s", SOURCE_DIR, folder, name,
           ending);
}

/* What the front end says of a file: a description, or a complaint. */
static void answer(const char *path, const char *name, tm_text *out,
                   tempera_status *status) {
  tempera_program *program = NULL;
  tempera_error error = {0};
  *status = tempera_program_read(path, &program, &error);
  if (*status != TEMPERA_OK) {
    tm_text_printf(out, "%s.stan:%d:%d: %s\n", name, error.line, error.column,
                   error.message);
    return;
  }
  char *text = NULL;
  assert_int_equal(tempera_program_describe(program, &text, &error),
                   TEMPERA_OK);
  tm_text_add(out, text);
  tm_heap_free(text);
  tempera_program_free(program);
}

static void compare(const char *folder, const char *name,
                    tempera_status wanted) {
  char path[512], expected_path[512];
  join_path(path, sizeof path, folder, name, ".stan");
  join_path(expected_path, sizeof expected_path, folder, name, ".expected");
  tm_text found = {0};
  tempera_status status;
  answer(path, name, &found, &status);
  if (status != wanted)
    print_error("%s: %s\n", name, found.data);
  assert_int_equal(status, wanted);
  if (getenv("TEMPERA_BLESS"))
    assert_int_equal(
        tm_file_replace(expected_path, found.data, found.length, NULL),
        TEMPERA_OK);
  char *expected = NULL;
  size_t length;
  assert_int_equal(tm_file_read(expected_path, &expected, &length, NULL),
                   TEMPERA_OK);
  if (strcmp(expected, found.data))
    print_error("%s differs:\n%s", name, found.data);
  assert_string_equal(found.data, expected);
  tm_heap_free(expected);
  tm_text_clear(&found);
}

static void compare_folder(const char *folder, tempera_status wanted) {
  char path[512];
  snprintf(path, sizeof path, "%s/tests/language/%s", SOURCE_DIR, folder);
  DIR *dir = opendir(path);
  assert_non_null(dir);
  size_t count = 0;
  for (struct dirent *e; (e = readdir(dir));) {
    char *dot = strrchr(e->d_name, '.');
    if (!dot || strcmp(dot, ".stan"))
      continue;
    *dot = '\0';
    compare(folder, e->d_name, wanted);
    count++;
  }
  closedir(dir);
  assert_true(count > 0);
}

static void good_programs_are_described(void **state) {
  (void)state;
  compare_folder("good", TEMPERA_OK);
}

static void bad_programs_are_refused_with_a_place(void **state) {
  (void)state;
  compare_folder("bad", TEMPERA_ERROR_INPUT);
}

static void edits_are_counted(void **state) {
  (void)state;
  assert_int_equal(tm_edit_distance("normal", "normal"), 0);
  assert_int_equal(tm_edit_distance("nromal", "normal"), 1);
  assert_int_equal(tm_edit_distance("norml", "normal"), 1);
  assert_int_equal(tm_edit_distance("", "abc"), 3);
}

/* Every prefix of a program is refused or read, never a crash. */
static void cut_programs_do_no_harm(void **state) {
  (void)state;
  char path[512], *text = NULL;
  size_t length;
  join_path(path, sizeof path, "good", "everything", ".stan");
  assert_int_equal(tm_file_read(path, &text, &length, NULL), TEMPERA_OK);
  for (size_t n = 0; n < length; n++) {
    tempera_program *program = NULL;
    tempera_error error = {0};
    if (tempera_program_parse("cut", text, n, &program, &error) == TEMPERA_OK)
      tempera_program_free(program);
    else
      assert_true(error.line > 0 && error.message[0]);
  }
  tm_heap_free(text);
}

/* The k-th allocation fails, for every k: a status, no crash, no leak. */
static void failing_allocations_are_reported(void **state) {
  (void)state;
  char path[512], *text = NULL;
  size_t length;
  join_path(path, sizeof path, "good", "split", ".stan");
  assert_int_equal(tm_file_read(path, &text, &length, NULL), TEMPERA_OK);
  for (long k = 1; k < 10000; k++) {
    tempera_program *program = NULL;
    tempera_error error = {0};
    heap_fail_at(k);
    tempera_status status =
        tempera_program_parse("split", text, length, &program, &error);
    heap_fail_at(0);
    tempera_program_free(program);
    if (status == TEMPERA_OK)
      break;
    assert_int_equal(status, TEMPERA_ERROR_MEMORY);
  }
  tm_heap_free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(good_programs_are_described),
      cmocka_unit_test(bad_programs_are_refused_with_a_place),
      cmocka_unit_test(edits_are_counted),
      cmocka_unit_test(cut_programs_do_no_harm),
      cmocka_unit_test(failing_allocations_are_reported),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
