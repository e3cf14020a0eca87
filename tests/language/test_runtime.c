/* Facts about the mathematics behind programs: every density integrates to
 * one, every mass sums to one, partials equal differences, distribution
 * functions are integrals of densities, random numbers have the law they say.
 * All by the tables themselves, so that nothing can be left out. */
#include "language/runtime/runtime.h"
#include "language/runtime/tables.h"

#include "cmocka_all.h"

#include <gsl/gsl_integration.h>
#include <gsl/gsl_sf_psi.h>
#include <stdio.h>

typedef struct law {
  const char *name, *letters;
  double arguments[4]; /* after the outcome */
  double lower, upper; /* support */
} law;

#define INF INFINITY
static const law LAWS[] = {
    {"normal", "RRR", {0.7, 1.3}, -INF, INF},
    {"std_normal", "R", {0}, -INF, INF},
    {"student_t", "RRRR", {3.5, 0.4, 1.2}, -INF, INF},
    {"cauchy", "RRR", {0.3, 0.8}, -INF, INF},
    {"double_exponential", "RRR", {0.3, 0.8}, -INF, INF},
    {"logistic", "RRR", {0.3, 0.8}, -INF, INF},
    {"gumbel", "RRR", {0.3, 0.8}, -INF, INF},
    {"skew_normal", "RRRR", {0.3, 0.8, 1.5}, -INF, INF},
    {"exp_mod_normal", "RRRR", {0.3, 0.8, 1.5}, -INF, INF},
    {"lognormal", "RRR", {0.3, 0.8}, 0, INF},
    {"chi_square", "RR", {4.5}, 0, INF},
    {"inv_chi_square", "RR", {4.5}, 0, INF},
    {"scaled_inv_chi_square", "RRR", {4.5, 1.3}, 0, INF},
    {"exponential", "RR", {1.7}, 0, INF},
    {"gamma", "RRR", {2.5, 1.7}, 0, INF},
    {"inv_gamma", "RRR", {2.5, 1.7}, 0, INF},
    {"weibull", "RRR", {2.2, 1.7}, 0, INF},
    {"frechet", "RRR", {2.2, 1.7}, 0, INF},
    {"rayleigh", "RR", {1.7}, 0, INF},
    {"loglogistic", "RRR", {1.7, 2.5}, 0, INF},
    {"pareto", "RRR", {1.2, 2.5}, 1.2, INF},
    {"pareto_type_2", "RRRR", {0.2, 1.2, 2.5}, 0.2, INF},
    {"beta", "RRR", {2.5, 1.7}, 0, 1},
    {"beta_proportion", "RRR", {0.4, 5.5}, 0, 1},
    {"von_mises", "RRR", {0.4, 2.5}, -M_PI, M_PI},
    {"uniform", "RRR", {-1.5, 2.5}, -1.5, 2.5},
    {"bernoulli", "IR", {0.3}, 0, 1},
    {"bernoulli_logit", "IR", {0.3}, 0, 1},
    {"binomial", "IIR", {9, 0.3}, 0, 9},
    {"binomial_logit", "IIR", {9, 0.3}, 0, 9},
    {"beta_binomial", "IIRR", {9, 1.3, 2.5}, 0, 9},
    {"hypergeometric", "IIII", {5, 7, 4}, 0, 5},
    {"discrete_range", "III", {2, 7}, 2, 7},
    {"poisson", "IR", {3.3}, 0, 400},
    {"poisson_log", "IR", {1.3}, 0, 400},
    {"neg_binomial", "IRR", {2.5, 0.8}, 0, 400},
    {"neg_binomial_2", "IRR", {2.5, 0.8}, 0, 400},
    {"neg_binomial_2_log", "IRR", {0.5, 0.8}, 0, 400},
    {"skew_double_exponential", "RRRR", {0.3, 0.8, 0.3}, -INF, INF},
    {"beta_neg_binomial", "IRRR", {2.5, 9.5, 1.7}, 0, 400},
    {"yule_simon", "IR", {7.5}, 1, 400},
};
enum { LAW_COUNT = sizeof LAWS / sizeof *LAWS };

