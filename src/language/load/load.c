/* load.c - a compiled program and data become a tempera_model. */
#include "language/load/load_parts.h"

#include "model/data.h"

#include <dlfcn.h>
#include <float.h>
#include <stdio.h>

static void release_shared(tm_loaded *s) {
  if (!s || __atomic_sub_fetch(&s->holders, 1, __ATOMIC_ACQ_REL) > 0)
    return;
  tm_limits_pool_free(s->pool);
  tm_sites_free(s->sites);
  tm_tape_free(&s->tape);
  tm_heap_free(s->instance);
  tm_heap_free(s->bounds);
  if (s->library)
    dlclose(s->library);
  tm_heap_free(s);
}

static void release(void *user_) {
  tm_loaded_chain *u = user_;
  if (!u)
    return;
  tm_tape_free(&u->tape);
  release_shared(u->program);
  tm_heap_free(u->rejected);
  tm_heap_free(u);
}

static tm_loaded_chain *user_new(tm_loaded *program) {
  tm_loaded_chain *u = tm_heap_alloc(1, sizeof *u);
  if (u)
    u->rejected = tm_heap_alloc(program->size + 1, sizeof(double));
  if (!u || !u->rejected) {
    tm_heap_free(u);
    return NULL;
  }
  u->program = program;
  __atomic_add_fetch(&program->holders, 1, __ATOMIC_ACQ_REL);
  tm_tape_start(&u->tape, &u->guard);
  u->guard.printer = program->guard.printer;
  return u;
}

static int clone(const void *from, void **copy) {
  *copy = user_new(((const tm_loaded_chain *)from)->program);
  return *copy ? 0 : -1;
}

/* ---- callbacks ---------------------------------------------------------- */

static int answer_of(const tm_guard *guard) {
  return guard->outcome == TM_REJECTED ? 1 : -1;
}

/* A density that is zero or not a number rejects the point, as in Stan; why is
 * found out when somebody asks. */
static int rejected(tm_loaded_chain *u, const double *theta) {
  memcpy(u->rejected, theta, u->program->size * sizeof(double));
  u->unexplained = true;
  return 1;
}

/* Where a failure happened is found out when somebody asks, too. */
static int left_early(tm_loaded_chain *u, const double *theta) {
  int answer = rejected(u, theta);
  return u->guard.outcome == TM_REJECTED ? answer : -1;
}

/* What the program prints, at the first point that anybody evaluates. */
static void show(tm_loaded_chain *u, const double *theta) {
  tm_tape_reset(&u->tape);
  u->tape.showing = 1;
  if (!setjmp(u->guard.place))
    u->program->entry->show(&u->tape, u->program->instance, theta);
  u->tape.showing = 0;
}

/* Is this the first call? */
static bool first_time(int *flag) {
  return !__atomic_load_n(flag, __ATOMIC_RELAXED) &&
         !__atomic_exchange_n(flag, 1, __ATOMIC_ACQ_REL);
}

static int value_of(tm_loaded_chain *u, int part, const double *theta,
                    double *value) {
  if (u->program->entry->show && first_time(&u->program->shown))
    show(u, theta);
  tm_tape_reset(&u->tape);
  if (setjmp(u->guard.place))
    return left_early(u, theta);
  u->program->entry->value[part](&u->tape, u->program->instance, theta);
  *value = u->tape.log_density;
  return *value > -INFINITY ? 0 : rejected(u, theta);
}

int tm_loaded_gradient(tm_loaded_chain *u, int part, const double *theta,
                       double *value, double *gradient) {
  if (u->program->entry->show && first_time(&u->program->shown))
    show(u, theta);
  tm_tape_reset(&u->tape);
  memset(gradient, 0, u->program->size * sizeof(double));
  if (setjmp(u->guard.place))
    return left_early(u, theta);
  u->program->entry->gradient[part](&u->tape, u->program->instance, theta,
                                    gradient);
  *value = u->tape.log_density;
  if (!(*value > -INFINITY))
    return rejected(u, theta);
  tm_backward(&u->tape);
  return 0;
}

