/* Statements over rows give the densities, gradients and failures that they
 * give one by one: programs are put together at random from statements of that
 * kind. Regressions by a triangular factor lose no digits against sums in long
 * double. */
#include "base/text.h"
#include "language/load/load.h"
#include "model/model.h"

#include "model_answer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PROGRAMS = 12, STATEMENTS = 6, POINTS = 5, N = 700, GROUPS = 7 };

static const char HEAD[] =
    "functions { real zero_lpmf(int c, real m, real s) {\n"
    "  return poisson_log_lpmf(c | m) - s; } }\n"
    "data { int N; int J; int K; vector[N] x; vector[N] w; vector[N] y;\n"
    "  array[N] int<lower=1> g; array[N] int<lower=1> h; matrix[N, K] X;\n"
    "  array[N] int<lower=0> c; array[N] int<lower=0, upper=1> b;\n"
    "  vector[0] none; }\n"
    "parameters { vector[J] a; vector[K] beta; matrix[J, J] m; real mu;\n"
    "  real<lower=0> s; real<lower=0, upper=1> p; vector[N] z;\n"
    "  int<lower=1, upper=9> i; array[J] int<lower=0, upper=4> ks; }\n"
    "transformed parameters { vector[J] t = mu + s * a; vector[N] v;\n"
    "  for (n in 1:N) v[n] = t[g[n]] + x[n] * beta[1]; }\n";

static const char PRIOR[] =
    "  a ~ normal(0, 1);\n  beta ~ normal(0, 1);\n  mu ~ normal(0, 1);\n"
    "  s ~ lognormal(0, 0.5);\n  p ~ beta(2, 2);\n  z ~ normal(0, 1);\n"
    "  to_vector(m) ~ normal(0, 1);\n";

