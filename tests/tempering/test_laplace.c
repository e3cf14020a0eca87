/* Facts about the Laplace ridge: weights and modes against closed forms and
 * enumeration, labels, absence, and what warmup may do to it. */
#include "alone.h"
#include "failing_memory.h"
#include "numeric/triangular.h"
#include "paper_support.h"
#include "tempered_models.h"

static const double LOG_2PI = 1.8378770664093454836;

#define DENSITY(name)                                                          \
  static int name(const double *theta, double *value, void *user)

/* ---- models */

/* theta_i ~ N(0, 1), 20 observations around each mean: everything is known,
 * and Laplace exact. */
static size_t COUNT;

static double mean_of(size_t i) { return sin(1.7 * (double)i + 0.4) * 2; }

static int normal_likelihood_gradient(const double *theta, double *value,
                                      double *gradient, void *user) {
  (void)user;
  *value = 0;
  for (size_t i = 0; i < COUNT; i++) {
    double off = theta[i] - mean_of(i);
    *value -= 10 * off * off + 7;
    if (gradient)
      gradient[i] = -20 * off;
  }
  return 0;
}

static int normal_prior_gradient(const double *theta, double *value,
                                 double *gradient, void *user) {
  (void)user;
  *value = 0;
  for (size_t i = 0; i < COUNT; i++) {
    *value -= 0.5 * (theta[i] * theta[i] + LOG_2PI);
    if (gradient)
      gradient[i] = -theta[i];
  }
  return 0;
}

DENSITY(normal_likelihood) {
  return normal_likelihood_gradient(theta, value, NULL, user);
}

DENSITY(normal_prior) {
  return normal_prior_gradient(theta, value, NULL, user);
}

static double normal_log_z(double tau) {
  double sum = 0, k = 20 * tau;
  for (size_t i = 0; i < COUNT; i++)
    sum -=
        7 * tau + 0.5 * log1p(k) + 0.5 * mean_of(i) * mean_of(i) * k / (1 + k);
  return sum;
}

DENSITY(bimodal_likelihood) {
  (void)user;
  double off = fabs(theta[0]) - 1.1;
  *value = -12.5 * off * off - 36;
  return 0;
}

/* Two normals in five dimensions, 0.8 and 0.2 of the mass, under N(0, 100). */
static const double WIDTH[2] = {0.5, 0.3}, CENTRE[2] = {4, -3};

DENSITY(pair_likelihood) {
  (void)user;
  double part[2];
  for (int k = 0; k < 2; k++) {
    part[k] = log(k ? 0.2 : 0.8) - 5 * log(WIDTH[k]);
    for (int i = 0; i < 5; i++) {
      double off = (theta[i] - CENTRE[k]) / WIDTH[k];
      part[k] -= 0.5 * off * off;
    }
  }
  *value = fmax(part[0], part[1]) + log1p(exp(-fabs(part[0] - part[1])));
  return 0;
}

DENSITY(wide_prior) {
  (void)user;
  *value = 0;
  for (int i = 0; i < 5; i++)
    *value -= 0.5 * (theta[i] * theta[i] / 1e4 + log(1e4) + LOG_2PI);
  return 0;
}

/* user: the shape of the gamma prior. */
DENSITY(gamma_prior) {
  *value = (*(double *)user - 1) * log(theta[0]) - theta[0];
  return 0;
}

static double mixed_log_z(double tau) {
  double sum = 0;
  for (double k = 1; k <= 6; k++) {
    double a = 20 * tau, b = 1 / (8 * k * k);
    double precision = 0.25 + 40 * tau * k * k;
    sum += exp(-2 * k - 256 * a * b / (a + b)) * sqrt(2 * M_PI / precision);
  }
  return log(sum);
}

/* k ~ Poisson(20) on 0..1000, data around 120. */
static double count_height(double k, double tau) {
  return k * log(20) - 20 - lgamma(k + 1) - tau * (k - 120) * (k - 120) / 8;
}