static int log_prior(const double *theta, double *value, void *user_) {
  return value_of(user_, 0, theta, value);
}
static int log_likelihood(const double *theta, double *value, void *user_) {
  return value_of(user_, 1, theta, value);
}
static int log_prior_gradient(const double *theta, double *value,
                              double *gradient, void *user_) {
  return tm_loaded_gradient(user_, 0, theta, value, gradient);
}
static int log_likelihood_gradient(const double *theta, double *value,
                                   double *gradient, void *user_) {
  return tm_loaded_gradient(user_, 1, theta, value, gradient);
}

/* The pieces of one part, prior or likelihood, that hold theta[i]. */
static int terms_of(tm_loaded_chain *u, int part, const double *theta, size_t i,
                    double *value) {
  const long *at, *last = tm_sites_of(u->program->sites, part, i, &at);
  *value = 0;
  if (!last)
    return 0;
  tm_tape_reset(&u->tape);
  if (setjmp(u->guard.place))
    return left_early(u, theta);
  u->program->entry->terms[part](&u->tape, u->program->instance, theta, at,
                                 last);
  *value = u->tape.log_density;
  return *value > -INFINITY ? 0 : rejected(u, theta);
}

/* Where the likelihood is zero the prior need not be: at tau = 0 the integer
 * moves there. */
static int integer_terms(const double *theta, size_t i, double *log_likelihood,
                         double *log_prior, void *user_) {
  int answer = terms_of(user_, 0, theta, i, log_prior);
  if (answer)
    return answer;
  answer = terms_of(user_, 1, theta, i, log_likelihood);
  if (answer > 0)
    *log_likelihood = -INFINITY;
  return answer < 0 ? answer : 0;
}

/* One draw, with its log density by how it was drawn. */
static int draw_once(tempera_random *random, double *theta, double *density,
                     tm_loaded_chain *u) {
  tm_tape_reset(&u->tape);
  u->tape.random = random;
  if (setjmp(u->guard.place))
    return answer_of(&u->guard);
  u->program->entry->prior(&u->tape, u->program->instance, theta);
  *density = u->tape.log_density;
  u->cut = u->tape.cut;
  /* Bounds cut a mass that other parameters decide: draws between them are too
   * dense by one over it. */
  return u->program->cuts && log(tempera_random_uniform(random)) >= u->cut;
}

/* Whose bounds are no numbers (integers, which may be at theirs) is not. */
bool tm_is_rounded(const tm_loaded *program, const double *theta) {
  const double *lower = program->bounds, *upper = lower + program->size;
  for (size_t i = 0; i < program->size; i++)
    if (isinf(theta[i]) || fabs(theta[i] - lower[i]) < DBL_MIN ||
        fabs(theta[i] - upper[i]) < DBL_MIN)
      return true;
  return false;
}

/* What was not drawn, since the rest has no law there (a normal whose scale has
 * rounded to infinity), is somewhere. */
static void fill_rest(double *theta, size_t size) {
  for (size_t i = 0; i < size; i++)
    theta[i] = isnan(theta[i]) ? 0.5 : theta[i];
}

/* Until one lies where the prior is not zero: parameters in order, `reject`,
 * constraints of transformed parameters. One that has rounded to a bound is
 * not refused: such draws are counted (run/rounded.h). */
int tm_loaded_draw(tempera_random *random, double *theta, double *density,
                   double *value, bool *rejected_some, tm_loaded_chain *u) {
  enum { TRIES = 10000 };
  size_t size = u->program->size;
  for (int i = 0; i < TRIES; i++) {
    for (size_t k = 0; k < size; k++)
      theta[k] = NAN;
    int answer = draw_once(random, theta, density, u);
    if (answer == 0 && (value || u->program->watched)) {
      double ignored;
      answer = value_of(u, 0, theta, value ? value : &ignored);
    }
    if (answer <= 0)
      return answer;
    if (tm_is_rounded(u->program, theta)) {
      fill_rest(theta, size);
      return 0;
    }
    *rejected_some = true;
  }
  return 1;
}

