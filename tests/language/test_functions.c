/* A second opinion on the built-in functions, by the table itself, so that none
 * is left out: gradients of all of them equal differences, and the identities
 * of tests/language/identities.txt hold. */
#include "base/file.h"
#include "base/text.h"
#include "language/check/types.h"
#include "language/runtime/runtime.h"
#include "tempera.h"

#include "cmocka_all.h"

#include <gsl/gsl_errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "function_arguments.h"

/* All of them are looked at before the test fails. */
static int failures;
#define COMPLAIN(...) (failures++, print_error(__VA_ARGS__))

typedef struct argument {
  tm_any any;
  /* Elements move in pairs: with the mirrored one; against the next of a row,
   * whose sum stays; and not on the diagonal, or not above it. */
  bool symmetric, data, simplex, hollow, lower;
} argument;

typedef struct call {
  tm_tape *tape;
  tm_fn function;
  argument arguments[10];
  int count;
  const char *name, *signature;
} call;

/* ---- reading arguments -------------------------------------------------- */

/* Numbers of a nested list, row by row; dims by the way. */
static void read_list(const char **at, double *v, long *n, int *dim, int depth,
                      int *rank) {
  int items = 0;
  for (++*at; **at != ']'; items++) {
    if (**at == ',')
      ++*at;
    if (**at == '[')
      read_list(at, v, n, dim, depth + 1, rank);
    else
      v[(*n)++] = strtod(*at, (char **)(uintptr_t)at);
  }
  ++*at;
  dim[depth] = items;
  *rank = *rank > depth + 1 ? *rank : depth + 1;
}

static argument read_argument(tm_tape *tape, const char **at, bool whole) {
  argument a = {.symmetric = false};
  for (; **at && strchr("sdnhl", **at); ++*at)
    *(**at == 's'   ? &a.symmetric
      : **at == 'd' ? &a.data
      : **at == 'n' ? &a.simplex
      : **at == 'h' ? &a.hollow
                    : &a.lower) = true;
  if (**at != '[') {
    double x = strtod(*at, (char **)(uintptr_t)at);
    a.any = whole ? tm_any_int((long)x) : tm_any_real(x);
    return a;
  }
  double v[200];
  long n = 0;
  int dim[TM_RANK] = {0}, rank = 0;
  read_list(at, v, &n, dim, 0, &rank);
  tm_tensor t = tm_tensor_new(tape, rank, dim, 0);
  memcpy(t.v, v, (size_t)n * sizeof(double));
  a.any = tm_any_tensor(t, 1);
  return a;
}

/* ---- calls --------------------------------------------------------------- */

static tm_any array_of_one(tm_tape *tape, tm_tensor t) {
  int dim[TM_RANK] = {1};
  memcpy(dim + 1, t.dim, (size_t)t.rank * sizeof *dim);
  tm_tensor array = tm_tensor_new(tape, t.rank + 1, dim, 0);
  memcpy(array.v, t.v, (size_t)tm_count(&t) * sizeof(double));
  return tm_any_tensor(array, 1);
}

static void read_call(call *c, int turn) {
  const char *own = chosen(c->name, c->signature), *at = c->signature;
  for (c->count = 0; *at && *at != ':'; c->count++) {
    char type[16];
    type_at(&at, turn, type);
    if (*at == ',')
      at++;
    const char *text = own ? own : default_of(type);
    bool wrapped = own && type[0] == '[' && type[1] && c->signature[0] == '*' &&
                   c->count == 0;
    c->arguments[c->count] = read_argument(c->tape, &text, strchr(type, 'i'));
    if (wrapped)
      c->arguments[0].any = array_of_one(c->tape, c->arguments[0].any.u.t);
    if (own)
      own = text + strspn(text, " ");
  }
}

/* ---- gradients ---------------------------------------------------------- */

/* The arguments with room for adjoints where wanted, and a weighted sum of the
 * result. */
static double evaluate(call *c, bool active) {
  tm_any a[10];
  for (int i = 0; i < c->count; i++) {
    a[i] = c->arguments[i].any;
    if (!active && a[i].tag == TM_TAG_TENSOR)
      a[i].u.t.d = NULL;
    else if (!active && a[i].tag == TM_TAG_REAL)
      a[i].u.r.d = NULL;
  }
  tm_any out = c->function(c->tape, a, c->count);
  double sum = 0;
  tm_view v;
  tm_view_of(&out, &v);
  for (long k = 0; k < v.n; k++) {
    double weight = cos((double)k + 1);
    sum += weight * v.v[k];
    if (active && v.d)
      v.d[k] += weight;
  }
  if (active)
    tm_backward(c->tape);
  return sum;
}

static double slope_by_differences(call *c, double *x, double *pair,
                                   double sign) {
  static const double where[] = {-3, -2, -1, 1, 2, 3},
                      weights[] = {-1, 9, -45, 45, -9, 1};
  double h = 1e-3, sum = 0, before = *x, other = *pair;
  for (int k = 0; k < 6; k++) {
    *x = before + where[k] * h;
    if (pair != x)
      *pair = other + sign * where[k] * h;
    sum += weights[k] * evaluate(c, false);
  }
  *x = before;
  *pair = other;
  return sum / (60 * h);
}

static void check_slope(call *c, int i, double *x, double *pair, double sign,
                        double ours) {
  double slope = slope_by_differences(c, x, pair, sign);
  if (!(fabs(slope - ours) < 1e-6 * fmax(1, fabs(slope))))
    COMPLAIN("%s(%s), argument %d: %.10g, by differences %.10g\n", c->name,
             c->signature, i + 1, ours, slope);
}

