/* test_paper_models.c - the bimodal and galaxy models of the paper against
 * exact answers and plain implementations; their vector kernels against libm.
 *
 * Evidences are from truth.json of the reference data (quadrature). */
#include "../../models/paper/fast_math.h"
#include "paper_support.h"

#include <gsl/gsl_integration.h>

/* ------------------------------------------------------------------------
 * exp and log of arrays
 */

static void array_exponentials_agree_with_libm(void **state) {
  (void)state;
  tempera_random random = tm_random(1, 0, TM_PURPOSE_TEST);
  double x[100], y[100];
  for (int round = 0; round < 2000; round++) {
    double range = round % 2 ? 700 : 5;
    for (int i = 0; i < 100; i++)
      x[i] = y[i] = range * (2 * tempera_random_uniform(&random) - 1);
    exp_array(y, 100);
    for (int i = 0; i < 100; i++)
      assert_near(y[i] / exp(x[i]), 1, 1e-15);
  }
  double edges[] = {0, -0.0, -708, -710, -1e300, -INFINITY};
  exp_array(edges, 6);
  assert_true(edges[0] == 1 && edges[1] == 1);
  assert_near(edges[2] / exp(-708), 1, 1e-15);
  assert_true(edges[3] == 0 && edges[4] == 0 && edges[5] == 0);
}

static void array_logarithms_agree_with_libm(void **state) {
  (void)state;
  tempera_random random = tm_random(2, 0, TM_PURPOSE_TEST);
  double x[100], y[100];
  for (int round = 0; round < 2000; round++) {
    double range = round % 3 == 0 ? 700 : round % 3 == 1 ? 1 : 1e-6;
    for (int i = 0; i < 100; i++)
      x[i] = y[i] = exp(range * (2 * tempera_random_uniform(&random) - 1));
    log_array(y, 100);
    for (int i = 0; i < 100; i++)
      assert_near(y[i], log(x[i]), 1e-15 * fabs(log(x[i])));
  }
  double edges[] = {1, 0x1p-1022, 1.7976931348623157e308};
  log_array(edges, 3);
  assert_true(edges[0] == 0);
  assert_near(edges[1], log(0x1p-1022), 1e-13);
  assert_near(edges[2], log(1.7976931348623157e308), 1e-13);
}

/* ------------------------------------------------------------------------
 * Bimodal
 */

static gsl_integration_glfixed_table *gauss(void) {
  return gsl_integration_glfixed_table_alloc(200);
}

/* log of int exp(tau l) prior over mu; |mu| has a kink at 0, so by halves. */
static double bimodal_log_z(const tempera_model *model, double tau) {
  gsl_integration_glfixed_table *table = gauss();
  double sum = 0, top = height_at(model, tau, (double[]){1.4});
  for (size_t i = 0; i < 200; i++) {
    double mu, weight;
    gsl_integration_glfixed_point(0, 10, i, &mu, &weight, table);
    sum += weight * exp(height_at(model, tau, &mu) - top);
    mu = -mu;
    sum += weight * exp(height_at(model, tau, &mu) - top);
  }
  gsl_integration_glfixed_table_free(table);
  return top + log(sum);
}

static const struct {
  double tau, log_z_2555, log_z_1555;
} bimodal_truth[] = {
    {0, 0, 0},
    {0.01, -0.4606588939886631, -0.46543969090877724},
    {0.1, -4.354646676560038, -4.4223766845540515},
    {0.5, -19.74526945672254, -20.19774447242048},
    {1, -38.25321251549195, -39.20117593068107},
};

static void bimodal_evidence_is_exact(void **state) {
  (void)state;
  tempera_model *model = paper_model("bimodal", "bimodal.json");
  tempera_model *other = paper_model("bimodal", "bimodal-1555.json");
  for (size_t k = 0; k < sizeof bimodal_truth / sizeof *bimodal_truth; k++) {
    double tau = bimodal_truth[k].tau;
    assert_near(bimodal_log_z(model, tau), bimodal_truth[k].log_z_2555, 1e-9);
    assert_near(bimodal_log_z(other, tau), bimodal_truth[k].log_z_1555, 1e-9);
  }
  tempera_model_free(other);
  tempera_model_free(model);
}

