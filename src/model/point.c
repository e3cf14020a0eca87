/* point.c - evaluating the model's callbacks at a point, once, with checks
 * and counts. Every likelihood call of the library is made here. */
#include "model/prior_law.h"

#include "base/answers.h"
#include "base/locale.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* Timing every call would cost more than a small model; one in this many is
 * timed and stands for the others. */
enum { TIMED_EVERY = 64 };

/* Densities are evaluated anew after so many changes of integers, and at the
 * first few: a model's integer_terms may be wrong. */
enum { MOST_CHANGES = 1000, FIRST_CHANGES = 32 };
/* A sum of so many differences is off by rounding only: by far less. */
static const double DRIFT = 1e-7;

tempera_status tm_evaluator_create(const tempera_model *model, tm_arena *arena,
                                   tm_evaluator *evaluator,
                                   tempera_error *error) {
  tm_evaluator made = {.model = model, .user = model->spec.user};
  made.gradient = TM_NEW(arena, double, 2 * model->size);
  made.call = tm_call_create(model, arena);
  if (!made.gradient || !made.call) {
    tm_call_release(made.call);
    return tm_fail_memory(error);
  }
  if (model->spec.clone &&
      model->spec.clone(model->spec.user, &made.user) != 0) {
    tm_call_release(made.call);
    return tm_fail(error, TEMPERA_ERROR_MODEL,
                   "model %s: clone failed to copy its data for a chain",
                   model->spec.name);
  }
  *evaluator = made;
  if (!model->law)
    return TEMPERA_OK;
  evaluator->law_state = model->law->copy(model->law->state, arena);
  if (evaluator->law_state)
    return TEMPERA_OK;
  tm_evaluator_release(evaluator);
  return tm_fail_memory(error);
}

tempera_status tm_evaluator_check(const tm_evaluator *evaluator,
                                  tempera_error *error) {
  if (evaluator->status != TEMPERA_OK && error)
    *error = evaluator->error;
  return evaluator->status;
}

void tm_evaluator_release(tm_evaluator *evaluator) {
  if (!evaluator->model)
    return;
  tm_call_release(evaluator->call);
  const tempera_model_spec *spec = &evaluator->model->spec;
  if (spec->clone && spec->release && evaluator->user != spec->user)
    spec->release(evaluator->user);
  evaluator->user = NULL;
  evaluator->model = NULL;
}

/* A point's theta, u and Jacobians lie one behind the other. */
static size_t numbers_of(const tempera_model *model) {
  return model->size + model->dimension + model->block_count;
}

tempera_status tm_point_create(const tempera_model *model, tm_arena *arena,
                               tm_point *point, tempera_error *error) {
  double *values = TM_NEW(arena, double, numbers_of(model));
  if (!values)
    return tm_fail_memory(error);
  *point = (tm_point){.theta = values,
                      .u = values + model->size,
                      .block_jacobian = values + model->size + model->dimension,
                      .log_likelihood = -INFINITY,
                      .log_prior = -INFINITY};
  return TEMPERA_OK;
}

void tm_point_copy(const tempera_model *model, const tm_point *from,
                   tm_point *to) {
  memcpy(to->theta, from->theta, numbers_of(model) * sizeof(double));
  to->log_likelihood = from->log_likelihood;
  to->log_prior = from->log_prior;
  to->log_jacobian = from->log_jacobian;
  to->changes = from->changes;
}

const char *tm_reason(const tm_evaluator *evaluator) {
  const tempera_model_spec *spec = &evaluator->model->spec;
  const char *reason = spec->reason ? spec->reason(evaluator->user) : NULL;
  return reason ? reason : "";
}

static void write_point(const tempera_model *model, const double *theta,
                        char at[TM_AT_SIZE]) {
  at[0] = '\0';
  size_t used = 0;
  for (size_t i = 0; i < model->size && used < TM_AT_SIZE - 48; i++)
    used += (size_t)tm_snprintf(at + used, TM_AT_SIZE - used, "%s%.30s = %.6g",
                                i ? ", " : "", model->names[i], theta[i]);
}