static int prior_draw(tempera_random *random, double *theta, void *user_) {
  double density;
  bool rejected_some;
  return tm_loaded_draw(random, theta, &density, NULL, &rejected_some, user_);
}

static int outputs(const double *theta, tempera_random *random, double *out,
                   size_t room, tm_loaded_chain *u) {
  tm_binding binding = {.values = out, .value_room = room};
  tm_tape_reset(&u->tape);
  u->tape.random = random;
  u->unexplained = false;
  u->tape.showing = random && first_time(&u->program->generated);
  if (setjmp(u->guard.place)) {
    u->tape.showing = 0;
    return answer_of(&u->guard);
  }
  u->program->entry->quantities(&u->tape, u->program->instance, theta,
                                &binding);
  u->tape.showing = 0;
  return 0;
}

static int quantities(const double *theta, tempera_random *random, double *out,
                      void *user_) {
  tm_loaded_chain *u = user_;
  return outputs(theta, random, out, u->program->quantities, u);
}

int tm_load_transform(const double *theta, double *out, void *user_) {
  tm_loaded_chain *u = user_;
  return outputs(theta, NULL, out, u->program->transformed, u);
}

const size_t *tm_load_order(const tempera_model *model) {
  return ((const tm_loaded_chain *)model->spec.user)->program->order;
}

const void *tm_load_plans(const tempera_model *model) {
  return ((const tm_loaded_chain *)model->spec.user)->program->tape.rows;
}

size_t tm_load_transformed(const tempera_model *model) {
  return ((const tm_loaded_chain *)model->spec.user)->program->transformed;
}

/* Evaluate again, statement by statement. */
static void explain(tm_loaded_chain *u) {
  char before[sizeof u->guard.message];
  bool failed = u->guard.outcome == TM_FAILED;
  u->unexplained = false;
  snprintf(before, sizeof before, "%s", failed ? u->guard.message : "");
  u->guard.message[0] = '\0';
  tm_tape_reset(&u->tape);
  if (setjmp(u->guard.place))
    return; /* with the message */
  u->program->entry->explain(&u->tape, u->program->instance, u->rejected);
  memcpy(u->guard.message, before, sizeof before);
}

static const char *reason(const void *user_) {
  tm_loaded_chain *u =
      (tm_loaded_chain *)(uintptr_t)user_; /* it is ours to change */
  if (u->unexplained)
    explain(u);
  return u->guard.message;
}

/* ---- predictions -------------------------------------------------------- */

static int points(const double *theta, tm_points_wanted *wanted, void *user_) {
  tm_loaded_chain *u = user_;
  tm_tape *t = &u->tape;
  tm_tape_reset(t);
  t->points = wanted->values;
  t->point_first = (long)wanted->first;
  t->point_room = wanted->values ? (long)wanted->room : 0;
  t->point_count = 0;
  t->pointed = 0;
  if (setjmp(u->guard.place))
    return left_early(u, theta);
  u->program->entry->points(t, u->program->instance, theta);
  wanted->count = (size_t)t->point_count;
  wanted->sum = t->pointed;
  wanted->extra = t->log_density;
  return 0;
}

static int replicate(const double *theta, tempera_random *random, bool numbers,
                     tm_replicas *replicas, double *log_density, void *user_) {
  tm_loaded_chain *u = user_;
  tm_tape *t = &u->tape;
  tm_tape_reset(t);
  t->random = random;
  t->replicating = numbers ? 2 : 1;
  t->point_count = 0;
  replicas->count = replicas->size = 0;
  u->unexplained = false;
  int answer = 0;
  if (setjmp(u->guard.place))
    answer = answer_of(&u->guard);
  else
    u->program->entry->replicate(t, u->program->instance, theta, replicas);
  t->replicating = 0;
  t->random = NULL;
  *log_density = t->log_density;
  return answer;
}

