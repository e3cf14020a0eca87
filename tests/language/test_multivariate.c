/* Facts about matrix distributions: densities against their factors, moments
 * of random numbers against exact ones. */
#include "language/runtime/runtime.h"

#include "cmocka_all.h"

#include <math.h>

static tm_tape tape;
static tm_guard guard;
static tempera_random stream;

static tm_any matrix(int rows, int columns, const double *v) {
  tm_tensor t = tm_tensor_new(&tape, 2, (int[]){rows, columns}, 0);
  memcpy(t.v, v, (size_t)(rows * columns) * sizeof(double));
  return tm_any_tensor(t, 1);
}
static tm_any vector(int n, const double *v) {
  tm_tensor t = tm_tensor_new(&tape, 1, &n, 0);
  memcpy(t.v, v, (size_t)n * sizeof(double));
  return tm_any_tensor(t, 1);
}

static double density(const char *name, const char *signature, tm_any *a,
                      int count) {
  return tape.runtime->find(name, signature)(&tape, a, count).u.r.v;
}

static void set_up(void) {
  tm_tape_start(&tape, &guard);
  stream = tm_random(3, 0, TM_PURPOSE_TEST);
  tape.random = &stream;
  if (setjmp(guard.place))
    fail_msg("%s", guard.message);
}

static void one_by_one_matrices_are_gammas(void **state) {
  (void)state;
  set_up();
  double w = 1.7, s = 0.6, nu = 3.4, y = 0.3, mu = -0.4;
  tm_any W = matrix(1, 1, &w), S = matrix(1, 1, &s), n = tm_any_real(nu);
  double x[4] = {w, 0.5 * nu, 0.5 / s};
  assert_true(fabs(density("wishart_lpdf", "m,r,m:r", (tm_any[]){W, n, S}, 3) -
                   tm_density_kernel("gamma")(x, NULL)) < 1e-12);
  x[2] = 0.5 * s;
  assert_true(
      fabs(density("inv_wishart_lpdf", "m,r,m:r", (tm_any[]){W, n, S}, 3) -
           tm_density_kernel("inv_gamma")(x, NULL)) < 1e-12);
  double t[4] = {y, nu, mu, sqrt(s)};
  assert_true(fabs(density("multi_student_t_lpdf", "V,r,V,m:r",
                           (tm_any[]){vector(1, &y), n, vector(1, &mu), S}, 4) -
                   tm_density_kernel("student_t")(t, NULL)) < 1e-12);
  tm_tape_free(&tape);
}

/* W = A A' with A triangular: chi variables on the diagonal, a normal below,
 * and |dW/dA| = 4 a11^2 a22. */
static void wisharts_factor_by_bartlett(void **state) {
  (void)state;
  set_up();
  double nu = 4.3, a = 1.2, b = 0.5, c = 0.8;
  double w[4] = {a * a, a * b, a * b, b * b + c * c}, unit[4] = {1, 0, 0, 1};
  double of_a[2] = {a * a, nu}, of_c[2] = {c * c, nu - 1}, of_b[1] = {b};
  double known = tm_density_kernel("chi_square")(of_a, NULL) + log(2 * a) +
                 tm_density_kernel("chi_square")(of_c, NULL) + log(2 * c) +
                 tm_density_kernel("std_normal")(of_b, NULL) -
                 log(4 * a * a * c);
  tm_any n = tm_any_real(nu), W = matrix(2, 2, w), I = matrix(2, 2, unit);
  double ours = density("wishart_lpdf", "m,r,m:r", (tm_any[]){W, n, I}, 3);
  assert_true(fabs(ours - known) < 1e-12);
  /* the inverse of W has density p(W) |W|^3 */
  double determinant = a * a * c * c;
  double v[4] = {w[3] / determinant, -w[1] / determinant, -w[1] / determinant,
                 w[0] / determinant};
  ours = density("inv_wishart_lpdf", "m,r,m:r",
                 (tm_any[]){matrix(2, 2, v), n, I}, 3);
  assert_true(fabs(ours - known - 3 * log(determinant)) < 1e-12);
  tm_tape_free(&tape);
}