/* Over mu by halves and over w = log sigma2, with its Jacobian. */
static double bimodal2_log_z(const tempera_model *model, double tau) {
  gsl_integration_glfixed_table *table = gauss();
  double sum = 0, top = height_at(model, tau, (double[]){1.4, 1});
  for (size_t i = 0; i < 200; i++) {
    double mu, across, w, along;
    gsl_integration_glfixed_point(0, 10, i, &mu, &across, table);
    for (size_t j = 0; j < 200; j++) {
      gsl_integration_glfixed_point(-6, 24, j, &w, &along, table);
      double right[] = {mu, exp(w)}, left[] = {-mu, exp(w)};
      sum += across * along * exp(height_at(model, tau, right) - top + w);
      sum += across * along * exp(height_at(model, tau, left) - top + w);
    }
  }
  gsl_integration_glfixed_table_free(table);
  return top + log(sum);
}

static void bimodal2_evidence_is_exact(void **state) {
  (void)state;
  tempera_model *model = paper_model("bimodal2", "bimodal.json");
  assert_near(bimodal2_log_z(model, 0), 0, 1e-8);
  assert_near(bimodal2_log_z(model, 0.01), -0.5213426700383454, 1e-8);
  assert_near(bimodal2_log_z(model, 0.25), -10.926822650320618, 1e-8);
  assert_near(bimodal2_log_z(model, 1), -39.54462832902814, 1e-8);
  tempera_model_free(model);
}

/* The optimum beats a grid over everything, and keeps the start's sign. */
static void check_optimum(const tempera_model *model, double tau, double sign) {
  const tempera_model_spec *spec = tempera_model_spec_of(model);
  bool two = tempera_model_size(model) == 2;
  double best[2] = {0.3 * sign, 7}, top;
  assert_int_equal(spec->optimum(tau, best, spec->user), 0);
  assert_true(signbit(best[0]) == signbit(sign));
  top = height_at(model, tau, best);
  for (double mu = -4; mu <= 4; mu += 0.02)
    for (double w = two ? -4 : 4; w <= 4; w += 0.05) {
      double theta[2] = {mu, exp(w)};
      assert_true(height_at(model, tau, theta) <= top);
    }
  for (int j = 0; j < (two ? 2 : 1); j++)
    for (double step = -1e-5; step < 2e-5; step += 2e-5) {
      double theta[2] = {best[0], best[1]};
      theta[j] += step;
      assert_true(height_at(model, tau, theta) <= top + 1e-13);
    }
}

static void optimum_is_the_global_one(void **state) {
  (void)state;
  static const double taus[] = {0, 1e-6, 1e-3, 0.01, 0.03, 0.1, 0.4, 1};
  static const char *const names[] = {"bimodal", "bimodal2"};
  static const char *const files[] = {"bimodal.json", "bimodal-1555.json"};
  for (int k = 0; k < 4; k++) {
    tempera_model *model = paper_model(names[k / 2], files[k % 2]);
    for (size_t t = 0; t < sizeof taus / sizeof *taus; t++) {
      check_optimum(model, taus[t], 1);
      check_optimum(model, taus[t], -1);
    }
    tempera_model_free(model);
  }
}

static void optimum_at_tau_1_is_the_known_mode(void **state) {
  (void)state;
  tempera_model *model = paper_model("bimodal2", "bimodal.json");
  const tempera_model_spec *spec = tempera_model_spec_of(model);
  double theta[2] = {-0.8, 0.2};
  assert_int_equal(spec->optimum(1, theta, spec->user), 0);
  assert_near(theta[0], -1.4102673216679475, 1e-10);
  assert_near(theta[1], 0.9896155353178048, 1e-10);
  tempera_model_free(model);
}

static void mu_proposal_has_the_papers_width(void **state) {
  (void)state;
  tempera_model *model = paper_model("bimodal2", "bimodal.json");
  const tempera_model_spec *spec = tempera_model_spec_of(model);
  const tempera_proposal *proposal = &spec->recipe->proposals[0];
  tempera_random random = tm_random(3, 0, TM_PURPOSE_TEST);
  enum { DRAWS = 20000 };
  const double theta[2] = {0.7, 2}, tau = 0.3;
  double variance = 2.4 * 2.4 * 2 / (25 * tau + 2), square = 0;
  for (int i = 0; i < DRAWS; i++) {
    double proposed[2] = {0.7, 2}, ratio = NAN;
    proposal->propose(tau, proposal->scale, theta, proposed, &ratio, &random,
                      spec->user);
    assert_true(ratio == 0 && proposed[1] == 2);
    square += (proposed[0] - 0.7) * (proposed[0] - 0.7) / DRAWS;
  }
  assert_near(square, variance, 4 * variance * sqrt(2.0 / DRAWS));
  assert_true(spec->recipe->proposals[1].target_acceptance == 0.44);
  tempera_model_free(model);
}