static const law *find_law(const char *name) {
  for (size_t i = 0; i < LAW_COUNT; i++)
    if (!strcmp(LAWS[i].name, name))
      return &LAWS[i];
  fail_msg("no test values for %s", name);
  return NULL;
}

static bool is_discrete(const law *l) { return l->letters[0] == 'I'; }
static int arity(const law *l) { return (int)strlen(l->letters); }

static void fill(const law *l, double outcome, double *x) {
  x[0] = outcome;
  for (int i = 1; i < arity(l); i++)
    x[i] = l->arguments[i - 1];
}

static double density(double y, void *law_) {
  const law *l = law_;
  double x[4];
  fill(l, y, x);
  return exp(tm_density_kernel(l->name)(x, NULL));
}

static double mass_between(const law *l, double a, double b) {
  if (is_discrete(l)) {
    double sum = 0;
    for (double k = a; k <= b; k++)
      sum += density(k, (void *)(uintptr_t)l);
    return sum;
  }
  gsl_integration_workspace *w = gsl_integration_workspace_alloc(1000);
  gsl_function f = {density, (void *)(uintptr_t)l};
  double result, error;
  if (isinf(a) && isinf(b))
    gsl_integration_qagi(&f, 1e-11, 1e-9, 1000, w, &result, &error);
  else if (isinf(b))
    gsl_integration_qagiu(&f, a, 1e-11, 1e-9, 1000, w, &result, &error);
  else if (isinf(a))
    gsl_integration_qagil(&f, b, 1e-11, 1e-9, 1000, w, &result, &error);
  else
    gsl_integration_qags(&f, a, b, 1e-11, 1e-9, 1000, w, &result, &error);
  gsl_integration_workspace_free(w);
  return result;
}

static void every_density_integrates_to_one(void **state) {
  (void)state;
#define EACH(name, letters) #name,
  const char *names[] = {TM_DENSITIES(EACH)};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const law *l = find_law(names[i]);
    double total = mass_between(l, l->lower, l->upper);
    if (fabs(total - 1) > 1e-7)
      fail_msg("%s integrates to %.10g", names[i], total);
  }
}

/* A value well inside the support. */
static double inner(const law *l) {
  if (is_discrete(l))
    return l->upper - l->lower > 3 ? l->lower + 3 : l->lower;
  if (isinf(l->lower))
    return 1.1;
  return isinf(l->upper) ? l->lower + 0.9 : 0.4 * l->lower + 0.6 * l->upper;
}

static void every_partial_equals_a_difference(void **state) {
  (void)state;
  for (size_t i = 0; i < LAW_COUNT; i++) {
    const law *l = &LAWS[i];
    tm_kernel kernel = tm_density_kernel(l->name);
    double x[4], d[4] = {0};
    fill(l, inner(l), x);
    kernel(x, d);
    for (int k = 0; k < arity(l); k++) {
      if (l->letters[k] == 'I')
        continue;
      double at = x[k], h = 1e-5;
      x[k] = at + h;
      double up = kernel(x, NULL);
      x[k] = at - h;
      double down = kernel(x, NULL);
      x[k] = at;
      double slope = (up - down) / (2 * h);
      if (fabs(slope - d[k]) > 1e-7 * (1 + fabs(slope)))
        fail_msg("%s, argument %d: %.10g, by differences %.10g", l->name, k,
                 d[k], slope);
    }
  }
}

static void densities_are_zero_outside_and_for_bad_arguments(void **state) {
  (void)state;
  double bad[4] = {0.5, 0, -1, 1};
  assert_true(tm_density_kernel("normal")(bad, NULL) == -INFINITY);
  double below[3] = {-0.1, 2, 3};
  assert_true(tm_density_kernel("gamma")(below, NULL) == -INFINITY);
  assert_true(tm_density_kernel("beta")(below, NULL) == -INFINITY);
}