/* The first failure, with the point it happened at. */
static void record_failure(tm_evaluator *evaluator, const double *theta,
                           const char *function, tm_failure failure) {
  if (evaluator->status != TEMPERA_OK)
    return;
  static const char *const WHAT[] = {
      [TM_FAILURE_NONE] = "failed",
      [TM_FAILURE_STOP] = "asked to stop",
      [TM_FAILURE_NAN] = "returned NaN (return a value > 0 to reject a point)",
      [TM_FAILURE_INFINITE] = "returned +infinity"};
  const char *what = WHAT[failure];
  evaluator->failure = failure;
  const tempera_model *model = evaluator->model;
  char at[TM_AT_SIZE];
  write_point(model, theta, at);
  const char *reason = failure == TM_FAILURE_STOP ? tm_reason(evaluator) : "";
  evaluator->status =
      tm_fail(&evaluator->error, TEMPERA_ERROR_MODEL,
              "model %.60s: %s %s%s%.200s at %s", model->spec.name, function,
              what, reason[0] ? ": " : "", reason, at);
}

/* So many in a row are a mistake and not the edge of what the model can
 * compute: where half of the points are such, that happens once in 10^15. */
enum { MANY_IN_A_ROW = 50 };

/* NaN or +infinity: the point is rejected, unless there are many. */
static void reject(tm_evaluator *evaluator, const double *theta, double value,
                   const char *function) {
  tm_failure failure = isnan(value) ? TM_FAILURE_NAN : TM_FAILURE_INFINITE;
  char at[TM_AT_SIZE];
  if (evaluator->rejected++ == 0) {
    write_point(evaluator->model, theta, at);
    tm_snprintf(evaluator->rejected_at, TM_AT_SIZE, "%s was %s at %.250s",
                function, isnan(value) ? "NaN" : "+infinity", at);
  }
  if (evaluator->strict)
    record_failure(evaluator, theta, function, failure);
  else if (++evaluator->in_a_row >= MANY_IN_A_ROW &&
           evaluator->status == TEMPERA_OK) {
    evaluator->failure = failure;
    evaluator->status = tm_fail(
        &evaluator->error, TEMPERA_ERROR_MODEL,
        "model %.60s: %s returned NaN or +infinity in %llu of %llu calls, "
        "%d of them in a row; first %.200s; bound the parameters, or return a "
        "value > 0 where the "
        "model cannot be computed",
        evaluator->model->spec.name, function,
        (unsigned long long)evaluator->rejected,
        (unsigned long long)evaluator->answers, MANY_IN_A_ROW,
        evaluator->rejected_at);
  }
}

/* Turn a callback's answer into a log density, noting failures. */
static double checked(tm_evaluator *evaluator, const double *theta, int answer,
                      double value, const char *function) {
  if (answer > 0)
    return -INFINITY;
  if (answer < 0) {
    record_failure(evaluator, theta, function, TM_FAILURE_STOP);
    return -INFINITY;
  }
  evaluator->answers++;
  if (isnan(value) || value == INFINITY) {
    reject(evaluator, theta, value, function);
    return -INFINITY;
  }
  return value;
}

static double seconds_since(const struct timespec *start) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)(now.tv_sec - start->tv_sec) +
         1e-9 * (double)(now.tv_nsec - start->tv_nsec);
}

/* A search that was told to stop fails as one whose model stops it. */
bool tm_evaluator_stopped(tm_evaluator *evaluator) {
  if (!tm_stop_due(&evaluator->stop))
    return false;
  if (evaluator->status == TEMPERA_OK) {
    evaluator->failure = TM_FAILURE_STOP;
    evaluator->status =
        tm_fail(&evaluator->error, TEMPERA_CANCELLED, "cancelled");
  }
  return true;
}

static double under_cap(const tm_evaluator *evaluator, double value) {
  return evaluator->capped && value > evaluator->cap ? evaluator->cap : value;
}

/* A likelihood's, when `before` were rejected; a number ends a row of those
 * that are none. */
static double settled(tm_evaluator *evaluator, uint64_t before,
                      double density) {
  if (evaluator->rejected == before)
    evaluator->in_a_row = 0;
  return under_cap(evaluator, density);
}

/* This thread's tape. A model made of another asks that one, whose answers are
 * taped. */