static double low_mu(const double *theta) { return theta[0] < -0.5; }
static double low_sigma2(const double *theta) { return theta[1] < 1; }

static void bimodal_proposals_keep_the_prior(void **state) {
  (void)state;
  double below = 0.5 * erfc(0.5 / sqrt(2));
  tempera_model *one = paper_model("bimodal", "bimodal.json");
  tempera_model *two = paper_model("bimodal2", "bimodal.json");
  for (double tau = 0; tau < 0.6; tau += 0.5) {
    assert_walk_keeps_prior(one, tau, 2, low_mu, below);
    assert_walk_keeps_prior(two, tau, 2, low_mu, below);
    /* 1/sigma2 is exponential */
    assert_walk_keeps_prior(two, tau, 2, low_sigma2, exp(-1));
  }
  assert_walk_keeps_prior(one, 0, 0, low_mu, below); /* the draws themselves */
  assert_walk_keeps_prior(two, 0, 0, low_sigma2, exp(-1));
  tempera_model_free(two);
  tempera_model_free(one);
}

/* ------------------------------------------------------------------------
 * Galaxy
 */

static const struct {
  const char *file;
  size_t K, variances;
} mixtures[] = {{"galaxy-2-equal.json", 2, 1}, {"galaxy-3.json", 3, 3},
                {"galaxy-3-equal.json", 3, 1}, {"galaxy-4.json", 4, 4},
                {"galaxy-5.json", 5, 5},       {"galaxy-6.json", 6, 6}};
enum { MIXTURES = sizeof mixtures / sizeof *mixtures };

/* The definition, term by term, in long double. */
static double plain_mixture(const double *y, size_t n, size_t K,
                            size_t variances, const double *theta) {
  const double *p = theta + K + variances;
  long double total = 0;
  for (size_t i = 0; i < n; i++) {
    long double terms[16], top = -INFINITY, sum = 0;
    for (size_t k = 0; k < K; k++) {
      double sigma2 = theta[K + (variances == 1 ? 0 : k)];
      long double d = (long double)y[i] - theta[k];
      terms[k] = logl(K == 1 ? 1 : p[k]) - d * d / (2 * sigma2) -
                 0.5L * logl(2 * 3.14159265358979323846L * sigma2);
      top = fmaxl(top, terms[k]);
    }
    for (size_t k = 0; k < K; k++)
      sum += expl(terms[k] - top);
    total += top + logl(sum);
  }
  return (double)total;
}

static tempera_data *galaxy_data(const char *file, const double **y,
                                 size_t *n) {
  char path[1024];
  tempera_data *data = NULL;
  snprintf(path, sizeof path, SOURCE_DIR "/models/paper/%s", file);
  assert_int_equal(tempera_data_read(path, &data, NULL), TEMPERA_OK);
  assert_int_equal(tempera_data_reals(data, "y", y, n, NULL), TEMPERA_OK);
  return data;
}

static void galaxy_agrees_with_the_definition(void **state) {
  (void)state;
  tempera_random random = tm_random(4, 0, TM_PURPOSE_TEST);
  double worst = 0, theta[64];
  for (size_t m = 0; m < MIXTURES; m++) {
    const double *y;
    size_t n;
    tempera_data *data = galaxy_data(mixtures[m].file, &y, &n);
    tempera_model *model = paper_model("galaxy", mixtures[m].file);
    assert_int_equal(n, 82);
    for (int draw = 0; draw < 1000; draw++) {
      draw_prior(model, &random, theta);
      if (draw % 4 == 3) /* far away and narrow */
        theta[mixtures[m].K] *= pow(10, -8 * tempera_random_uniform(&random));
      double truth =
          plain_mixture(y, n, mixtures[m].K, mixtures[m].variances, theta);
      double value = likelihood_at(model, theta);
      worst = fmax(worst, fabs(value / truth - 1));
      assert_near(value, truth, 2e-14 * fabs(truth));
    }
    tempera_model_free(model);
    tempera_data_free(data);
  }
  print_message("worst relative difference %.2g\n", worst);
}