DENSITY(count_likelihood) {
  (void)user;
  *value = -(theta[0] - 120) * (theta[0] - 120) / 8;
  return 0;
}

DENSITY(count_prior) {
  (void)user;
  *value = count_height(theta[0], 0);
  return 0;
}

static double count_log_z(double tau) {
  double best = -INFINITY, sum = 0;
  for (int k = 0; k <= 1000; k++)
    best = fmax(best, count_height(k, tau));
  for (int k = 0; k <= 1000; k++)
    sum += exp(count_height(k, tau) - best);
  return best + log(sum);
}

static const double COUNTS[3] = {12, 3, 25};

DENSITY(simplex_likelihood) {
  (void)user;
  *value = 0;
  for (size_t i = 0; i < 3; i++)
    *value += COUNTS[i] * log(theta[i]);
  return 0;
}

DENSITY(simplex_prior) {
  (void)user;
  *value = 0;
  for (size_t i = 0; i < 3; i++)
    *value += log(theta[i]);
  return 0;
}

/* Three equal components of known width on nine values around -5, 0, 5. */
static const double VALUES[9] = {-5.5, -5, -4.5, -0.5, 0, 0.5, 4.5, 5, 5.5};

DENSITY(labels_likelihood) {
  (void)user;
  *value = 0;
  for (int i = 0; i < 9; i++) {
    double sum = 0;
    for (int k = 0; k < 3; k++)
      sum += exp(-2 * (VALUES[i] - theta[k]) * (VALUES[i] - theta[k])) / 3;
    *value += log(sum + 1e-300);
  }
  return 0;
}

DENSITY(labels_prior) {
  (void)user;
  *value = 0;
  for (int k = 0; k < 3; k++)
    *value -= 0.5 * (theta[k] * theta[k] / 100 + log(100) + LOG_2PI);
  return 0;
}

/* A wide basin at -1 and a narrow, higher one at 4. */
DENSITY(basins_likelihood) {
  (void)user;
  double wide = (theta[0] + 1) / 0.5, narrow = (theta[0] - 4) / 0.1;
  double a = -0.5 * wide * wide - 30, b = -0.5 * narrow * narrow - 5;
  *value = fmax(a, b) + log1p(exp(-fabs(a - b)));
  return 0;
}

/* ---- building them */

#define REALS(label, n)                                                        \
  { .name = label, .size = n, .lower = -INFINITY, .upper = INFINITY }
static const tempera_parameter FREE1 = REALS("x", 1), FREE3 = REALS("x", 3),
                               FREE5 = REALS("x", 5), FREE20 = REALS("x", 20);
static const tempera_parameter SIMPLEX = {
    .name = "p", .size = 3, .upper = 1, .transform = TEMPERA_SIMPLEX};
static const tempera_parameter WHOLE = {
    .name = "k", .kind = TEMPERA_INTEGER, .upper = 1000};

static double SHAPE_1 = 1, SHAPE_HALF = 0.5;

#define SPEC(label, list, n, likelihood, prior)                                \
  (tempera_model_spec) {                                                       \
    .name = label, .parameters = list, .parameter_count = n,                   \
    .log_likelihood = likelihood, .log_prior = prior, .user = &SHAPE_1         \
  }

typedef struct built {
  tempera_model *model;
  tm_laplace *laplace;
  const tm_laplace_view *view;
} built;

static built build_on(tempera_model *model, const double *starts, size_t count,
                      int threads) {
  built made = {.model = model};
  tm_store_settings settings = {.seed = 1, .threads = threads};
  tempera_error error = {0};
  if (laplace_alone(model, &settings, 0, starts, count, &made.laplace,
                    &error) != TEMPERA_OK)
    fail_msg("%s: %s", model->spec.name, error.message);
  made.view = &made.laplace->view;
  return made;
}

static tempera_model *model_of(const tempera_model_spec *spec) {
  tempera_model *model = NULL;
  assert_int_equal(tempera_model_create(spec, &model, NULL), TEMPERA_OK);
  return model;
}