static const char *const LINES[] = {
    "for (n in 1:N) y[n] ~ normal(a[g[n]] + x[n] * beta[1], s);",
    "for (n in 1:N) y[n] ~ normal(t[g[n]] + w[n] * beta[2], s);",
    "for (n in 1:N) { real e = mu; e = e + exp(beta[1]) * w[n];\n"
    "  b[n] ~ bernoulli_logit(e); }",
    "for (n in 2:N) y[n] ~ normal(mu + beta[1] * y[n - 1], s);",
    "for (n in 1:N) target += normal_lpdf(y[n] | m[g[n], h[n]], s);",
    "for (n in 1:N) target += log_mix(p, normal_lpdf(y[n] | mu, s),\n"
    "  normal_lpdf(y[n] | a[1], 1));",
    "for (n in 1:N) target += log_sum_exp(mu * w[n], x[n] + a[h[n]])\n"
    "  + y[n] * mu - square(a[g[n]]); // @likelihood",
    "for (n in 1:N) c[n] ~ poisson_log(mu + a[g[n]]);",
    "for (n in 1:N) c[n] ~ neg_binomial_2(exp(t[g[n]]), s);",
    "for (n in 1:N) y[n] ~ student_t(4, X[n] * beta, s);",
    "for (n in 1:N) y[n] ~ normal(dot_product(X[n], beta), s);",
    "for (n in 3:N) { real e = mu; for (k in 1:K) e += beta[k] * y[n - 1];\n"
    "  y[n] ~ normal(e, s); }",
    "for (n in 1:N) y[n] ~ von_mises(mu + a[g[n]], s);",
    "y ~ normal(mu, s);",
    "y ~ normal(mu + beta[1] * x + beta[2] * w, s);",
    "y ~ normal(X * beta, s);",
    "y ~ normal(mu + X * beta - x / 2, s);",
    "y ~ normal(a[g] + beta[1] * w, s);",
    "y ~ normal(v, s);",
    "y ~ double_exponential(2 * v + mu, s);",
    "y ~ normal(z .* x + mu, s + square(w));",
    "b ~ bernoulli_logit(mu + beta[1] * w);",
    "b ~ bernoulli_logit_glm(X, mu, beta);",
    "c ~ poisson_log_glm(X, a[g], beta);",
    "c ~ poisson(exp(mu) * w);",
    "y ~ normal_id_glm(X, mu, beta, s);",
    "{ vector[N] e = mu + beta[1] * x; y ~ cauchy(e, s); }",
    "{ vector[N] e; for (n in 1:N) e[n] = mu * x[n];\n"
    "  for (n in 1:N) y[n] ~ logistic(e[n] + a[g[n]], s); }",
    "{ vector[N] e; for (n in 1:N) { e[n] = mu * x[n];\n"
    "  y[n] ~ normal(e[n], s); } }",
    "{ real e = 0; for (n in 1:N) { y[n] ~ normal(e * mu, s);\n"
    "  e = 0.5 * e + x[n]; } }",
    "{ vector[N] e; e[1] = mu; for (n in 2:N) e[n] = mu + 0.5 * e[n - 1];\n"
    "  y ~ normal(e, s); }",
    "{ vector[J] q = a; for (n in 1:N) y[n] ~ normal(q[g[n]] * x[n], 1);\n"
    "  q = q * 2; y ~ normal(q[g], 2); }",
    "for (n in 1:N) target += mu * s; // @prior",
    "for (n in 1:N) target += (n / i) * mu + (i % 3) * x[n]; // @likelihood",
    "for (n in 1:N) c[n] ~ poisson(exp(mu) * i + ks[g[n]]);",
    "for (n in 5:N) y[n] ~ normal(v[n] * 2, s);",
    "{ vector[N] e = X * beta; for (n in 5:N) y[n] ~ normal(e[n], s); }",
    "{ vector[N] e = rep_vector(mu, N) + x; for (n in 2:N)\n"
    "  y[n] ~ normal(e[n], s); }",
    "y ~ normal(rep_vector(mu, N) + X * beta, s);",
    "for (n in 1:0) y[n] ~ normal(none[1] * mu, none[2]);",
    "none ~ normal(mu * none, s);",
    "for (n in 1:N) y[n] ~ normal(mu, n * 1.0 / N + s);",
    "for (n in 1:N) b[n] ~ bernoulli(inv_logit(mu + a[g[n]]));",
    "for (n in 1:N) target += binomial_lpmf(c[n] | 9, p);",
    "y ~ skew_normal(mu, s, a[g]);",
    "for (n in 1:N) c[n] ~ zero(mu + a[g[n]], s);",
    "{ vector[J] l = log_softmax(a); for (n in 1:N) { vector[J] q;\n"
    "  for (k in 1:J) q[k] = l[k] + normal_lpdf(y[n] | a[k], s) + mu * x[n];\n"
    "  target += log_sum_exp(q); } }",
    "{ array[J] real q; for (n in 2:N) { real e = exp(mu) * w[n];\n"
    "  for (k in 1:J) q[k] = log(p + square(m[g[n], k])) + e * m[k, h[n]];\n"
    "  target += log_sum_exp(q); // @likelihood\n } }",
    "{ vector[J] l = a * mu; for (n in 1:N) { vector[J] q = l;\n"
    "  for (k in 1:J) q[k] += poisson_log_lpmf(c[n] | t[k]);\n"
    "  target += log_sum_exp(q); } }",
    "for (n in 1:N) { vector[2] q; for (k in 1:2)\n"
    "    q[k] = normal_lpdf(y[n] | k == 1 ? mu : 1, k * s);\n"
    "  target += log_sum_exp(q); y[n] ~ normal(mu, s); }",
    "for (n in 1:N) { vector[J] q; for (k in 1:J) q[k] = z[n] * a[k] + x[n];\n"
    "  target += log_sum_exp(q); // @prior\n }",
};
enum {
  LINE_COUNT = sizeof LINES / sizeof *LINES,
  ROW_LINES = 47 /* of them over rows, v's definition aside */
};