static tm_answers *tape_of(const tm_evaluator *evaluator) {
  return evaluator->model->composed ? NULL : tm_answers_now;
}

static bool is_told(const tm_evaluator *evaluator) {
  const tm_answers *tape = tape_of(evaluator);
  return tape && tape->replays;
}

/* The model's answer and numbers: onto the tape, or from it. */
static int answered(const tm_evaluator *evaluator, const double *theta,
                    int answer, double *numbers, size_t count) {
  tm_answers *tape = tape_of(evaluator);
  if (!tape)
    return answer;
  uint64_t mark = 0, bits;
  for (size_t i = 0; i < evaluator->model->size; i++) {
    memcpy(&bits, &theta[i], sizeof bits);
    mark = (mark ^ bits) * 0x9e3779b97f4a7c15ull;
  }
  tm_answers_check(tape, mark);
  tm_answers_pass(tape, &answer, sizeof answer);
  tm_answers_pass(tape, numbers, count * sizeof(double));
  return answer;
}

/* A timed call stands for others. */
static void count_seconds(tm_evaluator *evaluator,
                          const struct timespec *start) {
  double took = seconds_since(start);
  tm_answers *tape = tape_of(evaluator);
  if (tape)
    tm_answers_pass(tape, &took, sizeof took);
  evaluator->seconds += TIMED_EVERY * took;
}

static double call_likelihood(tm_evaluator *evaluator, const double *theta) {
  const tempera_model_spec *spec = &evaluator->model->spec;
  double value = NAN;
  int answer = 0;
  if (tm_evaluator_stopped(evaluator))
    return -INFINITY;
  bool timed = evaluator->likelihood_evaluations % TIMED_EVERY == 0;
  evaluator->likelihood_evaluations++;
  struct timespec start;
  if (timed)
    clock_gettime(CLOCK_MONOTONIC, &start);
  if (!is_told(evaluator)) {
    tm_call *outer = tm_call_begin(evaluator->call, "log_likelihood", theta);
    answer = spec->log_likelihood(theta, &value, evaluator->user);
    tm_call_end(evaluator->call, outer);
  }
  if (timed)
    count_seconds(evaluator, &start);
  answer = answered(evaluator, theta, answer, &value, 1);
  uint64_t before = evaluator->rejected;
  value = checked(evaluator, theta, answer, value, "log_likelihood");
  return settled(evaluator, before, value);
}

static void sum_jacobians(const tempera_model *model, tm_point *point) {
  point->log_jacobian = 0;
  for (size_t b = 0; b < model->block_count; b++)
    point->log_jacobian += point->block_jacobian[b];
}

void tm_constrain_point(const tempera_model *model, tm_point *point) {
  for (size_t b = 0; b < model->block_count; b++)
    point->block_jacobian[b] =
        tm_constrain_block(&model->blocks[b], point->u, point->theta);
  sum_jacobians(model, point);
}

static double call_prior(tm_evaluator *evaluator, const double *theta) {
  if (!tm_reached(evaluator->model, theta))
    return -INFINITY;
  double value = NAN;
  int answer = 0;
  if (!is_told(evaluator)) {
    tm_call *outer = tm_call_begin(evaluator->call, "log_prior", theta);
    answer = evaluator->model->spec.log_prior(theta, &value, evaluator->user);
    tm_call_end(evaluator->call, outer);
  }
  answer = answered(evaluator, theta, answer, &value, 1);
  return checked(evaluator, theta, answer, value, "log_prior");
}

void tm_evaluate_densities(tm_evaluator *evaluator, tm_point *point) {
  point->changes = 0;
  point->log_prior = call_prior(evaluator, point->theta);
  point->log_likelihood = point->log_prior > -INFINITY
                              ? call_likelihood(evaluator, point->theta)
                              : -INFINITY;
}

void tm_evaluate_prior(tm_evaluator *evaluator, tm_point *point) {
  tm_constrain_point(evaluator->model, point);
  point->log_prior = call_prior(evaluator, point->theta);
  point->log_likelihood = 0;
}

