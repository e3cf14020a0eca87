/* batch.c - many points at once. Samplers ask for one point after another; but
 * several chains can take turns on the thread that called the library. Here a
 * chain leaves its point and waits; when all of them wait, their points go to
 * the model in one call. What a point is worth does not depend on its company,
 * so draws do not either. */
#include "model/batch.h"

#include "model/calls.h"
#include "parallel/threads.h"

#include <string.h>

/* What the model's spec points to as `user`, in place of the caller's. */
typedef struct batch_model {
  tempera_model_spec given;
  size_t size;
} batch_model;

typedef enum matter { PRIOR, LIKELIHOOD, PRIOR_DRAW, QUANTITIES } matter;

/* One callback for one point. */
typedef struct request {
  const batch_model *model;
  matter matter;
  const double *theta;
  double *result; /* a density, a drawn theta, or quantities */
  double *gradient;
  tempera_random *random;
  tm_call *call; /* that it is part of */
  int answer;
  bool done;
} request;

/* ---- for all chains --------------------------------------------------------
 */

/* Densities of points that lie one behind the other. */
static int call_densities(const request *like, const double *theta,
                          size_t count, double *values, double *gradients) {
  const tempera_model_spec *spec = &like->model->given;
  const size_t size = like->model->size;
  tempera_batch_fn batch = like->matter == PRIOR ? spec->log_prior_batch
                                                 : spec->log_likelihood_batch;
  if (batch)
    return batch(theta, count, values, gradients, spec->user);
  int worst = 0; /* a prior for one point at a time */
  for (size_t i = 0; i < count && worst == 0; i++) {
    int answer =
        gradients ? spec->log_prior_gradient(theta + i * size, values + i,
                                             gradients + i * size, spec->user)
                  : spec->log_prior(theta + i * size, values + i, spec->user);
    if (answer > 0)
      values[i] = (double)-INFINITY;
    worst = answer < 0 ? answer : 0;
  }
  return worst;
}

static bool alike(const request *a, const request *b) {
  return a->model == b->model && a->matter == b->matter &&
         !a->gradient == !b->gradient;
}

/* Hand out what the batch gave. */
static void hand_out(request *const *some, size_t count, int answer,
                     const double *values, const double *gradients) {
  for (size_t i = 0; i < count; i++) {
    *some[i]->result = values[i];
    if (gradients)
      memcpy(some[i]->gradient, gradients + i * some[i]->model->size,
             some[i]->model->size * sizeof(double));
    some[i]->answer = answer;
  }
}

static void serve_together(request *const *some, size_t count) {
  const size_t size = some[0]->model->size;
  bool slopes = some[0]->gradient != NULL;
  double *room =
      tm_heap_alloc(count * ((slopes ? 2 : 1) * size + 1), sizeof(double));
  for (size_t i = 0; i < count; i++)
    some[i]->answer = -1; /* should there be no room */
  if (!room)
    return;
  double *theta = room, *values = room + count * size;
  double *gradients = slopes ? values + count : NULL;
  for (size_t i = 0; i < count; i++) {
    memcpy(theta + i * size, some[i]->theta, size * sizeof(double));
    values[i] = NAN;
  }
  int answer = call_densities(some[0], theta, count, values, gradients);
  hand_out(some, count, answer, values, gradients);
  tm_heap_free(room);
}

static void serve_alone(request *r) {
  const tempera_model_spec *spec = &r->model->given;
  if (r->matter == PRIOR_DRAW)
    r->answer = spec->prior_draw(r->random, r->result, spec->user);
  else if (r->matter == QUANTITIES)
    r->answer = spec->quantities(r->theta, r->random, r->result, spec->user);
  else
    r->answer = call_densities(r, r->theta, 1, r->result, r->gradient);
  r->done = true;
}

/* All that are like the i-th. */
static void serve_like(request *const *requests, size_t count, size_t i) {
  request *some[TM_MOST_QUESTIONS];
  size_t found = 0;
  for (size_t k = i; k < count; k++)
    if (!requests[k]->done && alike(requests[i], requests[k]))
      some[found++] = requests[k];
  for (size_t k = 0; k < found; k++)
    some[k]->done = true;
  serve_together(some, found);
}

