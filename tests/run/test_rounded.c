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

static tempera_summary *summary_of(const tempera_model_spec *spec,
                                   unsigned seed, tempera_sampler **sampler,
                                   tempera_model **model) {
  tempera_options o = tempera_options_default();
  tempera_summary *summary;
  o.seed = seed;
  o.threads = 1;
  assert_int_equal(tempera_model_create(spec, model, NULL), TEMPERA_OK);
  assert_int_equal(tempera_sampler_create(*model, &o, sampler, NULL),
                   TEMPERA_OK);
  assert_int_equal(tempera_sampler_run(*sampler, NULL, NULL, NULL), TEMPERA_OK);
  assert_int_equal(tempera_sampler_summarise(*sampler, &summary, NULL),
                   TEMPERA_OK);
  return summary;
}

static tempera_summary *of_powers(powers p, tempera_sampler **sampler,
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
  return summary_of(&spec, 1, sampler, model);
}

/* The likelihood vanishes with x: what is rounded does not matter, but the
 * draws are of the other half of the prior. */
static void evidence_is_of_the_whole_prior(void **state) {
  (void)state;
  tempera_sampler *sampler;
  tempera_model *model;
  tempera_summary *s = of_powers((powers){2, 1}, &sampler, &model);
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
  tempera_summary *s = of_powers((powers){0, 1}, &sampler, &model);
  double lost = pow(DBL_MIN, A);
  const tempera_finding *found = tm_finding_of(s, TM_FIND_ROUNDED);
  assert_false(s->reliable);
  assert_non_null(found);
  assert_true(fabs(found->value / (lost / (1 - lost)) - 1) < 0.05);
  tempera_summary_free(s);
  tempera_sampler_free(sampler);
  tempera_model_free(model);
}

/* ---- groups on a scale over all numbers -----------------------------------
 *
 * The scale has a Pareto law, x^(-B - 1) from 1 on, of which a quarter lies
 * above the largest number; values of groups are normal on that scale, and
 * what is observed of each is logistic about it. A draw's values speak for its
 * own scale alone: at another their prior is next to nothing, or their
 * likelihood as high as ever. In so many dimensions densities of jumps are
 * sums of logarithms, too, that have no place in one number. */

enum { GROUPS = 20 };
static const double B = 0.002;

static double observed(size_t i) { return 4 * sin(1.7 * (double)i + 0.4); }

static int group_prior(const double *x, double *value, double *slope,
                       void *user) {
  double sum = log(B) - (B + 1) * log(x[0]);
  slope[0] = -(B + 1) / x[0];
  for (size_t i = 1; i <= GROUPS; i++) {
    double r = x[i] / x[0];
    sum -= r * r / 2 + log(x[0]) + log(2 * M_PI) / 2;
    slope[0] += (r * r - 1) / x[0];
    slope[i] = -r / x[0];
  }
  *value = sum;
  (void)user;
  return 0;
}

static double logistic(double z) { return -fabs(z) - 2 * log1p(exp(-fabs(z))); }

static int group_likelihood(const double *x, double *value, double *slope,
                            void *user) {
  double sum = 0;
  slope[0] = 0;
  for (size_t i = 1; i <= GROUPS; i++) {
    double z = observed(i) - x[i];
    sum += logistic(z);
    slope[i] = tanh(z / 2);
  }
  *value = sum;
  (void)user;
  return 0;
}

static int group_log_prior(const double *x, double *value, void *user) {
  double slope[GROUPS + 1];
  return group_prior(x, value, slope, user);
}

static int group_log_likelihood(const double *x, double *value, void *user) {
  double slope[GROUPS + 1];
  return group_likelihood(x, value, slope, user);
}

static int group_draw(tempera_random *random, double *x, void *user) {
  (void)user;
  x[0] = pow(tempera_random_uniform(random), -1 / B);
  for (size_t i = 1; i <= GROUPS; i++)
    x[i] = x[0] * tempera_random_normal(random);
  return 0;
}

/* One group's density where the scale is x. */
static double group_density(double x, double y) {
  double sum = 0, step = 0.1;
  for (double t = -40; t < 40; t += step) {
    double r = (y + t) / x;
    sum += exp(logistic(t) - r * r / 2);
  }
  return log(sum * step / (x * sqrt(2 * M_PI)));
}

static double group_truth(void) {
  double sum = 0, step = 0.02;
  for (double u = step / 2; u < 12; u += step) {
    double term = log(B) - B * u;
    for (size_t i = 1; i <= GROUPS; i++)
      term += group_density(exp(u), observed(i));
    sum += exp(term + 60) * step;
  }
  return log(sum) - 60;
}

static void a_diffuse_scale_of_groups_is_right(void **state) {
  (void)state;
  static const tempera_parameter parameters[] = {
      {.name = "scale", .size = 0, .lower = 1, .upper = INFINITY},
      {.name = "value", .size = GROUPS, .lower = -INFINITY, .upper = INFINITY}};
  tempera_model_spec spec = {.name = "groups",
                             .parameters = parameters,
                             .parameter_count = 2,
                             .log_likelihood = group_log_likelihood,
                             .log_prior = group_log_prior,
                             .log_likelihood_gradient = group_likelihood,
                             .log_prior_gradient = group_prior,
                             .prior_draw = group_draw,
                             .prior_normalised = true};
  double truth = group_truth();
  for (unsigned seed = 1; seed <= 2; seed++) {
    tempera_sampler *sampler;
    tempera_model *model;
    tempera_summary *s = summary_of(&spec, seed, &sampler, &model);
    assert_non_null(sampler->rounded.arena);
    assert_null(tm_finding_of(s, TM_FIND_ROUNDED));
    assert_true(s->reliable);
    assert_true(fabs(s->log_z - truth) < 4 * s->se);
    assert_true(s->se < 0.1);
    for (size_t c = 0; c < 4; c++) /* none is where the prior's draws are */
      assert_true(tempera_draws_log_likelihood(sampler->draws, TEMPERA_TARGET,
                                               c)[0] > -1e3);
    tempera_summary_free(s);
    tempera_sampler_free(sampler);
    tempera_model_free(model);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(evidence_is_of_the_whole_prior),
      cmocka_unit_test(a_diffuse_scale_of_groups_is_right),
      cmocka_unit_test(mass_at_the_bound_is_told)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
