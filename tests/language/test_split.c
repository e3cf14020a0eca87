/* Facts about the split into prior and likelihood. In tests/language/split and
 * tests/language/brms, NAME.stan (with NAME.json) says by a comment behind
 * each line that adds to the target on which side it is: "// = prior" or
 * "// = likelihood". The splitter must find the same; and with the lines of
 * one side taken out by hand, the whole target must be what the split program
 * has on the other. A line of "// = both" is followed by "//+ prior: ..." and
 * "//+ likelihood: ...", its halves written by hand. The first line says
 * whether the prior is proper. */
#include "base/file.h"
#include "base/text.h"
#include "language/program.h"
#include "model/model.h"

#include "cmocka_all.h"
#include "quick_compiler.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const MARKS[] = {[TM_PART_PRIOR] = "// = prior",
                                    [TM_PART_LIKELIHOOD] = "// = likelihood",
                                    [TM_PART_BOTH] = "// = both"};
/* What stands for a line of both when only one part is left. */
static const char *const HALVES[] = {
    [TM_PART_PRIOR] = "//+ prior:", [TM_PART_LIKELIHOOD] = "//+ likelihood:"};

/* Programs with brms's switch. */
static int switched_off;

static const char *find_in_line(const char *line, size_t n, const char *what) {
  const char *found = strstr(line, what);
  return found && found < line + n ? found : NULL;
}

/* The text with the lines of this part alone (BOTH: as it is), its number of
 * lines kept. */
static void only(const char *text, tm_part part, tm_text *out) {
  tm_part other = TM_PART_BOTH ^ part;
  while (*text) {
    size_t n = strcspn(text, "\n");
    const char *half = other ? find_in_line(text, n, HALVES[part]) : NULL;
    bool gone = other && (find_in_line(text, n, MARKS[other]) ||
                          find_in_line(text, n, MARKS[TM_PART_BOTH]));
    if (half)
      half += strlen(HALVES[part]);
    if (half)
      tm_text_add_bytes(out, half, n - (size_t)(half - text));
    else if (!gone)
      tm_text_add_bytes(out, text, n);
    tm_text_add(out, "\n");
    text += n + (text[n] == '\n');
  }
}

static char *read_case(const char *folder, const char *name) {
  char path[512], *text = NULL;
  size_t length;
  snprintf(path, sizeof path, "%s/tests/language/%s/%s.stan", SOURCE_DIR,
           folder, name);
  assert_int_equal(tm_file_read(path, &text, &length, NULL), TEMPERA_OK);
  return text;
}

static tempera_program *parse(const char *name, const tm_text *text) {
  tempera_program *program = NULL;
  tempera_error error = {0};
  if (tempera_program_parse(name, text->data, text->length, &program, &error))
    fail_msg("%s:%d:%d: %s", name, error.line, error.column, error.message);
  return program;
}

static tempera_model *load(const char *folder, const char *name,
                           const tempera_program *program) {
  char path[512];
  tempera_data *data = NULL;
  tempera_model *model = NULL;
  tempera_error error = {0};
  snprintf(path, sizeof path, "%s/tests/language/%s/%s.json", SOURCE_DIR,
           folder, name);
  if (tm_file_exists(path) && tempera_data_read(path, &data, &error))
    fail_msg("%s: %s", path, error.message);
  if (tempera_program_load(program, data, &model, &error))
    fail_msg("%s: %s", name, error.message);
  tempera_data_free(data);
  return model;
}

/* What the comment on a line says; NONE without one. */
static tm_part said(const char *text, int line) {
  for (int i = 1; i < line; i++)
    text = strchr(text, '\n') + 1;
  const char *end = text + strcspn(text, "\n");
  for (tm_part p = TM_PART_PRIOR; p <= TM_PART_BOTH; p++)
    if (find_in_line(text, (size_t)(end - text), MARKS[p]))
      return p;
  return TM_PART_NONE;
}

/* Every statement with a comment is where it says, and all that are listed
 * have one; what passes gathered terms on has none. */
static void check_lines(const char *name, const char *text,
                        const tm_split *split) {
  for (size_t i = 0; i < split->statement_count; i++) {
    const tm_statement *s = split->statements[i];
    tm_part wanted = said(text, s->last ? s->last->line : s->token->line);
    bool passes_on = s->term_count == 1 && s->kind == TM_S_TARGET &&
                     strstr(s->reason, "gathered");
    if (passes_on && wanted == TM_PART_NONE)
      continue;
    if (wanted != s->part)
      fail_msg("%s, line %d: found part %d (%s), the comment says %d", name,
               s->token->line, s->part, s->reason, wanted);
  }
}