/* ---- through the functions that programs call --------------------------- */

typedef struct bench {
  tm_tape tape;
  tm_guard guard;
} bench;

static tm_any call(bench *b, const char *name, const char *letters,
                   const double *x, double *adjoints, int count) {
  tm_any a[5];
  for (int i = 0; i < count; i++)
    a[i] = letters[i] == 'I'
               ? tm_any_int((long)x[i])
               : tm_any_var((tm_var){x[i], adjoints ? adjoints + i : NULL});
  return tm_the_runtime.find(name, letters)(&b->tape, a, count);
}

/* A container's density and slopes, by the function that programs call. */
static double call_density(const char *name, const char *letters, long n,
                           double *const *x, double *const *d, int flags) {
  char full[64];
  tm_guard guard;
  tm_tape tape;
  tm_any arguments[4];
  snprintf(full, sizeof full, "%s_lpdf", name);
  int arity = (int)strlen(letters);
  for (int i = 0; i < arity; i++) {
    tm_tensor t = {x[i], d ? d[i] : NULL, 1, {(int)n}};
    arguments[i] = tm_any_tensor(t, 1);
  }
  tm_tape_start(&tape, &guard);
  double value =
      tm_the_runtime
          .find(full, letters)(&tape, arguments, arity | TM_DIRECT | flags)
          .u.r.v;
  tm_tape_free(&tape);
  return value;
}

enum { MANY = 700 }; /* more than two blocks, and a rest */

static void check_many(const law *l) {
  static double values[4][MANY], slopes[4][MANY];
  double *x[4], *d[4], one[4], partial[4], sum = 0;
  int arity = (int)strlen(l->letters);
  memset(slopes, 0, sizeof slopes);
  for (int i = 0; i < 4; i++) {
    x[i] = values[i];
    d[i] = slopes[i];
  }
  tm_kernel kernel = tm_density_kernel(l->name);
  for (int k = 0; k < MANY; k++) {
    double lo = fmax(l->lower, -3), hi = fmin(l->upper, 9);
    double y = lo + (hi - lo) * (k % 97 + 0.5) / 97;
    fill(l, l->letters[0] == 'I' ? round(y) : y, one);
    for (int i = 0; i < arity; i++)
      values[i][k] =
          i && l->letters[i] == 'R' ? one[i] * (1 + 1e-4 * k) : one[i];
    for (int i = 0; i < arity; i++)
      one[i] = values[i][k];
    memset(partial, 0, sizeof partial);
    sum += kernel(one, partial);
    for (int i = 0; i < arity; i++)
      slopes[i][k] = -partial[i];
  }
  double value = call_density(l->name, l->letters, MANY, x, d, 0);
  if (isfinite(sum))
    assert_true(fabs(value - sum) <= 1e-12 * (1 + fabs(sum)));
  else
    assert_true(value == sum);
  for (int i = 0; i < arity && isfinite(sum); i++)
    for (int k = 0; k < MANY; k++)
      if (l->letters[i] == 'R')
        assert_true(fabs(slopes[i][k]) <= 1e-9 * (1 + fabs(values[i][k])));
}

static void containers_sum_over_elements(void **state) {
  (void)state;
  for (size_t i = 0; i < LAW_COUNT; i++)
    check_many(&LAWS[i]);
}

/* NaN in an argument is density zero, in the outcome NaN; infinite outcomes
 * have density zero; in whichever lane of a vector. */
