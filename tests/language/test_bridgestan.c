/* Facts about BridgeStan's C interface of compiled programs: every symbol is
 * called through dlopen, as its clients do. */
#include "tempera.h"

#include "cmocka_all.h"

#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

typedef struct bs_model bs_model;
typedef struct bs_rng bs_rng;
typedef void (*print_fn)(const char *text, size_t size);

/* The interface as its header has it. */
static struct {
  void *library;
  const int *major, *minor, *patch;
  bs_model *(*construct)(const char *, unsigned, char **);
  void (*destruct)(bs_model *);
  void (*free_error)(char *);
  const char *(*name)(const bs_model *);
  const char *(*info)(const bs_model *);
  const char *(*names)(const bs_model *, bool, bool);
  const char *(*unc_names)(const bs_model *);
  int (*num)(const bs_model *, bool, bool);
  int (*unc_num)(const bs_model *);
  int (*constrain)(const bs_model *, bool, bool, const double *, double *,
                   bs_rng *, char **);
  int (*unconstrain)(const bs_model *, const double *, double *, char **);
  int (*unconstrain_json)(const bs_model *, const char *, double *, char **);
  int (*density)(const bs_model *, bool, bool, const double *, double *,
                 char **);
  int (*gradient)(const bs_model *, bool, bool, const double *, double *,
                  double *, char **);
  int (*hessian)(const bs_model *, bool, bool, const double *, double *,
                 double *, double *, char **);
  int (*product)(const bs_model *, bool, bool, const double *, const double *,
                 double *, double *, char **);
  bs_rng *(*rng_construct)(unsigned, char **);
  void (*rng_destruct)(bs_rng *);
  int (*set_print)(print_fn, char **);
} bs;

static void *symbol(const char *name) {
  void *found = dlsym(bs.library, name);
  if (!found)
    fail_msg("%s is not exported", name);
  return found;
}

static void open_library(const char *path) {
  bs.library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!bs.library)
    fail_msg("%s", dlerror());
  const struct {
    const char *name;
    void *into;
  } wanted[] = {{"bs_major_version", &bs.major},
                {"bs_minor_version", &bs.minor},
                {"bs_patch_version", &bs.patch},
                {"bs_model_construct", &bs.construct},
                {"bs_model_destruct", &bs.destruct},
                {"bs_free_error_msg", &bs.free_error},
                {"bs_name", &bs.name},
                {"bs_model_info", &bs.info},
                {"bs_param_names", &bs.names},
                {"bs_param_unc_names", &bs.unc_names},
                {"bs_param_num", &bs.num},
                {"bs_param_unc_num", &bs.unc_num},
                {"bs_param_constrain", &bs.constrain},
                {"bs_param_unconstrain", &bs.unconstrain},
                {"bs_param_unconstrain_json", &bs.unconstrain_json},
                {"bs_log_density", &bs.density},
                {"bs_log_density_gradient", &bs.gradient},
                {"bs_log_density_hessian", &bs.hessian},
                {"bs_log_density_hessian_vector_product", &bs.product},
                {"bs_rng_construct", &bs.rng_construct},
                {"bs_rng_destruct", &bs.rng_destruct},
                {"bs_set_print_callback", &bs.set_print}};
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
    void *found = symbol(wanted[i].name);
    memcpy(wanted[i].into, &found, sizeof found);
  }
}

static void open_program(const char *text) {
  char path[64];
  char *built = NULL;
  tempera_program *program = NULL;
  tempera_error error = {0};
  static int number;
  snprintf(path, sizeof path, "/tmp/tempera-bs-%ld-%d.so", (long)getpid(),
           number++);
  if (tempera_program_parse("coin toss.stan", text, strlen(text), &program,
                            &error) ||
      tempera_program_compile(program, path, &built, &error))
    fail_msg("%s", error.message);
  tempera_program_free(program);
  open_library(built);
  tempera_text_free(built);
  unlink(path);
}

static void close_program(bs_model *model) {
  bs.destruct(model);
  dlclose(bs.library);
}

