/* test_paper_stan.c - the paper's models as programs say the same as in C, at
 * draws from the prior and from the posterior. */
#include "base/text.h"
#include "draws/draws.h"
#include "paper_support.h"

/* A model in both languages on the same data. */
typedef struct twins {
  tempera_model *c, *stan;
} twins;

static tempera_model *load(const char *format, const char *name,
                           const tempera_data *data) {
  char path[1024];
  tempera_model *model = NULL;
  tempera_error error = {0};
  snprintf(path, sizeof path, format, name);
  if (tempera_model_load(path, data, &model, &error) != TEMPERA_OK)
    fail_msg("%s: %s", path, error.message);
  return model;
}

/* Takes the data. */
static twins twins_on(const char *name, tempera_data *data) {
  twins t = {load(BUILD_DIR "/models/%s.so", name, data),
             load(SOURCE_DIR "/models/paper/%s.stan", name, data)};
  tempera_data_free(data);
  size_t size = tempera_model_size(t.c);
  assert_int_equal(tempera_model_size(t.stan), size);
  for (size_t i = 0; i < size; i++)
    assert_string_equal(tempera_model_value_name(t.c, i),
                        tempera_model_value_name(t.stan, i));
  return t;
}

static void free_twins(twins *t) {
  tempera_model_free(t->c);
  tempera_model_free(t->stan);
}

static tempera_data *data_of(const char *file) {
  char path[1024];
  tempera_data *data = NULL;
  snprintf(path, sizeof path, SOURCE_DIR "/models/paper/%s", file);
  assert_int_equal(tempera_data_read(path, &data, NULL), TEMPERA_OK);
  return data;
}

static void assert_same(const char *what, double stan, double c,
                        double tolerance) {
  bool same = fabs(stan - c) <= tolerance * fmax(1, fabs(c)) || stan == c;
  if (!same)
    fail_msg("%s: %.15g as a program, %.15g in C", what, stan, c);
}

static void assert_agree(const twins *t, const double *theta,
                         double tolerance) {
  assert_same("log likelihood", likelihood_at(t->stan, theta),
              likelihood_at(t->c, theta), tolerance);
  assert_same("log prior", prior_at(t->stan, theta), prior_at(t->c, theta),
              1e-10);
}

static void agree_at_prior_draws(const twins *t, int draws, double tolerance) {
  tempera_random random = tm_random(21, 0, TM_PURPOSE_TEST);
  double theta[64];
  for (int i = 0; i < draws; i++) {
    draw_prior(t->c, &random, theta);
    assert_agree(t, theta, tolerance);
  }
}

static void agree_at_posterior_draws(const twins *t, double tolerance) {
  tempera_options options = tempera_options_default();
  tempera_sampler *sampler = NULL;
  tempera_error error = {0};
  options.chains = 2;
  options.iterations = 200;
  options.warmup_given = true;
  options.warmup = 300;
  options.seed = 5;
  if (tempera_sampler_create(t->c, &options, &sampler, &error) ||
      tempera_sampler_advance(sampler, 500, &error))
    fail_msg("%s", error.message);
  const tempera_draws *draws = tempera_sampler_draws(sampler);
  double theta[64];
  for (size_t row = 0; row < draws->count; row++) {
    for (size_t i = 0; i < draws->size; i++)
      theta[i] = tm_draws_column(draws, TEMPERA_TARGET, row % 2, i)[row];
    assert_agree(t, theta, tolerance);
  }
  tempera_sampler_free(sampler);
}

static void bimodal_agrees(void **state) {
  (void)state;
  static const char *const models[] = {"bimodal", "bimodal2"};
  for (size_t i = 0; i < 2; i++) {
    twins t = twins_on(models[i], data_of("bimodal.json"));
    agree_at_prior_draws(&t, 300, 1e-10);
    agree_at_posterior_draws(&t, 1e-10);
    free_twins(&t);
  }
}

/* The galaxies' velocities with any number of components. */
static tempera_data *galaxies(int K, int equal) {
  tempera_data *all = data_of("galaxy-3.json"), *data = NULL;
  const double *y = NULL;
  size_t n = 0;
  tm_text text = {0};
  assert_int_equal(tempera_data_reals(all, "y", &y, &n, NULL), TEMPERA_OK);
  tm_text_printf(&text, "{\"n\": %zu, \"K\": %d, \"equal\": %d, \"y\": [", n, K,
                 equal);
  for (size_t i = 0; i < n; i++) {
    tm_text_add(&text, i ? "," : "");
    tm_text_number(&text, y[i]);
  }
  tm_text_add(&text, "]}");
  assert_int_equal(tempera_data_parse(text.data, text.length, &data, NULL),
                   TEMPERA_OK);
  tm_text_clear(&text);
  tempera_data_free(all);
  return data;
}

static void galaxy_agrees(void **state) {
  (void)state;
  for (int K = 2; K <= 6; K++)
    for (int equal = 0; equal < 2; equal++) {
      twins t = twins_on("galaxy", galaxies(K, equal));
      agree_at_prior_draws(&t, 200, 1e-10);
      free_twins(&t);
    }
  twins t = twins_on("galaxy", galaxies(3, 0));
  agree_at_posterior_draws(&t, 1e-10);
  free_twins(&t);
}

static void sir_agrees(void **state) {
  (void)state;
  twins t = twins_on("sir", data_of("eyam.json"));
  agree_at_prior_draws(&t, 100, 1e-4);
  agree_at_posterior_draws(&t, 1e-6);
  free_twins(&t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bimodal_agrees),
      cmocka_unit_test(galaxy_agrees),
      cmocka_unit_test(sir_agrees),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
