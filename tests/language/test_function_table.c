/* The functions of Stan's reference, one signature a line in
 * stan_functions.txt, are offered to the checker. docs/functions.md must say
 * what it answers, and names that we lack must be refused by name. `make
 * functions-table` writes the document anew. */
#include "base/file.h"
#include "base/text.h"
#include "language/check/check.h"
#include "tempera.h"

#include "cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST = 16, TURNS = 5 };

typedef struct row {
  char name[80], result[120];
  char arguments[MOST][90];
  int count;
} row;

/* ---- reading ------------------------------------------------------------ */

/* name(type, type) => result */
static row read_row(const char *line, size_t length) {
  row r = {.count = 0};
  size_t open = strcspn(line, "(");
  snprintf(r.name, sizeof r.name, "%.*s", (int)open, line);
  const char *at = line + open + 1, *end = line + length;
  const char *arrow = strstr(line, ") => ");
  assert_true(arrow && arrow < end);
  snprintf(r.result, sizeof r.result, "%.*s", (int)(end - arrow - 5),
           arrow + 5);
  while (at < arrow) {
    int depth = 0;
    const char *from = at;
    for (; at < arrow && (depth || strncmp(at, ", ", 2)); at++)
      depth += (*at == '(') - (*at == ')');
    snprintf(r.arguments[r.count++], sizeof *r.arguments, "%.*s",
             (int)(at - from), from);
    at += 2;
  }
  return r;
}

/* ---- asking the checker ------------------------------------------------- */

/* What the reference's words for many types stand for. */
static const struct {
  const char *word, *types[TURNS];
  bool any; /* one of them is enough */
} WORDS[] = {
    {"reals", {"real", "vector", "row_vector", "array[] real"}, false},
    {"ints", {"int", "array[] int"}, false},
    {"vectors", {"vector", "array[] vector"}, false},
    {"row_vectors", {"row_vector", "array[] row_vector"}, false},
    {"matrices", {"matrix", "array[] matrix"}, false},
    {"T", {"real", "vector", "array[] real", "array[] int", "int"}, true},
    {"T1", {"real", "vector", "array[] real", "array[] int", "int"}, true},
    {"T2", {"real", "vector", "array[] real", "vector", "int"}, true},
    {"array[] T", {"array[] real", "array[] vector", "array[,] int"}, false},
    {"Z",
     {"complex", "complex_vector", "complex_row_vector", "complex_matrix",
      "array[,] complex"},
     false},
    {"array[...] complex", {"array[] complex", "array[,,] complex"}, false},
    {"array[...] real", {"array[] real", "array[,,] real"}, false},
    {"array[...] int", {"array[] int", "array[,] int"}, false}};

static const char *type_in(const char *word, int turn, bool *any) {
  for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++)
    if (!strcmp(WORDS[i].word, word)) {
      int n = 0;
      while (n < TURNS && WORDS[i].types[n])
        n++;
      *any = *any || WORDS[i].any;
      return WORDS[i].types[turn % n];
    }
  return word;
}

static bool ends_with(const char *name, const char *suffix) {
  size_t n = strlen(name), m = strlen(suffix);
  return n >= m && !strcmp(name + n - m, suffix);
}

static bool takes_bar(const char *name) {
  static const char *const suffixes[] = {"_lpdf", "_lupdf", "_lpmf", "_lupmf",
                                         "_cdf",  "_lcdf",  "_lccdf"};
  for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
    if (ends_with(name, suffixes[i]))
      return true;
  return false;
}

static bool is_parsed(const char *text, int length) {
  tempera_program *program = NULL;
  tempera_error error = {0};
  bool fine = tempera_program_parse("row", text, (size_t)length, &program,
                                    &error) == TEMPERA_OK;
  tempera_program_free(program);
  return fine;
}

/* operator+(a, b) is a + b, operator'(a) is a', operator+=(a, b) a += b. */
static bool accepts_operator(const row *r, int turn, bool *any) {
  char text[500], used[100];
  const char *op = r->name + strlen("operator");
  const char *a = type_in(r->arguments[0], turn, any);
  bool turned = !strcmp(op, "'"), assigned = !strcmp(r->result, "void");
  snprintf(used, sizeof used, "%s%s %s", r->count == 2 || turned ? "a0 " : op,
           r->count == 1 && !turned ? "a0" : op, r->count == 2 ? "a1" : "");
  return is_parsed(
      text, snprintf(text, sizeof text,
                     "functions { void f(%s a%s%s%s%s) { %s%s%s%s } }\n"
                     "parameters { real x; } model { x ~ normal(0, 1); }\n",
                     a, assigned ? "" : "0", r->count == 2 ? ", " : "",
                     r->count == 2 ? r->arguments[1] : "",
                     r->count == 2 ? " a1" : "", assigned ? a : "print(",
                     assigned ? " a0 = a; " : "", used, assigned ? ";" : ");"));
}

