/* absorption.c - see absorption.h. */
#include "run/absorption.h"

#include "groups/pair.h"
#include "model/batch.h"
#include "parallel/ranks.h"

#include <math.h>

enum {
  STARTS = 60,    /* states annealed from the prior, and ... */
  FAR = 60,       /* ... draws far from q */
  TRIES = 1000,   /* prior draws until one has positive likelihood */
  LEAST = 80,     /* sweeps on the way up, at least two at each knot of tau, */
  LAST = 20,      /* and at tau = 1 */
  PATIENCE = 500, /* sweeps of the leg to come down in, */
  LONGER = 400,   /* and at tau = 1 before another try, */
  LOOKS = 2,      /* of which there are so many at least, and more ... */
  BACK = 4        /* times LEAST sweeps on the way back to the prior */
};
static const double SHARE = 0.2;      /* ... for so many of a run's sweeps */
static const double MOST_EACH = 0.25; /* of them, for one far draw */
static const double UNSURE = 1000;
static const double OUT = -20; /* tau l of a draw that has no place at tau */
static const double HORIZON = 10;

/* One chain's share. */
typedef struct climber {
  tempera_sampler *sampler;
  tm_pair *pair;
  size_t chain;
  tm_arena *arena;
  tm_point point, other;
  tm_reference_walker walker; /* of the chain's leg, with its own points */
  uint64_t due;               /* starts to try, a bit for each */
  double spare;               /* sweeps for more tries */
  tm_absorption found;
  tempera_status status;
  tempera_error error;
} climber;

static tempera_status prepare(climber *c, tempera_error *error) {
  const tempera_model *model = c->sampler->model;
  const tempera_model *leg = tm_reference_model(c->sampler->leg->reference);
  c->arena = tm_arena_create();
  if (!c->arena)
    return tm_fail_memory(error);
  c->walker = *c->pair->reference;
  TM_TRY(tm_point_create(model, c->arena, &c->point, error));
  TM_TRY(tm_point_create(model, c->arena, &c->other, error));
  TM_TRY(tm_point_create(leg, c->arena, &c->walker.point, error));
  TM_TRY(tm_point_create(leg, c->arena, &c->walker.spare, error));
  return tm_reference_walker_set_prior(&c->walker, c->arena,
                                       &c->sampler->leg->prior, error);
}

static bool usable(const tm_point *point) {
  return isfinite(point->log_likelihood) && isfinite(point->log_prior);
}

/* Sweeps at each knot of tau on the way up. */
static size_t stay(const tm_draws_prior *prior) {
  return 2 > LEAST / prior->knots ? 2 : LEAST / prior->knots;
}

/* A draw of a diffuse prior (l of -1e90) may lie where next to nothing of the
 * law at the first tau is, and no walk leads from there: prior draws are
 * proposed until one has a place. */
static void enter_path(climber *c, tempera_random *random, double tau) {
  tm_group *group = &c->pair->group;
  for (int k = 0; k < TRIES && tau * c->point.log_likelihood < OUT; k++) {
    tm_prior_draw(&group->evaluator, random, &c->other);
    double rise = c->other.log_likelihood - c->point.log_likelihood;
    if (usable(&c->other) && log(tm_random_uniform(random)) < tau * rise)
      tm_point_swap(&c->point, &c->other);
  }
}

/* Up the prior leg, by the knots of its tau prior: they are even in its
 * barrier. */
static bool anneal(climber *c, tempera_random *random) {
  tm_group *group = &c->pair->group;
  const tm_draws_prior *knots = &c->sampler->draws->prior;
  size_t each = stay(knots);
  size_t tries = 0;
  do
    tm_prior_draw(&group->evaluator, random, &c->point);
  while (!usable(&c->point) && ++tries < TRIES);
  if (!usable(&c->point))
    return false;
  if (knots->knots > 1)
    enter_path(c, random, knots->tau[1]);
  for (size_t k = 0; k < knots->knots * each + LAST; k++) {
    size_t knot = k / each < knots->knots ? k / each : knots->knots - 1;
    if (knots->tau[knot] > 0) /* at 0 it would go where L = 0, and stay */
      tm_kernel_sweep(group->kernel, &group->evaluator, &c->point,
                      knots->tau[knot], random);
  }
  return usable(&c->point);
}

/* Down the reference leg. */
static bool descend(climber *c) {
  tm_reference_walker *w = &c->walker;
  tm_row row = {0};
  w->tau = 1;
  tm_reference_walker_settle(w, &c->point);
  for (size_t k = 0; k < PATIENCE && w->tau > 0; k++)
    tm_reference_walker_mutate(w, &row);
  return w->tau == 0;
}

/* A state that has not come down may only be slow: it gets more sweeps at the
 * posterior. (No optimiser carries it: a posterior with a funnel has no top.)
 * The mean of its log likelihood. */
