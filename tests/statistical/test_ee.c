/* The equi-energy sampler on the toy: its target chain has the posterior's law,
 * also where its own moves cannot cross between modes; its evidence is the
 * bridge's. Known answers, fixed seeds, four standard errors. */
#include "family_run.h"

static void target_has_its_law(void **state) {
  (void)state;
  static const char *const cases[][5] = {
      {NULL},
      {"kernel", "random-walk", "exchange", "0.3", NULL},
      {"kernel", "slice", "levels", "3", NULL},
      {"jumps", "false", "levels", "8", NULL},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    toy_run run = run_toy("ee", i % 2, 61 + i, cases[i]);
    check_weighted_law(tempera_sampler_draws(run.sampler), TEMPERA_TARGET, NULL,
                       toy_exact(1, i % 2), "law of the target");
    check_evidence(run.summary, "bridge", toy_exact(1, i % 2).log_z, 0.05);
    assert_string_equal(run.summary->estimator, "bridge");
    assert_true(run.summary->swap_acceptance > 0.1);
    assert_false(run.summary->reliable);
    assert_non_null(strstr(run.summary->verdict, "round trips"));
    free_run(&run);
  }
}

/* Modes twenty nats apart: random walks alone never cross, jumps among points
 * of equal energy do. */
static int far_likelihood(const double *theta, double *value, void *user) {
  (void)user;
  double z = (fabs(theta[0] - 1) - 4) / 0.5;
  *value = -z * z / 2 + (theta[0] > 1 ? log(3) : 0);
  return 0;
}

static int far_prior(const double *theta, double *value, void *user) {
  (void)user;
  *value = fabs(theta[0]) < 10 ? -log(20) : -INFINITY;
  return 0;
}

static int far_draw(tempera_random *random, double *theta, void *user) {
  (void)user;
  theta[0] = -10 + 20 * tempera_random_uniform(random);
  return 0;
}

static double share_above(const char *method, double *se) {
  static const tempera_parameter x = {.name = "x", .lower = -10, .upper = 10};
  tempera_model_spec spec = {.name = "far",
                             .parameters = &x,
                             .parameter_count = 1,
                             .log_likelihood = far_likelihood,
                             .log_prior = far_prior,
                             .prior_draw = far_draw,
                             .prior_normalised = true};
  tempera_model *model = NULL;
  tempera_sampler *sampler = NULL;
  tempera_options o = tempera_options_default();
  assert_int_equal(tempera_options_set(&o, "method", method, NULL), 0);
  o.kernel = TEMPERA_KERNEL_RANDOM_WALK;
  o.chains = CHAINS;
  o.iterations = 20000;
  o.seed = 3;
  assert_int_equal(tempera_model_create(&spec, &model, NULL), TEMPERA_OK);
  assert_int_equal(tempera_sampler_create(model, &o, &sampler, NULL), 0);
  assert_int_equal(tempera_sampler_run(sampler, NULL, NULL, NULL), 0);
  const tempera_draws *draws = tempera_sampler_draws(sampler);
  double *above = malloc(CHAINS * o.iterations * sizeof *above), mean = 0;
  assert_non_null(above);
  for (size_t c = 0; c < CHAINS; c++)
    for (size_t i = 0; i < o.iterations; i++) {
      double at = tempera_draws_values(draws, TEMPERA_TARGET, c, 0)[i];
      above[c * o.iterations + i] = at > 1;
      mean += (at > 1) / (double)(CHAINS * o.iterations);
    }
  *se = tm_influence_error(above, CHAINS, o.iterations).se;
  free(above);
  tempera_sampler_free(sampler);
  tempera_model_free(model);
  return mean;
}

static void jumps_cross_where_walks_do_not(void **state) {
  (void)state;
  double se, share = share_above("ee", &se);
  if (!(fabs(share - 0.75) <= 4 * se) || !(se < 0.05))
    fail_msg("P(x > 1): %.4f +- %.4f, exactly 0.75", share, se);
  share = share_above("mh", &se);
  share *= CHAINS; /* never crossed: whole chains are above, or below */
  assert_true(fabs(share - round(share)) < 1e-9);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(target_has_its_law),
      cmocka_unit_test(jumps_cross_where_walks_do_not),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