static tempera_model *mixture_from(const char *json) {
  tempera_data *data = NULL;
  tempera_model *model = NULL;
  assert_int_equal(tempera_data_parse(json, strlen(json), &data, NULL),
                   TEMPERA_OK);
  assert_int_equal(
      tempera_model_load(BUILD_DIR "/models/galaxy.so", data, &model, NULL),
      TEMPERA_OK);
  tempera_data_free(data);
  return model;
}

/* Thousands of sums multiplied together must not overflow. */
static void many_observations_do_not_overflow(void **state) {
  (void)state;
  enum { COUNT = 5003 };
  static double y[COUNT];
  static char json[COUNT * 24];
  tempera_random random = tm_random(5, 0, TM_PURPOSE_TEST);
  size_t used = (size_t)sprintf(json, "{\"n\":%d,\"K\":4,\"equal\":0,\"y\":[",
                                (int)COUNT);
  for (int i = 0; i < COUNT; i++) {
    y[i] = round(1e6 * tempera_random_normal(&random)) / 1e6;
    used += (size_t)sprintf(json + used, "%s%.6f", i ? "," : "", y[i]);
  }
  sprintf(json + used, "]}");
  tempera_model *model = mixture_from(json);
  const double theta[] = {0, 0.1, 0.2, 0.3, 1, 1, 1, 1, .25, .25, .25, .25};
  double truth = plain_mixture(y, COUNT, 4, 4, theta);
  assert_near(likelihood_at(model, theta), truth, 1e-13 * fabs(truth));
  tempera_model_free(model);
}

static void one_component_needs_no_shares(void **state) {
  (void)state;
  tempera_model *model =
      mixture_from("{\"n\":3,\"y\":[19,20,22.5],\"K\":1,\"equal\":0}");
  assert_int_equal(tempera_model_size(model), 2);
  const double y[] = {19, 20, 22.5}, theta[] = {20.5, 2};
  assert_near(likelihood_at(model, theta), plain_mixture(y, 3, 1, 1, theta),
              1e-13);
  tempera_model_free(model);
}

static void degenerate_mixtures_give_numbers(void **state) {
  (void)state;
  tempera_model *model = paper_model("galaxy", "galaxy-3.json");
  const double cases[][9] = {
      {20, 20, 20, 1e-250, 4, 4, 0.2, 0.4, 0.4},
      {1e8, -1e8, 1e8, 1e-9, 1e-9, 1e-9, 0.2, 0.4, 0.4},
      {9, 20, 33, 1, 4, 1, 0, 1, 0},
      {9, 20, 33, 1, 4, 1, 1e-310, 1, 1e-300},
      {1e200, 1e200, 1e200, 1, 1, 1, 0.2, 0.4, 0.4},
      {9, 20, 33, 0, 4, 1, 0.2, 0.4, 0.4},
  };
  const tempera_model_spec *spec = tempera_model_spec_of(model);
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    double value = likelihood_at(model, cases[k]), again, gradient[9];
    assert_true(!isnan(value));
    assert_true(value < 0);
    assert_true((value == -INFINITY) == (k >= 4));
    spec->log_likelihood_gradient(cases[k], &again, gradient, spec->user);
    assert_true(again == value);
    for (int j = 0; j < 9; j++)
      assert_true(!isnan(gradient[j]));
  }
  tempera_model_free(model);
}

static void equal_variances_are_one_parameter(void **state) {
  (void)state;
  tempera_model *model = paper_model("galaxy", "galaxy-3-equal.json");
  static const char *const names[] = {"mu[1]", "mu[2]", "mu[3]", "sigma2[1]",
                                      "p[1]",  "p[2]",  "p[3]"};
  assert_int_equal(tempera_model_size(model), 7);
  for (size_t i = 0; i < 7; i++)
    assert_string_equal(tempera_model_value_name(model, i), names[i]);
  tempera_model_free(model);
}

static void clones_work_apart(void **state) {
  (void)state;
  tempera_model *model = paper_model("galaxy", "galaxy-4.json");
  const tempera_model_spec *spec = tempera_model_spec_of(model);
  const double *theta = spec->recipe->start;
  double value;
  void *copy = NULL;
  assert_int_equal(spec->clone(spec->user, &copy), 0);
  assert_int_equal(spec->log_likelihood(theta, &value, copy), 0);
  assert_true(value == likelihood_at(model, theta));
  spec->release(copy);
  tempera_model_free(model);
}