static double target_of(const tempera_model *model, const double *theta) {
  double likelihood, prior;
  assert_int_equal(
      tempera_model_evaluate(model, theta, &likelihood, &prior, NULL),
      TEMPERA_OK);
  return likelihood + prior;
}

static bool close_to(double a, double b) {
  return fabs(a - b) <= 1e-10 * fmax(1, fabs(b));
}

/* models: split, prior alone, likelihood alone. */
static void check_values(const char *name, tempera_model *const models[3]) {
  enum { POINTS = 9 };
  size_t size = tempera_model_size(models[0]);
  double *theta = calloc(POINTS * size, sizeof(double));
  double likelihood[POINTS], prior[POINTS];
  int finite = 0;
  assert_int_equal(
      tempera_model_probe(models[0], 3, POINTS, theta, likelihood, prior, NULL),
      TEMPERA_OK);
  for (size_t i = 0; i < POINTS; i++) {
    if (!isfinite(likelihood[i]) || !isfinite(prior[i]))
      continue;
    double p = target_of(models[1], theta + i * size);
    double l = target_of(models[2], theta + i * size);
    if (!close_to(prior[i], p) || !close_to(likelihood[i], l))
      fail_msg("%s: prior %.12g, by hand %.12g; likelihood %.12g, by hand "
               "%.12g",
               name, prior[i], p, likelihood[i], l);
    finite++;
  }
  if (finite == 0)
    fail_msg("%s: no point of finite density", name);
  free(theta);
}

/* brms's own switch takes the likelihood out, also where data are read: what
 * is left is the prior. Not where values are missing or noisy, which it leaves
 * in. */
static void check_switch(const char *folder, const char *name, const char *text,
                         const tempera_program *program,
                         const tempera_model *model) {
  char path[512], *json = NULL, *at = NULL;
  size_t length, size = tempera_model_size(model);
  double prior, likelihood, p, l, *theta = calloc(size, sizeof *theta);
  snprintf(path, sizeof path, "%s/tests/language/%s/%s.json", SOURCE_DIR,
           folder, name);
  if (tm_file_exists(path))
    assert_int_equal(tm_file_read(path, &json, &length, NULL), TEMPERA_OK);
  if (!strcmp(folder, "brms") && json && !strstr(text, MARKS[TM_PART_BOTH]) &&
      !strstr(text, "noise"))
    at = strstr(json, "\"prior_only\": 0");
  if (at) {
    at[strlen("\"prior_only\": ")] = '1';
    tempera_data *data = NULL;
    tempera_model *switched = NULL;
    assert_int_equal(tempera_data_parse(json, length, &data, NULL), TEMPERA_OK);
    assert_int_equal(tempera_program_load(program, data, &switched, NULL),
                     TEMPERA_OK);
    assert_int_equal(
        tempera_model_probe(switched, 3, 1, theta, &likelihood, &prior, NULL),
        TEMPERA_OK);
    assert_int_equal(tempera_model_evaluate(model, theta, &l, &p, NULL),
                     TEMPERA_OK);
    if (likelihood != 0 || !close_to(prior, p))
      fail_msg("%s: alone the prior is %.12g, with data %.12g", name, prior, p);
    tempera_model_free(switched);
    tempera_data_free(data);
    switched_off++;
  }
  tm_heap_free(json);
  free(theta);
}

static void check_case(const char *folder, const char *name) {
  char *text = read_case(folder, name);
  tempera_model *models[3];
  static const tm_part kept[] = {TM_PART_BOTH, TM_PART_PRIOR,
                                 TM_PART_LIKELIHOOD};
  for (int k = 0; k < 3; k++) {
    tm_text version = {0};
    only(text, kept[k], &version);
    tempera_program *program = parse(name, &version);
    models[k] = load(folder, name, program);
    if (k == 0) {
      check_lines(name, text, &program->split);
      check_switch(folder, name, text, program, models[0]);
    }
    tempera_program_free(program);
    tm_text_clear(&version);
  }
  bool improper = tempera_model_spec_of(models[0])->prior_improper;
  if (improper != (strncmp(text, "// improper", 11) == 0))
    fail_msg("%s: the prior is %s", name, improper ? "improper" : "proper");
  check_values(name, models);
  for (int k = 0; k < 3; k++)
    tempera_model_free(models[k]);
  free(text);
}

