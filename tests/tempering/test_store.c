/* Facts about the mass of one basin: exact for Gaussians, also where
 * curvatures differ by more than floating point holds, and next to nothing in
 * the neck of a funnel. */
#include "paper_support.h"
#include "tempering/store.h"

enum { SIZE = 5 };
static const double LOG_2PI = 1.8378770664093454836;

/* N(theta; 1, sd^2) in each coordinate, sd from 1 down to 1e-9, times 3. */
static double sd_of(size_t i) { return pow(10, -9. * (double)i / (SIZE - 1)); }

static int needle_gradient(const double *theta, double *value, double *gradient,
                           void *user) {
  (void)user;
  *value = log(3);
  for (size_t i = 0; i < SIZE; i++) {
    double z = (theta[i] - 1) / sd_of(i);
    *value -= 0.5 * (z * z + LOG_2PI) + log(sd_of(i));
    gradient[i] = -z / sd_of(i);
  }
  return 0;
}

/* v ~ N(0, 1), theta_i ~ N(0, exp(v)^2): highest in the neck, at v = -4. */
static int funnel_gradient(const double *theta, double *value, double *gradient,
                           void *user) {
  (void)user;
  double v = theta[0];
  *value = -0.5 * (v * v + LOG_2PI);
  gradient[0] = -v;
  for (size_t i = 1; i < SIZE; i++) {
    double z = theta[i] * exp(-v);
    *value -= 0.5 * (z * z + LOG_2PI) + v;
    gradient[0] += z * z - 1;
    gradient[i] = -z * exp(-v);
  }
  return 0;
}

static int flat_gradient(const double *theta, double *value, double *gradient,
                         void *user) {
  (void)theta;
  (void)user;
  *value = 0;
  memset(gradient, 0, SIZE * sizeof(double));
  return 0;
}

#define WITHOUT(name)                                                          \
  static int name(const double *theta, double *value, void *user) {            \
    double gradient[SIZE];                                                     \
    return name##_gradient(theta, value, gradient, user);                      \
  }
WITHOUT(needle)
WITHOUT(funnel)
WITHOUT(flat)

static double weigh(tempera_density_fn density, tempera_gradient_fn gradient,
                    const double *start, const double *at) {
  tempera_parameter theta = {
      .name = "theta", .size = SIZE, .lower = -INFINITY, .upper = INFINITY};
  tempera_model_spec spec = {.name = "basin",
                             .parameters = &theta,
                             .parameter_count = 1,
                             .log_likelihood = density,
                             .log_likelihood_gradient = gradient,
                             .log_prior = flat,
                             .log_prior_gradient = flat_gradient,
                             .prior_improper = true};
  tempera_model *model = NULL;
  tm_store *store = NULL;
  tm_store_settings settings = {.seed = 1, .threads = 1};
  double mass = NAN;
  assert_int_equal(tempera_model_create(&spec, &model, NULL), TEMPERA_OK);
  assert_int_equal(tm_store_create(model, &settings, start, 1, &store, NULL),
                   TEMPERA_OK);
  assert_int_equal(tm_store_weigh(store, at, &mass, NULL), TEMPERA_OK);
  tm_store_free(store);
  tempera_model_free(model);
  return mass;
}

/* Steps of a tenth of the least sd hold seven digits of theta. */
static void test_gaussian(void **state) {
  (void)state;
  double at[SIZE];
  for (size_t i = 0; i < SIZE; i++)
    at[i] = 1 + 0.3 * sd_of(i);
  assert_near(weigh(needle, needle_gradient, at, at), log(3), 1e-4);
}

/* The neck's mass by Laplace: e^{v^2/2} at v = -(SIZE - 1), with the curvature
 * of v being 1 and of theta_i e^{-2v}: that of N(0, 1) at v, times its sd. */
static void test_neck(void **state) {
  (void)state;
  double v = -(SIZE - 1.), at[SIZE] = {v}, start[SIZE] = {0.3, 0.2, 0.1};
  assert_near(weigh(funnel, funnel_gradient, start, at), -0.5 * v * v, 1e-5);
}

/* A slope has no basin. */
static int slope_gradient(const double *theta, double *value, double *gradient,
                          void *user) {
  (void)user;
  *value = 0;
  for (size_t i = 0; i < SIZE; i++) {
    *value += theta[i];
    gradient[i] = 1;
  }
  return 0;
}
WITHOUT(slope)

static void test_slope(void **state) {
  (void)state;
  double at[SIZE] = {0};
  assert_true(isnan(weigh(slope, slope_gradient, at, at)));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_gaussian),
      cmocka_unit_test(test_neck),
      cmocka_unit_test(test_slope),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
