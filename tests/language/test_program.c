/* Facts about compiled programs: tests/language/run/NAME.stan with NAME.json
 * are built, values and gradients agree, and gradients equal differences. */
#include "base/file.h"
#include "language/load/cache.h"
#include "language/runtime/runtime.h"
#include "model/model.h"

#include "cmocka_all.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static tempera_model *load(const char *name) {
  char path[512];
  tempera_program *program = NULL;
  tempera_data *data = NULL;
  tempera_model *model = NULL;
  tempera_error error = {0};
  snprintf(path, sizeof path, "%s/tests/language/run/%s.stan", SOURCE_DIR,
           name);
  if (tempera_program_read(path, &program, &error))
    fail_msg("%s:%d:%d: %s", path, error.line, error.column, error.message);
  snprintf(path, sizeof path, "%s/tests/language/run/%s.json", SOURCE_DIR,
           name);
  if (tm_file_exists(path) && tempera_data_read(path, &data, &error))
    fail_msg("%s: %s", path, error.message);
  if (tempera_program_load(program, data, &model, &error))
    fail_msg("%s: %s", name, error.message);
  tempera_program_free(program);
  tempera_data_free(data);
  return model;
}

typedef struct bench {
  tempera_model *model;
  tm_arena *arena;
  tm_evaluator evaluator;
  tm_point point, moved;
  double *likelihood, *prior; /* gradients */
} bench;

static bench set_up(const char *name) {
  bench b = {.model = load(name), .arena = tm_arena_create()};
  tempera_error error = {0};
  assert_int_equal(tm_evaluator_create(b.model, b.arena, &b.evaluator, &error),
                   TEMPERA_OK);
  assert_int_equal(tm_point_create(b.model, b.arena, &b.point, &error),
                   TEMPERA_OK);
  assert_int_equal(tm_point_create(b.model, b.arena, &b.moved, &error),
                   TEMPERA_OK);
  b.likelihood = TM_NEW(b.arena, double, b.model->dimension);
  b.prior = TM_NEW(b.arena, double, b.model->dimension);
  return b;
}

static void tear_down(bench *b) {
  tm_evaluator_release(&b->evaluator);
  tempera_model_free(b->model);
  tm_arena_free(b->arena);
}

static void random_point(bench *b, tempera_random *random) {
  const tempera_model *m = b->model;
  for (size_t i = 0; i < m->dimension; i++) {
    const tm_block *block = &m->blocks[m->block_of_u[i]];
    double u = 2 * tempera_random_uniform(random) - 1;
    b->point.u[i] = m->integer[i] ? block->lower + floor(2 + u) : u;
  }
}

static double difference(bench *b, size_t i, bool prior) {
  static const double steps[] = {-2, -1, 1, 2}, weights[] = {1, -8, 8, -1};
  double h = 1e-4, sum = 0;
  memcpy(b->moved.u, b->point.u, b->model->dimension * sizeof(double));
  for (int k = 0; k < 4; k++) {
    b->moved.u[i] = b->point.u[i] + steps[k] * h;
    tm_evaluate(&b->evaluator, &b->moved);
    sum += weights[k] * (prior ? b->moved.log_prior + b->moved.log_jacobian
                               : b->moved.log_likelihood);
  }
  return sum / (12 * h);
}

static void check_gradient(bench *b, const char *name) {
  tm_evaluate_gradient(&b->evaluator, &b->point, b->likelihood, b->prior);
  if (b->evaluator.status != TEMPERA_OK)
    fail_msg("%s: %s", name, b->evaluator.error.message);
  double l = b->point.log_likelihood, p = b->point.log_prior;
  if (!isfinite(l) || !isfinite(p))
    fail_msg("%s: log likelihood %g, log prior %g: %s", name, l, p,
             b->evaluator.error.message);
  tm_evaluate(&b->evaluator, &b->point);
  assert_true(fabs(b->point.log_likelihood - l) <= 1e-12 * fabs(l));
  assert_true(fabs(b->point.log_prior - p) <= 1e-12 * fabs(p));
  for (size_t i = 0; i < b->model->dimension; i++)
    for (int prior = 0; prior < 2 && !b->model->integer[i]; prior++) {
      double slope = difference(b, i, prior);
      double ours = prior ? b->prior[i] : b->likelihood[i];
      double scale = fmax(1, fmax(fabs(slope), 1e-4 * fabs(prior ? p : l)));
      if (!(fabs(slope - ours) < 1e-6 * scale))
        fail_msg("%s, %s, coordinate %zu: %.10g, by differences %.10g", name,
                 prior ? "prior" : "likelihood", i, ours, slope);
    }
}

static void check_program(const char *name) {
  bench b = set_up(name);
  tempera_random random = tm_random(5, 0, TM_PURPOSE_TEST);
  for (int k = 0; k < 5; k++) {
    random_point(&b, &random);
    check_gradient(&b, name);
  }
  tear_down(&b);
}

