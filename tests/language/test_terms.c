/* The target in pieces: for every integer of a program, and every value of it,
 * the pieces that hold it change by what the whole densities change. Programs
 * are put together at random from statements that read integers in all ways. */
#include "base/text.h"
#include "model/model.h"

#include "cmocka_all.h"
#include "quick_compiler.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PROGRAMS = 10, STATEMENTS = 12, POINTS = 6 };

static const char HEAD[] =
    "functions {\n"
    "  real twist(int k, real b) { return sin(k * b); }\n"
    "  void push_lp(int k, real b) { target += cos(k * b); }\n"
    "}\n"
    "data { int N; int R; int C; vector[N] y; array[N] int<lower=1> next;\n"
    "  array[N] int count; }\n"
    "transformed data { int M = N - 1; }\n"
    "parameters {\n"
    "  array[N] int<lower=1, upper=3> z;\n"
    "  array[R, C] int<lower=0, upper=1> s;\n"
    "  array[N] int<lower=0> n;\n"
    "  int<lower=1, upper=3> k;\n"
    "  vector[3] mu;\n"
    "  real a;\n"
    "}\n";

static const char TRANSFORMED[] =
    "transformed parameters {\n"
    "  vector[N] eta;\n"
    "  real slope = a * z[2];\n"
    "  real<upper=1000> bounded = z[1] + z[3] * 0.5;\n"
    "  for (i in 1:N) eta[i] = mu[1] * y[i];\n"
    "}\n";

/* What any program needs, so that it is proper. */
static const char PRIOR[] =
    "  mu ~ normal(0, 1);\n  a ~ normal(0, 1);\n  n ~ poisson(3);\n";

/* `M` stands for a mark. Those from WHOLE on read every z at once. */
static const char *const LINES[] = {
    "for (i in 1:N) target += a * z[i]; M",
    "for (i in 1:N) y[i] ~ normal(mu[z[i]], 1);",
    "for (i in 1:M) target += 0.3 * z[i] * z[i + 1]; M",
    "for (i in 1:N) if (i < N) target += a * (z[i] == z[i + 1]); M",
    "for (i in 1:N) target += 0.2 * z[next[i]] * y[i]; M",
    "for (i in 1:N) target += 0.2 * z[N - i + 1] * mu[z[i]]; M",
    "for (r in 1:R) for (c in 1:C) target += s[r, c] * a; M",
    "for (r in 1:R) { for (c in 1:C) { int q = 2 * s[r, c] - 1;\n"
    "  if (c < C) target += 0.4 * q * (2 * s[r, c + 1] - 1); M\n"
    "  if (r < R) target += 0.4 * q * (2 * s[r + 1, c] - 1); M\n} }",
    "for (r in 1:R) for (c in r:C) target += s[r, c] * z[c] * 0.1; M",
    "for (r in 1:R) { real q = 0; for (c in 1:C) q += s[r, c] * mu[2];\n"
    "  target += q * q; M\n }",
    "for (r in 1:R) target += 0.5 * sum(s[r]) * a; M",
    "for (r in 1:R) s[r] ~ bernoulli(inv_logit(a));",
    "n ~ poisson(exp(mu[1]));",
    "z ~ categorical_logit(mu);",
    "for (i in 1:N) z[i] ~ categorical([0.2, 0.3, 0.5]');",
    "count ~ poisson(0.5 + exp(mu[2]));",
    "n ~ poisson(exp(a) * (0.1 + abs(y)));",
    "y ~ normal(mu[z], exp(a));",
    "y ~ normal(mu[z] * 2 - y .* mu[z], 2);",
    "y ~ normal(eta, 1);",
    "y ~ normal(eta + slope, 1);",
    "for (i in 1:N) y[i] ~ normal(eta[i] + slope * z[i], 1);",
    "for (i in 1:N) count[i] ~ binomial(n[i] + count[i], inv_logit(a));",
    "for (i in 1:N) target += twist(z[i], a) * y[i]; M",
    "for (i in 1:N) push_lp(z[i], a); M",
    "for (i in 1:N) { if (z[i] == 2) continue; target += a * n[i]; M\n }",
    "if (N > 3) { for (i in 1:N) target += a * z[i] * 0.1; M\n }\n"
    "else { for (i in 1:N) target += 9 * a * z[i]; M\n }",
    "if (k == 2) target += a * n[1]; M",
    "target += mu[k] * 0.3; M",
    "{ real q = a * z[k]; for (i in 1:N) target += q * n[i] * 0.1; M\n }",
    "{ int j = 1; while (j < N) { target += 0.1 * n[j]; M\n"
    "  j += z[j]; } }",
    "for (i in 1:z[1]) target += 0.1 * n[i] * a; M",
    "for (i in 1:N) { if (z[i] == 3) break; target += 0.1 * n[i]; M\n }",
    "for (i in 1:N) target += -0.5 * square(y[i] - mu[z[z[i]]]); M",
    "target += normal_lpdf(y | mu[z], 1) + 0.1 * n[2]; M",
    "for (v in z) target += 0.1 * v * a; M",
    "target += 0.01 * dot_product(to_vector(z), y); M",
    "mu ~ normal(z[1], 1);",
    "if (N < 3) { for (i in 1:N) target += z[next[i + 9]]; M\n }",
};
enum { LINE_COUNT = sizeof LINES / sizeof *LINES };