static void containers_keep_nan_and_infinity(void **state) {
  (void)state;
  double y[11], m[11], s[11], *x[] = {y, m, s};
  for (int k = 0; k < 11; k++) {
    for (int i = 0; i < 11; i++)
      y[i] = 0.1 * (i + 1), m[i] = 0.2, s[i] = 1.5;
    y[k] = INF;
    assert_true(call_density("normal", "RRR", 11, x, NULL, 0) == -INF);
    assert_true(call_density("lognormal", "RRR", 11, x, NULL, 0) == -INF);
    y[k] = NAN;
    assert_true(isnan(call_density("normal", "RRR", 11, x, NULL, 0)));
    y[k] = 0.5;
    s[k] = NAN;
    assert_true(call_density("normal", "RRR", 11, x, NULL, 0) == -INF);
    s[k] = 0;
    m[k] = y[k];
    assert_true(call_density("normal", "RRR", 11, x, NULL, 0) == -INF);
    s[k] = 1.5;
    m[k] = NAN;
    assert_true(call_density("cauchy", "RRR", 11, x, NULL, 0) == -INF);
    for (int i = 0; i < 11; i++)
      y[i] = 0, m[i] = -INF; /* no events at rate zero, surely */
    assert_true(fabs(call_density("poisson_log", "IR", 11, x, NULL, 0)) <
                1e-13);
    y[k] = 1;
    assert_true(call_density("poisson_log", "IR", 11, x, NULL, 0) == -INF);
    assert_true(call_density("bernoulli_logit", "IR", 11, x, NULL, 0) == -INF);
    y[k] = -1;
    assert_true(call_density("poisson_log", "IR", 11, x, NULL, 0) == -INF);
  }
}

/* Vector and scalar functions may differ by a few units in the last place, and
 * not at all in what is NaN and what is infinite. */
static void check_unary(const char *name,
                        double (*scalar)(const tm_runtime *, double)) {
  double x[] = {0.25, NAN,  -0.75, INF, 0,    -INF, 1,    0.5, 3e-9,
                -40,  1e99, 17,    NAN, 1e-9, 0.9,  -1.5, 2.5, 710};
  enum { COUNT = sizeof x / sizeof *x };
  tm_guard guard;
  tm_tape tape;
  tm_tape_start(&tape, &guard);
  tm_any argument = tm_any_tensor(((tm_tensor){x, NULL, 1, {COUNT}}), 1);
  const double *y = tm_the_runtime.find(name, "R")(&tape, &argument, 1).u.t.v;
  for (int k = 0; k < COUNT; k++) {
    double one = scalar(&tm_the_runtime, x[k]);
    bool same = isnan(one)   ? isnan(y[k])
                : isinf(one) ? y[k] == one
                             : fabs(y[k] - one) <= 1e-14 * (1 + fabs(one));
    if (!same)
      fail_msg("%s(%g) is %.17g alone and %.17g among many", name, x[k], one,
               y[k]);
  }
  tm_tape_free(&tape);
}

static void functions_of_containers_are_those_of_scalars(void **state) {
  (void)state;
#define CHECK_UNARY(name, value, slope) check_unary(#name, tm_d_##name);
  TM_UNARY(CHECK_UNARY)
}

/* A density is the sum of what depends on some arguments only and the rest. */
static void parts_of_a_density_add_up(void **state) {
  (void)state;
  double y[5] = {0, 3, 1, 7, 2}, m[5] = {0.1, 0.9, 1.2, 0.4, 2}, s[5];
  double *x[] = {y, m, s};
  for (int i = 0; i < 5; i++)
    s[i] = 0.7 + 0.1 * i;
  static const struct {
    const char *name, *letters;
    unsigned chosen;
  } cases[] = {{"poisson_log", "IR", 1},
               {"neg_binomial_2", "IRR", 1},
               {"normal", "RRR", 5},
               {"normal", "RRR", 3},
               {"uniform", "RRR", 1}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const char *name = cases[i].name, *letters = cases[i].letters;
    int chosen = (int)(cases[i].chosen << TM_CHOSEN);
    if (!tm_density_has_terms(name, cases[i].chosen))
      continue;
    double all = call_density(name, letters, 5, x, NULL, 0);
    double only = call_density(name, letters, 5, x, NULL, TM_ONLY | chosen);
    double rest = call_density(name, letters, 5, x, NULL, TM_REST | chosen);
    assert_true(only != 0 && fabs(only + rest - all) < 1e-13 * fabs(all));
  }
}