static built build(const tempera_model_spec *spec, const double *starts,
                   size_t count) {
  return build_on(model_of(spec), starts, count, 1);
}

static void done(built *made) {
  laplace_alone_free(made->laplace);
  tempera_model_free(made->model);
}

/* All that it has cost, the store's part included. */
static tm_work work_of(const built *made) {
  return tm_store_work(made->laplace->store);
}

static void say(const built *made) {
  print_message("%-10s knots %2zu, %3zu climbs, %llu likelihoods, "
                "%llu gradients\n",
                made->model->spec.name, made->view->knot_count,
                work_of(made).optimisations,
                (unsigned long long)work_of(made).likelihood_evaluations,
                (unsigned long long)work_of(made).gradient_evaluations);
}

static const tm_laplace_knot *last(const built *made) {
  return &made->view->knots[made->view->knot_count - 1];
}

static double starts_of(double *starts, size_t count, size_t size,
                        double spread, uint64_t seed) {
  tempera_random random = tm_random(seed, 0, TM_PURPOSE_TEST);
  for (size_t i = 0; i < count * size; i++)
    starts[i] = spread * tempera_random_normal(&random);
  return spread;
}

/* ---- facts */

static void check_normal(size_t count, bool gradients, uint64_t seed) {
  const tempera_parameter *lists[] = {&FREE1, &FREE3, &FREE20};
  double starts[80];
  COUNT = count;
  tempera_model_spec spec = SPEC("normal",
                                 lists[count == 1   ? 0
                                       : count == 3 ? 1
                                                    : 2],
                                 1, normal_likelihood, normal_prior);
  if (gradients) {
    spec.log_likelihood_gradient = normal_likelihood_gradient;
    spec.log_prior_gradient = normal_prior_gradient;
  }
  starts_of(starts, 4, count, 1, seed);
  built made = build(&spec, starts, 4);
  assert_false(made.view->absent);
  for (size_t k = 0; k < made.view->knot_count; k++) {
    const tm_laplace_knot *knot = &made.view->knots[k];
    double tau = knot->tau;
    assert_int_equal(knot->mode_count, 1);
    assert_near(knot->log_z, normal_log_z(tau), 1e-6);
    for (size_t i = 0; i < count; i++)
      assert_near(knot->modes[0].u[i], mean_of(i) * 20 * tau / (1 + 20 * tau),
                  1e-6);
  }
  for (double tau = 0; tau <= 1; tau += 0.01)
    assert_near(tm_laplace_log_z(made.laplace, tau), normal_log_z(tau), 0.1);
  say(&made);
  done(&made);
}

static void weights_are_exact_for_normals(void **state) {
  (void)state;
  for (int gradients = 0; gradients < 2; gradients++) {
    check_normal(1, gradients, 3);
    check_normal(3, gradients, 3);
    for (uint64_t seed = 1; seed <= 8; seed++)
      check_normal(20, gradients, seed);
  }
}

static void one_parameter_takes_some_hundred_evaluations(void **state) {
  (void)state;
  COUNT = 1;
  double starts[5] = {-1.2, -0.5, 0.3, 1.4, 2};
  tempera_model_spec spec =
      SPEC("bimodal", &FREE1, 1, bimodal_likelihood, normal_prior);
  built made = build(&spec, starts, 5);
  say(&made);
  assert_true(work_of(&made).likelihood_evaluations < 500);
  done(&made);
}

static void both_modes_of_the_bimodal_model_are_found(void **state) {
  (void)state;
  COUNT = 1;
  double starts[5] = {-1.2, -0.5, 0.3, 1.4, 2};
  tempera_model_spec spec =
      SPEC("bimodal", &FREE1, 1, bimodal_likelihood, normal_prior);
  built made = build(&spec, starts, 5);
  const tm_laplace_knot *knot = last(&made);
  assert_int_equal(knot->mode_count, 2);
  double place = 25 * 1.1 / 26, sum = 0;
  for (size_t m = 0; m < 2; m++) {
    assert_near(fabs(knot->modes[m].u[0]), place, 1e-4);
    sum += knot->modes[m].u[0];
  }
  assert_near(sum, 0, 1e-4);
  double one = -36 - 0.5 * 1.21 * 25 / 26 - 0.5 * log(26);
  assert_near(knot->log_z, one + log(2), 1e-3);
  done(&made);
}