static void add_line(tm_text *text, const char *line, tempera_random *random) {
  for (const char *c = line; *c; c++)
    if (*c == 'M' && (c[1] == '\0' || c[1] == '\n'))
      tm_text_add(text, tempera_random_uniform(random) < 0.5 ? "// @likelihood"
                                                             : "// @prior");
    else
      tm_text_add_bytes(text, c, 1);
  tm_text_add(text, "\n");
}

static tempera_model *load(const char *text) {
  static const char DATA[] =
      "{\"N\": 40, \"R\": 4, \"C\": 7,"
      "\"y\": [1,-1,2,0.5,0.1,1,-1,2,0.5,0.1,1,-1,2,0.5,0.1,1,-1,2,0.5,0.1,"
      "1,-1,2,0.5,0.1,1,-1,2,0.5,0.1,1,-1,2,0.5,0.1,1,-1,2,0.5,0.1],"
      "\"next\": [2,3,4,5,6,7,8,9,1,1,12,13,14,15,16,17,18,19,20,11,22,23,24,"
      "25,26,27,28,29,30,21,32,33,34,35,36,37,38,39,40,31],"
      "\"count\": [1,0,2,3,0,1,0,2,3,0,1,0,2,3,0,1,0,2,3,0,"
      "1,0,2,3,0,1,0,2,3,0,1,0,2,3,0,1,0,2,3,0]}";
  tempera_error error = {0};
  tempera_data *data = NULL;
  tempera_program *program = NULL;
  tempera_model *model = NULL;
  assert_int_equal(tempera_data_parse(DATA, strlen(DATA), &data, &error), 0);
  if (tempera_program_parse("terms.stan", text, strlen(text), &program,
                            &error) ||
      tempera_program_load(program, data, &model, &error))
    fail_msg("%s\n%s", error.message, text);
  tempera_program_free(program);
  tempera_data_free(data);
  return model;
}

/* A point inside the bounds, integers at random. */
static void scatter(const tempera_model *model, tempera_random *random,
                    double *theta) {
  for (size_t j = 0; j < model->dimension; j++) {
    const tm_block *b = &model->blocks[model->block_of_u[j]];
    double *x = &theta[b->theta + j - b->u];
    double top = isfinite(b->upper) ? b->upper : b->lower + 6;
    *x = model->integer[j]
             ? b->lower + (double)tempera_random_below(
                              random, (uint64_t)(top - b->lower) + 1)
             : tempera_random_uniform(random) - 0.5;
  }
}

typedef struct tally {
  size_t compared, changed;
} tally;

/* theta[i] from its value to all others, by pieces and by the whole. */
static void compare(const tempera_model *model, double *theta, size_t i,
                    double lower, double upper, const char *text, tally *t) {
  const tempera_model_spec *spec = tempera_model_spec_of(model);
  double from[2], to[2], part[2], then[2], start = theta[i];
  tempera_error error;
  if (tempera_model_evaluate(model, theta, &from[0], &from[1], &error))
    fail_msg("%s", error.message);
  assert_int_equal(
      spec->integer_terms(theta, i, &part[0], &part[1], spec->user), 0);
  for (double value = lower; value <= upper; value++) {
    theta[i] = value;
    if (tempera_model_evaluate(model, theta, &to[0], &to[1], &error))
      fail_msg("%s", error.message);
    assert_int_equal(
        spec->integer_terms(theta, i, &then[0], &then[1], spec->user), 0);
    for (int k = 0; k < 2; k++) {
      double whole = to[k] - from[k], pieces = then[k] - part[k];
      if (fabs(whole - pieces) > 1e-10 * (1 + fabs(from[k]) + fabs(to[k])))
        fail_msg("%s: %s changes by %.12g, its pieces by %.12g\n%s",
                 tempera_model_value_name(model, i),
                 k ? "the prior" : "the likelihood", whole, pieces, text);
      t->changed += whole != 0;
      t->compared++;
    }
  }
  theta[i] = start;
}

static void compare_all(const tempera_model *model, const char *text,
                        tempera_random *random, tally *t) {
  double theta[512];
  assert_true(model->size <= 512);
  for (int k = 0; k < POINTS; k++) {
    scatter(model, random, theta);
    for (size_t j = 0; j < model->dimension; j++) {
      const tm_block *b = &model->blocks[model->block_of_u[j]];
      if (model->integer[j])
        compare(model, theta, b->theta + j - b->u, b->lower,
                isfinite(b->upper) ? b->upper : b->lower + 4, text, t);
    }
  }
}

static void write_program(tm_text *text, tempera_random *random, int number) {
  tm_text_add(text, HEAD);
  tm_text_add(text, TRANSFORMED);
  tm_text_add(text, "model {\n");
  tm_text_add(text, PRIOR);
  /* every line is in some program */
  for (int i = 0; i < STATEMENTS; i++) {
    size_t line = i < 4 ? (size_t)(4 * number + i) % LINE_COUNT
                        : (size_t)tempera_random_below(random, LINE_COUNT);
    add_line(text, LINES[line], random);
  }
  tm_text_add(text, "}\n");
}