static bs_model *construct(const char *data) {
  char *error = NULL;
  bs_model *model = bs.construct(data, 1, &error);
  if (!model)
    fail_msg("%s", error);
  assert_null(error);
  return model;
}

static void assert_near(double value, double expected, double tolerance) {
  if (!(fabs(value - expected) <= tolerance * fmax(1, fabs(expected))))
    fail_msg("%.15g is not %.15g within %g", value, expected, tolerance);
}

/* An error whose words contain `part`. */
static void assert_error(char *error, const char *part) {
  assert_non_null(error);
  if (!strstr(error, part))
    fail_msg("\"%s\" lacks \"%s\"", error, part);
  bs.free_error(error);
}

/* ---- a normal sample ---------------------------------------------------- */

static const char *const NORMAL =
    "data { int<lower=0> N; vector[N] y; }\n"
    "parameters { real mu; real<lower=0> sigma; simplex[3] p;\n"
    "  matrix[2, 2] M; array[2] simplex[2] q; }\n"
    "transformed parameters { row_vector[2] t = [mu, 2 * mu]; }\n"
    "model { if (mu > 100) reject(\"far\");\n"
    "  mu ~ normal(0, 2); sigma ~ exponential(1);\n"
    "  to_vector(M) ~ normal(0, 1); y ~ normal(mu, sigma); }\n"
    "generated quantities { real r = normal_rng(mu, sigma); int n = N;\n"
    "  print(\"at \", mu); }\n";
static const char *const DATA = "{\"N\": 3, \"y\": [1, 2, 4.5]}";
enum { SIZE = 13, DIMENSION = 10 };

static const double U[DIMENSION] = {0.5, -0.3, 0.2,  -0.4, 0.1,
                                    0.7, -1.1, 0.35, 0.6,  -0.2};

/* Without the Jacobian, over mu, sigma and M. */
static double exact_density(double mu, double sigma, const double *M) {
  static const double y[] = {1, 2, 4.5};
  double half = 0.5 * log(2 * M_PI), sum = -half - log(2) - mu * mu / 8 - sigma;
  for (int i = 0; i < 3; i++)
    sum -= half + log(sigma) + 0.5 * pow((y[i] - mu) / sigma, 2);
  for (int i = 0; i < 4; i++)
    sum -= half + 0.5 * M[i] * M[i];
  return sum;
}

static void versions_names_and_sizes(void **state) {
  (void)state;
  open_program(NORMAL);
  bs_model *m = construct(DATA);
  assert_int_equal(*bs.major, 2);
  assert_int_equal(*bs.minor, 7);
  assert_true(*bs.patch >= 0);
  assert_string_equal(bs.name(m), "coin toss");
  assert_non_null(strstr(bs.info(m), "Tempera"));
  assert_string_equal(bs.unc_names(m), "mu,sigma,p.1,p.2,M.1.1,M.2.1,M.1.2,"
                                       "M.2.2,q.1.1,q.2.1");
  const char *all = bs.names(m, true, true);
  assert_non_null(strstr(all, "mu,sigma,p.1,p.2,p.3,M.1.1,M.2.1,M.1.2,M.2.2,"));
  assert_non_null(strstr(all, ",t.1,t.2,r,n"));
  assert_null(strstr(bs.names(m, false, true), ",t.1"));
  assert_null(strstr(bs.names(m, true, false), ",r"));
  assert_int_equal(bs.num(m, false, false), SIZE);
  assert_int_equal(bs.num(m, true, false), SIZE + 2);
  assert_int_equal(bs.num(m, true, true), SIZE + 4);
  assert_int_equal(bs.unc_num(m), DIMENSION);
  close_program(m);
}

