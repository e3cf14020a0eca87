/* annealing.c - see annealing.h.
 *
 * Particles drawn from the prior go up in tau by steps at which half of them
 * count (Kish's number of the weights e^{(tau' - tau) l}), are resampled by
 * these weights and moved. Between two levels log z is log mean e^{(t - tau) l}
 * over the lower one's particles. Chains are independent and may run at once;
 * their curves are averaged on the scale of z. */
#include "run/annealing.h"

#include "model/batch.h"
#include "parallel/ranks.h"

#include <math.h>
#include <string.h>

enum {
  PARTICLES = 256,    /* over all chains, ... */
  FEWEST = 32,        /* ... and in each */
  SWEEPS = 8,         /* of each particle at each level: sweeps are short */
  BUDGET = 50000,     /* evaluations; beyond them the least of all this */
  FIRST_SWEEPS = 100, /* at the lowest tau, from starts that are no draws */
  MOST_LEVELS = 500,
  TRIES = 100, /* of a prior draw that the model itself rejects */
  WIDE = 4096  /* prior draws of each chain where the prior is diffuse */
};
/* Half of the particles are lost before this tau: a diffuse prior, as of scales
 * over hundreds of powers of ten. */
static const double DIFFUSE = 1e-10;

typedef struct swarm {
  tempera_sampler *sampler;
  tm_group *group;
  tm_arena *arena;
  tempera_random random;
  uint64_t before; /* evaluations that were not for this */
  size_t count;
  tm_point *points, *others;
  double *weight;
  double tau, log_z;
  const double *grid;
  size_t grid_count, reached; /* taus of the grid that are done */
  double *curve;
} swarm;

static uint64_t evaluations(const tm_group *group) {
  const tm_evaluator *evaluator = &group->evaluator;
  return evaluator->likelihood_evaluations + evaluator->gradient_evaluations;
}

static bool failed(const swarm *s) {
  return s->group->evaluator.status != TEMPERA_OK ||
         tm_sampler_stop_due(s->sampler);
}

static void sweep(swarm *s, size_t sweeps) {
  for (size_t k = 0; k < sweeps; k++)
    for (size_t i = 0; i < s->count && !failed(s); i++)
      (void)tm_kernel_sweep(s->group->kernel, &s->group->evaluator,
                            &s->points[i], s->tau, &s->random);
  tm_kernel_end_round(s->group->kernel);
}

/* From the prior; or from the starts, moved for a while at the lowest tau. */
static void begin(swarm *s) {
  const tempera_sampler *sampler = s->sampler;
  const tempera_model *model = sampler->model;
  bool drawn = model->spec.prior_draw && s->tau == 0;
  for (size_t i = 0; i < s->count && !failed(s); i++) {
    tm_point *point = &s->points[i];
    point->log_prior = -INFINITY;
    for (int k = 0; drawn && k < TRIES && point->log_prior == -INFINITY; k++)
      tm_prior_draw(&s->group->evaluator, &s->random, point);
    if (point->log_prior > -INFINITY)
      continue;
    size_t start = (s->group->chain + i) % sampler->starts.chain_count;
    memcpy(point->theta, sampler->starts.chains + start * model->size,
           model->size * sizeof(double));
    tm_evaluate_natural(&s->group->evaluator, point);
  }
  if (!drawn)
    sweep(s, FIRST_SWEEPS);
}

/* Weights e^{(tau - s->tau) l} over e^shift, which is returned; particles of
 * zero likelihood have none. */
static double weigh(swarm *s, double tau) {
  double most = -INFINITY;
  for (size_t i = 0; i < s->count; i++)
    most = fmax(most, s->points[i].log_likelihood);
  for (size_t i = 0; i < s->count; i++) {
    double l = s->points[i].log_likelihood;
    s->weight[i] = l > -INFINITY ? exp((tau - s->tau) * (l - most)) : 0;
  }
  return (tau - s->tau) * most;
}

static double effective(const swarm *s) {
  double sum = 0, squares = 0;
  for (size_t i = 0; i < s->count; i++) {
    sum += s->weight[i];
    squares += s->weight[i] * s->weight[i];
  }
  return squares > 0 ? sum * sum / squares : 0;
}

/* The tau at which half of the particles that can go up count, at most 1. */
static double next_tau(swarm *s) {
  (void)weigh(s, s->tau);
  double half = effective(s) / 2, low = log(1e-15), high = log(1 - s->tau);
  (void)weigh(s, 1);
  if (effective(s) >= half)
    return 1;
  for (int k = 0; k < 60; k++) {
    double middle = (low + high) / 2;
    (void)weigh(s, s->tau + exp(middle));
    *(effective(s) >= half ? &low : &high) = middle;
  }
  return s->tau + exp(low);
}