static void both_normals_of_a_mixture_have_their_weights(void **state) {
  (void)state;
  double starts[60];
  starts_of(starts, 12, 5, 5, 3);
  tempera_model_spec spec =
      SPEC("pair", &FREE5, 1, pair_likelihood, wide_prior);
  built made = build(&spec, starts, 12);
  const tm_laplace_knot *knot = last(&made);
  say(&made);
  assert_int_equal(knot->mode_count, 2);
  for (int m = 0; m < 2; m++) {
    const tm_laplace_mode *mode = &knot->modes[m];
    double s = WIDTH[m] * WIDTH[m];
    double place = CENTRE[m] * 1e4 / (1e4 + s);
    double weight = log(m ? 0.2 : 0.8) -
                    2.5 * (CENTRE[m] * CENTRE[m] / (1e4 + s) + log(1e4 + s));
    for (size_t i = 0; i < 5; i++)
      assert_near(mode->u[i], place, 1e-3);
    assert_near(mode->log_weight, weight, 1e-3);
  }
  assert_near(exp(knot->modes[1].log_weight - knot->log_z), 0.2, 2e-3);
  done(&made);
}

static void gamma_poisson_has_the_right_curvature(void **state) {
  (void)state;
  double starts[3] = {1, 3, 0.2}, shapes[2] = {1, 0.5};
  double *users[2] = {&SHAPE_1, &SHAPE_HALF};
  for (int s = 0; s < 2; s++) {
    tempera_model_spec spec =
        SPEC("gamma", &RATE, 1, poisson_likelihood, gamma_prior);
    spec.user = users[s];
    built made = build(&spec, starts, 3);
    assert_false(made.view->absent);
    for (size_t k = 0; k < made.view->knot_count; k++) {
      const tm_laplace_knot *knot = &made.view->knots[k];
      double a = 40 * knot->tau + shapes[s], b = 1 + 12 * knot->tau;
      assert_int_equal(knot->mode_count, 1);
      assert_near(knot->modes[0].u[0], log(a / b), 1e-3);
      assert_near(knot->log_z, a * log(a / b) - a + 0.5 * (LOG_2PI - log(a)),
                  2e-3);
    }
    say(&made);
    done(&made);
  }
}

static void every_integer_that_matters_has_its_mode(void **state) {
  (void)state;
  const double mixed_starts[6] = {1, 3, 2, 5, 4, 4}, count_starts[2] = {10, 20};
  tempera_model_spec spec =
      SPEC("mixed", MIXED, 2, mixed_likelihood, mixed_prior);
  built made = build(&spec, mixed_starts, 3);
  for (size_t k = 0; k < made.view->knot_count; k++)
    assert_near(made.view->knots[k].log_z, mixed_log_z(made.view->knots[k].tau),
                1e-4);
  say(&made);
  done(&made);
  spec = SPEC("count", &WHOLE, 1, count_likelihood, count_prior);
  made = build(&spec, count_starts, 2);
  for (size_t k = 0; k < made.view->knot_count; k++)
    assert_near(made.view->knots[k].log_z, count_log_z(made.view->knots[k].tau),
                1e-4);
  say(&made);
  done(&made);
}