/* Likelihoods wait while there is anything else: who asked for a prior comes
 * back for the likelihood, and the batch is larger. */
static void serve(void *const *questions, size_t count, bool *answered) {
  request *const *requests = (request *const *)questions;
  bool others = false;
  for (size_t i = 0; i < count; i++)
    others |= requests[i]->matter != LIKELIHOOD;
  for (size_t i = 0; i < count; i++) {
    if (requests[i]->done || (others && requests[i]->matter == LIKELIHOOD))
      continue;
    tm_calling = requests[i]->call; /* should it crash or hang */
    if (requests[i]->matter > LIKELIHOOD || count == 1)
      serve_alone(requests[i]);
    else
      serve_like(requests, count, i);
  }
  tm_calling = NULL;
  for (size_t i = 0; i < count; i++)
    answered[i] = requests[i]->done;
}

/* ---- in a chain ------------------------------------------------------------
 */

static int ask(const void *user, matter what, request r) {
  r.model = user;
  r.matter = what;
  r.call = tm_calling; /* other chains have theirs meanwhile */
  tm_calling = NULL;
  tm_ask_caller(serve, &r);
  tm_calling = r.call;
  return r.answer;
}

static int ask_likelihood(const double *theta, double *value, void *user) {
  return ask(user, LIKELIHOOD, (request){.theta = theta, .result = value});
}

static int ask_prior(const double *theta, double *value, void *user) {
  return ask(user, PRIOR, (request){.theta = theta, .result = value});
}

static int ask_likelihood_gradient(const double *theta, double *value,
                                   double *gradient, void *user) {
  return ask(user, LIKELIHOOD,
             (request){.theta = theta, .result = value, .gradient = gradient});
}

static int ask_prior_gradient(const double *theta, double *value,
                              double *gradient, void *user) {
  return ask(user, PRIOR,
             (request){.theta = theta, .result = value, .gradient = gradient});
}

static int ask_draw(tempera_random *random, double *theta, void *user) {
  return ask(user, PRIOR_DRAW, (request){.random = random, .result = theta});
}

static int ask_quantities(const double *theta, tempera_random *random,
                          double *quantities, void *user) {
  return ask(user, QUANTITIES,
             (request){.theta = theta, .random = random, .result = quantities});
}

/* ---- the spec --------------------------------------------------------------
 */

static const char *reason(const void *user) {
  const batch_model *model = user;
  return model->given.reason(model->given.user);
}

static void release(void *user) {
  const batch_model *model = user;
  model->given.release(model->given.user);
}

int tm_model_threads(const tempera_model *model, int requested) {
  int threads = tm_threads(requested);
  return model->in_batches ? -threads : threads;
}

const char *tm_batch_refuse(const tempera_model_spec *spec) {
  if (spec->log_likelihood || spec->log_likelihood_gradient)
    return "log_likelihood_batch stands in the place of log_likelihood and its "
           "gradient; give one of them";
  if (spec->log_prior_batch && (spec->log_prior || spec->log_prior_gradient))
    return "log_prior_batch stands in the place of log_prior and its gradient; "
           "give one of them";
  if (spec->optimum || spec->gibbs_count || spec->recipe || spec->clone ||
      spec->integer_terms)
    return "optimum, gibbs, recipe, integer_terms and clone are not for models "
           "in batches";
  return NULL;
}

bool tm_batch_install(tempera_model *model) {
  batch_model *made = TM_NEW(model->arena, batch_model, 1);
  if (!made)
    return false;
  tempera_model_spec *spec = &model->spec;
  *made = (batch_model){.given = *spec, .size = model->size};
  bool slopes = spec->batch_gradients &&
                (spec->log_prior_batch || spec->log_prior_gradient);
  spec->log_likelihood = ask_likelihood;
  spec->log_prior = ask_prior;
  spec->log_likelihood_gradient = slopes ? ask_likelihood_gradient : NULL;
  spec->log_prior_gradient = slopes ? ask_prior_gradient : NULL;
  spec->prior_draw = spec->prior_draw ? ask_draw : NULL;
  spec->quantities = spec->quantities ? ask_quantities : NULL;
  spec->reason = spec->reason ? reason : NULL;
  spec->release = spec->release ? release : NULL;
  spec->user = made;
  model->in_batches = true;
  return true;
}