static void both_scales_agree(void **state) {
  (void)state;
  open_program(NORMAL);
  bs_model *m = construct(DATA);
  char *error = NULL;
  double theta[SIZE + 4], u[DIMENSION], again[SIZE + 4];
  bs_rng *rng = bs.rng_construct(5, &error), *same = bs.rng_construct(5, NULL);
  assert_non_null(rng);
  assert_int_equal(bs.constrain(m, true, true, U, theta, rng, &error), 0);
  assert_near(theta[0], 0.5, 0);
  assert_near(theta[1], exp(-0.3), 1e-15);
  assert_near(theta[2] + theta[3] + theta[4], 1, 1e-15);
  assert_near(theta[SIZE + 1], 1, 1e-15); /* t[2] */
  assert_near(theta[SIZE + 3], 3, 0);     /* n */
  assert_int_equal(bs.constrain(m, false, true, U, again, same, &error), 0);
  assert_true(again[SIZE] == theta[SIZE + 2]); /* r */
  assert_int_equal(bs.constrain(m, true, false, U, again, NULL, &error), 0);
  assert_memory_equal(again, theta, (SIZE + 2) * sizeof *theta);
  assert_int_equal(bs.constrain(m, false, true, U, again, NULL, &error), -1);
  assert_error(error, "random number generator");
  assert_int_equal(bs.unconstrain(m, theta, u, &error), 0);
  for (int i = 0; i < DIMENSION; i++)
    assert_near(u[i], U[i], 1e-12);
  theta[1] = -1;
  assert_int_equal(bs.unconstrain(m, theta, u, &error), -1);
  assert_error(error, "outside");
  bs.rng_destruct(rng);
  bs.rng_destruct(same);
  close_program(m);
}

/* ---- Stan's coordinates -------------------------------------------------- */

static const char *const ARRAYS =
    "parameters { array[2] vector[3] x; unit_vector[3] v;\n"
    "  array[2, 2] real<lower=0> s; array[2] unit_vector[2] w; real z; }\n"
    "model { for (i in 1:2) x[i] ~ normal([1, 2, 3]' * i, 1);\n"
    "  v ~ normal(0.3, 1); for (i in 1:2) s[i] ~ gamma(2, i);\n"
    "  for (i in 1:2) w[i] ~ normal(i, 1); z ~ normal(0, 1); }\n";
enum { STAN = 6 + 3 + 4 + 4 + 1 };

static double normal(double x, double mean) {
  return -0.5 * log(2 * M_PI) - 0.5 * (x - mean) * (x - mean);
}

/* As Stan's manual has it: arrays element by element, |y| left to a normal. */
static double stan_density(const double *u) {
  double sum = normal(u[17], 0), length;
  for (int i = 0; i < 2; i++)
    for (int k = 0; k < 3; k++)
      sum += normal(u[3 * i + k], (k + 1) * (i + 1));
  length = sqrt(u[6] * u[6] + u[7] * u[7] + u[8] * u[8]);
  for (int k = 0; k < 3; k++)
    sum += normal(u[6 + k] / length, 0.3);
  sum -= 0.5 * length * length;
  for (int i = 0; i < 2; i++)
    for (int k = 0; k < 2; k++) {
      double v = u[9 + 2 * i + k]; /* log gamma(2, rate), with Jacobian */
      sum += 2 * log(i + 1) + v - (i + 1) * exp(v) + v;
    }
  for (int i = 0; i < 2; i++) {
    const double *y = u + 13 + 2 * i;
    length = sqrt(y[0] * y[0] + y[1] * y[1]);
    sum += normal(y[0] / length, i + 1) + normal(y[1] / length, i + 1) -
           0.5 * length * length;
  }
  return sum;
}