static void simplex_has_its_mode_on_the_unconstrained_scale(void **state) {
  (void)state;
  const double starts[6] = {0.3, 0.3, 0.4, 0.2, 0.5, 0.3};
  tempera_model_spec spec =
      SPEC("simplex", &SIMPLEX, 1, simplex_likelihood, simplex_prior);
  built made = build(&spec, starts, 2);
  for (size_t k = 0; k < made.view->knot_count; k++) {
    const tm_laplace_knot *knot = &made.view->knots[k];
    double theta[3], jacobian, total = 0, exact = 0;
    tm_constrain(made.model, knot->modes[0].u, theta, &jacobian);
    for (size_t i = 0; i < 3; i++)
      total += 2 + knot->tau * COUNTS[i];
    for (size_t i = 0; i < 3; i++) {
      assert_near(theta[i], (2 + knot->tau * COUNTS[i]) / total, 1e-3);
      exact += lgamma(2 + knot->tau * COUNTS[i]);
    }
    exact -= lgamma(total);
    assert_near(knot->log_z, exact, 0.13); /* Stirling's */
  }
  say(&made);
  done(&made);
}

static void labels_are_recognised_and_copies_counted(void **state) {
  (void)state;
  const double starts[12] = {-4, 1, 6, 3, -2, 4, 0, 5, -5, 1, 2, 3};
  tempera_model_spec spec =
      SPEC("labels", &FREE3, 1, labels_likelihood, labels_prior);
  built made = build(&spec, starts, 4);
  assert_int_equal(made.view->labels.count, 3);
  assert_int_equal(made.view->labels.permutations, 6);
  const tm_laplace_knot *knot = last(&made);
  assert_true(knot->relabel);
  assert_near(knot->modes[0].log_copies, log(6), 1e-6);
  double sum = 0;
  for (int k = 0; k < 3; k++)
    sum += fabs(knot->modes[0].u[k]);
  assert_near(sum, 10 * 0.9992, 0.01);
  /* At tau = 0 all labels agree, and there is one copy. */
  assert_false(made.view->knots[0].relabel);
  assert_near(made.view->knots[0].log_z, 0, 1e-6);
  say(&made);
  done(&made);
}

static double log_density_at(tm_evaluator *evaluator, tm_point *point,
                             const double *u, double tau) {
  memcpy(point->u, u, evaluator->model->dimension * sizeof(double));
  tm_evaluate(evaluator, point);
  return tm_log_density(point, tau);
}

/* Minus the second derivative along a and b, by differences. */
static double curvature(tm_evaluator *evaluator, tm_point *point,
                        const double *mode, double tau, size_t a, size_t b) {
  double u[8], sum = 0, h = 1e-3;
  for (int side = 0; side < 4; side++) {
    memcpy(u, mode, sizeof u);
    u[a] += side & 1 ? h : -h;
    u[b] += side & 2 ? h : -h;
    sum += (side == 0 || side == 3 ? -1 : 1) *
           log_density_at(evaluator, point, u, tau);
  }
  return sum / (4 * h * h);
}

/* Galaxies in three components with their weights in a simplex: modes are
 * shown with their labels in order, and height and curvature are those of the
 * place where they are shown. */
static void labels_are_put_in_order(void **state) {
  (void)state;
  enum { D = 8 };
  tempera_model *model = paper_model("galaxy", "galaxy-3.json");
  double starts[4 * 9];
  tempera_random random = tm_random(1, 0, TM_PURPOSE_TEST);
  for (int i = 0; i < 4; i++)
    model->spec.prior_draw(&random, starts + 9 * i, model->spec.user);
  built made = build_on(model, starts, 4, 1);
  tm_arena *arena = tm_arena_create();
  tm_evaluator evaluator;
  tm_point point;
  assert_int_equal(tm_evaluator_create(model, arena, &evaluator, NULL),
                   TEMPERA_OK);
  assert_int_equal(tm_point_create(model, arena, &point, NULL), TEMPERA_OK);
  size_t seen = 0;
  for (size_t k = 0; k < made.view->knot_count; k++)
    for (size_t m = 0; m < made.view->knots[k].mode_count; m++) {
      const tm_laplace_mode *mode = &made.view->knots[k].modes[m];
      double tau = made.view->knots[k].tau, log_det = 0;
      if (!made.view->knots[k].relabel)
        continue;
      assert_near(log_density_at(&evaluator, &point, mode->u, tau),
                  mode->height, 1e-6);
      assert_true(tm_labels_sorted(&made.view->labels, point.theta));
      for (size_t i = 0; i < D; i++)
        log_det += log(mode->factor[i * D + i]);
      assert_near(log_det, mode->half_log_det, 1e-12);
      for (size_t i = 0; i < D && !mode->indefinite; i++)
        for (size_t j = 0; j <= i; j++) {
          const double *a = mode->factor + i * D, *b = mode->factor + j * D;
          double size = sqrt(tm_dot(a, a, D) * tm_dot(b, b, D));
          double exact = curvature(&evaluator, &point, mode->u, tau, i, j);
          assert_near(tm_dot(a, b, D), exact, 0.01 * size);
        }
      seen++;
    }
  assert_true(seen > 5);
  tm_evaluator_release(&evaluator);
  tm_arena_free(arena);
  done(&made);
}

