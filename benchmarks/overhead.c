/* overhead.c - what the sampler costs beside the model, as ratios within one
 * run: time per iteration outside the model in units of a libm exp call; the
 * tau move's share on SIR; two threads against one. */
#include "bench.h"
#include "run/sampler.h"
#include "groups/pair.h"

static tempera_options quiet_options(int threads, size_t iterations) {
  tempera_options o = tempera_options_default();
  o.seed = 1;
  o.threads = threads;
  o.chains = 2;
  o.iterations = iterations;
  o.warmup = 500;
  o.warmup_given = true;
  return o;
}

/* Seconds for `sweeps` further sweeps of every chain, warmed up. */
static double time_sweeps(tempera_sampler *sampler, size_t sweeps) {
  double start = bench_now();
  bench_check(tempera_sampler_advance(sampler, sweeps, &bench_error));
  return bench_now() - start;
}

enum { POINTS = 64, MOST = 64 /* numbers of a point */ };

/* Points of the model as the chain met them, one after another. */
static void last_points(const tempera_sampler *s, double *theta) {
  const tempera_draws *draws = s->draws;
  for (size_t i = 0; i < POINTS; i++)
    for (size_t j = 0; j < draws->size; j++)
      theta[i * draws->size + j] =
          tm_draws_column(draws, i & 1 ? TEMPERA_TEMPERED : TEMPERA_TARGET, 0,
                          j)[draws->count - 1 - i / 2];
}

/* CPU seconds of so many evaluations: the model's densities. */
static double time_model(const tempera_sampler *s, const double *theta,
                         int calls) {
  const tempera_model_spec *spec = &s->model->spec;
  void *user = s->groups[0]->evaluator.user;
  double value, start = bench_cpu();
  for (int i = 0; i < calls; i++) {
    const double *at = theta + (size_t)(i % POINTS) * s->model->size;
    spec->log_prior(at, &value, user);
    spec->log_likelihood(at, &value, user);
  }
  return bench_cpu() - start;
}

/* The same for its gradients; 0 where it has none. */
static double time_gradients(const tempera_sampler *s, const double *theta,
                             int calls) {
  const tempera_model_spec *spec = &s->model->spec;
  void *user = s->groups[0]->evaluator.user;
  double value, gradient[MOST], start = bench_cpu();
  if (!tm_has_gradients(s->model))
    return 0;
  for (int i = 0; i < calls; i++) {
    const double *at = theta + (size_t)(i % POINTS) * s->model->size;
    spec->log_prior_gradient(at, &value, gradient, user);
    spec->log_likelihood_gradient(at, &value, gradient, user);
  }
  return bench_cpu() - start;
}

/* The same for draws from its prior. */
static double time_prior_draws(const tempera_sampler *s, int calls) {
  const tempera_model_spec *spec = &s->model->spec;
  tempera_random random = tm_random(1, 0, TM_PURPOSE_PRIOR);
  double theta[MOST], start = bench_cpu();
  if (!spec->prior_draw)
    return 0;
  for (int i = 0; i < calls; i++)
    spec->prior_draw(&random, theta, s->groups[0]->evaluator.user);
  return bench_cpu() - start;
}

/* Calls of the model's functions. */
typedef struct counts {
  double evaluations, gradients, prior_draws;
} counts;

static counts count(const tempera_sampler *s) {
  counts total = {0};
  for (size_t c = 0; c < s->options.chains; c++) {
    const tm_evaluator *e = &s->groups[c]->evaluator;
    total.evaluations += (double)e->likelihood_evaluations;
    total.gradients += (double)e->gradient_evaluations;
    total.prior_draws += (double)e->prior_draws;
  }
  return total;
}

/* One iteration: CPU nanoseconds, what is left of them outside the model, and
 * how many exp calls last as long as that. */
typedef struct cost {
  double iteration, outside, exp_call, ratio;
  counts calls;
} cost;

enum { SEEDS = 10, BEFORE = 600, PIECES = 8, SWEEPS = 1000 };

/* All are timed in turn, in short pieces, so that all see the same machine. */
static cost measure(tempera_sampler *sampler) {
  enum { CALLS = 1000, EXPS = 10000 };
  double theta[POINTS * MOST], each = 1e-9 * CALLS;
  double all = SWEEPS * (double)sampler->options.chains;
  counts before = count(sampler);
  double start = bench_cpu();
  bench_check(tempera_sampler_advance(sampler, SWEEPS, &bench_error));
  cost c = {.iteration = 1e9 * (bench_cpu() - start) / all};
  counts after = count(sampler);
  c.calls.evaluations = (after.evaluations - before.evaluations) / all;
  c.calls.gradients = (after.gradients - before.gradients) / all;
  c.calls.prior_draws = (after.prior_draws - before.prior_draws) / all;
  last_points(sampler, theta);
  c.outside = c.iteration -
              c.calls.evaluations * time_model(sampler, theta, CALLS) / each -
              c.calls.gradients * time_gradients(sampler, theta, CALLS) / each -
              c.calls.prior_draws * time_prior_draws(sampler, CALLS) / each;
  c.exp_call = 1e9 * bench_calls(exp, EXPS) / EXPS;
  c.ratio = c.outside / c.exp_call;
  return c;
}