/* A t is a normal with an inverse chi-square scale: by quadrature in log s. */
static void multivariate_ts_are_scale_mixtures(void **state) {
  (void)state;
  set_up();
  double nu = 3.5, y[2] = {0.4, -1}, mu[2] = {0.1, 0.2}, sum = 0, h = 0.002;
  double sigma[4] = {2, 0.5, 0.5, 1};
  for (double s = -12; s <= 12; s += h) {
    double scaled[4], x[2] = {nu * exp(-s), nu};
    for (int i = 0; i < 4; i++)
      scaled[i] = exp(s) * sigma[i];
    tm_any a[3] = {vector(2, y), vector(2, mu), matrix(2, 2, scaled)};
    sum += h * exp(density("multi_normal_lpdf", "V,V,m:r", a, 3) +
                   tm_density_kernel("chi_square")(x, NULL) + log(x[0]));
    tm_tape_reset(&tape);
  }
  tm_any a[4] = {vector(2, y), tm_any_real(nu), vector(2, mu),
                 matrix(2, 2, sigma)};
  double ours = density("multi_student_t_lpdf", "V,r,V,m:r", a, 4);
  assert_true(fabs(ours - log(sum)) < 1e-8);
  tm_tape_free(&tape);
}

/* The mean of `draws` values of element k, against mean and sd. */
static void check_mean(const char *name, const char *signature, tm_any *a,
                       int count, int k, double mean, double sd) {
  enum { DRAWS = 20000 };
  double sum = 0, square = 0;
  tm_fn f = tape.runtime->find(name, signature);
  for (int i = 0; i < DRAWS; i++) {
    tm_tape_mark mark = tm_tape_here(&tape);
    double x = f(&tape, a, count).u.t.v[k];
    sum += x;
    square += (x - mean) * (x - mean);
    tm_tape_back_to(&tape, mark);
  }
  if (fabs(sum / DRAWS - mean) > 4 * sd / sqrt(DRAWS) ||
      fabs(sqrt(square / DRAWS) / sd - 1) > 0.06)
    fail_msg("%s[%d]: mean %g (%g), sd %g (%g)", name, k, sum / DRAWS, mean,
             sqrt(square / DRAWS), sd);
}

static void random_matrices_have_their_moments(void **state) {
  (void)state;
  set_up();
  double s[4] = {2, 0.5, 0.5, 1}, nu = 14, mu[2] = {1, -2},
         p[3] = {0.2, 0.5, 0.3};
  tm_any S = matrix(2, 2, s), n = tm_any_real(nu);
  /* Var W_ij = nu (s_ij^2 + s_ii s_jj) */
  check_mean("wishart_rng", "r,m:m", (tm_any[]){n, S}, 2, 0, nu * s[0],
             sqrt(2 * nu) * s[0]);
  check_mean("wishart_rng", "r,m:m", (tm_any[]){n, S}, 2, 1, nu * s[1],
             sqrt(nu * (s[1] * s[1] + s[0] * s[3])));
  /* the diagonal is s_ii / chi-square(nu - k + 1) */
  double m = s[0] / (nu - 3);
  check_mean("inv_wishart_rng", "r,m:m", (tm_any[]){n, S}, 2, 0, m,
             m * sqrt(2 / (nu - 5)));
  check_mean("multi_student_t_rng", "r,L,m:v", (tm_any[]){n, vector(2, mu), S},
             3, 1, -2, sqrt(s[3] * nu / (nu - 2)));
  /* correlations are betas on (-1, 1): shape eta - 1 + k / 2 */
  for (int k = 1; k < 6; k += k == 1 ? 1 : 3)
    check_mean("lkj_corr_rng", "i,r:m",
               (tm_any[]){tm_any_int(3), tm_any_real(2)}, 2, k, 0,
               1 / sqrt(2 * 2.5 + 1));
  for (int k = 0; k < 3; k++)
    check_mean("multinomial_rng", "v,i:[i",
               (tm_any[]){vector(3, p), tm_any_int(9)}, 2, k, 9 * p[k],
               sqrt(9 * p[k] * (1 - p[k])));
  tm_tape_free(&tape);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_by_one_matrices_are_gammas),
      cmocka_unit_test(wisharts_factor_by_bartlett),
      cmocka_unit_test(multivariate_ts_are_scale_mixtures),
      cmocka_unit_test(random_matrices_have_their_moments),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