/* Numbers by a fixed rule; groups and counts repeat, x does not. */
static void add_series(tm_text *data, const char *name, int kind) {
  tm_text_printf(data, ", \"%s\": [", name);
  for (int i = 0; i < N; i++) {
    double f = fmod(0.6180339887498949 * (i * i % 911 + 7 * i + kind), 1);
    double value = kind == 0   ? 4 * f - 2             /* x */
                   : kind == 1 ? 0.5 + floor(3 * f)    /* w */
                   : kind == 2 ? 2 * f - 0.5           /* y */
                   : kind <= 4 ? 1 + floor(GROUPS * f) /* g, h */
                   : kind == 5 ? floor(5 * f * f)      /* c */
                               : floor(2 * f);         /* b */
    tm_text_printf(data, "%s%.15g", i ? "," : "", value);
  }
  tm_text_add(data, "]");
}

static void make_data(tm_text *data) {
  static const char *const names[] = {"x", "w", "y", "g", "h", "c", "b"};
  tm_text_printf(data, "{\"N\": %d, \"J\": %d, \"K\": 3, \"X\": [", N, GROUPS);
  for (int i = 0; i < N; i++)
    tm_text_printf(data, "%s[1,%.15g,%d]", i ? "," : "", sin(i), i % 3);
  tm_text_add(data, "]");
  for (int k = 0; k < 7; k++)
    add_series(data, names[k], k);
  tm_text_add(data, ", \"none\": []}");
}

/* By rows, and one by one. How many statements are over rows? With `refused`
 * only the latter, and the data must not allow rows. */
static size_t load(const char *given, const char *text, bool refused,
                   tempera_model *model[2]) {
  tempera_error error = {0};
  tempera_data *data = NULL;
  tempera_program *program = NULL;
  bool no[2] = {false, false};
  model[0] = model[1] = NULL;
  assert_int_equal(tempera_data_parse(given, strlen(given), &data, &error), 0);
  if (tempera_program_parse("rows.stan", text, strlen(text), &program,
                            &error) ||
      tm_load_way(program, TM_BY_ROWS, data, &no[0], &model[0], &error) ||
      tm_load_way(program, TM_ONE_BY_ONE, data, &no[1], &model[1], &error))
    fail_msg("%s\n%s", error.message, text);
  assert_int_equal(no[0], refused);
  assert_false(no[1]);
  size_t count = program->tree.rows.count;
  tempera_program_free(program);
  tempera_data_free(data);
  return count;
}

static void assert_close(double got, double expected, double scale,
                         const char *text) {
  if (fabs(got - expected) > 1e-10 * fmax(fabs(expected), scale))
    fail_msg("%.17g, one by one %.17g\n%s", got, expected, text);
}

static void compare(tempera_model *rows, tempera_model *plain,
                    tempera_random *random, const char *text) {
  answer a, b;
  size_t n = rows->dimension;
  open_answer(&a, rows);
  open_answer(&b, plain);
  for (int i = 0; i < POINTS; i++) {
    for (size_t k = 0; k < n; k++)
      a.point.u[k] = b.point.u[k] =
          rows->integer[k] ? 1 + (double)tempera_random_below(random, 4)
                           : tempera_random_uniform(random) - 0.5;
    evaluate(&a, n);
    evaluate(&b, n);
    double most = 1;
    for (size_t k = 0; k < 2 * n; k++)
      most = fmax(most, fabs(b.slopes[k]));
    assert_close(a.point.log_prior, b.point.log_prior, 1, text);
    assert_close(a.point.log_likelihood, b.point.log_likelihood, 1, text);
    for (size_t k = 0; k < 2 * n; k++)
      assert_close(a.slopes[k], b.slopes[k], 1e-3 * most, text);
    double gradient = a.point.log_likelihood;
    tm_evaluate(&a.evaluator, &a.point);
    assert_close(a.point.log_likelihood, gradient, 1, text);
  }
  close_answer(&a);
  close_answer(&b);
}

static void make_program(tm_text *text, const int *chosen, int count) {
  tm_text_add(text, HEAD);
  tm_text_add(text, "model {\n");
  tm_text_add(text, PRIOR);
  for (int i = 0; i < count; i++)
    tm_text_printf(text, "%s\n", LINES[chosen[i]]);
  tm_text_add(text, "}\n");
}