static int by_ratio(const void *a, const void *b) {
  double x = ((const cost *)a)->ratio, y = ((const cost *)b)->ratio;
  return (x > y) - (x < y);
}

/* The mean of the middle half, by ratio: others use the machine too. */
static cost middle(cost *pieces, size_t count) {
  qsort(pieces, count, sizeof *pieces, by_ratio);
  cost mean = {0};
  for (size_t i = count / 4; i < count - count / 4; i++) {
    double share = 1 / (double)(count - 2 * (count / 4));
    mean.iteration += share * pieces[i].iteration;
    mean.outside += share * pieces[i].outside;
    mean.exp_call += share * pieces[i].exp_call;
    mean.ratio += share * pieces[i].ratio;
    mean.calls.evaluations += share * pieces[i].calls.evaluations;
    mean.calls.gradients += share * pieces[i].calls.gradients;
    mean.calls.prior_draws += share * pieces[i].calls.prior_draws;
  }
  return mean;
}

/* Over a few seeds: each warmup chooses how often which move is made. */
static void overhead(const char *name, const char *model_name, const char *data,
                     bool lean) {
  tempera_model *model = bench_load(model_name, data);
  tempera_options o = quiet_options(1, BEFORE + PIECES * SWEEPS);
  if (lean) {
    o.tau_prior = TEMPERA_PRIOR_PROFILE;
    o.kernel = TEMPERA_KERNEL_RANDOM_WALK;
  }
  cost pieces[SEEDS * PIECES];
  size_t measured = 0;
  for (o.seed = 1; o.seed <= SEEDS; o.seed++) {
    tempera_sampler *sampler;
    bench_check(tempera_sampler_create(model, &o, &sampler, &bench_error));
    time_sweeps(sampler, BEFORE);
    for (int piece = 0; piece < PIECES; piece++)
      pieces[measured++] = measure(sampler);
    tempera_sampler_free(sampler);
  }
  cost c = middle(pieces, measured);
  printf("%-10s %7.0f ns per iteration, %7.0f ns outside the model (%.2f "
         "evaluations, %.2f gradients, %.2f prior draws) = %.0f exp calls of "
         "%.2f ns\n",
         name, c.iteration, c.outside, c.calls.evaluations, c.calls.gradients,
         c.calls.prior_draws, c.ratio, c.exp_call);
  tempera_model_free(model);
}

/* The same two chains with the tau move left out: tau stays where it is. */
static double time_without_tau(tempera_sampler *sampler, size_t sweeps) {
  double start = bench_now();
  for (size_t i = 0; i < sweeps; i++)
    for (size_t c = 0; c < sampler->options.chains; c++) {
      tm_pair *pair = (tm_pair *)sampler->groups[c];
      tm_kernel_sweep(pair->group.kernel, &pair->group.evaluator,
                      &pair->tempered, pair->tau, &pair->tempered_stream);
      tm_kernel_sweep(pair->group.kernel, &pair->group.evaluator, &pair->target,
                      1, &pair->target_stream);
    }
  return bench_now() - start;
}

/* tau is frozen at a value for a batch, then moved again: both sides see the
 * same distribution of tau, whose cost per evaluation varies. */
static void tau_move_share(void) {
  enum { ROUNDS = 400, AT_A_TIME = 10 };
  tempera_model *model = bench_load("sir", "eyam.json");
  tempera_options o = quiet_options(1, 1000000);
  tempera_sampler *sampler;
  bench_check(tempera_sampler_create(model, &o, &sampler, &bench_error));
  time_sweeps(sampler, 600);
  double with = 0, without = 0;
  for (int i = 0; i < ROUNDS; i++) {
    with += time_sweeps(sampler, AT_A_TIME);
    without += time_without_tau(sampler, AT_A_TIME);
  }
  printf("SIR: an iteration with the tau move costs %.3f of one without\n",
         with / without);
  tempera_sampler_free(sampler);
  tempera_model_free(model);
}

static void thread_speedup(void) {
  enum { MANY = 4000 };
  double seconds[2];
  tempera_model *model = bench_load("sir", "eyam.json");
  for (int threads = 1; threads <= 2; threads++) {
    tempera_options o = quiet_options(threads, 10 * MANY);
    o.chains = 4;
    tempera_sampler *sampler;
    bench_check(tempera_sampler_create(model, &o, &sampler, &bench_error));
    time_sweeps(sampler, 600);
    seconds[threads - 1] = time_sweeps(sampler, MANY);
    tempera_sampler_free(sampler);
  }
  printf("SIR: two threads are %.2f times as fast as one\n",
         seconds[0] / seconds[1]);
  tempera_model_free(model);
}

int main(void) {
  overhead("bimodal", "bimodal", "bimodal.json", false);
  overhead("galaxy", "galaxy", "galaxy-3.json", false);
  puts("with --tau-prior profile --kernel random-walk:");
  overhead("bimodal", "bimodal", "bimodal.json", true);
  overhead("galaxy", "galaxy", "galaxy-3.json", true);
  tau_move_share();
  thread_speedup();
  return 0;
}