static void pieces_change_by_what_the_whole_does(void **state) {
  (void)state;
  tempera_random random = tm_random(1, 0, TM_PURPOSE_START);
  size_t with_terms = 0;
  tally t = {0};
  for (int number = 0; number < PROGRAMS; number++) {
    tm_text text = {0};
    write_program(&text, &random, number);
    tempera_model *model = load(text.data);
    if (model->spec.integer_terms) {
      with_terms++;
      assert_true(model->spec.integer_terms_cost > 0);
      compare_all(model, text.data, &random, &t);
    }
    tempera_model_free(model);
    tm_text_clear(&text);
  }
  print_message("%zu of %d programs in pieces, %zu comparisons, %zu changes\n",
                with_terms, PROGRAMS, t.compared, t.changed);
  assert_true(with_terms > PROGRAMS / 2);
  assert_true(t.changed > t.compared / 10);
}

/* What one integer costs, as a share of the whole. */
static void costs_are_shares(void **state) {
  (void)state;
  static const struct {
    const char *model;
    double most;
  } cases[] = {
      /* 5 of 28 turns and two statements that are no pieces */
      {"for (r in 1:R) for (c in 1:C) { if (c < C) target += s[r, c] * s[r, c "
       "+ 1]; // @likelihood\n}",
       0.05},
      {"z ~ categorical(rep_vector(1.0 / 3, 3)); y ~ normal(mu[z], 1);", 0.05},
      {"for (i in 1:N) y[i] ~ normal(mu[z[i]], 1);", 0.05},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tm_text text = {0};
    tm_text_add(&text, HEAD);
    tm_text_add(&text, "model {\n");
    tm_text_add(&text, PRIOR);
    tm_text_add(&text, cases[i].model);
    tm_text_add(&text, "}\n");
    tempera_model *model = load(text.data);
    print_message("%g\n", model->spec.integer_terms_cost);
    assert_non_null(model->spec.integer_terms);
    assert_true(model->spec.integer_terms_cost < cases[i].most);
    tempera_model_free(model);
    tm_text_clear(&text);
  }
}

/* A loop that carries something from turn to turn is one whole. */
static void what_cannot_be_taken_apart_is_not(void **state) {
  (void)state;
  static const char *const models[] = {
      "real q = 0; for (i in 1:N) { q += z[i]; target += q * a; // @prior\n}",
      "y ~ normal(mu[z[1]] * to_vector(z), 1);",
      "vector[N] m; for (i in 1:N) m[i] = mu[z[i]]; y ~ normal(m, 1);"};
  for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
    tm_text text = {0};
    tm_text_add(&text, "data { int N; vector[N] y; }\n"
                       "parameters { array[N] int<lower=1, upper=3> z;\n"
                       "  vector[3] mu; real a; }\n"
                       "model { mu ~ normal(0, 1); a ~ normal(0, 1);\n");
    tm_text_add(&text, models[i]);
    tm_text_add(&text, "}\n");
    tempera_model *model = load(text.data);
    assert_null(model->spec.integer_terms);
    tempera_model_free(model);
    tm_text_clear(&text);
  }
}

/* More caught than there are: that is zero likelihood, by a density or by
 * `reject`, and no word on the prior. */
static void a_zero_likelihood_leaves_the_prior(void **state) {
  (void)state;
  static const char *const models[] = {
      "for (i in 1:N) count[i] ~ binomial(n[i], 0.5);",
      "for (i in 1:N) { if (n[i] < count[i]) reject(\"too few\");\n"
      "  count[i] ~ binomial(n[i], 0.5); }"};
  for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
    tm_text text = {0};
    tm_text_add(&text, "data { int N; array[N] int count; }\n"
                       "parameters { array[N] int<lower=0, upper=20> n; }\n"
                       "model { n ~ poisson(3);\n");
    tm_text_add(&text, models[i]);
    tm_text_add(&text, "}\n");
    tempera_model *model = load(text.data);
    const tempera_model_spec *spec = tempera_model_spec_of(model);
    assert_non_null(spec->integer_terms);
    double theta[64] = {0}, likelihood[2], prior[2];
    for (int k = 0; k < 2; k++) {
      theta[3] = k ? 4 : 2; /* 3 were caught there */
      assert_int_equal(
          spec->integer_terms(theta, 3, &likelihood[k], &prior[k], spec->user),
          0);
    }
    assert_true(likelihood[0] == -INFINITY && isfinite(likelihood[1]));
    assert_true(fabs(prior[1] - prior[0] - log(9.0 / 12)) < 1e-12);
    tempera_model_free(model);
    tm_text_clear(&text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pieces_change_by_what_the_whole_does),
      cmocka_unit_test(costs_are_shares),
      cmocka_unit_test(what_cannot_be_taken_apart_is_not),
      cmocka_unit_test(a_zero_likelihood_leaves_the_prior)};
  return cmocka_run_group_tests(tests, compiling_quickly, NULL);
}