static void gradients_equal_differences(void **state) {
  (void)state;
  DIR *dir = opendir(SOURCE_DIR "/tests/language/run");
  assert_non_null(dir);
  for (struct dirent *e; (e = readdir(dir));) {
    char *dot = strrchr(e->d_name, '.');
    if (!dot || strcmp(dot, ".stan"))
      continue;
    *dot = '\0';
    check_program(e->d_name);
  }
  closedir(dir);
}

/* The same program with everything in a loop, where nothing is hoisted. */
static void hoisting_changes_no_value(void **state) {
  (void)state;
  bench a = set_up("hoisted"), b = set_up("not_hoisted");
  tempera_random random = tm_random(6, 0, TM_PURPOSE_TEST);
  for (int k = 0; k < 10; k++) {
    random_point(&a, &random);
    memcpy(b.point.u, a.point.u, a.model->dimension * sizeof(double));
    tm_evaluate(&a.evaluator, &a.point);
    tm_evaluate(&b.evaluator, &b.point);
    double la = a.point.log_likelihood, lb = b.point.log_likelihood;
    assert_true(isfinite(la) && fabs(la - lb) < 1e-13 * fabs(lb));
    assert_true(a.point.log_prior == b.point.log_prior);
  }
  tear_down(&a);
  tear_down(&b);
}

/* Sums of densities written out by hand. */
static void schools_have_the_right_densities(void **state) {
  (void)state;
  tempera_model *m = load("schools");
  static const double y[] = {28, 8, -3, 7, -1, 1, 18, 12},
                      s[] = {15, 10, 16, 11, 9, 11, 10, 18};
  double theta[10] = {0.1, -0.2, 0.3, 0.4, -0.5, 0.6, 0.7, -0.8, 4, 6.5};
  double half = 0.5 * log(2 * M_PI), l = 0, p = 0, gl, gp;
  for (int j = 0; j < 8; j++) {
    double z = (y[j] - (4 + 6.5 * theta[j])) / s[j];
    l += -0.5 * z * z - log(s[j]) - half;
    p += -0.5 * theta[j] * theta[j] - half;
  }
  p += -0.5 * 16 / 25 - log(5) - half;
  p += -log(M_PI) - log(5) - log1p(6.5 * 6.5 / 25);
  assert_int_equal(tempera_model_evaluate(m, theta, &gl, &gp, NULL),
                   TEMPERA_OK);
  assert_true(fabs(gl - l) < 1e-12 * fabs(l));
  assert_true(fabs(gp - p) < 1e-12 * fabs(p));
  assert_string_equal(tempera_model_value_name(m, 0), "eta[1]");
  assert_string_equal(tempera_model_value_name(m, 9), "tau");
  tempera_model_free(m);
}

/* ---- data --------------------------------------------------------------- */

static const char *load_error(const char *program_text, const char *json,
                              tempera_error *error) {
  tempera_program *program = NULL;
  tempera_data *data = NULL;
  tempera_model *model = NULL;
  if (tempera_program_parse("p.stan", program_text, strlen(program_text),
                            &program, error))
    fail_msg("%s", error->message);
  assert_int_equal(tempera_data_parse(json, strlen(json), &data, error),
                   TEMPERA_OK);
  tempera_status status = tempera_program_load(program, data, &model, error);
  if (status == TEMPERA_OK)
    error->message[0] = '\0';
  tempera_model_free(model);
  tempera_data_free(data);
  tempera_program_free(program);
  return error->message;
}