static void coordinates_are_stans(void **state) {
  (void)state;
  open_program(ARRAYS);
  bs_model *m = construct("");
  char *error = NULL;
  double u[STAN], slope[STAN], theta[STAN], back[STAN], value, h = 1e-5;
  assert_int_equal(bs.unc_num(m), STAN);
  assert_string_equal(bs.unc_names(m),
                      "x.1.1,x.1.2,x.1.3,x.2.1,x.2.2,x.2.3,v.1,v.2,v.3,s.1.1,"
                      "s.1.2,s.2.1,s.2.2,w.1.1,w.1.2,w.2.1,w.2.2,z");
  for (int i = 0; i < STAN; i++)
    u[i] = 0.8 * sin(1 + 2.3 * i);
  assert_int_equal(bs.gradient(m, false, true, u, &value, slope, &error), 0);
  assert_near(value, stan_density(u), 1e-12);
  for (int i = 0; i < STAN; i++) {
    double kept = u[i], up, down;
    u[i] = kept + h;
    up = stan_density(u);
    u[i] = kept - h;
    down = stan_density(u);
    u[i] = kept;
    assert_near(slope[i], (up - down) / (2 * h), 1e-7);
  }
  assert_int_equal(bs.constrain(m, false, false, u, theta, NULL, &error), 0);
  assert_near(theta[1], u[3], 0); /* x[2,1] comes second in the values */
  assert_int_equal(bs.unconstrain(m, theta, back, &error), 0);
  for (int i = 0; i < 6; i++)
    assert_near(back[i], u[i], 1e-12);
  assert_near(back[6] / back[7], u[6] / u[7], 1e-12);
  assert_near(back[17], u[17], 0);
  close_program(m);
}

/* The parts of a complex number are neighbours on both scales. */
static void complex_coordinates_are_stans(void **state) {
  (void)state;
  open_program("parameters { array[2] complex_vector[2] q; complex z; }\n"
               "model { for (k in 1:2) target += -sum(norm(q[k]));\n"
               "  target += -norm(z); }\n");
  bs_model *m = construct("");
  char *error = NULL;
  static const double places[] = {1, 2, 5, 6, 3, 4, 7, 8, 9, 10};
  double u[10], theta[10];
  assert_string_equal(bs.unc_names(m),
                      "q.1.1.real,q.1.1.imag,q.1.2.real,q.1.2.imag,q.2.1.real,"
                      "q.2.1.imag,q.2.2.real,q.2.2.imag,z.real,z.imag");
  const char *json = "{\"q\": [[[1, 2], [3, 4]], [[5, 6], [7, 8]]],"
                     "\"z\": [9, 10]}";
  assert_int_equal(bs.unconstrain_json(m, json, u, &error), 0);
  for (int i = 0; i < 10; i++)
    assert_near(u[i], i + 1, 0);
  assert_int_equal(bs.constrain(m, false, false, u, theta, NULL, &error), 0);
  for (int i = 0; i < 10; i++)
    assert_near(theta[i], places[i], 0);
  close_program(m);
}

static void json_is_nested_as_declared(void **state) {
  (void)state;
  open_program(NORMAL);
  bs_model *m = construct(DATA);
  char *error = NULL;
  double u[DIMENSION];
  const char *json =
      "{\"mu\": 2, \"sigma\": 1, \"p\": [0.25, 0.25, 0.5],"
      "\"M\": [[1, 2], [3, 4]], \"q\": [[0.5, 0.5], [0.5, 0.5]]}";
  assert_int_equal(bs.unconstrain_json(m, json, u, &error), 0);
  static const double M[] = {1, 3, 2, 4};
  assert_near(u[0], 2, 1e-15);
  assert_near(u[1], 0, 1e-15);
  for (int i = 0; i < 4; i++)
    assert_near(u[4 + i], M[i], 1e-15);
  assert_int_equal(bs.unconstrain_json(m, "{\"mu\": 2}", u, &error), -1);
  assert_error(error, "sigma");
  close_program(m);
}

