/* Facts about the constraining maps: they invert, and their log Jacobian is
 * the logarithm of a determinant computed by differences. */
#include "language/load/maps.h"

#include "cmocka_all.h"

#include <lapacke.h>
#include <math.h>

enum { MOST = 12 };

/* Which natural values are free: theta's measure is over these, or over the
 * surface that all of them lie on. */
static size_t free_values(tm_constraint c, size_t rows, size_t columns,
                          size_t *at) {
  size_t n = 0;
  bool strict = c == TM_CHOLESKY_CORR || c == TM_CORRELATION;
  bool matrix = c >= TM_CHOLESKY_CORR && c <= TM_COVARIANCE;
  size_t last_row = c == TM_COLUMN_STOCHASTIC, last = c == TM_ROW_STOCHASTIC;
  for (size_t j = 0; j + last < columns; j++)
    for (size_t i = 0; i + last_row < rows; i++)
      if (!matrix || i > j || (i == j && !strict))
        at[n++] = j * rows + i;
  return n;
}

static double log_determinant(const tempera_map *m, const double *u,
                              const size_t *at) {
  int n = (int)m->unconstrained_size;
  double a[MOST * MOST], up[64], down[64], moved[MOST], h = 1e-6, value = 0;
  lapack_int pivots[MOST];
  memcpy(moved, u, (size_t)n * sizeof(double));
  for (int j = 0; j < n; j++) {
    moved[j] = u[j] + h;
    m->constrain(m, moved, up);
    moved[j] = u[j] - h;
    m->constrain(m, moved, down);
    moved[j] = u[j];
    for (int i = 0; i < n; i++)
      a[i * n + j] = (up[at[i]] - down[at[i]]) / (2 * h);
  }
  LAPACKE_dgetrf(LAPACK_ROW_MAJOR, n, n, a, n, pivots);
  for (int i = 0; i < n; i++)
    value += log(fabs(a[i * n + i]));
  return value;
}

/* Half the log determinant of J'J: the scale of a surface. */
static double log_surface(const tempera_map *m, const double *u) {
  int n = (int)m->unconstrained_size;
  double j[MOST][64], down[64], moved[MOST], h = 1e-6, gram[MOST * MOST];
  memcpy(moved, u, (size_t)n * sizeof(double));
  for (int c = 0; c < n; c++) {
    moved[c] = u[c] + h;
    m->constrain(m, moved, j[c]);
    moved[c] = u[c] - h;
    m->constrain(m, moved, down);
    moved[c] = u[c];
    for (size_t i = 0; i < m->size; i++)
      j[c][i] = (j[c][i] - down[i]) / (2 * h);
  }
  for (int r = 0; r < n; r++)
    for (int c = 0; c < n; c++) {
      gram[r * n + c] = 0;
      for (size_t i = 0; i < m->size; i++)
        gram[r * n + c] += j[r][i] * j[c][i];
    }
  LAPACKE_dpotrf(LAPACK_ROW_MAJOR, 'L', n, gram, n);
  double value = 0;
  for (int i = 0; i < n; i++)
    value += log(gram[i * n + i]);
  return value;
}

static void maps_onto_surfaces_have_their_jacobian(void **state) {
  (void)state;
  static const struct {
    tm_constraint constraint;
    size_t rows, columns;
  } cases[] = {{TM_UNIT_VECTOR, 5, 1},
               {TM_SUM_TO_ZERO, 5, 1},
               {TM_SUM_TO_ZERO_MATRIX, 3, 3},
               {TM_SUM_TO_ZERO_MATRIX, 5, 2}};
  double u[MOST], back[MOST], theta[64];
  for (size_t c = 0; c < 4; c++) {
    tempera_map m;
    assert_true(tm_map_of(cases[c].constraint, cases[c].rows, cases[c].columns,
                          0, 1, &m));
    assert_int_equal(m.unconstrained_size, 4);
    for (size_t i = 0; i < 4; i++)
      u[i] = 1.3 * sin(1 + 3.7 * (double)i);
    double log_jacobian = m.constrain(&m, u, theta);
    assert_true(m.inside(&m, theta));
    m.unconstrain(&m, theta, back);
    for (size_t i = 0; i < 4; i++)
      assert_true(fabs(u[i] - back[i]) < 1e-10);
    assert_true(fabs(log_surface(&m, u) - log_jacobian) < 1e-6);
  }
}

