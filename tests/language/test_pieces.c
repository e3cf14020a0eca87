/* Sums over long data are cut into pieces, which threads share: they are the
 * sums of one by one, and have the same bits whoever does the pieces. */
#include "base/text.h"
#include "language/load/load.h"
#include "parallel/threads.h"

#include "model_answer.h"

#include <math.h>
#include <string.h>

enum { N = 60000, GROUPS = 40, MOST = 100, POINTS = 3 };

static const char PROGRAM[] =
    "data { int N; int J; vector[N] x; vector[N] y; array[N] int c;\n"
    "  array[N] int<lower=1> g; matrix[N, 2] X; }\n"
    "parameters { vector[J] a; vector[2] beta; real mu; real<lower=0> s;\n"
    "  real<lower=0, upper=1> p; }\n"
    "transformed parameters { vector[J] t = mu + s * a; }\n"
    "model {\n"
    "a ~ normal(0, 1); beta ~ normal(0, 1); mu ~ normal(0, 1);\n"
    "s ~ lognormal(0, 0.5); p ~ beta(2, 2);\n"
    "for (n in 1:N) y[n] ~ student_t(4, t[g[n]] + X[n] * beta, s);\n"
    "c ~ poisson_log(mu + beta[1] * x + a[g]);\n"
    "for (n in 1:N) target += log_mix(p, normal_lpdf(y[n] | mu, s),\n"
    "  normal_lpdf(y[n] | a[1], 1));\n"
    "for (n in 1:N) { vector[3] q; for (k in 1:3) q[k] = a[k] * x[n]\n"
    "  + normal_lpdf(y[n] | a[k], s * k); target += log_sum_exp(q); }\n"
    "for (n in 1:N) y[n] ~ von_mises(mu + x[n], exp(beta[2]));\n"
    "y ~ normal(mu, s + square(x)); }\n";

static void add_numbers(tm_text *data, const char *name, int kind) {
  tm_text_printf(data, ", \"%s\": [", name);
  for (int i = 0; i < N; i++) {
    double f = fmod(0.6180339887498949 * (i + 1 + kind), 1);
    double value = kind == 0   ? 4 * f - 2 /* x */
                   : kind == 1 ? 2 * f - sin(i)
                   : kind == 2 ? floor(4 * f * f)
                               : 1 + floor(GROUPS * f);
    tm_text_printf(data, "%s%.15g", i ? "," : "", value);
  }
  tm_text_add(data, "]");
}

static void load(tempera_model *model[2]) {
  static const tm_way ways[] = {TM_BY_ROWS, TM_ONE_BY_ONE};
  static const char *const names[] = {"x", "y", "c", "g"};
  tempera_error error = {0};
  tempera_data *data = NULL;
  tempera_program *program = NULL;
  tm_text text = {0};
  bool no = false;
  tm_text_printf(&text, "{\"N\": %d, \"J\": %d, \"X\": [", N, GROUPS);
  for (int i = 0; i < N; i++)
    tm_text_printf(&text, "%s[1,%.15g]", i ? "," : "", cos(i));
  tm_text_add(&text, "]");
  for (int k = 0; k < 4; k++)
    add_numbers(&text, names[k], k);
  tm_text_add(&text, "}");
  assert_int_equal(tempera_data_parse(text.data, text.length, &data, &error),
                   0);
  if (tempera_program_parse("pieces.stan", PROGRAM, strlen(PROGRAM), &program,
                            &error))
    fail_msg("%s", error.message);
  for (int i = 0; i < 2; i++)
    if (tm_load_way(program, ways[i], data, &no, &model[i], &error) || no)
      fail_msg("%s", error.message);
  assert_int_equal(program->tree.rows.count, 6);
  tempera_program_free(program);
  tempera_data_free(data);
  tm_text_clear(&text);
}

/* ---- asking on a crew ---------------------------------------------------- */

typedef struct question {
  answer *by;
  size_t n;
  double value, slopes[2 * MOST];
} question;

static void ask(size_t i, void *context) {
  question *q = context;
  if (i > 0)
    return; /* its thread is free to help */
  evaluate(q->by, q->n);
  q->value = q->by->point.log_likelihood;
  memcpy(q->slopes, q->by->slopes, 2 * q->n * sizeof(double));
}

static void assert_close(double got, double expected, double scale) {
  if (!(fabs(got - expected) <= 1e-10 * fmax(fabs(expected), scale)))
    fail_msg("%.17g, one by one %.17g", got, expected);
}

static void set_point(answer *by, size_t n, int point) {
  for (size_t k = 0; k < n; k++)
    by->point.u[k] = 0.5 * sin((double)k + 7 * point);
}

static void pieces_are_the_sum_whoever_does_them(void **state) {
  (void)state;
  tempera_model *model[2];
  answer by[2];
  load(model);
  size_t n = model[0]->dimension;
  assert_true(n <= MOST);
  for (int i = 0; i < 2; i++)
    open_answer(&by[i], model[i]);
  for (int point = 0; point < POINTS; point++) {
    question alone = {.by = &by[0], .n = n};
    for (int i = 0; i < 2; i++)
      set_point(&by[i], n, point);
    ask(0, &alone);
    evaluate(&by[1], n);
    assert_close(alone.value, by[1].point.log_likelihood, 1);
    for (size_t k = 0; k < n; k++)
      assert_close(alone.slopes[k], by[1].slopes[k], 1e-3 * N);
    for (int threads = 1; threads <= 8; threads *= 2)
      for (size_t pieces = 1; pieces <= 3; pieces += 2) {
        question q = {.by = &by[0], .n = n};
        tm_parallel_for(pieces, threads, ask, &q);
        assert_memory_equal(&q.value, &alone.value, sizeof q.value);
        assert_memory_equal(q.slopes, alone.slopes, 2 * n * sizeof(double));
      }
  }
  for (int i = 0; i < 2; i++) {
    close_answer(&by[i]);
    tempera_model_free(model[i]);
  }
}

/* A density of zero in one piece is one of all. */
static void zero_in_a_piece_is_zero(void **state) {
  (void)state;
  tempera_model *model[2];
  answer by;
  load(model);
  size_t n = model[0]->dimension;
  open_answer(&by, model[0]);
  set_point(&by, n, 0);
  by.point.u[GROUPS] = 1e200; /* overflows where its column is not 0 */
  evaluate(&by, n);
  assert_true(by.point.log_likelihood == -INFINITY);
  set_point(&by, n, 0);
  evaluate(&by, n);
  assert_true(isfinite(by.point.log_likelihood));
  close_answer(&by);
  for (int i = 0; i < 2; i++)
    tempera_model_free(model[i]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pieces_are_the_sum_whoever_does_them),
      cmocka_unit_test(zero_in_a_piece_is_zero)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