static void densities_gradients_and_hessians_are_exact(void **state) {
  (void)state;
  open_program(NORMAL);
  bs_model *m = construct(DATA);
  char *error = NULL;
  double mu = U[0], sigma = exp(U[1]), v, w, g[DIMENSION],
         h[DIMENSION][DIMENSION];
  double exact = exact_density(mu, sigma, U + 4);
  double slope = (7.5 - 3 * mu) / (sigma * sigma) - mu / 4;
  for (int propto = 0; propto < 2; propto++) {
    assert_int_equal(bs.density(m, propto, false, U, &v, &error), 0);
    assert_near(v, exact, 1e-13);
    assert_int_equal(bs.gradient(m, propto, false, U, &v, g, &error), 0);
    assert_near(v, exact, 1e-13);
    assert_near(g[0], slope, 1e-13);
    assert_near(g[4], -U[4], 1e-13);
    assert_near(g[2], 0, 1e-15); /* a flat prior, without the Jacobian */
  }
  assert_int_equal(bs.density(m, false, true, U, &v, &error), 0);
  assert_int_equal(bs.gradient(m, false, true, U, &w, g, &error), 0);
  assert_near(w, v, 1e-14);
  assert_true(g[2] != 0);
  for (int i = 0; i < DIMENSION; i++) { /* by differences */
    double up[DIMENSION], down[DIMENSION], a, b, step = 1e-5;
    memcpy(up, U, sizeof up);
    memcpy(down, U, sizeof down);
    up[i] += step, down[i] -= step;
    assert_int_equal(bs.density(m, true, true, up, &a, &error), 0);
    assert_int_equal(bs.density(m, true, true, down, &b, &error), 0);
    assert_near(g[i], (a - b) / (2 * step), 1e-8);
  }
  assert_int_equal(bs.hessian(m, false, false, U, &v, g, h[0], &error), 0);
  assert_near(v, exact, 1e-13);
  assert_near(g[0], slope, 1e-13);
  assert_near(h[0][0], -3 / (sigma * sigma) - 0.25, 1e-9);
  assert_near(h[0][1], -2 * (7.5 - 3 * mu) / (sigma * sigma), 1e-9);
  assert_near(h[5][5], -1, 1e-9);
  double direction[DIMENSION] = {1, 2, 0, 0, 0, -1}, product[DIMENSION];
  assert_int_equal(
      bs.product(m, true, false, U, direction, &v, product, &error), 0);
  assert_near(v, exact, 1e-13);
  for (int i = 0; i < DIMENSION; i++) {
    assert_near(product[i], h[i][0] + 2 * h[i][1] - h[i][5], 1e-8);
    for (int j = 0; j < DIMENSION; j++)
      assert_true(h[i][j] == h[j][i]);
  }
  assert_null(error);
  close_program(m);
}

/* ---- print, reject, threads --------------------------------------------- */

static char printed[64];
static int print_count;

static void on_print(const char *text, size_t size) {
  print_count++;
  snprintf(printed, sizeof printed, "%.*s", (int)size, text);
}

static void prints_and_rejections_are_heard(void **state) {
  (void)state;
  open_program(NORMAL);
  bs_model *m = construct(DATA);
  char *error = NULL;
  double far[DIMENSION] = {101}, theta[SIZE + 4], v = 1, g[DIMENSION];
  assert_int_equal(bs.set_print(on_print, &error), 0);
  print_count = 0;
  bs_rng *rng = bs.rng_construct(1, &error);
  assert_int_equal(bs.constrain(m, true, true, U, theta, rng, &error), 0);
  bs.rng_destruct(rng);
  assert_int_equal(print_count, 1);
  assert_string_equal(printed, "at 0.5\n");
  assert_int_equal(bs.gradient(m, true, true, far, &v, g, &error), -1);
  assert_error(error, "far");
  error = NULL;
  assert_int_equal(bs.density(m, true, true, far, &v, &error), -1);
  assert_error(error, "far");
  close_program(m);
}

static void *evaluate_often(void *model) {
  double v, g[DIMENSION], first = NAN;
  for (int i = 0; i < 3000; i++) {
    if (bs.gradient(model, true, true, U, &v, g, NULL) != 0)
      return NULL;
    first = i ? first : v;
    if (v != first)
      return NULL;
  }
  return model;
}