static void maps_invert_and_have_their_jacobian(void **state) {
  (void)state;
  static const struct {
    tm_constraint constraint;
    size_t rows, columns;
  } cases[] = {{TM_OFFSET, 3, 1},           {TM_ORDERED, 4, 1},
               {TM_POSITIVE_ORDERED, 3, 1}, {TM_CHOLESKY_CORR, 4, 4},
               {TM_CHOLESKY_COV, 3, 3},     {TM_CHOLESKY_COV, 4, 2},
               {TM_CORRELATION, 4, 4},      {TM_COVARIANCE, 3, 3},
               {TM_ROW_STOCHASTIC, 2, 4},   {TM_COLUMN_STOCHASTIC, 3, 2}};
  double u[MOST], back[MOST], theta[64];
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    tempera_map m;
    size_t at[64];
    assert_true(tm_map_of(cases[c].constraint, cases[c].rows, cases[c].columns,
                          0.5, 2, &m));
    assert_int_equal(
        m.unconstrained_size,
        free_values(cases[c].constraint, cases[c].rows, cases[c].columns, at));
    for (size_t i = 0; i < m.unconstrained_size; i++)
      u[i] = 0.8 * sin(1 + 3.7 * (double)i);
    double log_jacobian = m.constrain(&m, u, theta);
    assert_true(m.inside(&m, theta));
    m.unconstrain(&m, theta, back);
    for (size_t i = 0; i < m.unconstrained_size; i++)
      assert_true(fabs(u[i] - back[i]) < 1e-10);
    double known = log_determinant(&m, u, at);
    if (fabs(known - log_jacobian) > 1e-6)
      fail_msg("case %zu: log Jacobian %g, by differences %g", c, log_jacobian,
               known);
  }
}

static void types_without_a_map_are_refused(void **state) {
  (void)state;
  tempera_map m;
  assert_false(tm_map_of(TM_UNIT_VECTOR, 1, 1, 0, 1, &m));
  assert_false(tm_map_of(TM_CHOLESKY_COV, 2, 3, 0, 1, &m));
}

/* Pull-backs against differences of u -> g.x + log J. */
static void slopes_of_lines_are_right(void **state) {
  (void)state;
  static const tm_constraint cases[] = {TM_ROW_STOCHASTIC, TM_COLUMN_STOCHASTIC,
                                        TM_SUM_TO_ZERO_MATRIX};
  double u[MOST], x[64], g[64], out[MOST], h = 1e-6;
  for (size_t i = 0; i < 64; i++)
    g[i] = cos(2.3 * (double)i);
  for (size_t c = 0; c < 3; c++) {
    tempera_map m;
    assert_true(tm_map_of(cases[c], 3, 4, 0, 1, &m));
    for (size_t i = 0; i < m.unconstrained_size; i++)
      u[i] = 0.8 * sin(1 + 3.7 * (double)i);
    m.constrain(&m, u, x);
    m.pull_back(&m, u, x, g, true, out);
    for (size_t i = 0; i < m.unconstrained_size; i++) {
      double value[2], kept = u[i];
      for (int side = 0; side < 2; side++) {
        u[i] = kept + (side ? h : -h);
        value[side] = m.constrain(&m, u, x);
        for (size_t k = 0; k < m.size; k++)
          value[side] += g[k] * x[k];
      }
      u[i] = kept;
      assert_true(fabs((value[1] - value[0]) / (2 * h) - out[i]) < 1e-7);
    }
  }
}

static void types_of_one_value_have_no_coordinates(void **state) {
  (void)state;
  tempera_map m;
  double x;
  assert_true(tm_map_of(TM_SIMPLEX, 1, 1, 0, 1, &m));
  assert_int_equal(m.unconstrained_size, 0);
  m.constrain(&m, &x, &x);
  assert_true(x == 1);
  assert_true(tm_map_of(TM_SUM_TO_ZERO, 1, 1, 0, 1, &m));
  assert_int_equal(m.unconstrained_size, 0);
}

/* Not up to rounding: a value that is 1 in all draws of a run and nearly so
 * elsewhere would be taken for a chain that is stuck. */
static void correlations_have_ones_on_their_diagonal(void **state) {
  (void)state;
  tempera_map m;
  double u[MOST], x[64];
  assert_true(tm_map_of(TM_CORRELATION, 4, 4, 0, 1, &m));
  for (int k = 0; k < 1000; k++) {
    for (size_t i = 0; i < m.unconstrained_size; i++)
      u[i] = 3 * sin(1 + 3.7 * (double)i + 0.9 * k);
    m.constrain(&m, u, x);
    for (size_t i = 0; i < 4; i++)
      assert_true(x[5 * i] == 1);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(maps_invert_and_have_their_jacobian),
      cmocka_unit_test(maps_onto_surfaces_have_their_jacobian),
      cmocka_unit_test(slopes_of_lines_are_right),
      cmocka_unit_test(correlations_have_ones_on_their_diagonal),
      cmocka_unit_test(types_of_one_value_have_no_coordinates),
      cmocka_unit_test(types_without_a_map_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