void tm_evaluate_coordinate(tm_evaluator *evaluator, tm_point *point,
                            size_t j) {
  const tempera_model *model = evaluator->model;
  if (model->dependent) {
    tm_evaluate(evaluator, point);
    return;
  }
  size_t b = model->block_of_u[j];
  point->block_jacobian[b] =
      tm_constrain_block(&model->blocks[b], point->u, point->theta);
  sum_jacobians(model, point);
  tm_evaluate_densities(evaluator, point);
}

void tm_evaluate(tm_evaluator *evaluator, tm_point *point) {
  tm_constrain_point(evaluator->model, point);
  tm_evaluate_densities(evaluator, point);
}

void tm_evaluate_natural(tm_evaluator *evaluator, tm_point *point) {
  const tempera_model *model = evaluator->model;
  /* All of it, before a value on a bound is moved: later bounds may depend. */
  tm_unconstrain(model, point->theta, point->u);
  if (!tm_inside(model, point->theta)) {
    /* u cannot describe it, and must not bring it inside. */
    point->log_likelihood = point->log_prior = -INFINITY;
    point->log_jacobian = 0;
    return;
  }
  for (size_t b = 0; b < model->block_count; b++)
    point->block_jacobian[b] =
        tm_settle_block(&model->blocks[b], point->u, point->theta);
  sum_jacobians(model, point);
  tm_evaluate_densities(evaluator, point);
}

double tm_log_density(const tm_point *point, double tau) {
  if (point->log_prior == -INFINITY)
    return -INFINITY;
  double tempered = tau > 0 ? tau * point->log_likelihood : 0;
  return tempered + point->log_prior + point->log_jacobian;
}

double tm_log_density_natural(const tm_point *point, double tau) {
  if (point->log_prior == -INFINITY)
    return -INFINITY;
  return (tau > 0 ? tau * point->log_likelihood : 0) + point->log_prior;
}

/* ---- single integers ---- */

bool tm_has_terms(const tm_evaluator *evaluator, const tm_point *point) {
  return evaluator->model->spec.integer_terms && !evaluator->capped &&
         isfinite(point->log_likelihood) && isfinite(point->log_prior);
}

/* Parts of evaluations, counted when they are a whole one. */
static void count_part(tm_evaluator *evaluator) {
  double cost = evaluator->model->spec.integer_terms_cost;
  evaluator->part += cost > 0 ? cost : 1;
  double whole = floor(evaluator->part);
  evaluator->likelihood_evaluations += (uint64_t)whole;
  evaluator->part -= whole;
}

static double *integer_of(const tempera_model *model, const tm_point *point,
                          size_t j, size_t *at) {
  const tm_block *block = &model->blocks[model->block_of_u[j]];
  *at = block->theta + (j - block->u);
  return &point->theta[*at];
}

static tm_terms call_terms(tm_evaluator *evaluator, const double *theta,
                           size_t at) {
  static const tm_terms NONE = {-INFINITY, -INFINITY};
  const tempera_model_spec *spec = &evaluator->model->spec;
  tm_terms terms = {NAN, NAN};
  if (tm_evaluator_stopped(evaluator))
    return NONE;
  bool timed = evaluator->term_calls++ % TIMED_EVERY == 0;
  count_part(evaluator);
  struct timespec start;
  if (timed)
    clock_gettime(CLOCK_MONOTONIC, &start);
  int answer = 0;
  if (!is_told(evaluator)) {
    tm_call *outer = tm_call_begin(evaluator->call, "integer_terms", theta);
    answer = spec->integer_terms(theta, at, &terms.log_likelihood,
                                 &terms.log_prior, evaluator->user);
    tm_call_end(evaluator->call, outer);
  }
  if (timed)
    count_seconds(evaluator, &start);
  answer = answered(evaluator, theta, answer, &terms.log_likelihood, 1);
  answer = answered(evaluator, theta, answer, &terms.log_prior, 1);
  if (answer > 0)
    return NONE;
  terms.log_prior =
      checked(evaluator, theta, answer, terms.log_prior, "integer_terms");
  if (terms.log_prior == -INFINITY)
    return NONE;
  terms.log_likelihood =
      checked(evaluator, theta, answer, terms.log_likelihood, "integer_terms");
  return terms;
}