static double log_z_at(swarm *s, double tau) {
  double shift = weigh(s, tau), sum = 0;
  for (size_t i = 0; i < s->count; i++)
    sum += s->weight[i];
  return s->log_z + shift + log(sum / (double)s->count);
}

/* Systematic resampling by the weights, to this many. */
static void resample(swarm *s, size_t count) {
  double total = 0, passed = 0;
  size_t from = 0;
  for (size_t i = 0; i < s->count; i++)
    total += s->weight[i];
  double offset = tm_random_uniform(&s->random);
  for (size_t i = 0; i < count; i++) {
    double aim = total * ((double)i + offset) / (double)count;
    while (from + 1 < s->count && passed + s->weight[from] <= aim)
      passed += s->weight[from++];
    tm_point_copy(s->sampler->model, &s->points[from], &s->others[i]);
  }
  tm_point *held = s->points;
  s->points = s->others;
  s->others = held;
  s->count = count;
}

/* What is left of the budget, a share; in many dimensions there are many
 * levels, which then lie so close that little has to move. */
static double budget_left(const swarm *s) {
  double budget = (double)BUDGET / (double)s->sampler->options.chains;
  return 1 - (double)(evaluations(s->group) - s->before) / budget;
}

static void climb(swarm *s) {
  double tau = next_tau(s);
  for (; s->reached < s->grid_count && s->grid[s->reached] <= tau; s->reached++)
    s->curve[s->reached] = log_z_at(s, s->grid[s->reached]);
  s->log_z = log_z_at(s, tau); /* leaves the weights for tau */
  double left = budget_left(s), sweeps = SWEEPS * left;
  resample(s, left < 0 && s->count >= 2 * FEWEST ? s->count / 2 : s->count);
  s->tau = tau;
  sweep(s, sweeps > 1 ? (size_t)sweeps : 1);
}

static bool usable(const swarm *s) {
  for (size_t i = 0; i < s->count; i++)
    if (s->points[i].log_likelihood > -INFINITY)
      return true;
  return false;
}

/* ---- diffuse priors -------------------------------------------------------
 *
 * Where log l is as wide as numbers are, all but a few of the particles end at
 * once, and steps over the few that are left say little of log z. Independent
 * draws are many for the same price, and exact: the first step is theirs. */

typedef struct crowd {
  double *l, *theta, *weight;
} crowd;

/* Weights e^{tau l}, and their effective number; *log_mean: of the mean. */
static double weigh_crowd(const crowd *c, double tau, double *log_mean) {
  double most = -INFINITY, sum = 0, squares = 0;
  for (size_t i = 0; i < WIDE; i++)
    most = fmax(most, tau * c->l[i]);
  for (size_t i = 0; i < WIDE; i++) {
    double w = c->l[i] > -INFINITY ? exp(tau * c->l[i] - most) : 0;
    c->weight[i] = w;
    sum += w;
    squares += w * w;
  }
  *log_mean = most + log(sum / WIDE);
  return squares > 0 ? sum * sum / squares : 0;
}

static void draw_crowd(swarm *s, const crowd *c) {
  size_t size = s->sampler->model->size;
  tm_point *point = &s->others[0];
  for (size_t i = 0; i < WIDE && !failed(s); i++) {
    tm_prior_draw(&s->group->evaluator, &s->random, point);
    bool usable = isfinite(point->log_prior);
    c->l[i] = usable ? point->log_likelihood : -INFINITY;
    memcpy(c->theta + i * size, point->theta, size * sizeof(double));
  }
}

/* As many particles by the weights. */
static void settle_crowd(swarm *s, const crowd *c) {
  size_t size = s->sampler->model->size, from = 0;
  double total = 0, passed = 0, offset = tm_random_uniform(&s->random);
  for (size_t i = 0; i < WIDE; i++)
    total += c->weight[i];
  for (size_t i = 0; i < s->count && !failed(s); i++) {
    double aim = total * ((double)i + offset) / (double)s->count;
    while (from + 1 < WIDE && passed + c->weight[from] <= aim)
      passed += c->weight[from++];
    memcpy(s->points[i].theta, c->theta + from * size, size * sizeof(double));
    tm_evaluate_natural(&s->group->evaluator, &s->points[i]);
  }
}

/* To the tau at which as many of the crowd count as there are particles. */
static void climb_widely(swarm *s, const crowd *c) {
  double low = log(1e-300), high = 0, log_mean;
  draw_crowd(s, c);
  for (int k = 0; k < 60; k++) {
    double middle = (low + high) / 2;
    bool enough = weigh_crowd(c, exp(middle), &log_mean) >= (double)s->count;
    *(enough ? &low : &high) = middle;
  }
  double tau = exp(low);
  for (; s->reached < s->grid_count && s->grid[s->reached] <= tau; s->reached++)
    (void)weigh_crowd(c, s->grid[s->reached], &s->curve[s->reached]);
  (void)weigh_crowd(c, tau, &s->log_z);
  settle_crowd(s, c);
  s->tau = tau;
  sweep(s, SWEEPS);
}