static void check_argument(call *c, int i) {
  argument *a = &c->arguments[i];
  if (a->any.tag == TM_TAG_REAL) {
    double *x = &a->any.u.r.v;
    check_slope(c, i, x, x, 1, *a->any.u.r.d);
    return;
  }
  const tm_tensor *t = &a->any.u.t;
  long n = tm_count(t), width = t->dim[t->rank - 1];
  for (long k = 0; k < n; k++) {
    long row = k / width, column = k % width;
    if ((a->hollow && row == column) || (a->lower && row < column))
      continue;
    long turned = a->symmetric ? column * width + row
                  : a->simplex ? row * width + (column + 1) % width
                               : k;
    double sign = a->simplex ? -1 : 1;
    double ours = t->d[k] + (turned != k ? sign * t->d[turned] : 0);
    check_slope(c, i, t->v + k, t->v + turned, sign, ours);
  }
}

static bool give_adjoints(call *c, int i) {
  argument *a = &c->arguments[i];
  if (a->data || a->any.tag == TM_TAG_INT)
    return false;
  if (a->any.tag == TM_TAG_REAL)
    a->any.u.r.d = tm_take(c->tape, sizeof(double));
  else
    a->any.u.t.d =
        tm_take(c->tape, (size_t)tm_count(&a->any.u.t) * sizeof(double) + 1);
  return true;
}

/* Whole arguments have no slope: types with i. */
static bool is_whole(const call *c, int wanted, int turn) {
  const char *at = c->signature;
  char type[16] = "";
  for (int i = 0; i <= wanted; i++) {
    type_at(&at, turn, type);
    if (*at == ',')
      at++;
  }
  return strchr(type, 'i') != NULL;
}

static void check_call(const char *name, const char *signature, int turn) {
  tm_tape tape = {0};
  tm_guard guard;
  tm_tape_start(&tape, &guard);
  call c = {&tape,         tm_the_runtime.find(name, signature),
            {{{0}, 0, 0}}, 0,
            name,          signature};
  if (setjmp(guard.place)) {
    COMPLAIN("%s(%s): %s\n", name, signature, guard.message);
    tm_tape_free(&tape);
    return;
  }
  read_call(&c, turn);
  bool active[10];
  for (int i = 0; i < c.count; i++)
    active[i] = !is_whole(&c, i, turn) && give_adjoints(&c, i);
  double value = evaluate(&c, true);
  if (!isfinite(value))
    COMPLAIN("%s(%s): %g\n", name, signature, value);
  for (int i = 0; i < c.count; i++)
    if (active[i])
      check_argument(&c, i);
  tm_tape_free(&tape);
}

/* In each of the shapes. */
static void check_complex(const tm_builtin *b) {
  for (int turn = 0; turn < 5; turn++)
    check_call(b->name, b->signature, turn);
}

static void every_gradient_equals_differences(void **state) {
  (void)state;
  for (size_t i = 0; i < tm_builtin_count(); i++) {
    const tm_builtin *b = tm_builtin_at(i);
    if (b->kind >= TM_B_COMPLEX && b->kind <= TM_B_PAIR)
      check_complex(b);
    else if (b->kind == TM_B_MAP1 || b->kind == TM_B_MAP2) {
      check_call(b->name, b->signature, 0);
      if (!chosen(b->name, b->signature))
        check_call(b->name, b->signature, 1);
    } else if (b->kind == TM_B_FIXED && has_gradient(b)) {
      bool once = chosen(b->name, b->signature) ||
                  !strpbrk(b->signature, "RILVSDMPQXn");
      bool arrays = b->signature[0] == '*';
      for (int turn = 0; turn < (arrays ? 2 : once ? 1 : 4); turn++)
        check_call(b->name, b->signature, turn);
    }
  }
  assert_int_equal(failures, 0);
}

/* ---- identities --------------------------------------------------------- */

static void add_identity(tm_text *text, const char *line, size_t n,
                         int number) {
  const char *middle = strstr(line, " == ");
  if (!middle || middle > line + n)
    fail_msg("identities.txt:%d: no ==", number);
  tm_text_add(text, "  same(");
  tm_text_add_bytes(text, line, (size_t)(middle - line));
  tm_text_add(text, ", ");
  tm_text_add_bytes(text, middle + 4, n - (size_t)(middle + 4 - line));
  tm_text_printf(text, ", %d);\n", number);
}

/* Lines up to --- are the program's beginning; then one identity each. */
static void write_program(tm_text *text, const char *from) {
  bool head = true;
  int number = 1;
  for (const char *line = from; *line; number++) {
    size_t n = strcspn(line, "\n");
    if (head && !strncmp(line, "---", 3))
      head = false;
    else if (head)
      tm_text_add_bytes(text, line, n + 1);
    else if (n && line[0] != '#')
      add_identity(text, line, n, number);
    line += n + (line[n] == '\n');
  }
  tm_text_add(text, "}\nparameters { real<lower=0, upper=1> u_; }\n");
}

static void identities_hold(void **state) {
  (void)state;
  char *from = NULL;
  size_t length;
  tm_text text = {0};
  tempera_error error = {0};
  tempera_program *program = NULL;
  tempera_model *model = NULL;
  assert_int_equal(tm_file_read(SOURCE_DIR "/tests/language/identities.txt",
                                &from, &length, NULL),
                   TEMPERA_OK);
  write_program(&text, from);
  if (tempera_program_parse("identities", text.data, text.length, &program,
                            &error) ||
      tempera_program_load(program, NULL, &model, &error))
    fail_msg("%d:%d: %s", error.line, error.column, error.message);
  tempera_model_free(model);
  tempera_program_free(program);
  tm_text_clear(&text);
  tm_heap_free(from);
}

int main(void) {
  gsl_set_error_handler_off();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_gradient_equals_differences),
      cmocka_unit_test(identities_hold),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
