/* ee_method.c - ee at run level: temperatures and rings from the prior's and
 * the best log likelihood.
 *
 * Near a Gaussian posterior of d coordinates l falls short of its maximum by
 * about d/(2 tau), so tau_k = r^-k goes with caps at best - (d/2) r^(k-1): each
 * chain is cut off where the next colder one lives. r is such that the last
 * chain but one reaches the prior's median; the last one is the prior itself,
 * where tau may be 0. */
#include "run/sampler.h"

#include "groups/ee.h"
#include "numeric/sort.h"

#include <math.h>

enum {
  FEWEST_CHAINS = 3,
  MOST_CHAINS = 12,
  MOST_MEMORY = 1 << 21, /* doubles per group */
  FEWEST_POINTS = 50     /* of a ring, whatever the memory */
};
static const double RATIO = 4; /* of neighbouring temperatures, about */

/* The highest and the middle log likelihood of the points looked at for
 * starts; only those with a likelihood. */
static tempera_status look(const tempera_sampler *s, double *best,
                           double *middle, tempera_error *error) {
  size_t n = 0;
  double *finite = tm_heap_alloc(s->starts.look_count, sizeof(double));
  if (!finite)
    return tm_fail_memory(error);
  for (size_t i = 0; i < s->starts.look_count; i++)
    if (isfinite(s->starts.looks[i]))
      finite[n++] = s->starts.looks[i];
  tm_sort(finite, n);
  *best = n ? finite[n - 1] : 0;
  *middle = n ? finite[n / 2] : 0;
  tm_heap_free(finite);
  return TEMPERA_OK;
}

/* By how much more than at tau = 1 the prior falls short of the best. */
static double hotness(const tempera_sampler *s, double best, double middle) {
  return fmax(RATIO, (best - middle) / ((double)s->model->dimension / 2));
}

static tempera_status chain_count(const tempera_sampler *s, size_t *count,
                                  tempera_error *error) {
  double best, middle;
  TM_TRY(look(s, &best, &middle, error));
  double steps = ceil(log(hotness(s, best, middle)) / log(RATIO));
  size_t wanted = (size_t)steps + 2;
  wanted = wanted < MOST_CHAINS ? wanted : MOST_CHAINS;
  wanted = wanted > FEWEST_CHAINS ? wanted : FEWEST_CHAINS;
  *count = s->options.levels ? s->options.levels : wanted;
  return TEMPERA_OK;
}

static tempera_status make_group(tempera_sampler *s, uint32_t chain,
                                 const double *start, double start_tau,
                                 tm_group **group, tempera_error *error) {
  (void)start_tau;
  const tempera_options *o = &s->options;
  /* The model's own Gibbs draws know nothing of caps. */
  tm_ee_settings settings = {.kernel = o->kernel,
                             .jump = o->exchange,
                             .cut = s->model->spec.gibbs_count == 0};
  TM_TRY(chain_count(s, &settings.chains, error));
  size_t n = settings.chains;
  settings.memory = MOST_MEMORY / (n * n * tm_ee_record(s->model));
  if (settings.memory < FEWEST_POINTS)
    settings.memory = FEWEST_POINTS;
  settings.stage = o->warmup / (2 * n);
  return tm_ee_create(s->model, &settings, o->seed, chain, start, group, error);
}

/* The best log likelihood known, from the Laplace ridge too. */
static double highest(const tempera_sampler *s, double best) {
  const tm_laplace_view *view = tm_laplace_present(s->laplace);
  if (!view)
    return best;
  const tm_laplace_knot *top = &view->knots[view->knot_count - 1];
  for (size_t i = 0; i < top->mode_count; i++)
    best = fmax(best, top->modes[i].log_likelihood);
  return best;
}

static void lay_out(const tempera_sampler *s, double best, double middle,
                    size_t n, double *tau, double *cap) {
  double low = s->options.tau_min, half = (double)s->model->dimension / 2;
  double hot = hotness(s, best, middle);
  double ratio = pow(hot, 1 / fmax(1, (double)n - 2));
  for (size_t k = 0; k < n; k++) {
    tau[k] = fmax(low, pow(ratio, -(double)k));
    cap[k] = k ? best - half * pow(ratio, (double)k - 1) : INFINITY;
  }
  if (s->model->spec.prior_draw)
    tau[n - 1] = low;
}

static tempera_status begin(tempera_sampler *s, tempera_error *error) {
  double best, middle;
  size_t n;
  TM_TRY(tm_landscape_begin(s, error));
  TM_TRY(look(s, &best, &middle, error));
  TM_TRY(chain_count(s, &n, error));
  double *tau = tm_heap_alloc(2 * n, sizeof(double));
  if (!tau)
    return tm_fail_memory(error);
  lay_out(s, highest(s, best), middle, n, tau, tau + n);
  for (size_t c = 0; c < s->options.chains; c++)
    tm_ee_set_ladder(s->groups[c], tau, tau + n);
  tm_heap_free(tau);
  return TEMPERA_OK;
}

/* Jumps of the target chains are this method's exchanges. */
static tempera_status describe(const tempera_sampler *s,
                               tempera_summary *summary) {
  size_t proposed = 0, accepted = 0;
  for (size_t c = 0; c < s->options.chains; c++)
    tm_ee_jumps(s->groups[c], &proposed, &accepted);
  if (proposed)
    summary->swap_acceptance = (double)accepted / (double)proposed;
  return TEMPERA_OK;
}

const tm_method tm_method_ee = {.target = true,
                                .levels = true,
                                .steady_width = true,
                                .make_group = make_group,
                                .begin = begin,
                                .end_round = tm_landscape_end_round,
                                .describe = describe};