static bool is_diffuse(swarm *s) {
  if (!s->sampler->model->spec.prior_draw || s->tau > 0)
    return false;
  (void)weigh(s, 0);
  double all = effective(s);
  (void)weigh(s, DIFFUSE);
  return effective(s) < all / 2;
}

/* Without memory for it, as ever. */
static void begin_widely(swarm *s) {
  size_t size = s->sampler->model->size;
  double *all = tm_heap_alloc(WIDE * (size + 2), sizeof *all);
  crowd c = {all, all + 2 * WIDE, all + WIDE};
  if (all)
    climb_widely(s, &c);
  tm_heap_free(all);
}

static void run_swarm(size_t chain, void *context) {
  swarm *s = (swarm *)context + chain;
  begin(s);
  if (is_diffuse(s))
    begin_widely(s);
  for (int k = 0; k < MOST_LEVELS && s->tau < 1 && !failed(s) && usable(s); k++)
    climb(s);
}

/* ------------------------------------------------------------------------
 * All chains
 */

static tempera_status create_swarm(tempera_sampler *sampler, size_t chain,
                                   const double *tau, size_t count,
                                   tm_arena *arena, swarm *s,
                                   tempera_error *error) {
  const tempera_options *o = &sampler->options;
  size_t n = (PARTICLES + o->chains - 1) / o->chains;
  *s = (swarm){.sampler = sampler,
               .group = sampler->groups[chain],
               .arena = arena,
               .before = evaluations(sampler->groups[chain]),
               .random = tm_random(o->seed, (uint32_t)(chain + o->chain_offset),
                                   TM_PURPOSE_ANNEAL),
               .count = n < FEWEST ? FEWEST : n,
               .tau = tau[0],
               .grid = tau,
               .grid_count = count};
  s->points = TM_NEW(arena, tm_point, s->count);
  s->others = TM_NEW(arena, tm_point, s->count);
  s->weight = TM_NEW(arena, double, s->count);
  s->curve = TM_NEW(arena, double, count);
  if (!s->points || !s->others || !s->weight || !s->curve)
    return tm_fail_memory(error);
  for (size_t i = 0; i < s->count; i++) {
    TM_TRY(tm_point_create(sampler->model, arena, &s->points[i], error));
    TM_TRY(tm_point_create(sampler->model, arena, &s->others[i], error));
  }
  return TEMPERA_OK;
}

/* log of the mean over chains of z(tau_k), relative to tau_0. */
static void average(const swarm *swarms, size_t chains, size_t count,
                    double *log_z) {
  for (size_t k = 0; k < count; k++) {
    double most = -INFINITY, sum = 0;
    for (size_t c = 0; c < chains; c++)
      most = fmax(most, swarms[c].curve[k]);
    for (size_t c = 0; c < chains; c++)
      sum += exp(swarms[c].curve[k] - most);
    log_z[k] = most + log(sum / (double)chains);
  }
  for (size_t k = count; k-- > 0;)
    log_z[k] -= log_z[0];
}

static tempera_status collect(const swarm *swarms, size_t chains, size_t count,
                              double *log_z, double *ends, bool *reached,
                              tempera_error *error) {
  size_t size = swarms->sampler->model->size;
  *reached = true;
  for (size_t c = 0; c < chains; c++) {
    TM_TRY(tm_evaluator_check(&swarms[c].group->evaluator, error));
    *reached = *reached && swarms[c].tau >= 1;
    memcpy(ends + c * size, swarms[c].points[0].theta, size * sizeof(double));
  }
  if (*reached)
    average(swarms, chains, count, log_z);
  return TEMPERA_OK;
}

tempera_status tm_anneal(tempera_sampler *sampler, const double *tau,
                         size_t count, double *log_z, double *ends,
                         bool *reached, tempera_error *error) {
  size_t chains = sampler->options.chains;
  tm_arena *arena = tm_arena_create();
  swarm *swarms = arena ? TM_NEW(arena, swarm, chains) : NULL;
  tempera_status status = swarms ? TEMPERA_OK : tm_fail_memory(error);
  for (size_t c = 0; c < chains && status == TEMPERA_OK; c++)
    status = create_swarm(sampler, c, tau, count, arena, &swarms[c], error);
  if (status == TEMPERA_OK) {
    tm_shared_for(chains,
                  tm_model_threads(sampler->model, sampler->options.threads),
                  run_swarm, swarms);
    status = collect(swarms, chains, count, log_z, ends, reached, error);
  }
  tm_arena_free(arena);
  return status;
}