static double linger(climber *c, tempera_random *random) {
  tm_group *group = &c->pair->group;
  double sum = 0;
  for (size_t k = 0; k < LONGER; k++) {
    tm_kernel_sweep(group->kernel, &group->evaluator, &c->point, 1, random);
    sum += c->point.log_likelihood;
  }
  return sum / LONGER;
}

/* True: it is down; else how much its log likelihood rose with the last try. */
static bool comes_down(climber *c, tempera_random *random, double *rise) {
  double mean[2] = {NAN, NAN};
  bool down = descend(c);
  for (size_t k = 0; !down && (k < LOOKS || c->spare > 0); k++) {
    mean[0] = mean[1];
    mean[1] = linger(c, random);
    down = descend(c);
    if (k > 0)
      c->spare -= LONGER + PATIENCE;
  }
  double more = mean[1] - mean[0];
  *rise = isnan(more) ? INFINITY : fmax(more, 0);
  return down;
}

/* Down the prior leg, and the work on the way: sums of l over steps of tau. */
static double work_to_prior(climber *c, tempera_random *random) {
  tm_group *group = &c->pair->group;
  const tm_draws_prior *knots = &c->sampler->draws->prior;
  double work = 0, tau = 1;
  for (size_t k = knots->knots; k-- > 0 && tau > 0;) {
    work += (tau - knots->tau[k]) * c->point.log_likelihood;
    tau = knots->tau[k];
    for (size_t i = 0; i < BACK * stay(knots) && tau > 0; i++)
      tm_kernel_sweep(group->kernel, &group->evaluator, &c->point, tau, random);
  }
  return tau > 0 ? work + tau * c->point.log_likelihood : work;
}

/* What the basin of a state that does not come down holds at the most: see
 * absorption.h. */
static double most_mass(climber *c, tempera_random *random, double rise) {
  double bound = work_to_prior(c, random) + log(UNSURE) + HORIZON * rise;
  return isnan(bound) ? INFINITY : bound;
}

static tempera_status failure(const climber *c, tempera_error *error) {
  TM_TRY(tm_evaluator_check(&c->pair->group.evaluator, error));
  return tm_evaluator_check(&c->walker.chain.evaluator, error);
}

/* Streams of their own for each state. */
static tempera_random begin_state(climber *c, size_t number, size_t all) {
  uint64_t seed = c->sampler->options.seed;
  uint32_t own = (uint32_t)number, step = (uint32_t)all;
  c->walker.stream = tm_random(seed, own + step, TM_PURPOSE_ABSORPTION);
  c->walker.tau_stream = tm_random(seed, own + 2 * step, TM_PURPOSE_ABSORPTION);
  return tm_random(seed, own, TM_PURPOSE_ABSORPTION);
}

static uint64_t bit(size_t number) { return (uint64_t)1 << number; }

static tempera_status try_start(climber *c, size_t number,
                                tempera_error *error) {
  tempera_random random = begin_state(c, number, STARTS);
  double rise;
  bool up = anneal(c, &random);
  c->found.starts++;
  if (up && comes_down(c, &random, &rise)) {
    c->found.absorbed++;
    return failure(c, error);
  }
  double mass = up ? most_mass(c, &random, rise) : INFINITY;
  c->found.lost |= bit(number);
  c->found.lost_mass = fmax(c->found.lost_mass, mass);
  return failure(c, error);
}

/* Starts that are tried again share the sweeps evenly: the first that is slow
 * must not have them all. */
static tempera_status try_starts(climber *c, tempera_error *error) {
  size_t chains = c->sampler->options.chains, count = 0;
  for (size_t i = c->chain; i < STARTS; i += chains)
    count += (c->due & bit(i)) != 0;
  bool again = c->sampler->absorption.starts > 0;
  double left = c->spare;
  for (size_t i = c->chain; i < STARTS; i += chains) {
    if (!(c->due & bit(i)))
      continue;
    double given = again ? left / (double)count-- : left;
    c->spare = given;
    TM_TRY(try_start(c, i, error));
    left -= given - c->spare;
  }
  return TEMPERA_OK;
}

/* ---- draws far from q ---------------------------------------------------- */

/* The one farthest from q among the draws of a stretch. */
static size_t farthest(const climber *c, size_t from, size_t to) {
  const double *ratio = tempera_draws_log_likelihood(c->sampler->reference,
                                                     TEMPERA_TARGET, c->chain);
  size_t best = from;
  for (size_t i = from + 1; i < to; i++)
    if (ratio[i] > ratio[best])
      best = i;
  return best;
}