static void data_are_checked_against_declarations(void **state) {
  (void)state;
  static const char text[] =
      "data { int<lower=0> N; array[N] real<lower=0> y; matrix[N, 2] X; }"
      "parameters { real a; } model { a ~ normal(0, 1); }";
  static const char *const cases[][2] = {
      {"{\"N\":1,\"y\":[2],\"X\":[[1,2]]}", ""},
      {"{\"N\":0,\"y\":[],\"X\":[]}", ""},
      {"{\"N\":1,\"X\":[[1,2]]}", "the data lack variable y"},
      {"{\"N\":2,\"y\":[2],\"X\":[[1,2]]}",
       "variable y: declared with sizes [2], the data have [1]"},
      {"{\"N\":2,\"y\":[2,3],\"X\":[[1,2,3],[1,2,3]]}",
       "variable X: declared with sizes [2, 2], the data have [2, 3]"},
      {"{\"N\":1,\"y\":[-2],\"X\":[[1,2]]}",
       "variable y[1] was declared with lower=0; found -2"},
      {"{\"N\":-1,\"y\":[],\"X\":[]}",
       "variable N was declared with lower=0; found -1"},
      {"{\"N\":1,\"y\":3,\"X\":[[1,2]]}",
       "variable y: declared with sizes [1], the data have []"},
      {"{\"N\":1,\"y\":[\"NaN\"],\"X\":[[1,2]]}",
       "variable y[1] was declared with lower=0; found nan"},
      {"{\"N\":1,\"y\":[Infinity],\"X\":[[-Inf,\"Inf\"]],\"z\":null}", ""},
      {"{\"N\":2,\"y\":[2,3],\"X\":[[1,2],[1]]}",
       "variable X is not rectangular: its rows differ in length (wanted an "
       "array of reals)"},
      {"{\"N\":3000000000,\"y\":[],\"X\":[]}",
       "variable N: 3000000000 is too large for an int"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tempera_error error = {0};
    assert_string_equal(load_error(text, cases[i][0], &error), cases[i][1]);
  }
  tempera_error error = {0};
  const char *message =
      load_error(text, "{\"N\":1.0,\"y\":[2],\"X\":[[1,2]]}", &error);
  assert_non_null(strstr(message, "variable N"));
}

static void data_of_every_type_keep_their_promise(void **state) {
  (void)state;
  static const char *const cases[][3] = {
      {"simplex[2] x", "[0.5, 0.6]",
       "is a simplex and must sum to 1; found 1.1"},
      {"simplex[2] x", "[-0.5, 1.5]",
       "is a simplex without negative values; found -0.5"},
      {"ordered[2] x", "[2, 2]", "must be ordered; found 2"},
      {"positive_ordered[2] x", "[-1, 2]", "must be positive; found -1"},
      {"unit_vector[2] x", "[1, 1]", "must have length 1; found 2"},
      {"cov_matrix[2] x", "[[1, 2], [2, 1]]",
       "must be positive definite (its pivots); found -3"},
      {"cov_matrix[2] x", "[[1, 2], [0, 9]]", "must be symmetric; found 2"},
      {"corr_matrix[2] x", "[[1, 0], [0, 2]]",
       "needs ones on its diagonal; found 2"},
      {"cholesky_factor_cov[2] x", "[[1, 1], [0, 1]]",
       "must be lower triangular; found 1"},
      {"cholesky_factor_corr[2] x", "[[1, 0], [1, 1]]",
       "needs rows of length 1; found 2"},
      {"array[2, 2] int<upper=3> x", "[[1, 2], [4, 3]]",
       "[2,1] was declared with upper=3; found 4"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[200], json[100], wanted[200];
    tempera_error error = {0};
    snprintf(text, sizeof text,
             "data { %s; } parameters { real a; } model { a ~ normal(0, 1); }",
             cases[i][0]);
    snprintf(json, sizeof json, "{\n \"x\": %s}", cases[i][1]);
    snprintf(wanted, sizeof wanted, "variable x%s%s",
             cases[i][2][0] == '[' ? "" : " ", cases[i][2]);
    assert_string_equal(load_error(text, json, &error), wanted);
    assert_int_equal(error.line, 2);
    assert_int_equal(error.column, 2);
  }
}

static void failures_in_transformed_data_name_the_line(void **state) {
  (void)state;
  tempera_error error = {0};
  assert_string_equal(
      load_error("transformed data {\n  vector[2] v;\n  v[3] = 1;\n}"
                 "parameters { real a; } model { a ~ normal(0, 1); }",
                 "{}", &error),
      "line 3:4: index 3 is not in 1:2");
}

/* ---- prior draws and quantities ----------------------------------------- */

static size_t index_of(const tempera_model *m, const char *name) {
  for (size_t i = 0; i < m->size; i++)
    if (!strcmp(m->names[i], name))
      return i;
  fail_msg("no value %s", name);
  return 0;
}

/* Means of values over many draws, each with its standard deviation. */
static void prior_draws_follow_the_prior(void **state) {
  (void)state;
  enum { N = 20000 };
  static const struct {
    const char *name;
    double mean, sd;
  } known[] = {{"theta[2]", 10, 1.2247},
               {"s[3]", 0.79788, 0.60281},
               {"M[2,1]", 0, 1},
               {"tau", 0.5, 0.5},
               {"mu", 10, 1},
               {"q[3]", 0.7, 0.13817},
               {"flat_q[1]", 0.5, 0.28868},
               {"flat", 1, 1.1547},
               {"walk[3]", 0, 1.73205},
               {"n", 4, 2},
               {"flat_n", 3, 0.8165}};
  enum { COUNT = sizeof known / sizeof *known };
  tempera_model *m = load("ancestors");
  assert_non_null(m->spec.prior_draw);
  tempera_random random = tm_random(11, 0, TM_PURPOSE_TEST);
  double theta[64], sum[COUNT] = {0}, square[COUNT] = {0};
  for (int i = 0; i < N; i++) {
    assert_int_equal(m->spec.prior_draw(&random, theta, m->spec.user), 0);
    assert_true(tm_inside(m, theta));
    for (size_t k = 0; k < COUNT; k++) {
      double x = theta[index_of(m, known[k].name)];
      sum[k] += x;
      square[k] += x * x;
    }
  }
  for (size_t k = 0; k < COUNT; k++) {
    double mean = sum[k] / N, sd = sqrt(square[k] / N - mean * mean);
    if (fabs(mean - known[k].mean) > 4 * known[k].sd / sqrt(N) ||
        fabs(sd / known[k].sd - 1) > 0.05)
      fail_msg("%s: mean %g, sd %g; expected %g, %g", known[k].name, mean, sd,
               known[k].mean, known[k].sd);
  }
  tempera_model_free(m);
}

static void quantities_are_computed_and_named(void **state) {
  (void)state;
  tempera_model *m = load("ancestors");
  static const char *const names[] = {"sum_theta", "G[1,1]", "G[2,1]",
                                      "G[1,2]",    "G[2,2]", "drawn"};
  assert_int_equal(m->spec.quantity_count, 6);
  for (size_t i = 0; i < 6; i++)
    assert_string_equal(m->spec.quantity_names[i], names[i]);
  tempera_random random = tm_random(1, 0, TM_PURPOSE_TEST);
  double theta[64], out[6];
  assert_int_equal(m->spec.prior_draw(&random, theta, m->spec.user), 0);
  assert_int_equal(m->spec.quantities(theta, &random, out, m->spec.user), 0);
  assert_true(fabs(out[0] - theta[0] - theta[1] - theta[2]) < 1e-12);
  assert_true(out[1] == 1 && out[2] == 3 && out[3] == 2 && out[4] == 4);
  assert_true(out[5] >= 0 && out[5] == floor(out[5]));
  tempera_model_free(m);
}

/* theta_i depends on u_i and earlier ones: the determinant is a product. */
static void dependent_bounds_have_their_jacobian(void **state) {
  (void)state;
  bench b = set_up("dependent");
  tempera_random random = tm_random(9, 0, TM_PURPOSE_TEST);
  random_point(&b, &random);
  tm_evaluate(&b.evaluator, &b.point);
  assert_true(tm_inside(b.model, b.point.theta));
  double product = 0, h = 1e-6;
  for (size_t i = 0; i < b.model->dimension; i++) {
    double up;
    memcpy(b.moved.u, b.point.u, b.model->dimension * sizeof(double));
    b.moved.u[i] += h;
    tm_evaluate(&b.evaluator, &b.moved);
    up = b.moved.theta[i];
    b.moved.u[i] -= 2 * h;
    tm_evaluate(&b.evaluator, &b.moved);
    product += log(fabs(up - b.moved.theta[i]) / (2 * h));
  }
  assert_true(fabs(product - b.point.log_jacobian) < 1e-6);
  memcpy(b.moved.theta, b.point.theta, b.model->size * sizeof(double));
  tm_evaluate_natural(&b.evaluator, &b.moved);
  for (size_t i = 0; i < b.model->dimension; i++)
    assert_true(fabs(b.moved.u[i] - b.point.u[i]) < 1e-10);
  b.moved.theta[3] = 1; /* share, above its bound */
  assert_false(tm_inside(b.model, b.moved.theta));
  tear_down(&b);
}

/* Off the bound goes what lies on it, and no farther. */
static void points_on_dependent_bounds_stay_there(void **state) {
  (void)state;
  bench b = set_up("nested");
  b.point.theta[0] = b.point.theta[1] = 0;
  tm_evaluate_natural(&b.evaluator, &b.point);
  assert_true(isfinite(b.point.log_prior) && isfinite(b.point.log_likelihood));
  for (size_t i = 0; i < 2; i++)
    assert_true(b.point.theta[i] > 0 && b.point.theta[i] < 1e-100);
  tear_down(&b);
}

static void stiff_systems_have_their_exact_solution(void **state) {
  (void)state;
  bench b = set_up("stiff");
  for (int k = 0; k < 3; k++) {
    b.point.u[0] = -1 + k;
    tm_evaluate_gradient(&b.evaluator, &b.point, b.likelihood, b.prior);
    double a = exp(b.point.u[0]), slow = exp(-0.001 * a), fast = exp(-a);
    double end = 10 * exp(-2 * a);
    assert_true(fabs(b.point.log_likelihood - slow - fast - end) < 1e-7);
    double slope = a * (-0.001 * slow - fast - 2 * end);
    assert_true(fabs(b.likelihood[0] - slope) < 1e-6);
  }
  tear_down(&b);
}

static double mass(const char *name, int from, int to, double b, double c) {
  double sum = 0;
  for (int k = from; k <= to; k++)
    sum += exp(tm_density_kernel(name)((double[]){k, b, c}, NULL));
  return log(sum);
}

static double normal(double x, double mean, double sd) {
  return tm_density_kernel("normal")((double[]){x, mean, sd}, NULL);
}

/* Both parts by hand: values of raising functions are everywhere, what they
 * raise in one part only; integers are truncated with their end points. */
static void raising_programs_have_the_right_densities(void **state) {
  (void)state;
  tempera_model *m = load("raising");
  double a = 0.6, b = 0.8, p = 0.35, h = 0.5 * a, y[] = {0.5, -0.7}, gp, gl;
  int k[] = {1, 4};
  double prior = normal(a, 0, 1.5) - b + normal(b, 0, 2) + 0.5 * b - b;
  double likelihood = normal(h, 0, 2), rate = exp(h) + b;
  for (int n = 0; n < 2; n++) {
    likelihood +=
        normal(y[n], h, 1) + normal((y[n] - 0.5 * h) * h, y[n], 1 + b);
    likelihood +=
        mass("poisson", k[n], k[n], rate, 0) - mass("poisson", 1, 100, rate, 0);
    likelihood +=
        mass("binomial", k[n], k[n], 9, p) - mass("binomial", 0, 6, 9, p);
    likelihood += mass("neg_binomial_2", k[n], k[n], b, 2) -
                  mass("neg_binomial_2", 1, 8, b, 2);
  }
  double theta[3] = {a, b, p};
  assert_int_equal(m->spec.log_prior(theta, &gp, m->spec.user), 0);
  assert_int_equal(m->spec.log_likelihood(theta, &gl, m->spec.user), 0);
  assert_true(fabs(gp - prior) < 1e-12);
  assert_true(fabs(gl - likelihood) < 1e-10);
  tempera_model_free(m);
}

/* Arrays of as many dimensions as there may be: densities by hand. */
static void deep_arrays_are_what_they_say(void **state) {
  (void)state;
  bench b = set_up("deep_arrays");
  tempera_model *m = b.model;
  size_t last = index_of(m, "b[2,1,1,1,1,1,1,1,2]");
  double theta[6] = {0.4, -0.3, 0.2, 0.9, -1.1, 0.6}, gp, gl;
  assert_int_equal(last, 5);
  double prior = normal(0.4, 0, 2) + normal(-0.3, 0, 2);
  for (int i = 2; i < 6; i++)
    prior += normal(theta[i], 0, 3);
  double rate = exp(0.5 * theta[last]);
  double likelihood = normal(0.7, 2 * (0.4 - 0.3) + 0.3, 1) +
                      mass("poisson", 3, 3, rate, 0) +
                      mass("poisson", 4, 4, rate, 0);
  assert_int_equal(m->spec.log_prior(theta, &gp, m->spec.user), 0);
  assert_int_equal(m->spec.log_likelihood(theta, &gl, m->spec.user), 0);
  assert_true(fabs(gp - prior) < 1e-12);
  assert_true(fabs(gl - likelihood) < 1e-12);
  tear_down(&b);
}

/* As CmdStan: the first index runs fastest, also over arrays. */
static void columns_are_in_column_major_order(void **state) {
  (void)state;
  tempera_model *m = load("types");
  size_t q = index_of(m, "q[1,1]"), r = index_of(m, "RR[1,1,1]");
  static const char *const of_q[] = {"q[1,1]", "q[2,1]", "q[1,2]",
                                     "q[2,2]", "q[1,3]", "q[2,3]"};
  static const char *const of_r[] = {"RR[1,1,1]", "RR[2,1,1]", "RR[1,2,1]"};
  for (size_t i = 0; i < 6; i++)
    assert_string_equal(m->names[q + i], of_q[i]);
  for (size_t i = 0; i < 3; i++)
    assert_string_equal(m->names[r + i], of_r[i]);
  tempera_model_free(m);
}

/* A bound that cuts by a varying factor: draws are kept with this probability,
 * unless next to none would be. */
static void varying_cuts_have_prior_draws(void **state) {
  (void)state;
  static const struct {
    const char *declared, *statement;
    bool drawn;
  } cases[] = {{"real<lower=0>", "normal(m, 1)", true},
               {"real<lower=7>", "normal(m, 1)", false},
               {"real<lower=0>", "normal(0, exp(m))", true},
               {"real<lower=1>", "exponential(exp(m))", true},
               {"real<lower=0>", "exponential(exp(m))", true},
               {"real<lower=m>", "exponential(1)", true}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[256];
    snprintf(text, sizeof text,
             "parameters { real m; %s x; } model { m ~ normal(0, 1); x ~ %s; }",
             cases[i].declared, cases[i].statement);
    tempera_program *p = NULL;
    tempera_model *m = NULL;
    tempera_error error = {0};
    assert_int_equal(
        tempera_program_parse("cut", text, strlen(text), &p, &error), 0);
    assert_int_equal(tempera_program_load(p, NULL, &m, &error), 0);
    if ((m->spec.prior_draw != NULL) != cases[i].drawn)
      fail_msg("%s: drawn %d", text, m->spec.prior_draw != NULL);
    tempera_model_free(m);
    tempera_program_free(p);
  }
}

/* What splitting follows to where a program's guards let pass. */
static void guards_tell_how_far_they_are_from_holding(void **state) {
  (void)state;
  static const double cases[][3] = {
      {0, 0, 0}, {4.5, 0, .5}, {0, -6, 2}, {7, -5, 3 + 2}, {0, 6.5, .5}};
  bench b = set_up("guards");
  assert_non_null(b.model->shortfall);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    assert_true(fabs(b.model->shortfall(cases[i], b.evaluator.user) -
                     cases[i][2]) < 1e-12);
  /* more than nothing wherever the density is zero */
  double edge[] = {5, 6};
  assert_true(b.model->shortfall(edge, b.evaluator.user) > 0);
  tear_down(&b);
  b = set_up("schools");
  assert_null(b.model->shortfall);
  tear_down(&b);
}

/* Counted, not timed: the same every time, more with more data, and most where
 * a differential equation is solved. */
static double work_with(const char *text, int n) {
  tempera_program *p = NULL;
  tempera_model *m = NULL;
  tempera_data *data = NULL;
  char json[20000];
  size_t used = (size_t)snprintf(json, sizeof json, "{\"N\": %d, \"y\": [", n);
  for (int i = 0; i < n; i++)
    used += (size_t)snprintf(json + used, sizeof json - used, "%s%d",
                             i ? ", " : "", i % 3);
  snprintf(json + used, sizeof json - used, "]}");
  assert_int_equal(tempera_data_parse(json, strlen(json), &data, NULL), 0);
  assert_int_equal(tempera_program_parse("w", text, strlen(text), &p, NULL), 0);
  assert_int_equal(tempera_program_load(p, data, &m, NULL), 0);
  double theta[] = {.5}, work = m->work(theta, m->spec.user);
  assert_true(work == m->work(theta, m->spec.user));
  tempera_model_free(m);
  tempera_data_free(data);
  tempera_program_free(p);
  return work;
}

static void work_is_counted(void **state) {
  (void)state;
  static const char plain[] =
      "data { int N; vector[N] y; } parameters { real a; } "
      "model { a ~ normal(0, 1); y ~ normal(a, 1); }";
  static const char solved[] =
      "functions { vector f(real t, vector x, real a) { return -a * x; } } "
      "data { int N; vector[N] y; } parameters { real a; } "
      "model { a ~ normal(0, 1); y ~ normal(ode_rk45(f, [1]', 0, {50.0}, "
      "a)[1][1], 1); }";
  double few = work_with(plain, 10), many = work_with(plain, 1000);
  assert_true(few > 10 && few < 300 && many > few + 900);
  assert_true(work_with(solved, 10) > few + 300);
}

static void clones_are_independent(void **state) {
  (void)state;
  tempera_model *m = load("schools");
  void *copy = NULL;
  assert_int_equal(m->spec.clone(m->spec.user, &copy), 0);
  double theta[10] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 2}, a, b;
  assert_int_equal(m->spec.log_likelihood(theta, &a, m->spec.user), 0);
  assert_int_equal(m->spec.log_likelihood(theta, &b, copy), 0);
  assert_true(a == b);
  m->spec.release(copy);
  tempera_model_free(m);
}

static void improper_priors_are_known(void **state) {
  (void)state;
  static const char text[] =
      "parameters { real a; real b; } model { a ~ normal(0, 1); }";
  tempera_program *p = NULL;
  assert_int_equal(tempera_program_parse("p", text, sizeof text - 1, &p, NULL),
                   TEMPERA_OK);
  assert_false(tempera_program_proper(p));
  tempera_program_free(p);
}

static bool is_improper(const char *text, const char *json) {
  tempera_program *p = NULL;
  tempera_data *data = NULL;
  tempera_model *m = NULL;
  tempera_error error = {0};
  if (tempera_program_parse("p", text, strlen(text), &p, &error) ||
      tempera_data_parse(json, strlen(json), &data, &error) ||
      tempera_program_load(p, data, &m, &error))
    fail_msg("%s", error.message);
  bool improper = m->spec.prior_improper;
  tempera_program_free(p);
  tempera_data_free(data);
  tempera_model_free(m);
  return improper;
}

/* Elements named one by one are all there are, or not. */
static void sizes_decide_whether_a_prior_is_proper(void **state) {
  (void)state;
  static const char one_by_one[] =
      "data { int K; } parameters { ordered[K] mu; }\n"
      "model { mu[1] ~ normal(3, 1); target += normal_lpdf(mu[2] | 10, 1); }";
  assert_false(is_improper(one_by_one, "{\"K\": 2}"));
  assert_true(is_improper(one_by_one, "{\"K\": 3}"));
  assert_false(is_improper("parameters { array[4] real x; } model {\n"
                           "x[{1, 3}] ~ normal(0, 1);\n"
                           "x[{2, 4}] ~ normal(0, 2); }",
                           "{}"));
  assert_true(is_improper("parameters { array[4] real x; } model {\n"
                          "x[{1, 3}] ~ normal(0, 1);\n"
                          "x[{1, 4}] ~ normal(0, 2); }",
                          "{}"));
}

/* An outcome that mixes parameters is a law of the one that has no other. */
static void sums_may_be_laws(void **state) {
  (void)state;
  static const struct {
    const char *parameters, *model;
    bool improper;
  } cases[] = {
      {"", "x - a ~ normal(0, 1); a ~ normal(0, 1);", false},
      {"", "x - a ~ normal(0, 1);", true},
      {"", "x ~ normal(0, 1); (x[1] + 2 * a) / 3 ~ normal(0, 1);", false},
      {"", "x[1] + a ~ normal(0, 1); x[1] ~ normal(0, 1);", true},
      {"", "x * a ~ normal(0, 1); a ~ normal(0, 1);", true},
      {"", "x - x * a ~ normal(0, 1); a ~ normal(0, 1);", true},
      {"real b;", "a - b ~ normal(0, 1); x - a ~ normal(0, 1);", true},
      {"real b;",
       "a - b ~ normal(0, 1); x - a ~ normal(0, 1);"
       "b ~ normal(0, 1);",
       false},
      {"",
       "x[1] ~ normal(0, 1); x[2] - a * x[1] ~ normal(0, 1);"
       "a ~ normal(0, 1);",
       false},
      {"", "if (a > 0) x - a ~ normal(0, 1); a ~ normal(0, 1);", false},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[256];
    snprintf(text, sizeof text,
             "parameters { real a; vector[2] x; %s } model { %s }",
             cases[i].parameters, cases[i].model);
    if (is_improper(text, "{}") != cases[i].improper)
      fail_msg("%s", cases[i].model);
  }
  assert_false(is_improper("parameters { real a; real b; }\n"
                           "transformed parameters { real d = (a - b) / 2; }\n"
                           "model { d ~ normal(0, 1); b ~ normal(0, 1); }",
                           "{}"));
}

/* What has no coordinate needs no prior. */
static void nothing_is_proper(void **state) {
  (void)state;
  static const struct {
    const char *declared;
    int proper_to;
  } cases[] = {{"vector[K] b;", 0},
               {"array[2] real<lower=0> s; array[K, 2] real b;", -1},
               {"array[K, 2] real b;", 0},
               {"sum_to_zero_vector[K] b;", 1},
               {"sum_to_zero_matrix[3, K] b;", 1},
               {"array[3] sum_to_zero_vector[K] b;", 1},
               {"vector<offset=1, multiplier=2>[K] b;", 0},
               {"real a; vector<lower=exp(m)>[K] b;", -1},
               {"vector<lower=exp(m)>[K] b;", 0},
               {"sum_to_zero_vector[1] b; vector[0] c;", 9}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    for (int k = 0; k <= 2; k++) {
      char text[256], json[32];
      snprintf(text, sizeof text,
               "data { int K; } parameters { real m; %s }\n"
               "model { m ~ normal(0, 1); }",
               cases[i].declared);
      snprintf(json, sizeof json, "{\"K\": %d}", k);
      if (is_improper(text, json) != (k > cases[i].proper_to))
        fail_msg("K = %d: %s", k, cases[i].declared);
    }
}

/* A library made at a place of choice loads like any model's. */
static void compiled_programs_load_as_libraries(void **state) {
  (void)state;
  static const char text[] =
      "parameters { real a; } model { a ~ normal(0, 2); }";
  tempera_program *p = NULL;
  tempera_model *m = NULL;
  tempera_error error = {0};
  char *path = NULL;
  double a = 1, l, prior;
  assert_int_equal(tempera_program_parse("odd \"name\\.stan", text,
                                         sizeof text - 1, &p, &error),
                   TEMPERA_OK);
  if (tempera_program_compile(p, BUILD_DIR "/tests/compiled.so", &path, &error))
    fail_msg("%s", error.message);
  if (tempera_model_load(path, NULL, &m, &error))
    fail_msg("%s", error.message);
  assert_string_equal(tempera_model_name(m), "odd \"name\\");
  assert_int_equal(tempera_model_evaluate(m, &a, &l, &prior, NULL), TEMPERA_OK);
  assert_true(fabs(prior - (-0.125 - log(2) - 0.5 * log(2 * M_PI))) < 1e-14);
  assert_true(l == 0);
  tm_heap_free(path);
  tempera_model_free(m);
  tempera_program_free(p);
}

/* ---- the paper's models ------------------------------------------------- */

static tempera_model *load_paper(const char *name, const char *json) {
  char path[512];
  tempera_data *data = NULL;
  tempera_model *model = NULL;
  tempera_error error = {0};
  snprintf(path, sizeof path, "%s/models/paper/%s.stan", SOURCE_DIR, name);
  assert_int_equal(tempera_data_parse(json, strlen(json), &data, &error),
                   TEMPERA_OK);
  if (tempera_model_load(path, data, &model, &error))
    fail_msg("%s: %s", path, error.message);
  tempera_data_free(data);
  return model;
}

static double log_normal(double y, double mean, double variance) {
  return -0.5 * (y - mean) * (y - mean) / variance -
         0.5 * log(2 * M_PI * variance);
}

static double log_inverse_gamma(double x, double a, double b) {
  return a * log(b) - lgamma(a) - (a + 1) * log(x) - b / x;
}

static void papers_models_have_the_papers_densities(void **state) {
  (void)state;
  double l, p, y[] = {1.5, -0.3, 2.25};
  tempera_model *m = load_paper("bimodal2", "{\"n\":3,\"y\":[1.5,-0.3,2.25]}");
  double theta[] = {-0.8, 0.7}, expected = 0;
  for (int i = 0; i < 3; i++)
    expected += log_normal(y[i], 0.8, 0.7);
  assert_int_equal(tempera_model_evaluate(m, theta, &l, &p, NULL), TEMPERA_OK);
  assert_true(fabs(l - expected) < 1e-10 * fabs(expected));
  expected = log_normal(-0.8, 0, 1) + log_inverse_gamma(0.7, 1, 1);
  assert_true(fabs(p - expected) < 1e-10 * fabs(expected));
  tempera_model_free(m);
  m = load_paper("galaxy",
                 "{\"n\":3,\"y\":[1.5,-0.3,2.25],\"K\":2,\"equal\":0}");
  double mix[] = {1, 20, 2, 3, 0.25, 0.75};
  assert_string_equal(tempera_model_value_name(m, 2), "sigma2[1]");
  expected = 0;
  for (int i = 0; i < 3; i++)
    expected += log(0.25 * exp(log_normal(y[i], 1, 2)) +
                    0.75 * exp(log_normal(y[i], 20, 3)));
  assert_int_equal(tempera_model_evaluate(m, mix, &l, &p, NULL), TEMPERA_OK);
  assert_true(fabs(l - expected) < 1e-10 * fabs(expected));
  expected = log_normal(1, 20, 100) + log_normal(20, 20, 100) +
             log_inverse_gamma(2, 3, 20) + log_inverse_gamma(3, 3, 20);
  assert_true(fabs(p - expected) < 1e-10 * fabs(expected));
  assert_non_null(m->spec.prior_draw);
  tempera_model_free(m);
}

/* ---- the cache ---------------------------------------------------------- */

static void cache_is_private(void **state) {
  (void)state;
  char *folder = NULL;
  struct stat status;
  tempera_error error = {0};
  assert_int_equal(tm_cache_folder(&folder, &error), TEMPERA_OK);
  assert_int_equal(stat(folder, &status), 0);
  assert_int_equal(status.st_mode & 0777, 0700);
  assert_int_equal(chmod(folder, 0755), 0);
  char *again = NULL;
  assert_int_equal(tm_cache_folder(&again, &error), TEMPERA_ERROR_IO);
  assert_non_null(strstr(error.message, "open to other users"));
  assert_int_equal(chmod(folder, 0700), 0);
  tm_heap_free(folder);
}

static void cache_elsewhere(void) {
  static char folder[256];
  snprintf(folder, sizeof folder, "%s/tests/cache", BUILD_DIR);
  mkdir(folder, 0700);
  setenv("XDG_CACHE_HOME", folder, 1);
}

int main(void) {
  cache_elsewhere();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(gradients_equal_differences),
      cmocka_unit_test(hoisting_changes_no_value),
      cmocka_unit_test(schools_have_the_right_densities),
      cmocka_unit_test(data_are_checked_against_declarations),
      cmocka_unit_test(data_of_every_type_keep_their_promise),
      cmocka_unit_test(failures_in_transformed_data_name_the_line),
      cmocka_unit_test(dependent_bounds_have_their_jacobian),
      cmocka_unit_test(points_on_dependent_bounds_stay_there),
      cmocka_unit_test(stiff_systems_have_their_exact_solution),
      cmocka_unit_test(raising_programs_have_the_right_densities),
      cmocka_unit_test(deep_arrays_are_what_they_say),
      cmocka_unit_test(columns_are_in_column_major_order),
      cmocka_unit_test(varying_cuts_have_prior_draws),
      cmocka_unit_test(prior_draws_follow_the_prior),
      cmocka_unit_test(quantities_are_computed_and_named),
      cmocka_unit_test(guards_tell_how_far_they_are_from_holding),
      cmocka_unit_test(clones_are_independent),
      cmocka_unit_test(work_is_counted),
      cmocka_unit_test(improper_priors_are_known),
      cmocka_unit_test(sizes_decide_whether_a_prior_is_proper),
      cmocka_unit_test(sums_may_be_laws),
      cmocka_unit_test(nothing_is_proper),
      cmocka_unit_test(compiled_programs_load_as_libraries),
      cmocka_unit_test(papers_models_have_the_papers_densities),
      cmocka_unit_test(cache_is_private),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