static void check_cdf(const char *name, const char *letters) {
  bench b;
  const law *l = find_law(name);
  double x[4], y = inner(l);
  char lcdf[64], lccdf[64];
  snprintf(lcdf, sizeof lcdf, "%s_lcdf", name);
  snprintf(lccdf, sizeof lccdf, "%s_lccdf", name);
  fill(l, y, x);
  tm_tape_start(&b.tape, &b.guard);
  if (setjmp(b.guard.place))
    fail_msg("%s: %s", name, b.guard.message);
  double d[4] = {0};
  tm_any low = call(&b, lcdf, letters, x, d, arity(l));
  double high = call(&b, lccdf, letters, x, NULL, arity(l)).u.r.v;
  double mass = mass_between(l, l->lower, y);
  if (fabs(exp(low.u.r.v) - mass) > 1e-7 ||
      fabs(exp(low.u.r.v) + exp(high) - 1) > 1e-10)
    fail_msg("%s: cdf %.10g, ccdf %.10g, integral %.10g", name, exp(low.u.r.v),
             exp(high), mass);
  if (low.u.r.d)
    *low.u.r.d = 1;
  tm_backward(&b.tape);
  for (int k = 0; k < arity(l); k++) {
    if (letters[k] == 'I')
      continue;
    double at = x[k], h = 1e-5;
    x[k] = at + h;
    double up = call(&b, lcdf, letters, x, NULL, arity(l)).u.r.v;
    x[k] = at - h;
    double down = call(&b, lcdf, letters, x, NULL, arity(l)).u.r.v;
    x[k] = at;
    double slope = (up - down) / (2 * h);
    if (fabs(slope - d[k]) > 1e-6 * (1 + fabs(slope)))
      fail_msg("%s, argument %d: %.10g, by differences %.10g", lcdf, k, d[k],
               slope);
  }
  tm_tape_free(&b.tape);
}

static void every_cdf_is_the_integral_of_its_density(void **state) {
  (void)state;
#define CHECK(name, letters) check_cdf(#name, letters);
  TM_CDFS(CHECK)
}

/* The share of draws below a point is its probability, +-4 se. */
static void check_rng(const char *name, const char *letters) {
  enum { N = 20000 };
  bench b;
  tempera_random random = tm_random(7, 0, TM_PURPOSE_TEST);
  const law *l = find_law(name);
  double y = inner(l), below = 0, x[4];
  char rng[64];
  snprintf(rng, sizeof rng, "%s_rng", name);
  fill(l, y, x);
  tm_tape_start(&b.tape, &b.guard);
  b.tape.random = &random;
  if (setjmp(b.guard.place))
    fail_msg("%s: %s", name, b.guard.message);
  for (int i = 0; i < N; i++) {
    tm_any a = call(&b, rng, letters, x + 1, NULL, arity(l) - 1);
    double drawn = a.tag == TM_TAG_INT ? (double)a.u.i : a.u.r.v;
    assert_true(drawn >= l->lower && drawn <= l->upper);
    below += drawn <= y;
  }
  double p = mass_between(l, l->lower, y), se = sqrt(p * (1 - p) / N);
  if (fabs(below / N - p) > 4 * se)
    fail_msg("%s: %g below, expected %g +- %g", rng, below / N, p, se);
  tm_tape_free(&b.tape);
}

static void every_rng_follows_its_density(void **state) {
  (void)state;
#define DRAW(name, letters, whole) check_rng(#name, letters);
  TM_RNGS(DRAW)
}