static void check_folder(const char *folder, size_t least) {
  char path[512];
  snprintf(path, sizeof path, "%s/tests/language/%s", SOURCE_DIR, folder);
  DIR *dir = opendir(path);
  assert_non_null(dir);
  size_t count = 0;
  for (struct dirent *e; (e = readdir(dir));) {
    char *dot = strrchr(e->d_name, '.');
    if (!dot || strcmp(dot, ".stan"))
      continue;
    *dot = '\0';
    check_case(folder, e->d_name);
    count++;
  }
  closedir(dir);
  assert_true(count >= least);
}

static void terms_are_where_the_comments_say(void **state) {
  (void)state;
  check_folder("split", 3);
}

static void programs_of_brms_split_by_themselves(void **state) {
  (void)state;
  check_folder("brms", 30);
  assert_true(switched_off >= 30);
}

#define HEAD                                                                   \
  "data { int N; vector[N] x; array[N] int y; }\n"                             \
  "parameters { vector[8] d; vector[3] e; }\n"

/* Calls that raise the target inside of statements, conditions and loops. */
static const char RAISING[] =
    "functions {\n"
    "  real near_lp(real x) { x ~ normal(0, 3); return 2 * x; }\n"
    "  real fits_lp(real x, vector z) {\n"
    "    z ~ normal(x, 2); return exp(-abs(x)); }\n"
    "  vector few_lp(vector x) { x ~ normal(1, 2); return x; }\n"
    "  int side_lp(real x, int y) { y ~ bernoulli_logit(x); return x > 0; }\n"
    "  int high_lp(real x) {\n"
    "    x ~ double_exponential(0, 4); return x > 0 ? 2 : 1; }\n"
    "  real scale_lp(real x) {\n"
    "    if (near_lp(x) > 1) return x + 1; else return exp(near_lp(x)); }\n"
    "}\n" HEAD "model {\n"
    "  int k = 0;\n"
    "  for (z in few_lp(e)) target += -square(z);\n"
    "  x ~ normal(near_lp(d[1]), 1);\n"
    "  d[2] ~ normal(0, 1 + fits_lp(d[2], x));\n"
    "  if (near_lp(d[3]) > 0) x ~ normal(1, 2);\n"
    "  else if (side_lp(d[4], y[1])) x ~ cauchy(0, 1);\n"
    "  while (k < 3 && high_lp(d[4]) > 0) {\n"
    "    k += 1;\n"
    "    if (k == 2) continue;\n"
    "    x[k] ~ cauchy(d[4], 1);\n"
    "  }\n"
    "  for (i in 1:high_lp(d[5])) x[i] ~ cauchy(d[5], i);\n"
    "  target += normal_lpdf(d[7] | 0, exp(near_lp(d[6])));\n"
    "  target += normal_lpdf(x | 0, d[8] > 0 ? scale_lp(d[8]) : 1.5);\n"
    "}\n";

static const char PRIOR_OF_IT[] =
    HEAD "model {\n"
         "  e ~ normal(1, 2);\n"
         "  target += -dot_self(e);\n"
         "  d[{1, 3, 6}] ~ normal(0, 3);\n"
         "  d[2] ~ normal(0, 1 + exp(-abs(d[2])));\n"
         "  for (k in 1:3) d[4] ~ double_exponential(0, 4);\n"
         "  d[5] ~ double_exponential(0, 4);\n"
         "  d[7] ~ normal(0, exp(2 * d[6]));\n"
         "  if (d[8] > 0) d[8] ~ normal(0, 3);\n"
         "  if (d[8] > 0 && d[8] <= .5) d[8] ~ normal(0, 3);\n"
         "}\n";

static const char LIKELIHOOD_OF_IT[] =
    HEAD "model {\n"
         "  x ~ normal(2 * d[1], 1);\n"
         "  x ~ normal(d[2], 2);\n"
         "  if (d[3] > 0) x ~ normal(1, 2);\n"
         "  else {\n"
         "    y[1] ~ bernoulli_logit(d[4]);\n"
         "    if (d[4] > 0) x ~ cauchy(0, 1);\n"
         "  }\n"
         "  x[{1, 3}] ~ cauchy(d[4], 1);\n"
         "  x[1] ~ cauchy(d[5], 1);\n"
         "  if (d[5] > 0) x[2] ~ cauchy(d[5], 2);\n"
         "  x ~ normal(0, d[8] > .5 ? d[8] + 1 : d[8] > 0 ? exp(2 * d[8]) : "
         "1.5);\n"
         "}\n";

