/* own_functions.c - the _jacobian forms of the constraining maps, written in
 * the language itself: where a program calls one, its definition is put into
 * the functions block, on the line where that begins, so that lines keep their
 * numbers. */
#include "language/read/own_functions.h"

#include "base/text.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

typedef enum shape { BOUND, BOUNDS, VECTOR, SQUARE, RECTANGLE, MATRIX } shape;

static const struct {
  const char *name;
  shape kind;
} MAPS[] = {{"lower_bound", BOUND},
            {"upper_bound", BOUND},
            {"lower_upper_bound", BOUNDS},
            {"offset_multiplier", BOUNDS},
            {"simplex", VECTOR},
            {"ordered", VECTOR},
            {"positive_ordered", VECTOR},
            {"sum_to_zero", VECTOR},
            {"unit_vector", VECTOR},
            {"cholesky_factor_corr", SQUARE},
            {"cholesky_factor_cov", RECTANGLE},
            {"corr_matrix", SQUARE},
            {"cov_matrix", SQUARE},
            {"stochastic_column", MATRIX},
            {"stochastic_row", MATRIX},
            {"sum_to_zero", MATRIX}};

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* Is it called, and not defined by the user? */
static bool is_called(const char *text, const char *name) {
  size_t n = strlen(name), m = strlen("_jacobian");
  bool called = false;
  for (const char *at = text; (at = strstr(at, name)); at += n) {
    if ((at > text && is_word(at[-1])) || strncmp(at + n, "_jacobian", m) ||
        is_word(at[n + m]))
      continue;
    const char *before = at;
    while (before > text && isspace((unsigned char)before[-1]))
      before--;
    bool value = before - text >= 6 && !strncmp(before - 6, "return", 6);
    if (before > text && (is_word(before[-1]) || before[-1] == ']') && !value)
      return false;
    called = true;
  }
  return called;
}

static void define(tm_text *out, const char *name, const char *result,
                   const char *arguments, const char *passed) {
  tm_text_printf(out,
                 "%s %s_jacobian(%s) { jacobian += %s_log_jacobian(%s); return "
                 "%s_constrain(%s); } ",
                 result, name, arguments, name, passed, name, passed);
}

/* As many array dimensions as there may be. */
static const char *const ARRAYS[] = {"",
                                     "array[] ",
                                     "array[,] ",
                                     "array[,,] ",
                                     "array[,,,] ",
                                     "array[,,,,] ",
                                     "array[,,,,,] ",
                                     "array[,,,,,,] ",
                                     "array[,,,,,,,] "};
enum { DEPTHS = sizeof ARRAYS / sizeof *ARRAYS };

/* Of one shape, each bound a real or of that shape. */
static void define_bounds_of(tm_text *out, const char *name, bool two,
                             const char *array, const char *base) {
  char type[40], arguments[160];
  snprintf(type, sizeof type, "%s%s", array, base);
  bool real = !strcmp(type, "real");
  for (int same = 0; same < (real ? 1 : two ? 4 : 2); same++) {
    const char *low = same & 1 ? type : "real";
    const char *high = same & 2 ? type : "real";
    snprintf(arguments, sizeof arguments, "%s y, %s a%s%s%s", type, low,
             two ? ", " : "", two ? high : "", two ? " b" : "");
    define(out, name, type, arguments, two ? "y, a, b" : "y, a");
  }
}

static void define_bounds(tm_text *out, const char *name, bool two) {
  static const char *const bases[] = {"real", "vector", "row_vector", "matrix"};
  for (size_t i = 0; i < DEPTHS; i++)
    for (size_t k = 0; k < sizeof bases / sizeof *bases; k++)
      define_bounds_of(out, name, two, ARRAYS[i], bases[k]);
}

/* One, and arrays of it. */
static void define_all(tm_text *out, const char *name, shape kind) {
  static const char *const more[] = {[VECTOR] = "",
                                     [SQUARE] = ", int k",
                                     [RECTANGLE] = ", int m, int n",
                                     [MATRIX] = ""};
  static const char *const passed[] = {[VECTOR] = "y",
                                       [SQUARE] = "y, k",
                                       [RECTANGLE] = "y, m, n",
                                       [MATRIX] = "y"};
  if (kind <= BOUNDS) {
    define_bounds(out, name, kind == BOUNDS);
    return;
  }
  for (size_t i = 0; i < DEPTHS; i++) {
    char result[40], arguments[80];
    snprintf(result, sizeof result, "%s%s", ARRAYS[i],
             kind == VECTOR ? "vector" : "matrix");
    snprintf(arguments, sizeof arguments, "%s%s y%s", ARRAYS[i],
             kind == MATRIX ? "matrix" : "vector", more[kind]);
    define(out, name, result, arguments, passed[kind]);
  }
}

/* Past spaces, comments and lines that include files. */
static const char *first_word(const char *at) {
  for (;;) {
    at += strspn(at, " \t\r\n");
    if (!strncmp(at, "//", 2) || at[0] == '#')
      at += strcspn(at, "\n");
    else if (!strncmp(at, "/*", 2) && strstr(at, "*/"))
      at = strstr(at, "*/") + 2;
    else
      return at;
  }
}

tempera_status tm_add_own_functions(tm_arena *arena, const char **text,
                                    size_t *length, tempera_error *error) {
  tm_text own = {0}, all = {0};
  char *whole = TM_NEW(arena, char, *length + 1);
  if (!whole)
    return tm_fail_memory(error);
  memcpy(whole, *text, *length);
  for (size_t i = 0; i < sizeof MAPS / sizeof *MAPS; i++)
    if (is_called(whole, MAPS[i].name))
      define_all(&own, MAPS[i].name, MAPS[i].kind);
  if (!own.length && !own.failed)
    return TEMPERA_OK;
  bool marked = !strncmp(whole, "\xef\xbb\xbf", 3); /* by its byte order */
  const char *at = first_word(whole + (marked ? 3 : 0));
  bool block = !strncmp(at, "functions", 9) && !is_word(at[9]);
  if (block && strchr(at, '{'))
    at = strchr(at, '{') + 1;
  tm_text_add_bytes(&all, whole, (size_t)(at - whole));
  tm_text_add(&all, block ? " " : "functions { ");
  tm_text_add_bytes(&all, own.data ? own.data : "", own.length);
  tm_text_add(&all, block ? "" : "} ");
  tm_text_add(&all, at);
  char *copy = own.failed || all.failed ? NULL : tm_arena_text(arena, all.data);
  *length = all.length;
  tm_text_clear(&own);
  tm_text_clear(&all);
  if (!copy)
    return tm_fail_memory(error);
  *text = copy;
  return TEMPERA_OK;
}
