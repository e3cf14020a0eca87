/* Priors with mass closer to a bound than numbers can tell: x in (0, 1) has the
 * density a x^(a - 1), of which DBL_MIN^a lies below the smallest number, and
 * the likelihood is x^2 (1 - x)^b: log Z is that of a beta function. */
#include "cmocka_all.h"
#include "estimate/findings.h"
#include "run/sampler.h"

#include <float.h>
#include <math.h>

static const double A = 0.001;

/* c and b: L = x^c (1 - x)^b. */
typedef struct powers {
  double c, b;
} powers;

static int likelihood(const double *x, double *value, void *user) {
  const powers *p = user;
  *value = (p->c > 0 ? p->c * log(*x) : 0) + (p->b > 0 ? p->b * log1p(-*x) : 0);
  return 0;
}

static int prior(const double *x, double *value, void *user) {
  (void)user;
  *value = log(A) + (A - 1) * log(*x);
  return 0;
}

static int draw(tempera_random *random, double *x, void *user) {
  (void)user;
  *x = pow(tempera_random_uniform(random), 1 / A);
  return 0;
}

static tempera_summary *summary_of(powers p, tempera_sampler **sampler,
                                   tempera_model **model) {
  static const tempera_parameter x = {
      .name = "x", .size = 1, .lower = 0, .upper = 1};
  tempera_model_spec spec = {.name = "powers",
                             .parameters = &x,
                             .parameter_count = 1,
                             .log_likelihood = likelihood,
                             .log_prior = prior,
                             .prior_draw = draw,
                             .prior_normalised = true,
                             .user = &p};
  tempera_options o = tempera_options_default();
  tempera_summary *summary;
  o.seed = 1;
  o.threads = 1;
  assert_int_equal(tempera_model_create(&spec, model, NULL), TEMPERA_OK);
  assert_int_equal(tempera_sampler_create(*model, &o, sampler, NULL),
                   TEMPERA_OK);
  assert_int_equal(tempera_sampler_run(*sampler, NULL, NULL, NULL), TEMPERA_OK);
  assert_int_equal(tempera_sampler_summarise(*sampler, &summary, NULL),
                   TEMPERA_OK);
  return summary;
}

/* The likelihood vanishes with x: what is rounded does not matter, but the
 * draws are of the other half of the prior. */
static void evidence_is_of_the_whole_prior(void **state) {
  (void)state;
  tempera_sampler *sampler;
  tempera_model *model;
  tempera_summary *s = summary_of((powers){2, 1}, &sampler, &model);
  double truth = log(A) + lgamma(A + 2) + lgamma(2) - lgamma(A + 4);
  double kept = log1p(-pow(DBL_MIN, A));
  assert_true(s->reliable);
  assert_true(fabs(s->log_z - truth) < 4 * s->se);
  assert_true(sampler->rounded.se > 0 && sampler->rounded.se < 0.01);
  assert_true(fabs(sampler->model->log_kept - kept) < 4 * sampler->rounded.se);
  for (size_t i = 0; i < s->estimate_count; i++)
    if (!strcmp(s->estimates[i].name, "rb") ||
        !strcmp(s->estimates[i].name, "bridge"))
      assert_true(fabs(s->estimates[i].log_z - truth) < 4 * s->estimates[i].se);
  tempera_summary_free(s);
  tempera_sampler_free(sampler);
  tempera_model_free(model);
}

/* The likelihood is 1 at x = 0, and nearly half of the posterior is there. */
static void mass_at_the_bound_is_told(void **state) {
  (void)state;
  tempera_sampler *sampler;
  tempera_model *model;
  tempera_summary *s = summary_of((powers){0, 1}, &sampler, &model);
  double lost = pow(DBL_MIN, A);
  const tempera_finding *found = tm_finding_of(s, TM_FIND_ROUNDED);
  assert_false(s->reliable);
  assert_non_null(found);
  assert_true(fabs(found->value / (lost / (1 - lost)) - 1) < 0.05);
  tempera_summary_free(s);
  tempera_sampler_free(sampler);
  tempera_model_free(model);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(evidence_is_of_the_whole_prior),
      cmocka_unit_test(mass_at_the_bound_is_told)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