static size_t check(const tm_text *data, const int *chosen, int count,
                    tempera_random *random) {
  tm_text text = {0};
  tempera_model *model[2];
  make_program(&text, chosen, count);
  size_t found = load(data->data, text.data, false, model);
  compare(model[0], model[1], random, text.data);
  for (int i = 0; i < 2; i++)
    tempera_model_free(model[i]);
  tm_text_clear(&text);
  return found;
}

static void rows_and_one_by_one_agree(void **state) {
  (void)state;
  tempera_random random = tm_random(3, 0, TM_PURPOSE_TEST);
  tm_text data = {0};
  make_data(&data);
  size_t found = 0;
  for (int i = 0; i < LINE_COUNT; i += STATEMENTS) { /* each at least once */
    int chosen[STATEMENTS], count = 0;
    while (count < STATEMENTS && i + count < LINE_COUNT) {
      chosen[count] = i + count;
      count++;
    }
    found += check(&data, chosen, count, &random);
  }
  assert_int_equal(found, ROW_LINES);
  for (int i = 0; i < PROGRAMS; i++) {
    int chosen[STATEMENTS];
    for (int k = 0; k < STATEMENTS; k++)
      chosen[k] = (int)tempera_random_below(&random, LINE_COUNT);
    check(&data, chosen, STATEMENTS, &random);
  }
  tm_text_clear(&data);
}

/* ---- data that rows cannot be made of ----------------------------------- */

static const char SMALL[] =
    "data { int N; int M; vector[N] y; vector[M] x; array[N] int g;\n"
    "  matrix[M, 2] X; }\n"
    "parameters { vector[2] a; real<lower=0> s; }\n"
    "model { a ~ normal(0, 1); s ~ exponential(1);\n";
static const char SMALL_DATA[] =
    "{\"N\": 3, \"M\": 4, \"y\": [1, 2, 4], \"x\": [1, 2, 3, 5],"
    " \"g\": [1, 2, 3], \"X\": [[1, 2], [1, 3], [1, 4], [1, 5]]}";

/* What is wrong is said as it is one by one, with its place. */
static void wrong_sizes_and_places_are_named(void **state) {
  (void)state;
  static const char *const lines[] = {
      "y ~ normal(a[1] + a[2] * x, s);",
      "y ~ normal(X * a, s);",
      "y ~ normal(a[g] * 2, s);",
      "for (n in 1:N) y[n] ~ normal(a[g[n]], s);",
      "{ vector[N] e = a[1] + x; for (n in 1:N) y[n] ~ normal(e[n], s); }",
      "{ vector[N] e = X * a; for (n in 1:N) y[n] ~ normal(e[n], s); }",
      "{ vector[N] e = a[1] * y; for (n in 1:M) x[n] ~ normal(e[n], s); }",
      "{ vector[N] e = rep_vector(a[1], M) * 2;\n"
      "  for (n in 1:N) y[n] ~ normal(e[n], s); }",
      "y ~ normal(rep_vector(a[1], M) * 2, s);",
  };
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
    tm_text text = {0};
    tempera_model *model[2];
    tm_text_printf(&text, "%s%s\n}\n", SMALL, lines[i]);
    assert_int_equal(load(SMALL_DATA, text.data, true, model), 1);
    answer b;
    open_answer(&b, model[1]);
    evaluate(&b, model[1]->dimension);
    assert_true(b.point.log_likelihood == -INFINITY);
    const char *why = tm_reason(&b.evaluator);
    assert_non_null(why);
    assert_non_null(strstr(why, "5:"));
    close_answer(&b);
    tempera_model_free(model[1]);
    tm_text_clear(&text);
  }
}

static const char ODD_DATA[] =
    "{\"N\": 6, \"y\": [1, 2, %s, 1, 2, 2], \"x\": [1, %s, 1, 2, 1, 2]}";

