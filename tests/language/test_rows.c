/* Statements over rows give the densities and gradients that they give one by
 * one: programs are put together at random from statements of that kind, as
 * they are and behind a condition, where they are left as they are. */
#include "base/text.h"
#include "model/model.h"

#include "cmocka_all.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PROGRAMS = 12, STATEMENTS = 6, POINTS = 5, N = 700, GROUPS = 7 };

static const char HEAD[] =
    "data { int N; int J; int K; vector[N] x; vector[N] w; vector[N] y;\n"
    "  array[N] int<lower=1> g; array[N] int<lower=1> h; matrix[N, K] X;\n"
    "  array[N] int<lower=0> c; array[N] int<lower=0, upper=1> b; }\n"
    "parameters { vector[J] a; vector[K] beta; matrix[J, J] m; real mu;\n"
    "  real<lower=0> s; real<lower=0, upper=1> p; vector[N] z; }\n"
    "transformed parameters { vector[J] t = mu + s * a; vector[N] v;\n"
    "  for (n in 1:N) v[n] = t[g[n]] + x[n] * beta[1]; }\n";

static const char PRIOR[] =
    "  a ~ normal(0, 1);\n  beta ~ normal(0, 1);\n  mu ~ normal(0, 1);\n"
    "  s ~ lognormal(0, 0.5);\n  p ~ beta(2, 2);\n  z ~ normal(0, 1);\n"
    "  to_vector(m) ~ normal(0, 1);\n";

static const char *const LINES[] = {
    "for (n in 1:N) y[n] ~ normal(a[g[n]] + x[n] * beta[1], s);",
    "for (n in 1:N) y[n] ~ normal(t[g[n]] + w[n] * beta[2], s);",
    "for (n in 1:N) { real e = mu; e = e + exp(beta[1]) * w[n];\n"
    "  b[n] ~ bernoulli_logit(e); }",
    "for (n in 2:N) y[n] ~ normal(mu + beta[1] * y[n - 1], s);",
    "for (n in 1:N) target += normal_lpdf(y[n] | m[g[n], h[n]], s);",
    "for (n in 1:N) target += log_mix(p, normal_lpdf(y[n] | mu, s),\n"
    "  normal_lpdf(y[n] | a[1], 1));",
    "for (n in 1:N) target += log_sum_exp(mu * w[n], x[n] + a[h[n]])\n"
    "  + y[n] * mu - square(a[g[n]]); // @likelihood",
    "for (n in 1:N) c[n] ~ poisson_log(mu + a[g[n]]);",
    "for (n in 1:N) c[n] ~ neg_binomial_2(exp(t[g[n]]), s);",
    "for (n in 1:N) y[n] ~ student_t(4, X[n] * beta, s);",
    "for (n in 1:N) y[n] ~ normal(dot_product(X[n], beta), s);",
    "for (n in 3:N) { real e = mu; for (k in 1:K) e += beta[k] * y[n - 1];\n"
    "  y[n] ~ normal(e, s); }",
    "for (n in 1:N) y[n] ~ von_mises(mu + a[g[n]], s);",
    "y ~ normal(mu, s);",
    "y ~ normal(mu + beta[1] * x + beta[2] * w, s);",
    "y ~ normal(X * beta, s);",
    "y ~ normal(mu + X * beta - x / 2, s);",
    "y ~ normal(a[g] + beta[1] * w, s);",
    "y ~ normal(v, s);",
    "y ~ double_exponential(2 * v + mu, s);",
    "y ~ normal(z .* x + mu, s + square(w));",
    "b ~ bernoulli_logit(mu + beta[1] * w);",
    "b ~ bernoulli_logit_glm(X, mu, beta);",
    "c ~ poisson_log_glm(X, a[g], beta);",
    "c ~ poisson(exp(mu) * w);",
    "y ~ normal_id_glm(X, mu, beta, s);",
    "{ vector[N] e = mu + beta[1] * x; y ~ cauchy(e, s); }",
    "{ vector[N] e; for (n in 1:N) e[n] = mu * x[n];\n"
    "  for (n in 1:N) y[n] ~ logistic(e[n] + a[g[n]], s); }",
    "{ vector[N] e; for (n in 1:N) { e[n] = mu * x[n];\n"
    "  y[n] ~ normal(e[n], s); } }",
    "{ real e = 0; for (n in 1:N) { y[n] ~ normal(e * mu, s);\n"
    "  e = 0.5 * e + x[n]; } }",
    "{ vector[N] e; e[1] = mu; for (n in 2:N) e[n] = mu + 0.5 * e[n - 1];\n"
    "  y ~ normal(e, s); }",
    "{ vector[J] q = a; for (n in 1:N) y[n] ~ normal(q[g[n]] * x[n], 1);\n"
    "  q = q * 2; y ~ normal(q[g], 2); }",
    "for (n in 1:N) target += mu * s; // @prior",
};
enum { LINE_COUNT = sizeof LINES / sizeof *LINES };

/* Numbers by a fixed rule; groups and counts repeat, x does not. */
static void add_series(tm_text *data, const char *name, int kind) {
  tm_text_printf(data, ", \"%s\": [", name);
  for (int i = 0; i < N; i++) {
    double f = fmod(0.6180339887498949 * (i * i % 911 + 7 * i + kind), 1);
    double value = kind == 0   ? 4 * f - 2             /* x */
                   : kind == 1 ? 0.5 + floor(3 * f)    /* w */
                   : kind == 2 ? 2 * f - 0.5           /* y */
                   : kind <= 4 ? 1 + floor(GROUPS * f) /* g, h */
                   : kind == 5 ? floor(5 * f * f)      /* c */
                               : floor(2 * f);         /* b */
    tm_text_printf(data, "%s%.15g", i ? "," : "", value);
  }
  tm_text_add(data, "]");
}