static tempera_status try_far(climber *c, size_t number, size_t stretch,
                              size_t stretches, tempera_error *error) {
  const tempera_sampler *s = c->sampler;
  size_t rows = s->draws->count;
  size_t row =
      farthest(c, stretch * rows / stretches, (stretch + 1) * rows / stretches);
  tempera_random random = begin_state(c, 3 * STARTS + number, FAR);
  double rise;
  for (size_t j = 0; j < s->model->size; j++)
    c->point.theta[j] =
        tempera_draws_values(s->draws, TEMPERA_TARGET, c->chain, j)[row];
  tm_evaluate_natural(&c->pair->group.evaluator, &c->point);
  c->found.far++;
  bool there = usable(&c->point);
  if (there && comes_down(c, &random, &rise)) {
    c->found.far_absorbed++;
    return failure(c, error);
  }
  double mass = there ? most_mass(c, &random, rise) : INFINITY;
  c->found.far_mass = fmax(c->found.far_mass, mass);
  return failure(c, error);
}

static tempera_status try_all_far(climber *c, tempera_error *error) {
  const tempera_sampler *s = c->sampler;
  size_t chains = s->options.chains, stretches = (FAR + chains - 1) / chains;
  if (s->draws->bare[TEMPERA_TARGET] || s->draws->count < 2 * stretches)
    return TEMPERA_OK;
  double all = SHARE * (double)tm_sweeps_done(s), left = all;
  for (size_t i = 0; i < stretches; i++) {
    double given = fmin(left, all * MOST_EACH);
    c->spare = given;
    TM_TRY(try_far(c, c->chain + i * chains, i, stretches, error));
    left -= given - c->spare;
  }
  return TEMPERA_OK;
}

static void run_chain(size_t chain, void *context) {
  climber *c = (climber *)context + chain;
  c->status = prepare(c, &c->error);
  if (c->status == TEMPERA_OK)
    c->status = try_starts(c, &c->error);
  if (c->status == TEMPERA_OK)
    c->status = try_all_far(c, &c->error);
  tm_arena_free(c->arena);
}

static tempera_status collect(tempera_sampler *s, const climber *climbers,
                              uint64_t due, tempera_error *error) {
  tm_absorption *a = &s->absorption;
  bool first = !a->starts;
  a->far = a->far_absorbed = 0;
  a->far_mass = -INFINITY;
  a->rows = s->draws->count;
  if (due) {
    a->tried = tm_sweeps_done(s);
    a->lost_mass = -INFINITY;
    a->lost = 0;
  }
  for (size_t c = 0; c < s->options.chains; c++) {
    const tm_absorption *found = &climbers[c].found;
    a->starts += first ? found->starts : 0;
    a->absorbed += found->absorbed;
    a->lost |= found->lost;
    a->far += found->far;
    a->far_absorbed += found->far_absorbed;
    a->far_mass = fmax(a->far_mass, found->far_mass);
    a->lost_mass = fmax(a->lost_mass, found->lost_mass);
    if (climbers[c].status == TEMPERA_OK)
      continue;
    if (error)
      *error = climbers[c].error;
    return climbers[c].status;
  }
  return TEMPERA_OK;
}

/* All at first; those that stayed away again when the run, and with it what
 * they may take, is half as long again: at every check, as these come when what
 * was kept has doubled. */
static uint64_t due_now(const tempera_sampler *s) {
  const tm_absorption *a = &s->absorption;
  if (!a->starts)
    return bit(STARTS) - 1;
  return 2 * tm_sweeps_done(s) >= 3 * a->tried ? a->lost : 0;
}

static tempera_status measure(tempera_sampler *s, climber *climbers,
                              tempera_error *error) {
  uint64_t due = due_now(s);
  double spare = SHARE * (double)tm_sweeps_done(s);
  for (size_t c = 0; c < s->options.chains; c++)
    climbers[c] =
        (climber){.sampler = s,
                  .pair = (tm_pair *)s->groups[c],
                  .chain = c,
                  .due = due,
                  .spare = spare,
                  .found = {.lost_mass = -INFINITY, .far_mass = -INFINITY}};
  tm_shared_for(s->options.chains,
                tm_model_threads(s->model, s->options.threads), run_chain,
                climbers);
  return collect(s, climbers, due, error);
}

/* A run that was asked to be short stays so: no more sweeps on the way up than
 * it has made itself. */
static bool affordable(const tempera_sampler *s) {
  const tm_draws_prior *knots = &s->draws->prior;
  size_t sweeps = STARTS * (knots->knots * stay(knots) + LAST);
  return sweeps <= tm_sweeps_done(s) * s->options.chains;
}

tempera_status tm_absorption_measure(tempera_sampler *sampler,
                                     tempera_error *error) {
  tempera_sampler *s = sampler;
  if (s->absorption.rows == s->draws->count || !s->leg || !s->leg->walking ||
      !s->model->spec.prior_draw || !s->draws->prior.knots ||
      s->options.tau_min > 0 || !affordable(s))
    return TEMPERA_OK;
  climber *climbers = tm_heap_alloc(s->options.chains, sizeof *climbers);
  if (!climbers)
    return tm_fail_memory(error);
  tempera_status status = measure(s, climbers, error);
  tm_heap_free(climbers);
  return status;
}