static void distinct_values_are_not_taken_for_labels(void **state) {
  (void)state;
  COUNT = 3;
  double starts[12];
  starts_of(starts, 4, 3, 1, 3);
  tempera_model_spec spec =
      SPEC("normal", &FREE3, 1, normal_likelihood, normal_prior);
  built made = build(&spec, starts, 4);
  assert_int_equal(made.view->labels.count, 0);
  done(&made);
}

static void centred_eight_schools_has_no_laplace_ridge(void **state) {
  (void)state;
  const double starts[20] = {4, 5,  6, 3, 2, 5, 1, 1, 8, 6,
                             1, 10, 9, 8, 3, 7, 1, 1, 8, 12};
  tempera_model_spec spec =
      SPEC("schools", SCHOOLS, 3, schools_likelihood, schools_prior);
  for (int gradients = 0; gradients < 2; gradients++) {
    if (gradients) {
      spec.log_likelihood_gradient = schools_likelihood_gradient;
      spec.log_prior_gradient = schools_prior_gradient;
    }
    built made = build(&spec, starts, 2);
    say(&made);
    assert_true(made.view->absent);
    assert_int_equal(made.view->knot_count, 0);
    assert_non_null(strstr(made.view->reason, "spread"));
    print_message("%s\n", made.view->reason);
    done(&made);
  }
}

static void flat_priors_have_no_laplace_ridge_at_zero(void **state) {
  (void)state;
  double start = 1;
  COUNT = 0; /* an empty sum: a flat density */
  tempera_model_spec spec =
      SPEC("flat", &FREE1, 1, basins_likelihood, normal_prior);
  built made = build(&spec, &start, 1);
  assert_true(made.view->absent);
  print_message("%s\n", made.view->reason);
  done(&made);
}

static void improvement_finds_a_missed_basin(void **state) {
  (void)state;
  COUNT = 1;
  double starts[3] = {-1.2, -0.5, 0.3}, draws[3] = {-1.1, 4.2, 4.1};
  tempera_model_spec spec =
      SPEC("basins", &FREE1, 1, basins_likelihood, normal_prior);
  built made = build(&spec, starts, 3);
  double before = last(&made)->log_z;
  size_t found = 0;
  assert_int_equal(tm_laplace_improve(made.laplace, draws, 1, &found, NULL),
                   TEMPERA_OK);
  assert_int_equal(found, 0);
  assert_int_equal(tm_laplace_improve(made.laplace, draws, 3, &found, NULL),
                   TEMPERA_OK);
  assert_true(found > 0);
  made.view = &made.laplace->view;
  const tm_laplace_knot *knot = last(&made);
  assert_true(knot->log_z > before + 5);
  double narrow = -5 - 8 / 1.01 + log(0.1 / sqrt(1.01));
  assert_near(knot->modes[0].log_weight, narrow, 1e-3);
  say(&made);
  done(&made);
}

/* COUNT reals that are in the sum or not, by an integer each: both change
 * places together. Counted, for the climbs must come to an end. */
static size_t switch_calls;

DENSITY(switch_likelihood) {
  (void)user;
  double sum = 0, square = 0;
  for (size_t k = 0; k < COUNT; k++) {
    sum += theta[k] * theta[COUNT + k];
    square += theta[k] * theta[k] * theta[COUNT + k];
  }
  *value = -5 * (sum - 3) * (sum - 3) - 2 * (square - 5) * (square - 5);
  return ++switch_calls > 2000000 ? -1 : 0;
}