static double shortfall(const double *theta, void *user_) {
  tm_loaded_chain *u = user_;
  tm_tape_reset(&u->tape);
  if (setjmp(u->guard.place))
    return INFINITY;
  u->program->entry->shortfall(&u->tape, u->program->instance, theta);
  return u->tape.shortfall >= 0 ? u->tape.shortfall : INFINITY;
}

/* Data are read, and all that a gradient needs is written. */
double tm_loaded_work(const double *theta, void *user_) {
  tm_loaded_chain *u = user_;
  double value, *gradient = tm_heap_alloc(u->program->size + 1, sizeof(double));
  size_t bytes = tm_tape_used(&u->program->tape);
  for (int part = 0; part < 2 && gradient; part++) {
    (void)tm_loaded_gradient(u, part, theta, &value, gradient);
    bytes += tm_tape_used(&u->tape);
  }
  double numbers = (double)bytes / sizeof(double);
  bool failed = !gradient;
  tm_heap_free(gradient);
  return failed ? INFINITY : numbers;
}

/* ---- loading ------------------------------------------------------------ */

/* A message about the variable just read has its place in the data. */
static void find_place(const tm_binding *binding, const char *message,
                       int *line, int *column) {
  char start[300];
  snprintf(start, sizeof start, "variable %s",
           binding->reading ? binding->reading : "?");
  *line = *column = 0;
  if (binding->reading && !strncmp(message, start, strlen(start)))
    tm_data_place(binding->data, binding->reading, line, column);
}

/* Read data, compute transformed data, lay parameters out. */
static tempera_status bind(tm_loaded *s, uint64_t seed, tm_binding *binding,
                           tempera_error *error) {
  tempera_random random = tm_random(seed, 0, TM_PURPOSE_START);
  tm_tape_start(&s->tape, &s->guard);
  s->tape.random = &random;
  s->instance = tm_heap_alloc(1, s->entry->instance_size);
  if (!s->instance)
    return tm_fail_memory(error);
  if (setjmp(s->guard.place)) {
    int line, column;
    s->tape.random = NULL;
    s->pool = binding->pool;
    find_place(binding, s->guard.message, &line, &column);
    return tm_fail_at(error, TEMPERA_ERROR_INPUT, line, column, "%s",
                      s->guard.message);
  }
  s->tape.showing = 1;
  s->entry->data(&s->tape, s->instance, binding);
  s->entry->parameters(&s->tape, s->instance, binding);
  s->tape.random = NULL;
  s->pool = binding->pool;
  s->size = binding->theta_count;
  s->order = tm_take(&s->tape, (binding->order_count + 1) * sizeof *s->order);
  if (binding->order_count)
    memcpy(s->order, binding->order, binding->order_count * sizeof *s->order);
  s->quantities = binding->name_count;
  s->transformed = binding->transformed_count;
  return TEMPERA_OK;
}

/* ---- single integers ---------------------------------------------------- */

/* Terms of one integer that cost more than this share of an evaluation are not
 * worth it: a move needs them twice. */
static const double MOST_SHARE = 0.4;

static bool *integers_of(const tm_binding *b, size_t size) {
  bool *integer = TM_NEW(b->arena, bool, size + 1);
  for (size_t i = 0, at = 0; integer && i < b->parameter_count; i++) {
    size_t count = b->parameters[i].size ? b->parameters[i].size : 1;
    for (size_t k = 0; k < count && at < size; k++)
      integer[at++] = b->parameters[i].kind == TEMPERA_INTEGER;
  }
  return integer;
}

static bool note_bounds(tm_loaded *s, const tm_binding *b) {
  s->bounds = tm_heap_alloc(2 * s->size + 1, sizeof(double));
  for (size_t i = 0, at = 0; s->bounds && i < b->parameter_count; i++) {
    const tempera_parameter *p = &b->parameters[i];
    bool real = p->kind != TEMPERA_INTEGER;
    for (size_t k = p->size ? p->size : 1; k > 0 && at < s->size; k--, at++) {
      s->bounds[at] = real ? p->lower : NAN;
      s->bounds[at + s->size] = real ? p->upper : NAN;
    }
  }
  return s->bounds;
}

