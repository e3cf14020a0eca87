/* Facts about log-linear densities, against GSL quadrature. */
#include "numeric/loglinear.h"

#include "numeric/vector_exp.h"

#include "cmocka_all.h"

#include <gsl/gsl_integration.h>

static const double X[] = {0, 1e-9, 1e-4, 0.01, 0.2, 0.2000001, 0.7, 1};
static const double Y[] = {2, 1.9, 1, -3, 4, 4.5, 30, 33};
static const tm_loglinear F = {8, X, Y, -INFINITY};

typedef struct integrand {
  double slope, shift;
} integrand;

static double density(double x, void *context) {
  const integrand *i = context;
  return exp(tm_loglinear_at(&F, x) + i->slope * x - i->shift);
}

/* Piecewise between the knots, where the density is smooth. */
static double quadrature(double slope, double shift, double a, double b) {
  gsl_integration_cquad_workspace *w =
      gsl_integration_cquad_workspace_alloc(200);
  integrand context = {slope, shift};
  gsl_function f = {density, &context};
  double total = 0;
  for (size_t k = 0; k + 1 < F.count; k++) {
    double left = fmax(a, X[k]), right = fmin(b, X[k + 1]), part = 0;
    if (left < right)
      gsl_integration_cquad(&f, left, right, 0, 1e-11, w, &part, NULL, NULL);
    total += part;
  }
  gsl_integration_cquad_workspace_free(w);
  return total;
}

static const double SLOPES[] = {-5e5, -3000, -60, -33, -5, -1e-12, 0, 3, 800};
enum { SLOPE_COUNT = sizeof SLOPES / sizeof *SLOPES };

static void mass_equals_quadrature(void **state) {
  (void)state;
  for (size_t i = 0; i < SLOPE_COUNT; i++) {
    double mass = tm_loglinear_log_mass(&F, SLOPES[i]);
    assert_true(fabs(log(quadrature(SLOPES[i], mass, 0, 1))) < 1e-9);
  }
}

static void mass_between_adds_up(void **state) {
  (void)state;
  const double cuts[] = {0, 3e-5, 0.15, 0.6, 1};
  for (size_t i = 0; i < SLOPE_COUNT; i++) {
    double mass = tm_loglinear_log_mass(&F, SLOPES[i]), sum = 0;
    for (size_t c = 0; c < 4; c++) {
      double part = exp(
          tm_loglinear_log_mass_between(&F, SLOPES[i], cuts[c], cuts[c + 1]) -
          mass);
      double exact = quadrature(SLOPES[i], mass, cuts[c], cuts[c + 1]);
      assert_true(fabs(part - exact) < 1e-9);
      sum += part;
    }
    assert_true(fabs(sum - 1) < 1e-9);
  }
}

/* The distribution function at a draw made from stratified uniforms is
 * uniform again: exact inversion, interval by interval. */
static void draws_follow_the_density(void **state) {
  (void)state;
  enum { N = 4000 };
  double work[16];
  for (size_t i = 0; i < SLOPE_COUNT; i++) {
    double mass = tm_loglinear_log_mass(&F, SLOPES[i]), worst = 0;
    static double cdf[N];
    for (int n = 0; n < N; n++) {
      double u = (n + 0.5) / N, v = fmod(0.618033988749895 * n, 1);
      double x = tm_loglinear_draw(&F, SLOPES[i], u, v == 0 ? 0.5 : v, work);
      assert_true(x >= 0 && x <= 1);
      cdf[n] =
          x > 0 ? exp(tm_loglinear_log_mass_between(&F, SLOPES[i], 0, x) - mass)
                : 0;
    }
    for (int n = 0; n < N; n++) {
      int below = 0;
      for (int m = 0; m < N; m += 4)
        below += cdf[m] <= cdf[n];
      worst = fmax(worst, fabs(4.0 * below / N - cdf[n]));
    }
    assert_true(worst < 0.02);
  }
}

static void atom_gets_its_share(void **state) {
  (void)state;
  tm_loglinear f = F;
  double work[16];
  double continuous = tm_loglinear_log_mass(&F, -33);
  f.log_atom = continuous; /* half of the whole */
  assert_true(fabs(tm_loglinear_log_mass(&f, -33) - continuous - log(2)) <
              1e-12);
  assert_true(tm_loglinear_draw(&f, -33, 0.4999, 0.5, work) == 0);
  assert_true(tm_loglinear_draw(&f, -33, 0.5001, 0.5, work) > 0);
  assert_true(tm_loglinear_draw(&f, -INFINITY, 0.9, 0.5, work) == 0);
}

static void vector_exp_is_accurate(void **state) {
  (void)state;
  double worst = 0;
  for (double x = -707.9; x < 700; x += 0.00917) {
    double value = x;
    tm_vector_exp(&value, 1);
    worst = fmax(worst, fabs(value / exp(x) - 1));
  }
  assert_true(worst < 2e-15);
  double special[] = {-INFINITY, -1e300, INFINITY, NAN};
  tm_vector_exp(special, 4);
  assert_true(special[0] == 0 && special[1] == 0 && isinf(special[2]) &&
              isnan(special[3]));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(mass_equals_quadrature),
      cmocka_unit_test(mass_between_adds_up),
      cmocka_unit_test(draws_follow_the_density),
      cmocka_unit_test(atom_gets_its_share),
      cmocka_unit_test(vector_exp_is_accurate),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
