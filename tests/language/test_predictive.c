/* Terms of the likelihood and replicated data, from the statements alone: the
 * terms are as many as outcomes and add up to the likelihood; data that were
 * drawn have, in the model opened with them, the likelihood that the draw
 * says. */
#include "model/data.h"
#include "model/predictive.h"

#include "cmocka_all.h"
#include "quick_compiler.h"

#include <math.h>
#include <stdio.h>

static const char DATA[] =
    "{\"N\": 4, \"K\": 3, \"y\": [0.5, -1, 2, 0.25], \"n\": [1, 0, 2, 1],"
    " \"b\": [1, 0, 0, 1], \"t\": [5, 5, 6, 7], \"c\": [1, 3, 2, 1],"
    " \"x\": [[1, 2], [0, 1], [-1, 1], [0.5, 0.5]],"
    " \"m\": [[0.1, 0.2], [1, -1]], \"s\": [0.2, 0.3, 0.5],"
    " \"counts\": [3, 1, 2], \"one\": 0.7, \"pos\": [1, 2, 0.5, 3]}";

static const char HEAD[] =
    "functions {\n"
    "  real own_lpdf(vector v, real a) { return normal_lpdf(v | a, 1); }\n"
    "  void push_lp(vector v, real a) { target += normal_lpdf(v | a, 2); }\n"
    "}\n"
    "data { int N; int K; vector[N] y; array[N] int<lower=0> n;\n"
    "  array[N] int<lower=0, upper=1> b; array[N] int t; array[N] int c;\n"
    "  matrix[N, 2] x; array[2] vector[2] m; simplex[K] s;\n"
    "  array[K] int counts; real one; vector<lower=0>[N] pos; }\n"
    "transformed data { vector[N] ly = log(pos); }\n"
    "parameters { real a; real<lower=0> e; vector[2] w; simplex[K] p;\n"
    "  ordered[2] cut; real<lower=0, upper=1> q; }\n"
    "model {\n"
    "  a ~ normal(0, 1); e ~ exponential(1); w ~ normal(0, 1);\n"
    "  cut ~ normal(0, 2);\n";

typedef struct example {
  const char *statements;
  size_t terms;
  int replicas; /* 1: drawn and right; 2: drawn, but not of the data as they
                   are; 0: cannot be drawn */
} example;

