/* test_paper_sir.c - the SIR model against known answers and an independent
 * integrator.
 *
 * The tables are from the exact answers (quadrature) of the reference data,
 * truth.json: sir/per_I0 and sir/tempered. */
#include "paper_support.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_odeiv2.h>

static tempera_model *open_model(void) {
  return paper_model("sir", "eyam.json");
}

/* ------------------------------------------------------------------------
 * An independent solution: GSL's Dormand-Prince 8 on (log S, log I, R).
 */

static int equations(double t, const double *z, double *slope, void *user) {
  const double *theta = user;
  (void)t;
  double I = exp(z[1]);
  slope[0] = -theta[1] * I;
  slope[1] = theta[1] * exp(z[0]) - theta[0];
  slope[2] = theta[0] * I;
  return GSL_SUCCESS;
}

static double log_choose(double n, double k) {
  return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1);
}

static double log_add(double a, double b) {
  return fmax(a, b) + log1p(exp(-fabs(a - b)));
}

/* log Binomial(k; n, e^hit/n) with n - e^hit = e^miss. */
static double log_binomial(double n, double k, double hit, double miss) {
  return log_choose(n, k) + (k > 0 ? k * hit : 0) +
         (k < n ? (n - k) * miss : 0) - n * log(n);
}

typedef struct rows {
  int64_t N;
  const double *t;
  const int64_t *y, *x;
  size_t n, x_count;
} rows;

static double reference(const rows *d, double *theta) {
  gsl_odeiv2_system system = {equations, NULL, 3, theta};
  gsl_odeiv2_driver *driver = gsl_odeiv2_driver_alloc_y_new(
      &system, gsl_odeiv2_step_rk8pd, 1e-9, 1e-13, 1e-13);
  double N = (double)d->N, t = 0, total = 0;
  double z[3] = {log(N - theta[2]), log(theta[2]), 0};
  for (size_t j = 0; j < d->n; j++) {
    if (d->t[j] == 0)
      continue;
    assert_int_equal(gsl_odeiv2_driver_apply(driver, &t, d->t[j], z), 0);
    total += log_binomial(N, (double)d->y[j], log(z[2]), log_add(z[0], z[1]));
    if (j + d->x_count >= d->n) {
      double x = (double)d->x[j + d->x_count - d->n];
      total += log_binomial(N, x, z[1], log_add(z[0], log(z[2])));
    }
  }
  gsl_odeiv2_driver_free(driver);
  return total;
}

static tempera_data *read_rows(rows *d) {
  tempera_data *data = NULL;
  assert_int_equal(
      tempera_data_read(SOURCE_DIR "/models/paper/eyam.json", &data, NULL),
      TEMPERA_OK);
  size_t count;
  assert_int_equal(tempera_data_integer(data, "N", &d->N, NULL), TEMPERA_OK);
  assert_int_equal(tempera_data_reals(data, "t", &d->t, &d->n, NULL),
                   TEMPERA_OK);
  assert_int_equal(tempera_data_integers(data, "y", &d->y, &count, NULL),
                   TEMPERA_OK);
  assert_int_equal(tempera_data_integers(data, "x", &d->x, &d->x_count, NULL),
                   TEMPERA_OK);
  assert_int_equal(d->n, 114);
  assert_int_equal(count, 114);
  return data;
}

/* log10-uniform rates cover ground that the prior hardly visits. */
static void any_rates(tempera_random *random, double *theta) {
  theta[0] = pow(10, -4 + 5 * tempera_random_uniform(random));
  theta[1] = pow(10, -6 + 7 * tempera_random_uniform(random));
  theta[2] = 1 + (double)tempera_random_below(random, 30);
}

static void likelihood_agrees_with_an_independent_integrator(void **state) {
  (void)state;
  tempera_model *model = open_model();
  rows d;
  tempera_data *data = read_rows(&d);
  tempera_random random = tm_random(1, 0, TM_PURPOSE_TEST);
  double worst = 0;
  for (int draw = 0; draw < 400; draw++) {
    double theta[3];
    do {
      if (draw % 2)
        any_rates(&random, theta);
      else
        draw_prior(model, &random, theta);
    } while (theta[2] == 0);
    double value = likelihood_at(model, theta), truth = reference(&d, theta);
    worst = fmax(worst, fabs(value / truth - 1));
    if (!(fabs(value / truth - 1) < 1e-9))
      fail_msg("alpha %.17g beta %.17g I0 %g: %.15g is not %.15g", theta[0],
               theta[1], theta[2], value, truth);
  }
  print_message("worst relative difference %.2g\n", worst);
  tempera_data_free(data);
  tempera_model_free(model);
}