tm_terms tm_terms_at(tm_evaluator *evaluator, tm_point *point, size_t j,
                     double value) {
  size_t at;
  double *held = integer_of(evaluator->model, point, j, &at), before = *held;
  *held = value;
  tm_terms terms = call_terms(evaluator, point->theta, at);
  *held = before;
  return terms;
}

static bool drifted(double anew, double sum) {
  return anew != sum &&
         !(fabs(anew - sum) <= DRIFT * (1 + fabs(anew) + fabs(sum)));
}

static void evaluate_anew(tm_evaluator *evaluator, tm_point *point) {
  double likelihood = point->log_likelihood, prior = point->log_prior;
  tm_evaluate_densities(evaluator, point);
  bool sound = !drifted(point->log_likelihood, likelihood) &&
               !drifted(point->log_prior, prior);
  if (sound || evaluator->status != TEMPERA_OK)
    return;
  evaluator->status =
      tm_fail(&evaluator->error, TEMPERA_ERROR_MODEL,
              "model %.60s: the differences of integer_terms sum to %.8g "
              "and %.8g where log_likelihood is %.8g and log_prior %.8g",
              evaluator->model->spec.name, likelihood, prior,
              point->log_likelihood, point->log_prior);
}

void tm_change_integer(tm_evaluator *evaluator, tm_point *point, size_t j,
                       double value, tm_terms from, tm_terms to) {
  size_t at;
  *integer_of(evaluator->model, point, j, &at) = point->u[j] = value;
  point->log_likelihood += to.log_likelihood - from.log_likelihood;
  point->log_prior += to.log_prior - from.log_prior;
  if (++point->changes >= MOST_CHANGES || !isfinite(point->log_likelihood) ||
      evaluator->changes < FIRST_CHANGES)
    evaluate_anew(evaluator, point);
  evaluator->changes++;
}

bool tm_has_gradients(const tempera_model *model) {
  return model->spec.log_likelihood_gradient && model->spec.log_prior_gradient;
}

static double call_gradient(tm_evaluator *evaluator, const tm_point *point,
                            tempera_gradient_fn function, const char *name,
                            double *natural) {
  double value = NAN;
  int answer = 0;
  if (!is_told(evaluator)) {
    tm_call *outer = tm_call_begin(evaluator->call, name, point->theta);
    answer = function(point->theta, &value, natural, evaluator->user);
    tm_call_end(evaluator->call, outer);
  }
  answer = answered(evaluator, point->theta, answer, &value, 1);
  tm_answers *tape = tape_of(evaluator);
  if (tape)
    tm_answers_pass(tape, natural, evaluator->model->size * sizeof(double));
  return checked(evaluator, point->theta, answer, value, name);
}

/* The densities and their gradients over theta; false where there are none. */
static bool natural_gradients(tm_evaluator *evaluator, tm_point *point,
                              double *likelihood, double *prior) {
  const tempera_model *model = evaluator->model;
  point->log_likelihood = point->log_prior = -INFINITY;
  if (!tm_reached(model, point->theta))
    return false;
  point->log_prior =
      call_gradient(evaluator, point, model->spec.log_prior_gradient,
                    "log_prior_gradient", prior);
  if (point->log_prior == -INFINITY || tm_evaluator_stopped(evaluator))
    return false;
  evaluator->gradient_evaluations++;
  uint64_t before = evaluator->rejected;
  double value =
      call_gradient(evaluator, point, model->spec.log_likelihood_gradient,
                    "log_likelihood_gradient", likelihood);
  point->log_likelihood = settled(evaluator, before, value);
  return true;
}

void tm_evaluate_gradient(tm_evaluator *evaluator, tm_point *point,
                          double *likelihood_gradient, double *prior_gradient) {
  const tempera_model *model = evaluator->model;
  double *likelihood = evaluator->gradient;
  double *prior = evaluator->gradient + model->size;
  tm_constrain_point(model, point);
  if (!natural_gradients(evaluator, point, likelihood, prior))
    return;
  tm_pull_back(model, point->u, point->theta, prior, true, prior_gradient);
  tm_pull_back(model, point->u, point->theta, likelihood, false,
               likelihood_gradient);
}