/* Words for real shapes stand for complex ones in functions of these. */
static const char *word_of(const row *r, int i) {
  bool complex = !strncmp(r->name, "get_", 4) ||
                 (!strcmp(r->name, "pow") && !strcmp(r->result, "Z"));
  return complex && r->arguments[i][0] == 'T' ? "Z" : r->arguments[i];
}

/* What stands for argument i in the call: its name, or for the embedded
 * Laplace approximation functions (of which the covariance comes last) and
 * their arguments. */
static const char *used_as(const row *r, int i, char *buffer, size_t size) {
  bool laplace = strstr(r->name, "laplace") != NULL;
  bool function = laplace && !strcmp(r->arguments[i], "function");
  if (function || (laplace && !strcmp(r->arguments[i], "tuple(...)")))
    return !function ? "(1.5, )" : i ? "cov" : "lik";
  snprintf(buffer, size, "a%d", i);
  return buffer;
}

/* A function whose arguments have these types, which calls this one. */
static bool accepts(const row *r, int turn, bool *any) {
  char text[2000], declared[800] = "", used[200] = "", name[16];
  for (int i = 0; i < r->count; i++) {
    size_t n = strlen(declared), m = strlen(used);
    const char *as = used_as(r, i, name, sizeof name);
    if (as == name)
      snprintf(declared + n, sizeof declared - n, "%s%s a%d", n ? ", " : "",
               type_in(word_of(r, i), turn, any), i);
    snprintf(used + m, sizeof used - m, "%s%s%s",
             i == 1 && takes_bar(r->name) ? " | "
             : i                          ? ", "
                                          : "",
             as, r->count == 1 && takes_bar(r->name) ? " |" : "");
  }
  const char *suffix = strstr(r->name, "_rng")           ? "_rng"
                       : ends_with(r->name, "_jacobian") ? "_jacobian"
                       : !strcmp(r->name, "target")      ? "_lp"
                                                         : "";
  /* what raises the target cannot be printed */
  bool pass = !strcmp(suffix, "_jacobian");
  int length = snprintf(text, sizeof text,
                        "functions { real g(%s x) { return 1; }\n"
                        "real lik(vector x, real z) { return z; }\n"
                        "matrix cov(real z) { return [[z]]; }\n"
                        "real f%s(%s) { %s(%s(%s)); return 1; } }\n"
                        "parameters { real x; } model { x ~ normal(0, 1); }\n",
                        pass ? type_in(r->result, turn, any) : "real", suffix,
                        declared, pass ? "return g" : "print", r->name, used);
  return is_parsed(text, length);
}

static bool mentions(const row *r, const char *word) {
  bool found = strstr(r->result, word) != NULL;
  for (int i = 0; i < r->count; i++)
    found = found || strstr(r->arguments[i], word);
  return found;
}

static bool is_statement(const char *name) {
  return !strncmp(name, "operator", 8) || !strcmp(name, "print") ||
         !strcmp(name, "reject") || !strcmp(name, "fatal_error");
}

static bool is_higher_order(const row *r) {
  return r->count && !strstr(r->name, "laplace") &&
         (!strcmp(r->arguments[0], "function") ||
          !strcmp(r->arguments[0], "F"));
}

static bool is_supported(const row *r) {
  bool operator= !strncmp(r->name, "operator", 8);
  if (operator? mentions(r, "U") : is_statement(r->name)) /* += and its like */
    return true;
  if (is_higher_order(r))
    return tm_is_solver(r->name) || !strncmp(r->name, "reduce_sum", 10);
  bool any = false, some = false, all = true;
  for (int turn = 0; turn < TURNS; turn++) {
    bool fine = operator? accepts_operator(r, turn, &any)
                        : accepts(r, turn, &any);
    some = some || fine;
    all = all && fine;
  }
  return any ? some : all;
}

/* ---- the document ------------------------------------------------------- */

typedef struct counts {
  int all, yes;
} counts;

static void add_row(tm_text *text, const row *r, bool supported) {
  tm_text_printf(text, "| `%s(", r->name);
  for (int i = 0; i < r->count; i++)
    tm_text_printf(text, "%s%s", i ? ", " : "", r->arguments[i]);
  tm_text_printf(text, ")` | `%s` | %s |\n", r->result,
                 supported ? "yes" : "no");
}