/* ------------------------------------------------------------------------
 * Known answers
 */

/* Where the posterior given I0 lies, and its share of the evidence. */
static const struct {
  double I0, log_z, alpha, alpha_sd, beta, beta_sd, correlation;
} parts[] = {
    {4, -344.78416024881733, 0.10681487502321615, 0.0022383433695757227,
     0.0006734548230283327, 9.117059595973692e-06, 0.9732653409494838},
    {5, -344.6668117665457, 0.0965449673095767, 0.002079767793501624,
     0.0006171435116279391, 8.303437383409433e-06, 0.9698680178737293},
    {6, -347.2561766172978, 0.08848802206823478, 0.001953297010761568,
     0.00057289778686105, 7.63803746403083e-06, 0.966156279939752},
};

/* The trapezoid rule on whitened (alpha, beta), which for a smooth bump that
 * vanishes at the ends is as good as any. */
static void evidence_of_each_I0_is_right(void **state) {
  (void)state;
  tempera_model *model = open_model();
  const double step = 0.25;
  for (size_t p = 0; p < sizeof parts / sizeof *parts; p++) {
    double rho = parts[p].correlation, other = sqrt(1 - rho * rho), sum = 0;
    for (double u = -9; u <= 9; u += step)
      for (double v = -9; v <= 9; v += step) {
        double theta[3] = {parts[p].alpha + parts[p].alpha_sd * u,
                           parts[p].beta +
                               parts[p].beta_sd * (rho * u + other * v),
                           parts[p].I0};
        sum += exp(height_at(model, 1, theta) - parts[p].log_z);
      }
    double cell = step * step * parts[p].alpha_sd * parts[p].beta_sd * other;
    assert_near(log(sum * cell), 0, 2e-6);
  }
  tempera_model_free(model);
}

/* max_theta [tau l + log prior] and where it is reached. */
static const struct {
  double tau, theta[3], height;
} ridge[] = {
    {2.3713737056616551e-08,
     {0.00026015619167201582, 0.00031715792003544522, 5},
     -1.7321809121744975},
    {1.333521432163324e-07,
     {0.001332828659156316, 0.00068386942092018427, 5},
     -1.7348542177029111},
    {7.4989420933245585e-07,
     {0.0047626976026941079, 0.0012051520593746876, 5},
     -1.7394174851522524},
    {4.2169650342858224e-06,
     {0.0088791613661236262, 0.001423763370369667, 5},
     -1.7443960341785627},
    {0.0001333521432163324,
     {0.012326368096182755, 0.00098576815357134004, 5},
     -1.8154188744598496},
    {0.00074989420933245586,
     {0.09104831246661596, 0.00059598109044660679, 5},
     -2.0689632249975256},
    {0.014,
     {0.096176636394851855, 0.000615682939539505, 5},
     -6.3830381268199696},
    {0.5,
     {0.096476472678685851, 0.00061684362259501596, 5},
     -164.52252742114919},
    {1, {0.096480818426375847, 0.00061686044639484546, 5}, -327.21732241091678},
};

static void height_of_the_ridge_is_right(void **state) {
  (void)state;
  tempera_model *model = open_model();
  for (size_t k = 0; k < sizeof ridge / sizeof *ridge; k++)
    assert_near(height_at(model, ridge[k].tau, ridge[k].theta), ridge[k].height,
                1e-7);
  tempera_model_free(model);
}

/* ------------------------------------------------------------------------
 * Edges
 */

static void nobody_infected_has_likelihood_zero(void **state) {
  (void)state;
  tempera_model *model = open_model();
  const double theta[3] = {0.1, 0.0006, 0}, no_deaths[3] = {0, 0.0006, 5};
  assert_true(likelihood_at(model, theta) == -INFINITY);
  assert_true(likelihood_at(model, no_deaths) == -INFINITY);
  assert_near(exp(prior_at(model, theta) + 0.1006), 0.006418869275798504,
              1e-15);
  tempera_model_free(model);
}

static void extreme_rates_give_numbers(void **state) {
  (void)state;
  tempera_model *model = open_model();
  static const double rates[] = {1e-300, 1e-17, 1e-6, 1e-3, 1,
                                 30,     1e3,   1e6,  1e20, 1e90};
  enum { RATES = sizeof rates / sizeof *rates };
  for (int a = 0; a < RATES; a++)
    for (int b = 0; b < RATES; b++)
      for (double I0 = 1; I0 <= 261; I0 += 65) {
        double theta[3] = {rates[a], rates[b], I0};
        double value = likelihood_at(model, theta);
        if (isnan(value) || value > 0)
          fail_msg("%g at alpha %g beta %g I0 %g", value, rates[a], rates[b],
                   I0);
      }
  tempera_model_free(model);
}