static void special_functions_match_known_values(void **state) {
  (void)state;
  const double at[] = {1, 0.1, 1e-4, 2.5, 7.99, 10.5, 1e5, -1.5, -7.3};
  for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
    double known = gsl_sf_psi(at[i]);
    if (fabs(tm_digamma(at[i]) - known) > 4e-14 * (1 + fabs(known)))
      fail_msg("digamma(%g) = %.17g, GSL says %.17g", at[i], tm_digamma(at[i]),
               known);
  }
  assert_true(fabs(tm_trigamma(1) - M_PI * M_PI / 6) < 1e-13);
  assert_true(fabs(tm_trigamma(0.5) - M_PI * M_PI / 2) < 1e-13);
  assert_true(fabs(tm_inv_phi(0.975) - 1.959963984540054) < 1e-14);
}

/* ---- memory --------------------------------------------------------------
 */

/* Blocks that begin `by` bytes off what malloc aligns to. */
static void *shifted_alloc(size_t size, void *by) {
  char *block = malloc(size + 64);
  return block ? block + *(const size_t *)by : NULL;
}
static void *no_resize(void *memory, size_t size, void *by) {
  (void)memory;
  (void)size;
  (void)by;
  return NULL;
}
static void shifted_free(void *memory, void *by) {
  free((char *)memory - *(const size_t *)by);
}

/* Runs decide by it how far they look, and must be repeatable. */
static void
how_much_of_a_tape_is_used_does_not_depend_on_addresses(void **state) {
  (void)state;
  size_t used[4];
  for (size_t i = 0; i < 4; i++) {
    size_t by = 16 * i;
    const tempera_context_settings settings = {.allocate = shifted_alloc,
                                               .resize = no_resize,
                                               .release = shifted_free,
                                               .memory_user = &by};
    tempera_context *context = NULL;
    tm_tape tape;
    tm_guard guard = {0};
    assert_int_equal(tempera_context_create(&settings, &context, NULL),
                     TEMPERA_OK);
    const tempera_context *before = tempera_context_use(context);
    tm_tape_start(&tape, &guard);
    for (size_t k = 1; k < 3000; k++)
      (void)tm_take(&tape, k % 90);
    used[i] = tm_tape_used(&tape);
    tm_tape_free(&tape);
    tempera_context_use(before);
    tempera_context_free(context);
    assert_int_equal(used[i], used[0]);
  }
}

/* Over all orders of magnitude, and on both sides of where it is halved. */
static void log1p_of_the_unit_interval_is_exact_to_some_ulps(void **state) {
  (void)state;
  double worst = 0;
  for (double power = -30; power <= 0; power += 1e-4) {
    double x = exp(power * power * power / 40);
    worst = fmax(worst, fabs(tm_log1p_unit(x) / log1p(x) - 1));
  }
  for (double x = 1.0 / 4096; x <= 1; x += 1.0 / 65536)
    worst = fmax(worst, fabs(tm_log1p_unit(x) / log1p(x) - 1));
  assert_true(worst < 7e-16);
  assert_true(tm_log1p_unit(0) == 0 && isnan(tm_log1p_unit(NAN)));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_density_integrates_to_one),
      cmocka_unit_test(every_partial_equals_a_difference),
      cmocka_unit_test(densities_are_zero_outside_and_for_bad_arguments),
      cmocka_unit_test(containers_sum_over_elements),
      cmocka_unit_test(containers_keep_nan_and_infinity),
      cmocka_unit_test(parts_of_a_density_add_up),
      cmocka_unit_test(functions_of_containers_are_those_of_scalars),
      cmocka_unit_test(every_cdf_is_the_integral_of_its_density),
      cmocka_unit_test(every_rng_follows_its_density),
      cmocka_unit_test(special_functions_match_known_values),
      cmocka_unit_test(log1p_of_the_unit_interval_is_exact_to_some_ulps),
      cmocka_unit_test(how_much_of_a_tape_is_used_does_not_depend_on_addresses),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