/* The program, and its prior and its likelihood by hand. */
static void check_by_hand(const char *name, const char *const texts[3],
                          const char *json) {
  tempera_model *models[3];
  for (int k = 0; k < 3; k++) {
    tm_text text = {0};
    tempera_data *data = NULL;
    tempera_error error = {0};
    tm_text_add(&text, texts[k]);
    tempera_program *program = parse(name, &text);
    assert_int_equal(tempera_data_parse(json, strlen(json), &data, &error),
                     TEMPERA_OK);
    if (tempera_program_load(program, data, &models[k], &error))
      fail_msg("%s: %s", name, error.message);
    tempera_data_free(data);
    tempera_program_free(program);
    tm_text_clear(&text);
  }
  check_values(name, models);
  for (int k = 0; k < 3; k++)
    tempera_model_free(models[k]);
}

static void calls_that_raise_are_judged_by_themselves(void **state) {
  static const char *const texts[] = {RAISING, PRIOR_OF_IT, LIKELIHOOD_OF_IT};
  (void)state;
  check_by_hand("raising", texts,
                "{\"N\": 3, \"x\": [0.4, -1.1, 2.3], \"y\": [1, 0, 1]}");
}

#define CENSORED                                                               \
  "data { int N; vector[N] y; real U; vector[N] L; vector[N] H; }\n"           \
  "parameters { real mu; real<lower=0> s; vector<lower=U>[N] c;\n"             \
  "  vector<lower=L, upper=H>[N] w; real<upper=U> one; vector<upper=U>[N] "    \
  "t;\n"                                                                       \
  "  vector<lower=0>[N] plain; vector<lower=U>[N] kept;\n"                     \
  "  real<lower=U> fixed; }\n"

/* What data's bounds cut off was observed, where the mark says so. */
static void bounds_that_data_give_may_be_observations(void **state) {
  static const char *const texts[] = {
      CENSORED "model {\n"
               "  mu ~ normal(0, 2); s ~ exponential(1);\n"
               "  y ~ normal(mu, s);\n"
               "  c ~ normal(mu, s); // @likelihood\n"
               "  for (n in 1:N) w[n] ~ logistic(mu * n, s); // @likelihood\n"
               "  one ~ student_t(4, mu, s); // @likelihood\n"
               "  target += normal_lupdf(t | mu, 2 * s); // @likelihood\n"
               "  plain ~ normal(mu, s);\n"
               "  kept ~ normal(mu, s); // @prior\n"
               "  fixed ~ normal(0, 1);\n"
               "}\n",
      CENSORED "model {\n"
               "  mu ~ normal(0, 2); s ~ exponential(1);\n"
               "  target += normal_lpdf(c | mu, s); // @prior\n"
               "  target += -N * normal_lccdf(U | mu, s); // @prior\n"
               "  for (n in 1:N) {\n"
               "    w[n] ~ logistic(mu * n, s); // @prior\n"
               "    target += -log(exp(logistic_lcdf(H[n] | mu * n, s))\n"
               "      - exp(logistic_lcdf(L[n] | mu * n, s))); // @prior\n"
               "  }\n"
               "  one ~ student_t(4, mu, s); // @prior\n"
               "  target += -student_t_lcdf(U | 4, mu, s); // @prior\n"
               "  t ~ normal(mu, 2 * s); // @prior\n"
               "  target += -N * normal_lcdf(U | mu, 2 * s); // @prior\n"
               "  plain ~ normal(mu, s);\n"
               "  kept ~ normal(mu, s); // @prior\n"
               "  fixed ~ normal(0, 1);\n"
               "}\n",
      CENSORED "model {\n"
               "  y ~ normal(mu, s);\n"
               "  target += N * normal_lccdf(U | mu, s);\n"
               "  for (n in 1:N)\n"
               "    target += log(exp(logistic_lcdf(H[n] | mu * n, s))\n"
               "      - exp(logistic_lcdf(L[n] | mu * n, s)));\n"
               "  target += student_t_lcdf(U | 4, mu, s);\n"
               "  target += N * normal_lcdf(U | mu, 2 * s);\n"
               "}\n"};
  (void)state;
  check_by_hand("censored", texts,
                "{\"N\": 3, \"y\": [0.4, -1.1, 2.3], \"U\": 0.7, "
                "\"L\": [-1, 0, 0.5], \"H\": [0, 1.5, 4]}");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(terms_are_where_the_comments_say),
      cmocka_unit_test(programs_of_brms_split_by_themselves),
      cmocka_unit_test(calls_that_raise_are_judged_by_themselves),
      cmocka_unit_test(bounds_that_data_give_may_be_observations),
  };
  return cmocka_run_group_tests(tests, compiling_quickly, NULL);
}