/* beta = 0: everybody infected dies at rate alpha, R = I0 (1 - e^{-alpha t}),
 * and a tiny beta must join on smoothly. */
static void without_infection_the_decay_is_exponential(void **state) {
  (void)state;
  tempera_model *model = open_model();
  rows d;
  tempera_data *data = read_rows(&d);
  const double theta[3] = {0.03, 0, 200}, nearly[3] = {0.03, 1e-14, 200};
  double total = 0, N = 261;
  for (size_t j = 1; j < d.n; j++) {
    double R = -200 * expm1(-0.03 * d.t[j]), I = 200 - R;
    total += log_binomial(N, (double)d.y[j], log(R), log(N - R));
    if (j >= 112)
      total += log_binomial(N, (double)d.x[j - 112], log(I), log(N - I));
  }
  assert_near(likelihood_at(model, theta), total, 1e-9 * fabs(total));
  assert_near(likelihood_at(model, nearly), total, 1e-8 * fabs(total));
  tempera_data_free(data);
  tempera_model_free(model);
}

static void clones_give_the_same_likelihood(void **state) {
  (void)state;
  tempera_model *model = open_model();
  const tempera_model_spec *spec = tempera_model_spec_of(model);
  const double theta[3] = {0.1, 0.00064, 4};
  void *copy = NULL;
  double value;
  assert_int_equal(spec->clone(spec->user, &copy), 0);
  assert_int_equal(spec->log_likelihood(theta, &value, copy), 0);
  assert_true(value == likelihood_at(model, theta));
  spec->release(copy);
  tempera_model_free(model);
}

/* ------------------------------------------------------------------------
 * Prior and proposals
 */

static void prior_draws_have_the_right_moments(void **state) {
  (void)state;
  tempera_model *model = open_model();
  tempera_random random = tm_random(2, 0, TM_PURPOSE_TEST);
  enum { DRAWS = 40000 };
  double sum[3] = {0}, squares[3] = {0}, theta[3];
  for (int i = 0; i < DRAWS; i++) {
    draw_prior(model, &random, theta);
    assert_true(theta[2] == floor(theta[2]));
    for (int j = 0; j < 3; j++) {
      sum[j] += theta[j] / DRAWS;
      squares[j] += theta[j] * theta[j] / DRAWS;
    }
  }
  double variance = 5 * (1 - 5 / 261.0);
  for (int j = 0; j < 2; j++) {
    assert_near(sum[j], 1, 4 * sqrt(1.0 / DRAWS));
    assert_near(squares[j], 2, 4 * sqrt(20.0 / DRAWS));
  }
  assert_near(sum[2], 5, 4 * sqrt(variance / DRAWS));
  assert_near(squares[2] - sum[2] * sum[2], variance,
              4 * variance * sqrt(2.2 / DRAWS));
  tempera_model_free(model);
}

static void prior_over_I0_adds_up_to_one(void **state) {
  (void)state;
  tempera_model *model = open_model();
  double sum = 0, theta[3] = {0};
  for (theta[2] = 0; theta[2] <= 261; theta[2]++)
    sum += exp(prior_at(model, theta));
  assert_near(sum, 1, 1e-12);
  tempera_model_free(model);
}

static void I0_proposal_has_the_binomial_ratio(void **state) {
  (void)state;
  tempera_model *model = open_model();
  const tempera_model_spec *spec = tempera_model_spec_of(model);
  tempera_random random = tm_random(3, 0, TM_PURPOSE_TEST);
  double theta[3] = {0.1, 0.0006, 4}, sum = 0, N = 261;
  for (int i = 0; i < 4000; i++) {
    double proposed[3] = {0.1, 0.0006, 4}, ratio = NAN;
    int answer = spec->recipe->proposals[2].propose(
        0.5, 1, theta, proposed, &ratio, &random, spec->user);
    double to = proposed[2];
    sum += to / 4000;
    assert_int_equal(answer, to == 0);
    if (to == 0)
      continue;
    double back = log_binomial(N, 4, log(to), log(N - to));
    double there = log_binomial(N, to, log(4), log(N - 4));
    assert_near(ratio, back - there, 1e-10);
  }
  assert_near(sum, 4, 4 * sqrt(4.0 / 4000));
  tempera_model_free(model);
}