static void integers_that_change_places_are_explored_to_an_end(void **state) {
  (void)state;
  for (COUNT = 3; COUNT <= 6; COUNT += 3) {
    tempera_parameter list[] = {
        {.name = "b", .size = COUNT, .lower = -INFINITY, .upper = INFINITY},
        {.name = "z",
         .size = COUNT,
         .kind = TEMPERA_INTEGER,
         .lower = 0,
         .upper = 1}};
    double starts[8 * 12];
    starts_of(starts, 8, 2 * COUNT, 1, 5);
    for (size_t i = 0; i < 8 * 2 * COUNT; i++)
      if (i / COUNT % 2)
        starts[i] = starts[i] > 0;
    tempera_model_spec spec =
        SPEC("switch", list, 2, switch_likelihood, normal_prior);
    switch_calls = 0;
    built made = build(&spec, starts, 8);
    say(&made);
    assert_int_equal(made.view->labels.count, COUNT);
    assert_false(made.view->absent);
    done(&made);
  }
}

/* Two concentric normals, sd 1 and .01, half the mass each, under N(0, 25). */
DENSITY(peak_likelihood) {
  (void)user;
  double part[2], square = 0;
  for (size_t i = 0; i < COUNT; i++)
    square += theta[i] * theta[i];
  for (int k = 0; k < 2; k++) {
    double sd = k ? 0.01 : 1;
    part[k] = log(0.5) - 0.5 * square / (sd * sd) -
              (double)COUNT * (log(sd) + 0.5 * LOG_2PI);
  }
  *value = fmax(part[0], part[1]) + log1p(exp(-fabs(part[0] - part[1])));
  return 0;
}

DENSITY(peak_prior) {
  (void)user;
  *value = 0;
  for (size_t i = 0; i < COUNT; i++)
    *value -= 0.5 * (theta[i] * theta[i] / 25 + log(25) + LOG_2PI);
  return 0;
}

/* The hill has no optimum of its own: its top is the peak's. Both are modes,
 * with their weights. */
static void a_peak_on_a_hill_is_two_modes(void **state) {
  (void)state;
  const tempera_parameter *lists[] = {&FREE1, &FREE3, &FREE5, &FREE20};
  const size_t counts[] = {1, 3, 5, 20};
  for (int c = 0; c < 4; c++) {
    double starts[160];
    COUNT = counts[c];
    double d = (double)COUNT;
    starts_of(starts, 8, COUNT, 5, 3);
    tempera_model_spec spec =
        SPEC("peak", lists[c], 1, peak_likelihood, peak_prior);
    built made = build(&spec, starts, 8);
    if (made.view->absent)
      fail_msg("%s", made.view->reason);
    const tm_laplace_knot *knot = last(&made);
    say(&made);
    assert_int_equal(knot->mode_count, 2);
    for (int m = 0; m < 2; m++) {
      const tm_laplace_mode *mode = &knot->modes[m];
      double sd = mode->shoulder ? 1 : 0.01, wide = 25 + sd * sd;
      assert_near(mode->log_weight, log(0.5) - d / 2 * (LOG_2PI + log(wide)),
                  0.02);
    }
    assert_true(knot->modes[0].shoulder != knot->modes[1].shoulder);
    done(&made);
  }
}