/* At tau = 0 the likelihood may be zero and its gradient anything. */
void tm_evaluate_slope(tm_evaluator *evaluator, tm_point *point, double tau,
                       double *gradient) {
  const tempera_model *model = evaluator->model;
  double *likelihood = evaluator->gradient;
  double *sum = evaluator->gradient + model->size;
  if (!natural_gradients(evaluator, point, likelihood, sum))
    return;
  for (size_t i = 0; tau > 0 && i < model->size; i++)
    sum[i] += tau * likelihood[i];
  tm_pull_back(model, point->u, point->theta, sum, true, gradient);
}

bool tm_evaluate_prior_slope(tm_evaluator *evaluator, tm_point *point,
                             double *gradient) {
  const tempera_model *model = evaluator->model;
  tm_constrain_point(model, point);
  point->log_likelihood = 0;
  point->log_prior = -INFINITY;
  if (tm_reached(model, point->theta))
    point->log_prior =
        call_gradient(evaluator, point, model->spec.log_prior_gradient,
                      "log_prior_gradient", evaluator->gradient);
  if (point->log_prior == -INFINITY)
    return false;
  tm_pull_back(model, point->u, point->theta, evaluator->gradient, true,
               gradient);
  return true;
}

bool tm_prior_draw_as_is(tm_evaluator *evaluator, tempera_random *random,
                         tm_point *point) {
  const tempera_model *model = evaluator->model;
  tm_call *outer = tm_call_begin(evaluator->call, "prior_draw", point->theta);
  int answer = model->spec.prior_draw(random, point->theta, evaluator->user);
  tm_call_end(evaluator->call, outer);
  if (answer < 0)
    record_failure(evaluator, point->theta, "prior_draw", TM_FAILURE_STOP);
  return answer == 0;
}

/* Of the prior without what rounds to a bound (run/rounded.h), where the run
 * has found that there is such. */
static bool draw_inside(tm_evaluator *evaluator, tempera_random *random,
                        tm_point *point) {
  enum { TRIES = 10000 };
  const tempera_model *model = evaluator->model;
  for (int i = 0; i < TRIES; i++) {
    if (!tm_prior_draw_as_is(evaluator, random, point))
      return false;
    if (model->log_kept == 0 ||
        tm_first_at_bound(model, point->theta) == model->size)
      return true;
  }
  return false;
}

void tm_prior_draw(tm_evaluator *evaluator, tempera_random *random,
                   tm_point *point) {
  const tm_prior_law *law = evaluator->model->law;
  bool drawn = law ? tm_prior_law_draw(evaluator, random, point)
                   : draw_inside(evaluator, random, point);
  evaluator->prior_draws++;
  if (!drawn)
    point->log_likelihood = point->log_prior = -INFINITY;
  else if (!law)
    tm_evaluate_natural(evaluator, point);
  else if (!law->restricted)
    tm_evaluate_densities(evaluator, point);
}

/* Of the prior as it stands: a restricted law is another. */
void tm_prior_draw_only(tm_evaluator *evaluator, tempera_random *random,
                        tm_point *point) {
  const tm_prior_law *law = evaluator->model->law;
  bool by_law = law && !law->restricted;
  bool drawn = by_law ? tm_prior_law_draw(evaluator, random, point)
                      : draw_inside(evaluator, random, point);
  evaluator->prior_draws++;
  if (!drawn) {
    point->log_likelihood = point->log_prior = -INFINITY;
  } else if (!by_law) {
    tm_unconstrain(evaluator->model, point->theta, point->u);
    tm_evaluate_prior(evaluator, point);
  }
}

bool tm_quantities_at(tm_evaluator *evaluator, tempera_random *random,
                      const double *theta, double *quantities) {
  const tempera_model_spec *spec = &evaluator->model->spec;
  for (size_t i = 0; i < spec->quantity_count; i++)
    quantities[i] = NAN;
  int answer = 0;
  if (!is_told(evaluator)) {
    tm_call *outer = tm_call_begin(evaluator->call, "quantities", theta);
    answer = spec->quantities(theta, random, quantities, evaluator->user);
    tm_call_end(evaluator->call, outer);
  }
  return answered(evaluator, theta, answer, quantities, spec->quantity_count) ==
         0;
}