/* At most one draw in five from the prior has a higher likelihood. */
static void start_is_better_than_most_of_the_prior(void **state) {
  (void)state;
  tempera_random random = tm_random(7, 0, TM_PURPOSE_TEST);
  for (size_t m = 0; m < MIXTURES; m++) {
    tempera_model *model = paper_model("galaxy", mixtures[m].file);
    const double *start = tempera_model_spec_of(model)->recipe->start;
    double height = likelihood_at(model, start), theta[64];
    int better = 0;
    for (int draw = 0; draw < 500; draw++) {
      draw_prior(model, &random, theta);
      better += likelihood_at(model, theta) > height;
    }
    assert_in_range(better, 0, 100);
    tempera_model_free(model);
  }
}

/* Densities of the prior over (mu, sigma2) integrate to one, and the
 * Dirichlet's constant is the volume of the simplex. */
static void galaxy_prior_is_normalised(void **state) {
  (void)state;
  tempera_model *model =
      mixture_from("{\"n\":1,\"y\":[20],\"K\":1,\"equal\":0}");
  gsl_integration_glfixed_table *table = gauss();
  double sum = 0;
  for (size_t i = 0; i < 200; i++)
    for (size_t j = 0; j < 200; j++) {
      double mu, w, across, along;
      gsl_integration_glfixed_point(-70, 110, i, &mu, &across, table);
      gsl_integration_glfixed_point(-2, 14, j, &w, &along, table);
      double theta[] = {mu, exp(w)};
      sum += across * along * exp(prior_at(model, theta) + w);
    }
  assert_near(sum, 1, 1e-10);
  tempera_model_free(model);
  tempera_model *three = paper_model("galaxy", "galaxy-3-equal.json");
  tempera_model *two = paper_model("galaxy", "galaxy-2-equal.json");
  double mean = -0.5 * log(2 * 3.14159265358979323846) - log(10);
  const double a[] = {20, 20, 20, 5, .2, .3, .5}, b[] = {20, 20, 5, .5, .5};
  assert_near(prior_at(three, a) - prior_at(two, b), mean + log(2), 1e-12);
  tempera_model_free(two);
  tempera_model_free(three);
  gsl_integration_glfixed_table_free(table);
}

static double low_mean(const double *theta) { return theta[1] < 15; }
static double low_variance(const double *theta) { return theta[4] < 6; }
static double low_share(const double *theta) { return theta[6] < 0.2; }
static double last_share(const double *theta) { return theta[8] < 0.2; }

static void galaxy_proposals_keep_the_prior(void **state) {
  (void)state;
  tempera_model *model = paper_model("galaxy", "galaxy-3.json");
  double x = 20.0 / 6, tail = exp(-x) * (1 + x + x * x / 2);
  for (int passes = 0; passes <= 3; passes += 3)
    for (double tau = 0; tau < 0.6; tau += 0.5) {
      assert_walk_keeps_prior(model, tau, passes, low_mean,
                              0.5 * erfc(0.5 / sqrt(2)));
      /* P(20/gamma(3) < 6) = P(gamma(3) > 20/6) */
      assert_walk_keeps_prior(model, tau, passes, low_variance, tail);
      assert_walk_keeps_prior(model, tau, passes, low_share, 1 - 0.8 * 0.8);
      assert_walk_keeps_prior(model, tau, passes, last_share, 1 - 0.8 * 0.8);
    }
  tempera_model_free(model);
}

/* ------------------------------------------------------------------------
 * All with gradients
 */

static void check_gradient(const tempera_model *model, const double *theta,
                           tempera_gradient_fn gradient_of,
                           tempera_density_fn density) {
  const tempera_model_spec *spec = tempera_model_spec_of(model);
  double gradient[64], at[64], value, plain, up, down;
  assert_int_equal(gradient_of(theta, &value, gradient, spec->user), 0);
  assert_int_equal(density(theta, &plain, spec->user), 0);
  assert_true(value == plain);
  size_t size = tempera_model_size(model);
  for (size_t j = 0; j < size; j++) {
    double step = 1e-5 * fmax(fabs(theta[j]), 1e-3);
    memcpy(at, theta, size * sizeof *theta);
    at[j] = theta[j] + step;
    density(at, &up, spec->user);
    at[j] = theta[j] - step;
    density(at, &down, spec->user);
    double slope = (up - down) / (2 * step);
    double rounding = 1e-14 * fabs(value) / step;
    assert_near(gradient[j], slope, 1e-6 * fabs(slope) + rounding + 1e-7);
  }
}