static void make_data(tm_text *data) {
  static const char *const names[] = {"x", "w", "y", "g", "h", "c", "b"};
  tm_text_printf(data, "{\"N\": %d, \"J\": %d, \"K\": 3, \"X\": [", N, GROUPS);
  for (int i = 0; i < N; i++)
    tm_text_printf(data, "%s[1,%.15g,%d]", i ? "," : "", sin(i), i % 3);
  tm_text_add(data, "]");
  for (int k = 0; k < 7; k++)
    add_series(data, names[k], k);
  tm_text_add(data, "}");
}

static tempera_model *load(const tm_text *given, const tm_text *text) {
  tempera_error error = {0};
  tempera_data *data = NULL;
  tempera_program *program = NULL;
  tempera_model *model = NULL;
  assert_int_equal(
      tempera_data_parse(given->data, given->length, &data, &error), 0);
  if (tempera_program_parse("rows.stan", text->data, text->length, &program,
                            &error) ||
      tempera_program_load(program, data, &model, &error))
    fail_msg("%s\n%s", error.message, text->data);
  tempera_program_free(program);
  tempera_data_free(data);
  return model;
}

typedef struct answer {
  tm_arena *arena;
  tm_evaluator evaluator;
  tm_point point;
  double *slopes;
} answer;

static void open_answer(answer *a, tempera_model *model) {
  tempera_error error;
  a->arena = tm_arena_create();
  assert_int_equal(tm_evaluator_create(model, a->arena, &a->evaluator, &error),
                   0);
  assert_int_equal(tm_point_create(model, a->arena, &a->point, &error), 0);
  a->slopes = TM_NEW(a->arena, double, 2 * model->dimension);
}

static void evaluate(answer *a, size_t n) {
  tm_evaluate_gradient(&a->evaluator, &a->point, a->slopes, a->slopes + n);
}

static void close_answer(answer *a) {
  tm_evaluator_release(&a->evaluator);
  tm_arena_free(a->arena);
}

static void assert_close(double got, double expected, double scale,
                         const char *text) {
  if (fabs(got - expected) > 1e-10 * fmax(fabs(expected), scale))
    fail_msg("%.17g, one by one %.17g\n%s", got, expected, text);
}

static void compare(tempera_model *rows, tempera_model *plain,
                    tempera_random *random, const char *text) {
  answer a, b;
  size_t n = rows->dimension;
  open_answer(&a, rows);
  open_answer(&b, plain);
  for (int i = 0; i < POINTS; i++) {
    for (size_t k = 0; k < n; k++)
      a.point.u[k] = b.point.u[k] = tempera_random_uniform(random) - 0.5;
    evaluate(&a, n);
    evaluate(&b, n);
    double most = 1;
    for (size_t k = 0; k < 2 * n; k++)
      most = fmax(most, fabs(b.slopes[k]));
    assert_close(a.point.log_prior, b.point.log_prior, 1, text);
    assert_close(a.point.log_likelihood, b.point.log_likelihood, 1, text);
    for (size_t k = 0; k < 2 * n; k++)
      assert_close(a.slopes[k], b.slopes[k], 1e-3 * most, text);
    double gradient = a.point.log_likelihood;
    tm_evaluate(&a.evaluator, &a.point);
    assert_close(a.point.log_likelihood, gradient, 1, text);
  }
  close_answer(&a);
  close_answer(&b);
}

static void make_program(tm_text *text, const int *chosen, int count,
                         bool behind) {
  tm_text_add(text, HEAD);
  tm_text_add(text, "model {\n");
  tm_text_add(text, PRIOR);
  for (int i = 0; i < count; i++)
    tm_text_printf(text, behind ? "if (N > 0) {\n%s\n}\n" : "%s\n",
                   LINES[chosen[i]]);
  tm_text_add(text, "}\n");
}

static void check(const tm_text *data, const int *chosen, int count,
                  tempera_random *random) {
  tm_text text[2] = {{0}, {0}};
  tempera_model *model[2];
  for (int i = 0; i < 2; i++) {
    make_program(&text[i], chosen, count, i);
    model[i] = load(data, &text[i]);
  }
  compare(model[0], model[1], random, text[0].data);
  for (int i = 0; i < 2; i++) {
    tempera_model_free(model[i]);
    tm_text_clear(&text[i]);
  }
}

static void rows_and_one_by_one_agree(void **state) {
  (void)state;
  tempera_random random = tm_random(3, 0, TM_PURPOSE_TEST);
  tm_text data = {0};
  make_data(&data);
  for (int i = 0; i < LINE_COUNT; i += STATEMENTS) { /* each at least once */
    int chosen[STATEMENTS], count = 0;
    while (count < STATEMENTS && i + count < LINE_COUNT) {
      chosen[count] = i + count;
      count++;
    }
    check(&data, chosen, count, &random);
  }
  for (int i = 0; i < PROGRAMS; i++) {
    int chosen[STATEMENTS];
    for (int k = 0; k < STATEMENTS; k++)
      chosen[k] = (int)tempera_random_below(&random, LINE_COUNT);
    check(&data, chosen, STATEMENTS, &random);
  }
  tm_text_clear(&data);
}

int main(void) {
  setenv("TEMPERA_ROWS", "1", 1);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_and_one_by_one_agree),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
