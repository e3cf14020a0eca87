/* reduce_sum in pieces: the same bits for any number of threads, and the values
 * and slopes of the function called once for all slices. */
#include "base/text.h"
#include "language/program.h"
#include "model/model.h"
#include "parallel/threads.h"

#include "model_answer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 1700, POINTS = 3 };

static const char FUNCTIONS[] =
    "functions {\n"
    "  real part(array[] int c, int from, int to, vector x, vector a, real m) "
    "{\n"
    "    return bernoulli_logit_lpmf(c | m + x[from:to] * a[2] + a[1]); }\n"
    "  real loop_lpmf(array[] int c, int from, int to, vector x, vector a,\n"
    "                 real m) { real s = 0;\n"
    "    for (i in from:to) s += bernoulli_logit_lpmf(c[i - from + 1] |\n"
    "      m * x[i] + square(a[1])); return s; }\n"
    "  real own(array[] real z, int from, int to, array[] vector w, int k) {\n"
    "    real s = 0; for (i in from:to) s += z[i - from + 1] * sin(w[i, k])\n"
    "      - square(z[i - from + 1]); return s; }\n"
    "  vector fall(real t, vector y, real r) { return -r * y; }\n"
    "  real solved(array[] real u, int from, int to, real r) { real s = 0;\n"
    "    for (i in 1:size(u)) s += normal_lpdf(u[i] | ode_rk45(fall, [2.0]', "
    "0,\n"
    "      {0.1 * (from + i)}, r)[1, 1], 1); return s; }\n"
    "  real picky(array[] int c, int from, int to, real m) {\n"
    "    if (to > 100 && m > 0.2) reject(\"slice \", from, \" to \", to);\n"
    "    return bernoulli_logit_lpmf(c | m); }\n"
    "}\n"
    "data { int N; int g; vector[N] x; array[N] int c; array[N] vector[2] w;\n"
    "  array[7] real u; }\n"
    "parameters { vector[2] a; real m; real<lower=0> r; array[N] real z; }\n"
    "model { a ~ normal(0, 1); m ~ normal(0, 1); r ~ lognormal(0, 1);\n"
    "  z ~ normal(0, 1);\n";

/* In pieces, and at once. */
static const char *const LINES[][2] = {
    {"target += reduce_sum(part, c, 1, x, a, m);",
     "target += part(c, 1, N, x, a, m);"},
    {"target += reduce_sum(loop_lpmf, c, g, x, a, m);",
     "target += loop_lpmf(c | 1, N, x, a, m);"},
    {"target += reduce_sum(loop_lupmf, c, 130, x, [m, r]', a[1] * r);",
     "target += loop_lpmf(c | 1, N, x, [m, r]', a[1] * r);"},
    {"target += 2 * reduce_sum(own, z, 1, w, 2) * m; // @likelihood",
     "target += 2 * own(z, 1, N, w, 2) * m; // @likelihood"},
    {"target += reduce_sum(solved, u, 1, r);", "target += solved(u, 1, 7, r);"},
};
enum { LINE_COUNT = sizeof LINES / sizeof *LINES };

static void make_data(tm_text *data, int grain) {
  tm_text_printf(data, "{\"N\": %d, \"g\": %d", N, grain);
  tm_text_add(data, ", \"u\": [1, 1.5, 1, 2, 0, 1, 1], \"x\": [");
  for (int i = 0; i < N; i++)
    tm_text_printf(data, "%s%.15g", i ? "," : "", sin(i));
  tm_text_add(data, "], \"c\": [");
  for (int i = 0; i < N; i++)
    tm_text_printf(data, "%s%d", i ? "," : "", i * i % 7 > 2);
  tm_text_add(data, "], \"w\": [");
  for (int i = 0; i < N; i++)
    tm_text_printf(data, "%s[%d,%.15g]", i ? "," : "", i % 3, cos(i));
  tm_text_add(data, "]}");
}

static tempera_model *load(const char *line, int grain) {
  tempera_error error = {0};
  tempera_program *program = NULL;
  tempera_data *data = NULL;
  tempera_model *model = NULL;
  tm_text text = {0}, numbers = {0};
  tm_text_printf(&text, "%s%s\n}\n", FUNCTIONS, line);
  make_data(&numbers, grain);
  assert_int_equal(
      tempera_data_parse(numbers.data, numbers.length, &data, &error), 0);
  if (tempera_program_parse("slices.stan", text.data, text.length, &program,
                            &error) ||
      tempera_program_load(program, data, &model, &error))
    fail_msg("%s\n%s", error.message, text.data);
  tempera_program_free(program);
  tempera_data_free(data);
  tm_text_clear(&text);
  tm_text_clear(&numbers);
  return model;
}