static void ridge_does_not_depend_on_threads(void **state) {
  (void)state;
  const double starts[12] = {-4, 1, 6, 3, -2, 4, 0, 5, -5, 1, 2, 3};
  tempera_model_spec specs[2] = {
      SPEC("labels", &FREE3, 1, labels_likelihood, labels_prior),
      SPEC("mixed", MIXED, 2, mixed_likelihood, mixed_prior)};
  for (int s = 0; s < 2; s++) {
    built one = build_on(model_of(&specs[s]), starts, s ? 3 : 4, 1);
    built many = build_on(model_of(&specs[s]), starts, s ? 3 : 4, 4);
    size_t n = one.model->dimension, d = one.model->real_dimension;
    assert_int_equal(one.view->knot_count, many.view->knot_count);
    assert_int_equal(work_of(&one).likelihood_evaluations,
                     work_of(&many).likelihood_evaluations);
    for (size_t k = 0; k < one.view->knot_count; k++) {
      const tm_laplace_knot *a = &one.view->knots[k], *b = &many.view->knots[k];
      assert_memory_equal(&a->tau, &b->tau, 3 * sizeof(double));
      assert_int_equal(a->mode_count, b->mode_count);
      for (size_t m = 0; m < a->mode_count; m++) {
        assert_memory_equal(a->modes[m].u, b->modes[m].u, n * sizeof(double));
        assert_memory_equal(a->modes[m].factor, b->modes[m].factor,
                            d * d * sizeof(double));
      }
    }
    done(&one);
    done(&many);
  }
}

DENSITY(stopping_likelihood) {
  (void)user;
  *value = -theta[0];
  return theta[0] < 0.5 ? -1 : 0;
}

static void a_model_that_stops_ends_the_build(void **state) {
  (void)state;
  double starts[2] = {1, 3};
  tempera_model_spec spec =
      SPEC("stop", &RATE, 1, stopping_likelihood, gamma_prior);
  tempera_model *model = model_of(&spec);
  tm_store_settings settings = {.threads = 1};
  tm_laplace *laplace = NULL;
  tempera_error error = {0};
  assert_int_equal(
      laplace_alone(model, &settings, 0, starts, 2, &laplace, &error),
      TEMPERA_ERROR_MODEL);
  assert_non_null(strstr(error.message, "asked to stop"));
  assert_null(laplace);
  tempera_model_free(model);
}

static void running_out_of_memory_is_reported(void **state) {
  (void)state;
  const double starts[6] = {1, 3, 2, 5, 4, 4};
  tempera_model_spec spec =
      SPEC("mixed", MIXED, 2, mixed_likelihood, mixed_prior);
  tempera_model *model = model_of(&spec);
  tm_store_settings settings = {.threads = 1};
  for (long k = 1;; k++) {
    tm_laplace *laplace = NULL;
    heap_fail_at(k);
    tempera_status status =
        laplace_alone(model, &settings, 0, starts, 3, &laplace, NULL);
    heap_fail_at(0);
    if (status == TEMPERA_OK) {
      laplace_alone_free(laplace);
      break;
    }
    assert_int_equal(status, TEMPERA_ERROR_MEMORY);
    assert_null(laplace);
  }
  tempera_model_free(model);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(weights_are_exact_for_normals),
      cmocka_unit_test(one_parameter_takes_some_hundred_evaluations),
      cmocka_unit_test(both_modes_of_the_bimodal_model_are_found),
      cmocka_unit_test(both_normals_of_a_mixture_have_their_weights),
      cmocka_unit_test(gamma_poisson_has_the_right_curvature),
      cmocka_unit_test(every_integer_that_matters_has_its_mode),
      cmocka_unit_test(simplex_has_its_mode_on_the_unconstrained_scale),
      cmocka_unit_test(labels_are_recognised_and_copies_counted),
      cmocka_unit_test(labels_are_put_in_order),
      cmocka_unit_test(distinct_values_are_not_taken_for_labels),
      cmocka_unit_test(centred_eight_schools_has_no_laplace_ridge),
      cmocka_unit_test(flat_priors_have_no_laplace_ridge_at_zero),
      cmocka_unit_test(improvement_finds_a_missed_basin),
      cmocka_unit_test(integers_that_change_places_are_explored_to_an_end),
      cmocka_unit_test(a_peak_on_a_hill_is_two_modes),
      cmocka_unit_test(ridge_does_not_depend_on_threads),
      cmocka_unit_test(a_model_that_stops_ends_the_build),
      cmocka_unit_test(running_out_of_memory_is_reported),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