static const example EXAMPLES[] = {
    {"y ~ normal(a, e);", 4, 1},
    {"y ~ normal(x * w, e);", 4, 1},
    {"target += normal_lpdf(y | a, e);", 4, 1},
    {"for (i in 1:N) y[i] ~ normal(a, e);", 4, 1},
    {"for (i in 2:N) y[i] ~ normal(a * y[i - 1], e);", 3, 1},
    {"y[2:N] ~ normal(a + 0.5 * y[1:(N - 1)], e);", 3, 0},
    {"y[1:2] ~ normal(a, e); y[3:4] ~ student_t(4, a, e);", 4, 1},
    {"y ~ normal(a, e); n ~ poisson_log(a);", 8, 1},
    {"one ~ normal(a, e);", 1, 1},
    {"b ~ bernoulli_logit(x * w);", 4, 1},
    {"b ~ bernoulli_logit_glm(x, a, w);", 4, 1},
    {"n ~ poisson_log_glm(x, a, w);", 4, 1},
    {"y ~ normal_id_glm(x, a, w, e);", 4, 1},
    {"n ~ binomial(t, q);", 4, 1},
    {"n ~ neg_binomial_2(exp(a), e + 0.1);", 4, 1},
    {"c ~ categorical(p);", 4, 1},
    {"for (i in 1:N) c[i] ~ categorical_logit(append_row(w, a));", 4, 1},
    {"c ~ ordered_logistic(x * w, cut);", 4, 1},
    {"m ~ multi_normal(w, diag_matrix(rep_vector(e + 1, 2)));", 2, 1},
    {"s ~ dirichlet(p * 5 + 0.5);", 1, 1},
    {"counts ~ multinomial(p);", 1, 1},
    {"pos ~ gamma(e + 1, 2);", 4, 1},
    {"for (i in 1:N) pos[i] ~ normal(a, e + 0.5) T[0, ];", 4, 1},
    {"pos ~ normal(a, e + 0.5) T[0, ];", 4, 1},
    {"ly ~ normal(a, e);", 4, 2},
    {"to_vector(x) ~ normal(a, e);", 8, 1},
    {"for (i in 1:N) x[i] ~ normal(w[1], e);", 8, 1},
    {"for (i in 1:N) target += log_mix(q, normal_lpdf(y[i] | w[1], e),\n"
     "  normal_lpdf(y[i] | w[2], 1));",
     4, 1},
    {"for (i in 1:N) { vector[2] lp; for (k in 1:2) lp[k] = log(0.5) +\n"
     "  normal_lpdf(y[i] | w[k], e); target += log_sum_exp(lp); }",
     4, 0},
    {"{ vector[N] ll; for (i in 1:N) ll[i] = normal_lpdf(y[i] | a, e);\n"
     "  target += sum(ll); }",
     4, 1},
    {"{ real lp = 0; for (i in 1:N) lp += normal_lpdf(y[i] | a, e);\n"
     "  target += lp; }",
     4, 1},
    {"{ real lp = 0; lp += normal_lpdf(y | a, e); lp += normal_lpdf(a | 0, 2);"
     "\n  lp += poisson_lpmf(n | e); target += lp; }",
     8, 1},
    {"for (i in 1:N) { real lp = normal_lpdf(y[i] | a, e);\n"
     "  lp += poisson_lpmf(n[i] | e); target += lp; }",
     4, 1},
    {"target += own_lpdf(y | a);", 1, 0},
    {"push_lp(y, a);", 4, 0},
    {"for (i in 1:N) { if (b[i] == 1) y[i] ~ normal(a, e);\n"
     "  else target += normal_lccdf(y[i] | a, e); }",
     4, 0},
    {"for (i in 1:N) { if (n[i] == 0) n[i] ~ poisson(e);\n"
     "  else n[i] ~ poisson(e + 1); }",
     4, 0},
    {"for (i in 1:N) target += -0.5 * square(y[i] - a);", 4, 0},
    {"y ~ normal(a, 1); target += -0.1 * square(y[1] - a);", 5, 0},
    {"y ~ normal(a, e); y ~ normal(a, 2);", 8, 0},
    {"target += normal_lpdf(y | a, e) + poisson_lpmf(n | e);", 8, 0},
    {"1 ~ bernoulli(q);", 1, 0},
};
enum { EXAMPLE_COUNT = sizeof EXAMPLES / sizeof *EXAMPLES };

typedef struct opened {
  tempera_program *program;
  tempera_data *data;
  tempera_model *model;
  tm_arena *arena;
  tm_evaluator evaluator;
  double *theta;
} opened;

static void open_model(opened *o, const char *statements) {
  char text[4000];
  tempera_error error = {0};
  int n = snprintf(text, sizeof text, "%s%s\n}\n", HEAD, statements);
  if (tempera_program_parse("t.stan", text, (size_t)n, &o->program, &error))
    fail_msg("%s: %s", statements, error.message);
  assert_int_equal(tempera_data_parse(DATA, strlen(DATA), &o->data, &error),
                   TEMPERA_OK);
  if (tempera_program_load(o->program, o->data, &o->model, &error))
    fail_msg("%s: %s", statements, error.message);
  o->arena = tm_arena_create();
  o->theta = TM_NEW(o->arena, double, o->model->size);
  assert_int_equal(
      tm_evaluator_create(o->model, o->arena, &o->evaluator, &error),
      TEMPERA_OK);
}

static void close_model(opened *o) {
  tm_evaluator_release(&o->evaluator);
  tm_arena_free(o->arena);
  tempera_model_free(o->model);
  tempera_data_free(o->data);
  tempera_program_free(o->program);
}

/* A point where the likelihood is not zero. */
static void find_point(opened *o, tempera_random *random) {
  double value = -INFINITY, prior;
  tempera_error error = {0};
  for (int i = 0; i < 100 && !isfinite(value); i++)
    if (tempera_model_probe(o->model, tempera_random_below(random, 1000), 1,
                            o->theta, &value, &prior, &error))
      fail_msg("%s", error.message);
  assert_true(isfinite(value));
}

static double likelihood_of(const opened *o, const tempera_data *data) {
  tempera_model *model = NULL;
  tempera_error error = {0};
  double value = NAN;
  if (tempera_program_load(o->program, data, &model, &error))
    fail_msg("%s", error.message);
  assert_int_equal(
      model->spec.log_likelihood(o->theta, &value, model->spec.user), 0);
  tempera_model_free(model);
  return value;
}