/* Evaluated on a thread that others help. */
typedef struct asked {
  answer *a;
  size_t n;
} asked;

static void evaluate_there(size_t piece, void *context) {
  const asked *q = context;
  (void)piece;
  evaluate(q->a, q->n);
}

static void set_point(answer *a, size_t n, int number) {
  tempera_random random = tm_random(5, (uint32_t)number, TM_PURPOSE_TEST);
  for (size_t k = 0; k < n; k++)
    a->point.u[k] = 0.7 * tempera_random_normal(&random);
}

static void assert_close(double got, double wanted) {
  if (!(fabs(got - wanted) <= 1e-12 * fmax(1, 1000 * fabs(wanted))))
    fail_msg("%.17g in pieces, %.17g at once", got, wanted);
}

/* On 1 to 4 threads; the tapes keep what they have grown to. */
static void compare(answer *a, answer *whole, size_t n) {
  double value = 0, *slopes = TM_NEW(a->arena, double, 2 * n);
  for (int threads = 1; threads <= 4; threads++) {
    tm_parallel_for(1, threads, evaluate_there, &(asked){a, n});
    if (threads == 1) {
      value = a->point.log_likelihood;
      memcpy(slopes, a->slopes, 2 * n * sizeof *slopes);
    }
    assert_true(value == a->point.log_likelihood);
    assert_memory_equal(slopes, a->slopes, 2 * n * sizeof *slopes);
  }
  evaluate(whole, n);
  assert_true(isfinite(value));
  assert_close(value, whole->point.log_likelihood);
  for (size_t k = 0; k < 2 * n; k++)
    assert_close(slopes[k], whole->slopes[k]);
  tm_evaluate(&a->evaluator, &a->point);
  assert_close(a->point.log_likelihood, value);
}

static void pieces_are_the_whole_on_any_threads(void **state) {
  (void)state;
  static const int grains[] = {1, 2, 1000, 5000};
  for (int line = 0; line < LINE_COUNT; line++)
    for (int i = 0; i < (line == 1 ? 4 : 1); i++) {
      tempera_model *model[2] = {load(LINES[line][0], grains[i]),
                                 load(LINES[line][1], 1)};
      size_t n = model[0]->dimension;
      answer a, whole;
      assert_int_equal(n, N + 4);
      open_answer(&a, model[0]);
      open_answer(&whole, model[1]);
      for (int point = 0; point < POINTS; point++) {
        set_point(&a, n, point);
        set_point(&whole, n, point);
        compare(&a, &whole, n);
      }
      close_answer(&a);
      close_answer(&whole);
      for (int m = 0; m < 2; m++)
        tempera_model_free(model[m]);
    }
}

static void a_piece_that_rejects_rejects_the_point(void **state) {
  (void)state;
  tempera_model *model = load("target += reduce_sum(picky, c, 1, m);", 1);
  size_t n = model->dimension;
  answer a;
  open_answer(&a, model);
  for (int i = 0; i < 4; i++) {
    set_point(&a, n, 0);
    a.point.u[2] = i % 2 ? 0.1 : 0.3;
    tm_parallel_for(1, 1 + i, evaluate_there, &(asked){&a, n});
    assert_true(isfinite(a.point.log_likelihood) == i % 2);
    if (i % 2)
      continue;
    const char *why = tm_reason(&a.evaluator);
    assert_non_null(why);
    assert_non_null(strstr(why, "slice "));
  }
  close_answer(&a);
  tempera_model_free(model);
}

/* Are they on more than one tape? */
static void long_sums_are_cut(void **state) {
  (void)state;
  tempera_error error = {0};
  tempera_program *program = NULL;
  char *text = NULL;
  tm_text line = {0};
  tm_text_printf(&line, "%s%s\n}\n", FUNCTIONS, LINES[0][0]);
  assert_int_equal(tempera_program_parse("slices.stan", line.data, line.length,
                                         &program, &error),
                   0);
  assert_int_equal(tempera_program_translate(program, &text, &error), 0);
  assert_non_null(strstr(text, "runtime->slices("));
  free(text);
  tempera_program_free(program);
  tm_text_clear(&line);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pieces_are_the_whole_on_any_threads),
      cmocka_unit_test(a_piece_that_rejects_rejects_the_point),
      cmocka_unit_test(long_sums_are_cut),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