static void add_rows(tm_text *text, const char *list, counts *c) {
  for (const char *line = list; *line;) {
    size_t n = strcspn(line, "\n");
    row r = read_row(line, n);
    bool supported = is_supported(&r);
    c->all++;
    c->yes += supported;
    add_row(text, &r, supported);
    line += n + (line[n] == '\n');
  }
}

/* Built-in names that the reference does not have. */
static void add_others(tm_text *text, const char *list) {
  tm_text_add(text, "\n## Beyond the reference\n\n");
  for (size_t i = 0; i < tm_builtin_count(); i++) {
    const tm_builtin *b = tm_builtin_at(i);
    char name[100], start[101];
    size_t n = strlen(b->name);
    bool mass = b->kind == TM_B_DENSITY && b->signature[0] == 'I';
    snprintf(name, sizeof name, "%.*s%s", (int)(mass ? n - 5 : n), b->name,
             mass ? "_lpmf" : "");
    snprintf(start, sizeof start, "%s(", name);
    if (!strstr(list, start) && !strstr(text->data, start))
      tm_text_printf(text, "`%s()` ", name);
  }
  tm_text_add(text, "\n");
}

static void document(tm_text *text, const char *list) {
  tm_text rows = {0};
  counts c = {0};
  add_rows(&rows, list, &c);
  tm_text_printf(
      text,
      "# Functions\n\nThe signatures of Stan's functions reference, and "
      "whether "
      "programs here may use them: %d of %d, which is\n%.1f %%.\n\n`reals` "
      "stands for a real, a vector, a row vector or an array of "
      "reals, `ints`, `vectors` and `matrices` likewise; `T` for any\nshape, "
      "`Z` "
      "for any of complex numbers. "
      "`_lupdf` and `_lupmf` keep their constants here. Written by `make "
      "functions-table` from\n`tests/language/stan_functions.txt` and the "
      "checker's answers.\n\n| function | result | here |\n|---|---|---|\n",
      c.yes, c.all, 100.0 * c.yes / c.all);
  tm_text_add_bytes(text, rows.data, rows.length);
  add_others(text, list);
  tm_text_clear(&rows);
}

static char *read_text(const char *path) {
  char *text = NULL;
  size_t length;
  if (tm_file_read(path, &text, &length, NULL) != TEMPERA_OK)
    return NULL;
  return text;
}

static void functions_md_says_what_there_is(void **state) {
  (void)state;
  static const char path[] = SOURCE_DIR "/docs/functions.md";
  char *list = read_text(SOURCE_DIR "/tests/language/stan_functions.txt");
  assert_non_null(list);
  tm_text text = {0};
  document(&text, list);
  if (getenv("TEMPERA_WRITE_TABLE")) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fwrite(text.data, 1, text.length, file);
    fclose(file);
  }
  char *now = read_text(path);
  if (!now || strcmp(now, text.data))
    fail_msg("docs/functions.md is out of date: make functions-table");
  tm_heap_free(now);
  tm_heap_free(list);
  tm_text_clear(&text);
}

/* ---- names we lack ------------------------------------------------------ */

static const char *without_u(const char *name, char *buffer, size_t size) {
  size_t n = strlen(name);
  bool lup = ends_with(name, "_lupdf") || ends_with(name, "_lupmf");
  snprintf(buffer, size, "%.*s%s", (int)(lup ? n - 6 : n), name,
           !lup                        ? ""
           : ends_with(name, "_lupdf") ? "_lpdf"
                                       : "_lpmf");
  return buffer;
}

/* Known, refused by name, or part of the language. */
static bool is_known(const row *r) {
  char name[100];
  tm_type type;
  bool exists;
  without_u(r->name, name, sizeof name);
  (void)tm_builtin_find(name, NULL, 0, &type, &exists);
  return exists || tm_builtin_unsupported(name) || is_statement(name) ||
         is_supported(r);
}

static void every_name_is_known(void **state) {
  (void)state;
  char *list = read_text(SOURCE_DIR "/tests/language/stan_functions.txt");
  assert_non_null(list);
  int missing = 0;
  for (const char *line = list; *line;) {
    size_t n = strcspn(line, "\n");
    row r = read_row(line, n);
    if (!is_known(&r)) {
      print_error("%s is neither there nor refused by name\n", r.name);
      missing++;
    }
    line += n + (line[n] == '\n');
  }
  tm_heap_free(list);
  assert_int_equal(missing, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(functions_md_says_what_there_is),
      cmocka_unit_test(every_name_is_known),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