/* Which pieces hold which integer; reading data out of bounds, behind a
 * condition that keeps the program from it, ends it without a list. */
static double find_sites(tm_loaded *s, const tm_binding *b) {
  const tm_entry *e = s->entry;
  bool *integer = e->reads[0] ? integers_of(b, s->size) : NULL;
  s->sites = integer ? tm_sites_new(s->size) : NULL;
  if (!s->sites || setjmp(s->guard.place))
    return INFINITY;
  for (int part = 0; part < 2; part++)
    e->reads[part](&s->tape, s->instance, s->sites);
  return tm_sites_finish(s->sites, integer);
}

static tempera_status make_model(tm_loaded *s, tm_binding *binding,
                                 tempera_model **model, tempera_error *error) {
  tm_loaded_chain *u = user_new(s);
  double *theta = TM_NEW(binding->arena, double, s->size + 1);
  if (!u || !theta || !note_bounds(s, binding)) {
    release(u);
    return tm_fail_memory(error);
  }
  bool improper = binding->improper;
  tm_prior_law law = improper ? (tm_prior_law){0} : tm_prior_law_of(u, theta);
  double share = find_sites(s, binding);
  bool terms = share < MOST_SHARE;
  tempera_model_spec spec = {.name = s->entry->name,
                             .parameters = binding->parameters,
                             .parameter_count = binding->parameter_count,
                             .log_likelihood = log_likelihood,
                             .log_prior = log_prior,
                             .log_likelihood_gradient = log_likelihood_gradient,
                             .log_prior_gradient = log_prior_gradient,
                             .prior_draw = law.drawn ? prior_draw : NULL,
                             .prior_normalised = law.known,
                             .prior_log_integral = law.log_integral,
                             .prior_improper = improper,
                             .quantity_count = binding->name_count,
                             .quantity_names = binding->names,
                             .quantities =
                                 binding->name_count ? quantities : NULL,
                             .user = u,
                             .clone = clone,
                             .release = release,
                             .reason = reason,
                             .integer_terms = terms ? integer_terms : NULL,
                             .integer_terms_cost = terms ? share : 0};
  tempera_status status = tempera_model_create(&spec, model, error);
  if (status != TEMPERA_OK)
    release(u);
  else
    tm_look_closer(s, binding, *model);
  if (status == TEMPERA_OK && s->entry->shortfall)
    (*model)->shortfall = shortfall;
  s->predictive =
      (tm_predictive_calls){.points = points,
                            .replicate = s->entry->replicate ? replicate : NULL,
                            .unreplicated = s->entry->unreplicated};
  if (status == TEMPERA_OK && s->entry->likelihood)
    (*model)->predictive = &s->predictive;
  if (status == TEMPERA_OK)
    (*model)->work = tm_loaded_work;
  return status;
}

tempera_status tm_load_program(const tm_load *load, tempera_model **model,
                               tempera_error *error) {
  tm_binding binding = {.data = load->data, .arena = tm_arena_create()};
  tm_loaded *s = tm_heap_alloc(1, sizeof *s);
  if (!s || !binding.arena) {
    tm_heap_free(s);
    tm_arena_free(binding.arena);
    if (load->library)
      dlclose(load->library);
    return tm_fail_memory(error);
  }
  s->holders = 1;
  s->library = load->library;
  s->entry = load->entry;
  s->guard.printer = load->printer;
  tempera_status status =
      s->entry->version == TM_ENTRY_VERSION
          ? TEMPERA_OK
          : tm_fail(error, TEMPERA_ERROR_IO,
                    "this program was compiled by another version of Tempera; "
                    "compile it again");
  if (status == TEMPERA_OK) {
    s->entry->start(&tm_the_runtime);
    status = bind(s, load->seed, &binding, error);
  }
  if (load->refused)
    *load->refused = binding.refused;
  if (status == TEMPERA_OK && !binding.refused)
    status = make_model(s, &binding, model, error);
  release_shared(s);
  tm_arena_free(binding.arena);
  return status;
}