static void check_replicas(opened *o, const example *e, tm_predictive *p) {
  tempera_random random = tm_random(3, 0, TM_PURPOSE_START);
  tempera_error error = {0};
  double density = NAN, *drawn = TM_NEW(o->arena, double, p->replicas.size);
  tm_replicas r = {.drawn = drawn, .room = p->replicas.size};
  tempera_data *copy = NULL;
  if (!tm_replicate_at(&o->evaluator, o->theta, &random, &r, &density))
    fail_msg("%s: %s", e->statements, tm_reason(&o->evaluator));
  assert_int_equal(r.size, p->replicas.size);
  assert_int_equal(tm_data_copy(o->data, &copy, &error), TEMPERA_OK);
  for (size_t k = 0; k < r.count; k++) {
    tempera_status status =
        tm_data_replace(copy, r.each[k].name, r.each[k].whole,
                        drawn + r.each[k].first, r.each[k].count, &error);
    assert_int_equal(status,
                     e->replicas == 2 ? TEMPERA_ERROR_INPUT : TEMPERA_OK);
  }
  if (e->replicas == 1) {
    double value = likelihood_of(o, copy);
    if (!(fabs(value - density) < 1e-8 * (1 + fabs(value))))
      fail_msg("%s: %.12g, drawn with %.12g", e->statements, value, density);
  }
  tempera_data_free(copy);
}

static void check(const example *e) {
  opened o = {0};
  tm_predictive p;
  tempera_error error = {0};
  tempera_random random = tm_random(1, 0, TM_PURPOSE_START);
  open_model(&o, e->statements);
  for (int i = 0; i < 3; i++) {
    find_point(&o, &random);
    assert_int_equal(tm_predictive_create(&o.evaluator, o.theta, &p, &error),
                     TEMPERA_OK);
    if (p.term_count != e->terms)
      fail_msg("%s: %zu terms; %s", e->statements, p.term_count, p.no_terms);
    if ((p.replicas.count > 0) != (e->replicas > 0))
      fail_msg("%s: %zu replicas; %s", e->statements, p.replicas.count,
               p.no_replicas);
    if (!e->replicas)
      assert_true(p.no_replicas[0]);
    else
      check_replicas(&o, e, &p);
    tm_predictive_free(&p);
  }
  assert_int_equal(tempera_model_terms(o.model), e->terms);
  close_model(&o);
}

static void terms_add_up_and_data_are_drawn(void **state) {
  (void)state;
  for (size_t i = 0; i < EXAMPLE_COUNT; i++)
    check(&EXAMPLES[i]);
}

/* Element by element, and in windows. */
static void terms_are_the_densities_of_outcomes(void **state) {
  (void)state;
  opened o = {0};
  tempera_random random = tm_random(1, 0, TM_PURPOSE_START);
  static const double y[] = {0.5, -1, 2, 0.25};
  open_model(&o, "y[{3, 1}] ~ normal(a, e); y[2] ~ normal(a, 2 * e);\n"
                 "y[4] ~ normal(a, 2);");
  find_point(&o, &random);
  double a = o.theta[0], e = o.theta[1], values[4], part[2];
  tm_points_wanted w = {.room = 4, .values = values};
  assert_true(tm_points_at(&o.evaluator, o.theta, &w));
  const int order[] = {2, 0, 1, 3};
  const double scale[] = {e, e, 2 * e, 2};
  for (int k = 0; k < 4; k++) {
    double z = (y[order[k]] - a) / scale[k];
    double exact = -0.5 * z * z - log(scale[k]) - 0.5 * log(2 * M_PI);
    assert_true(fabs(values[k] - exact) < 1e-12 * (1 + fabs(exact)));
  }
  tm_points_wanted some = {.first = 1, .room = 2, .values = part};
  assert_true(tm_points_at(&o.evaluator, o.theta, &some));
  assert_int_equal(some.count, 4);
  assert_true(part[0] == values[1] && part[1] == values[2]);
  tm_predictive p;
  assert_int_equal(tm_predictive_create(&o.evaluator, o.theta, &p, NULL),
                   TEMPERA_OK);
  assert_true(p.matched);
  const long terms[] = {1, 2, 0, 3};
  for (int k = 0; k < 4; k++)
    assert_int_equal(p.term[k], terms[k]);
  tm_predictive_free(&p);
  close_model(&o);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(terms_add_up_and_data_are_drawn),
      cmocka_unit_test(terms_are_the_densities_of_outcomes)};
  return cmocka_run_group_tests(tests, compiling_quickly, NULL);
}