/* Infinite and missing data, and scales that are no scales. */
static void odd_numbers_are_as_they_are(void **state) {
  (void)state;
  static const char text[] = "data { int N; vector[N] y; vector[N] x; }\n"
                             "parameters { real a; real s; }\n"
                             "model { a ~ normal(0, 1); s ~ normal(0, 1);\n"
                             "for (n in 1:N) y[n] ~ normal(a * x[n] * a, s);\n"
                             "y ~ normal(a + x * s, s);\n"
                             "for (n in 1:N) { vector[2] q; for (k in 1:2)\n"
                             "  q[k] = normal_lpdf(y[n] | a * k, s) + x[n];\n"
                             "target += log_sum_exp(q); } }\n";
  static const char *const odd[][2] = {{"1", "1"},        {"Infinity", "1"},
                                       {"NaN", "1"},      {"-Infinity", "2"},
                                       {"1", "Infinity"}, {"1", "NaN"}};
  static const double scales[] = {1, 0, -1, 1e-300, 1e300, INFINITY, NAN};
  for (size_t i = 0; i < 6; i++) {
    tm_text data = {0};
    tempera_model *model[2];
    answer a[2];
    tm_text_printf(&data, ODD_DATA, odd[i][0], odd[i][1]);
    assert_int_equal(load(data.data, text, false, model), 3);
    for (int m = 0; m < 2; m++)
      open_answer(&a[m], model[m]);
    for (size_t k = 0; k < 7; k++) {
      for (int m = 0; m < 2; m++) {
        a[m].point.u[0] = 0.7;
        a[m].point.u[1] = scales[k];
        evaluate(&a[m], 2);
      }
      double x = a[0].point.log_likelihood, y = a[1].point.log_likelihood;
      if (isfinite(y) || isfinite(x))
        assert_close(x, y, 1, text);
    }
    for (int m = 0; m < 2; m++) {
      close_answer(&a[m]);
      tempera_model_free(model[m]);
    }
    tm_text_clear(&data);
  }
}

/* ---- digits ------------------------------------------------------------- */

enum { ROWS = 400, WIDTH = 4 };

typedef struct regression {
  double y[ROWS], x[ROWS][WIDTH];
} regression;

/* Offsets such as years, columns that are nearly the same, and residuals that
 * are small beside the outcome: 10^-offset, 10^-apart, 10^-noise. */
static void make_regression(regression *r, double centre, double apart,
                            double noise, tempera_random *random) {
  for (int i = 0; i < ROWS; i++) {
    double t = centre + 70.0 * i / ROWS;
    r->x[i][0] = 1;
    r->x[i][1] = t;
    r->x[i][2] = t + apart * tempera_random_normal(random);
    r->x[i][3] = sin(i);
    r->y[i] = 3 + 0.25 * r->x[i][1] - 0.5 * r->x[i][2] + 2 * r->x[i][3] +
              noise * tempera_random_normal(random);
  }
}

static void write_regression(const regression *r, tm_text *data) {
  tm_text_printf(data, "{\"N\": %d, \"K\": %d, \"y\": [", ROWS, WIDTH);
  for (int i = 0; i < ROWS; i++)
    tm_text_printf(data, "%s%.17g", i ? "," : "", r->y[i]);
  tm_text_add(data, "], \"X\": [");
  for (int i = 0; i < ROWS; i++)
    tm_text_printf(data, "%s[%.17g,%.17g,%.17g,%.17g]", i ? "," : "",
                   r->x[i][0], r->x[i][1], r->x[i][2], r->x[i][3]);
  tm_text_add(data, "]}");
}

/* The log likelihood and its slopes; and how large an error of one in the last
 * place of every product and of the outcome may make them. */
typedef struct exact {
  long double value, slope[WIDTH + 1];
  double value_error, slope_error[WIDTH + 1];
} exact;