static void threads_share_a_model(void **state) {
  (void)state;
  open_program(NORMAL);
  bs_model *m = construct(DATA);
  pthread_t threads[4];
  for (int i = 0; i < 4; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, evaluate_often, m), 0);
  for (int i = 0; i < 4; i++) {
    void *answer = NULL;
    pthread_join(threads[i], &answer);
    assert_ptr_equal(answer, m);
  }
  close_program(m);
}

/* ---- what cannot be constructed ----------------------------------------- */

static void wrong_data_are_refused(void **state) {
  (void)state;
  open_program(NORMAL);
  char *error = NULL;
  assert_null(bs.construct("{\"N\": 3, \"y\": [1, 2]}", 1, &error));
  assert_error(error, "y");
  assert_null(bs.construct("", 1, &error));
  assert_error(error, "N");
  assert_null(bs.construct("/nowhere/data.json", 1, &error));
  assert_error(error, "/nowhere/data.json");
  assert_null(bs.construct(NULL, 1, NULL));
  dlclose(bs.library);
}

static void integer_parameters_are_refused(void **state) {
  (void)state;
  open_program("parameters { int<lower=0, upper=5> k; real x; }\n"
               "model { x ~ normal(k, 1); }\n");
  char *error = NULL;
  assert_null(bs.construct(NULL, 1, &error));
  assert_error(error, "k is an integer");
  dlclose(bs.library);
}

/* Random numbers of transformed data follow the seed. */
static void the_seed_counts(void **state) {
  (void)state;
  open_program("transformed data { real c = normal_rng(0, 1); }\n"
               "parameters { real x; } model { x ~ normal(c, 1); }\n");
  double zero = 0, v[3];
  unsigned seeds[] = {1, 1, 2};
  for (int i = 0; i < 3; i++) {
    bs_model *m = bs.construct(NULL, seeds[i], NULL);
    assert_non_null(m);
    assert_int_equal(bs.density(m, true, true, &zero, &v[i], NULL), 0);
    bs.destruct(m);
  }
  assert_true(v[0] == v[1] && v[0] != v[2]);
  dlclose(bs.library);
}

/* The same behind pointers, as R's .C wants it. */
static void r_has_its_own_names(void **state) {
  (void)state;
  open_program(NORMAL);
  void (*construct_r)(char **, int *, bs_model **, char **, void **);
  void (*gradient_r)(bs_model **, int *, int *, const double *, double *,
                     double *, int *, char **, void **);
  void (*destruct_r)(bs_model **);
  void *found[] = {symbol("bs_model_construct_R"),
                   symbol("bs_log_density_gradient_R"),
                   symbol("bs_model_destruct_R")};
  memcpy(&construct_r, &found[0], sizeof construct_r);
  memcpy(&gradient_r, &found[1], sizeof gradient_r);
  memcpy(&destruct_r, &found[2], sizeof destruct_r);
  char data[64], *text = data, *error = NULL;
  snprintf(data, sizeof data, "%s", DATA);
  int seed = 3, yes = 1, no = 0, code = 7;
  bs_model *m = NULL;
  void *pointer = NULL;
  double v, g[DIMENSION];
  construct_r(&text, &seed, &m, &error, &pointer);
  assert_non_null(m);
  gradient_r(&m, &yes, &no, U, &v, g, &code, &error, &pointer);
  assert_int_equal(code, 0);
  assert_near(v, exact_density(U[0], exp(U[1]), U + 4), 1e-13);
  destruct_r(&m);
  dlclose(bs.library);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(versions_names_and_sizes),
      cmocka_unit_test(both_scales_agree),
      cmocka_unit_test(coordinates_are_stans),
      cmocka_unit_test(complex_coordinates_are_stans),
      cmocka_unit_test(json_is_nested_as_declared),
      cmocka_unit_test(densities_gradients_and_hessians_are_exact),
      cmocka_unit_test(prints_and_rejections_are_heard),
      cmocka_unit_test(threads_share_a_model),
      cmocka_unit_test(wrong_data_are_refused),
      cmocka_unit_test(integer_parameters_are_refused),
      cmocka_unit_test(the_seed_counts),
      cmocka_unit_test(r_has_its_own_names),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