static void gradients_agree_with_differences(void **state) {
  (void)state;
  static const char *const cases[][2] = {{"bimodal", "bimodal.json"},
                                         {"bimodal2", "bimodal.json"},
                                         {"galaxy", "galaxy-2-equal.json"},
                                         {"galaxy", "galaxy-3.json"},
                                         {"galaxy", "galaxy-6.json"}};
  tempera_random random = tm_random(6, 0, TM_PURPOSE_TEST);
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    tempera_model *model = paper_model(cases[k][0], cases[k][1]);
    const tempera_model_spec *spec = tempera_model_spec_of(model);
    assert_true(spec->prior_normalised);
    for (int draw = 0; draw < 100; draw++) {
      double theta[64];
      draw_prior(model, &random, theta);
      check_gradient(model, theta, spec->log_likelihood_gradient,
                     spec->log_likelihood);
      check_gradient(model, theta, spec->log_prior_gradient, spec->log_prior);
    }
    tempera_model_free(model);
  }
}

static void wrong_data_are_refused_with_the_reason(void **state) {
  (void)state;
  static const struct {
    const char *model, *json, *words;
  } cases[] = {
      {"bimodal", "{}", "n"},
      {"bimodal", "{\"n\":2}", "y"},
      {"bimodal", "{\"n\":2,\"y\":[1]}", "y has 1"},
      {"bimodal2", "{\"n\":0,\"y\":[]}", "n is 0"},
      {"bimodal2", "{\"n\":-1,\"y\":[]}", "n is -1"},
      {"bimodal2", "{\"n\":2,\"y\":[1,\"NaN\"]}", "y[2]"},
      {"galaxy", "{\"n\":1,\"y\":[1],\"equal\":0}", "K"},
      {"galaxy", "{\"n\":1,\"y\":[1],\"K\":0,\"equal\":0}", "K is 0"},
      {"galaxy", "{\"n\":1,\"y\":[1],\"K\":-3,\"equal\":0}", "K is -3"},
      {"galaxy", "{\"n\":1,\"y\":[1],\"K\":2,\"equal\":2}", "equal is 2"},
      {"galaxy", "{\"n\":1,\"y\":[1],\"K\":2}", "equal"},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    tempera_error error = paper_refusal(cases[k].model, cases[k].json);
    if (!strstr(error.message, cases[k].words))
      fail_msg("%s: %s", cases[k].json, error.message);
  }
}

static void missing_data_are_named(void **state) {
  (void)state;
  static const char *const names[] = {"bimodal", "bimodal2", "galaxy", "sir"};
  for (int k = 0; k < 4; k++) {
    char library[1024];
    tempera_model *model = NULL;
    tempera_error error = {0};
    snprintf(library, sizeof library, BUILD_DIR "/models/%s.so", names[k]);
    assert_int_equal(tempera_model_load(library, NULL, &model, &error),
                     TEMPERA_ERROR_INPUT);
    assert_non_null(strstr(error.message, "needs data"));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(array_exponentials_agree_with_libm),
      cmocka_unit_test(array_logarithms_agree_with_libm),
      cmocka_unit_test(bimodal_evidence_is_exact),
      cmocka_unit_test(bimodal2_evidence_is_exact),
      cmocka_unit_test(optimum_is_the_global_one),
      cmocka_unit_test(optimum_at_tau_1_is_the_known_mode),
      cmocka_unit_test(mu_proposal_has_the_papers_width),
      cmocka_unit_test(bimodal_proposals_keep_the_prior),
      cmocka_unit_test(galaxy_agrees_with_the_definition),
      cmocka_unit_test(many_observations_do_not_overflow),
      cmocka_unit_test(one_component_needs_no_shares),
      cmocka_unit_test(degenerate_mixtures_give_numbers),
      cmocka_unit_test(equal_variances_are_one_parameter),
      cmocka_unit_test(clones_work_apart),
      cmocka_unit_test(start_is_better_than_most_of_the_prior),
      cmocka_unit_test(galaxy_prior_is_normalised),
      cmocka_unit_test(galaxy_proposals_keep_the_prior),
      cmocka_unit_test(gradients_agree_with_differences),
      cmocka_unit_test(wrong_data_are_refused_with_the_reason),
      cmocka_unit_test(missing_data_are_named),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