static exact sum_up(const regression *r, const double *p, double s) {
  const double HALF_LOG_2PI = 0.91893853320467274178;
  exact e = {0};
  long double squares = 0, sizes = 0, columns[WIDTH] = {0};
  for (int i = 0; i < ROWS; i++) {
    long double gap = r->y[i], size = fabsl(gap);
    for (int j = 0; j < WIDTH; j++) {
      gap -= (long double)r->x[i][j] * p[j];
      size += fabsl((long double)r->x[i][j] * p[j]);
    }
    squares += gap * gap;
    sizes += size * size;
    for (int j = 0; j < WIDTH; j++) {
      e.slope[j] += gap * r->x[i][j] / s / s;
      columns[j] += (long double)r->x[i][j] * r->x[i][j];
    }
  }
  e.value = -squares / 2 / s / s - ROWS * (logl(s) + HALF_LOG_2PI);
  e.slope[WIDTH] = (squares / s / s - ROWS) / s;
  double unit = 2.2e-16, gaps = (double)(sqrtl(squares * sizes) / s / s);
  e.value_error = unit * (gaps + fabs((double)e.value));
  e.slope_error[WIDTH] = unit * (2 * gaps + ROWS) / s;
  for (int j = 0; j < WIDTH; j++)
    e.slope_error[j] = unit * (double)(sqrtl(columns[j] * sizes) / s / s);
  return e;
}

static void assert_digits(double got, long double expected, double error) {
  const double MOST = 16; /* units of what one rounding does */
  if (!(fabsl(got - expected) <= MOST * error))
    fail_msg("%.17g, should be %.19Lg, a rounding is %g", got, expected, error);
}

static void regressions_keep_their_digits(void **state) {
  (void)state;
  static const char text[] =
      "data { int N; int K; vector[N] y; matrix[N, K] X; }\n"
      "parameters { vector[K] b; real<lower=0> s; }\n"
      "model { b ~ normal(0, 10); s ~ exponential(1); y ~ normal(X * b, s); }";
  static const double kinds[][3] = {
      {0, 1, 1},         {1950, 1, 1},      {1950, 1e-7, 1}, {1950, 1e-7, 1e-9},
      {1e8, 1e-3, 1e-6}, {0, 1e-12, 1e-12}, {1950, 1, 1e-13}};
  static const double away[] = {0, 1e-9, 1e-3, 1, 1e3, 1e8};
  tempera_random random = tm_random(4, 0, TM_PURPOSE_TEST);
  regression *r = tm_heap_alloc(1, sizeof *r);
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    tm_text data = {0};
    tempera_model *model[2];
    answer a;
    make_regression(r, kinds[i][0], kinds[i][1], kinds[i][2], &random);
    write_regression(r, &data);
    assert_int_equal(load(data.data, text, false, model), 1);
    open_answer(&a, model[0]);
    for (size_t k = 0; k < sizeof away / sizeof *away; k++) {
      const double best[WIDTH] = {3, 0.25, -0.5, 2};
      double s = kinds[i][2] * (1 + away[k]);
      for (int j = 0; j < WIDTH; j++)
        a.point.u[j] = best[j] + away[k] * tempera_random_normal(&random);
      a.point.u[WIDTH] = log(s);
      evaluate(&a, WIDTH + 1);
      exact e = sum_up(r, a.point.theta, a.point.theta[WIDTH]);
      assert_digits(a.point.log_likelihood, e.value, e.value_error);
      for (int j = 0; j < WIDTH; j++)
        assert_digits(a.slopes[j], e.slope[j], e.slope_error[j]);
      s = a.point.theta[WIDTH]; /* the slope is that over log s */
      assert_digits(a.slopes[WIDTH], e.slope[WIDTH] * s,
                    e.slope_error[WIDTH] * s);
    }
    close_answer(&a);
    for (int m = 0; m < 2; m++)
      tempera_model_free(model[m]);
    tm_text_clear(&data);
  }
  tm_heap_free(r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_and_one_by_one_agree),
      cmocka_unit_test(wrong_sizes_and_places_are_named),
      cmocka_unit_test(odd_numbers_are_as_they_are),
      cmocka_unit_test(regressions_keep_their_digits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
