/* overhead.c - what the sampler costs beside the model, as ratios within one
 * run: time per iteration outside the model in units of a libm exp call; the
 * tau move's share on SIR; two threads against one. */
#include "bench.h"
#include "run/sampler.h"
#include "samplers/pair.h"

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

enum { POINTS = 64 };

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
  double value, gradient[64], start = bench_cpu();
  if (!tm_has_gradients(s->model) || s->model->size > 64)
    return 0;
  for (int i = 0; i < calls; i++) {
    const double *at = theta + (size_t)(i % POINTS) * s->model->size;
    spec->log_prior_gradient(at, &value, gradient, user);
    spec->log_likelihood_gradient(at, &value, gradient, user);
  }
  return bench_cpu() - start;
}

static uint64_t gradients(const tempera_sampler *s) {
  uint64_t total = 0;
  for (size_t c = 0; c < s->options.chains; c++)
    total += s->groups[c]->evaluator.gradient_evaluations;
  return total;
}

static uint64_t evaluations(const tempera_sampler *s) {
  uint64_t total = 0;
  for (size_t c = 0; c < s->options.chains; c++)
    total += s->groups[c]->evaluator.likelihood_evaluations;
  return total;
}

/* CPU nanoseconds, and calls per iteration. */
typedef struct costs {
  double iteration, evaluation, gradient, exp_call;
  double evaluations, gradients;
} costs;

enum { BEFORE = 600, PIECES = 200, SWEEPS = 250 };

/* All are timed in turn, in short pieces, so that all see the same machine. */
static costs measure(tempera_sampler *sampler) {
  enum { CALLS = 1000, EXPS = 10000 };
  double theta[POINTS * 64];
  double all = SWEEPS * (double)sampler->options.chains * PIECES;
  uint64_t calls = evaluations(sampler), slopes = gradients(sampler);
  costs c = {0};
  for (int piece = 0; piece < PIECES; piece++) {
    double start = bench_cpu();
    bench_check(tempera_sampler_advance(sampler, SWEEPS, &bench_error));
    c.iteration += 1e9 * (bench_cpu() - start) / all;
    last_points(sampler, theta);
    c.evaluation += 1e9 * time_model(sampler, theta, CALLS) / (CALLS * PIECES);
    c.gradient +=
        1e9 * time_gradients(sampler, theta, CALLS) / (CALLS * PIECES);
    c.exp_call += 1e9 * bench_calls(exp, EXPS) / (EXPS * (double)PIECES);
  }
  c.evaluations = (double)(evaluations(sampler) - calls) / all;
  c.gradients = (double)(gradients(sampler) - slopes) / all;
  return c;
}

static void overhead(const char *name, const char *model_name, const char *data,
                     bool lean) {
  tempera_model *model = bench_load(model_name, data);
  tempera_options o = quiet_options(1, BEFORE + PIECES * SWEEPS);
  if (lean) {
    o.tau_prior = TEMPERA_PRIOR_PROFILE;
    o.kernel = TEMPERA_KERNEL_RANDOM_WALK;
  }
  tempera_sampler *sampler;
  bench_check(tempera_sampler_create(model, &o, &sampler, &bench_error));
  time_sweeps(sampler, BEFORE);
  costs c = measure(sampler);
  double outside =
      c.iteration - c.evaluations * c.evaluation - c.gradients * c.gradient;
  printf("%-10s %7.0f ns per iteration, %7.0f ns outside the model "
         "(%.1f evaluations, %.1f gradients) = %.0f exp calls of %.2f ns\n",
         name, c.iteration, outside, c.evaluations, c.gradients,
         outside / c.exp_call, c.exp_call);
  tempera_sampler_free(sampler);
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