static void rate_proposals_are_log_normal(void **state) {
  (void)state;
  tempera_model *model = open_model();
  const tempera_model_spec *spec = tempera_model_spec_of(model);
  tempera_random random = tm_random(4, 0, TM_PURPOSE_TEST);
  const double theta[3] = {0.1, 0.0006, 4};
  for (size_t p = 0; p < 2; p++) {
    double square = 0;
    for (int i = 0; i < 4000; i++) {
      double proposed[3] = {0.1, 0.0006, 4}, ratio = NAN;
      const tempera_proposal *proposal = &spec->recipe->proposals[p];
      assert_int_equal(proposal->propose(0.5, proposal->scale, theta, proposed,
                                         &ratio, &random, spec->user),
                       0);
      assert_true(proposed[1 - p] == theta[1 - p] && proposed[2] == 4);
      /* q(b|a) = phi(log(b/a)/sd)/(sd b): q(a|b)/q(b|a) = b/a */
      assert_near(ratio, log(proposed[p] / theta[p]), 1e-12);
      square += ratio * ratio / 4000;
    }
    assert_near(sqrt(square), 0.02, 4 * 0.02 / sqrt(8000));
  }
  tempera_model_free(model);
}

static double low_alpha(const double *theta) { return theta[0] < 0.5; }
static double low_beta(const double *theta) { return theta[1] < 0.5; }
static double few_infected(const double *theta) { return theta[2] <= 4; }

static void proposals_keep_the_prior(void **state) {
  (void)state;
  tempera_model *model = open_model();
  double below = 0, theta[3] = {0};
  for (theta[2] = 0; theta[2] <= 4; theta[2]++)
    below += exp(prior_at(model, theta));
  assert_walk_keeps_prior(model, 0, 5, low_alpha, 1 - exp(-0.5));
  assert_walk_keeps_prior(model, 0, 5, low_beta, 1 - exp(-0.5));
  assert_walk_keeps_prior(model, 0, 5, few_infected, below);
  tempera_model_free(model);
}

static void wrong_data_are_refused_with_the_reason(void **state) {
  (void)state;
  static const struct {
    const char *json, *words;
  } cases[] = {
      {"{}", "N"},
      {"{\"N\":2,\"n\":1,\"t\":[1],\"y\":[1],\"x\":[]}", "N"},
      {"{\"N\":9,\"n\":0,\"t\":[],\"y\":[],\"x\":[]}", "n is 0"},
      {"{\"N\":9,\"n\":-2,\"t\":[],\"y\":[],\"x\":[]}", "n is -2"},
      {"{\"N\":9,\"n\":2,\"t\":[0,1],\"y\":[0],\"x\":[]}", "y has 1"},
      {"{\"N\":9,\"n\":2,\"t\":[0],\"y\":[0,1],\"x\":[]}", "t has 1"},
      {"{\"N\":9,\"n\":2,\"t\":[0,\"NaN\"],\"y\":[0,1],\"x\":[]}", "t[2]"},
      {"{\"N\":9,\"n\":2,\"t\":[2,1],\"y\":[0,1],\"x\":[]}", "t[2]"},
      {"{\"N\":9,\"n\":2,\"t\":[0,1],\"y\":[0,10],\"x\":[]}", "y[2]"},
      {"{\"N\":9,\"n\":2,\"t\":[0,1],\"y\":[1,1],\"x\":[]}", "time 0"},
      {"{\"N\":9,\"n\":2,\"t\":[0,1],\"y\":[0,1],\"x\":[-1]}", "x[1]"},
      {"{\"N\":9,\"n\":2,\"t\":[0,1],\"y\":[0,1],\"x\":[1,1]}", "after"},
      {"{\"N\":9,\"n\":1,\"t\":[1],\"y\":[1],\"x\":[1,0]}", "x has 2"},
      {"{\"N\":9,\"n\":1,\"t\":[1],\"y\":[1]}", "x"},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    tempera_error error = paper_refusal("sir", cases[k].json);
    if (!strstr(error.message, cases[k].words))
      fail_msg("%s: %s", cases[k].json, error.message);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(likelihood_agrees_with_an_independent_integrator),
      cmocka_unit_test(evidence_of_each_I0_is_right),
      cmocka_unit_test(height_of_the_ridge_is_right),
      cmocka_unit_test(nobody_infected_has_likelihood_zero),
      cmocka_unit_test(extreme_rates_give_numbers),
      cmocka_unit_test(without_infection_the_decay_is_exponential),
      cmocka_unit_test(clones_give_the_same_likelihood),
      cmocka_unit_test(prior_draws_have_the_right_moments),
      cmocka_unit_test(prior_over_I0_adds_up_to_one),
      cmocka_unit_test(I0_proposal_has_the_binomial_ratio),
      cmocka_unit_test(rate_proposals_are_log_normal),
      cmocka_unit_test(proposals_keep_the_prior),
      cmocka_unit_test(wrong_data_are_refused_with_the_reason),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
