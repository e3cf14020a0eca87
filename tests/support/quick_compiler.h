/* quick_compiler.h - programs of the language compiled without optimising, for
 * tests of what very many of them mean: most of their time was the compiler's.
 * Those programs that a user would optimise are run so by the other tests. The
 * cache's names hold the compiler, so that neither takes the other's. */
#ifndef TM_TESTS_QUICK_COMPILER_H
#define TM_TESTS_QUICK_COMPILER_H

#include "cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* From here on. */
static inline void compile_quickly(void) {
  static const char folder[] = SOURCE_DIR "/tests/support/quick:";
  const char *old = getenv("PATH");
  assert_non_null(old);
  if (!strncmp(old, folder, strlen(folder)))
    return;
  size_t size = strlen(folder) + strlen(old) + 1;
  char *path = malloc(size);
  assert_non_null(path);
  snprintf(path, size, "%s%s", folder, old);
  assert_int_equal(setenv("PATH", path, 1), 0);
  free(path);
}

/* As the set-up of a group of tests. */
static inline int compiling_quickly(void **state) {
  (void)state;
  compile_quickly();
  return 0;
}

#endif
