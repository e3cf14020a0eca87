/* resolve.c - what the options left open, decided: by the model, by --paper,
 * and by what fits together. */
#include "run/sampler.h"

#include "run/run.h"

#include <math.h>

enum {
  DEFAULT_CHAINS = 4,
  MOST_ITERATIONS = 192000, /* when their number is decided while running */
  AUTOMATIC_WARMUP = 9300,  /* rounds of 300, 600, 1200, 2400 and 4800 sweeps */
  LEVELS_WARMUP = 4500,     /* where a sweep moves many points */
  SHORT_SWEEPS = 3, /* of `auto`, and neighbours are alike: keep a third */
  PAPER_ITERATIONS = 34000, /* 35 000, of which the first 1 000 are dropped */
  PAPER_WARMUP = 1000,
  PAPER_LEVELS = 30,
  MOST_BATCHED = 256
};
static const double PAPER_EXCHANGE = 1.0 / 8;
static const double EQUI_ENERGY = 0.1; /* Kou, Zhou & Wong's choice */
static const double DEFAULT_TAU_SCALE = 0.1;

static bool many_points(tempera_method method) {
  return method == TEMPERA_PT || method == TEMPERA_PAWL || method == TEMPERA_EE;
}

bool tm_is_pair(const tempera_options *o) {
  return o->method == TEMPERA_PT_STWNC || o->method == TEMPERA_STWNC;
}

static void resolve_lengths(tempera_options *o) {
  if (o->chains == 0)
    o->chains = o->paper ? 1 : DEFAULT_CHAINS;
  bool automatic = o->iterations == 0;
  if (automatic)
    o->iterations = o->paper ? PAPER_ITERATIONS : MOST_ITERATIONS;
  if (!o->warmup_given)
    o->warmup = o->paper                 ? PAPER_WARMUP
                : !automatic             ? o->iterations / 2
                : many_points(o->method) ? LEVELS_WARMUP
                                         : AUTOMATIC_WARMUP;
  if (o->thin == 0)
    o->thin = automatic && tm_is_pair(o) && !o->paper &&
                      o->kernel == TEMPERA_KERNEL_AUTO
                  ? SHORT_SWEEPS
                  : 1;
}

/* Levels and exchanges: as printed with --paper, and where its schedule or its
 * exchange is asked for. */
static void resolve_exchange(tempera_options *o) {
  bool pt = o->method == TEMPERA_PT;
  if (pt && o->swaps == TEMPERA_SWAPS_DEFAULT)
    o->swaps = o->paper ? TEMPERA_SWAPS_RANDOM_PAIR : TEMPERA_SWAPS_EVEN_ODD;
  if (pt && o->schedule == TEMPERA_SCHEDULE_DEFAULT)
    o->schedule = o->paper ? TEMPERA_SCHEDULE_POWER : TEMPERA_SCHEDULE_ADAPTED;
  if (o->schedule == TEMPERA_SCHEDULE_POWER && o->levels == 0)
    o->levels = PAPER_LEVELS;
  if (o->exchange >= 0)
    return;
  double t = o->levels ? (double)o->levels : PAPER_LEVELS;
  bool printed = o->paper || o->swaps == TEMPERA_SWAPS_RANDOM_PAIR;
  double rho = pt ? t * (t - 1) / ((t + 2) * (t + 2)) : PAPER_EXCHANGE;
  o->exchange = o->method == TEMPERA_EE ? EQUI_ENERGY : printed ? rho : 1;
}

/* The algorithm as printed: optimise at every tau proposal, the model's own
 * proposals, the printed tau proposal. */
static void resolve_paper(tempera_options *o, const tempera_recipe *recipe) {
  o->jumps = o->bridge = false;
  if (recipe && recipe->proposal_count)
    o->kernel = TEMPERA_KERNEL_MODEL;
  if (!tm_is_pair(o))
    return;
  o->ridge = TEMPERA_RIDGE_EXACT;
  o->tau_prior = TEMPERA_PRIOR_PROFILE;
  if (o->tau_move == TEMPERA_TAU_DEFAULT && recipe)
    o->tau_move = recipe->tau_move;
  if (o->tau_scale == 0 && recipe)
    o->tau_scale = recipe->tau_scale;
}

const char *tm_method_word(const tempera_options *o) {
  return tm_choice_word(TM_CHOICE_METHOD, (int)o->method);
}

/* Discrete levels have neighbours and no normal steps; pawl takes a tau that is
 * held for one that is wanted. */
static bool move_fits(tempera_method method, tempera_tau_move move) {
  if (method == TEMPERA_PAWL)
    return move == TEMPERA_TAU_GIBBS;
  if (method == TEMPERA_ST)
    return move != TEMPERA_TAU_TRUNCATED_NORMAL;
  return move != TEMPERA_TAU_NEIGHBOUR;
}

/* Options of some methods only. */
static tempera_status check_method(const tempera_options *o,
                                   tempera_error *error) {
  if (o->ridge == TEMPERA_RIDGE_EXACT && !tm_is_pair(o))
    return tm_fail(error, TEMPERA_ERROR_ARGUMENT,
                   "--ridge exact belongs to methods pt-stwnc and stwnc; %s "
                   "has no proposals of tau to optimise at",
                   tm_method_word(o));
  if (!move_fits(o->method, o->tau_move))
    return tm_fail(error, TEMPERA_ERROR_ARGUMENT,
                   "--tau-move %s is not for method %s",
                   tm_choice_word(TM_CHOICE_TAU_MOVE, (int)o->tau_move),
                   tm_method_word(o));
  if (o->walkers && o->method != TEMPERA_PAWL)
    return tm_fail(error, TEMPERA_ERROR_ARGUMENT,
                   "--walkers belongs to method pawl; %s has none",
                   tm_method_word(o));
  if (o->at_tau_count && o->at_tau[0] < 1 && o->method == TEMPERA_MH)
    return tm_fail(error, TEMPERA_ERROR_ARGUMENT,
                   "--at-tau needs draws below tau = 1; mh has none");
  if (o->weights != TEMPERA_WEIGHTS_GEYER_THOMPSON && o->method != TEMPERA_ST)
    return tm_fail(error, TEMPERA_ERROR_ARGUMENT,
                   "--weights belongs to method st; %s has none",
                   tm_method_word(o));
  return TEMPERA_OK;
}

static tempera_status check(const tempera_options *o,
                            const tempera_model *model, tempera_error *error) {
  TM_TRY(check_method(o, error));
  if ((o->swaps || o->schedule) && o->method != TEMPERA_PT)
    return tm_fail(error, TEMPERA_ERROR_ARGUMENT,
                   "--swaps and --schedule belong to --method pt");
  if (o->levels && !tm_method_of(o->method)->levels)
    return tm_fail(error, TEMPERA_ERROR_ARGUMENT,
                   "--levels belongs to methods with a ladder of temperatures; "
                   "%s has none",
                   tm_method_word(o));
  if (o->ridge == TEMPERA_RIDGE_EXACT && o->tau_move != TEMPERA_TAU_UNIFORM &&
      o->tau_move != TEMPERA_TAU_TRUNCATED_NORMAL)
    return tm_fail(error, TEMPERA_ERROR_ARGUMENT,
                   "the exact ridge has no table to draw tau from: use "
                   "--tau-move uniform or truncated-normal with it");
  if (o->ridge == TEMPERA_RIDGE_EXACT && o->tau_prior != TEMPERA_PRIOR_PROFILE)
    return tm_fail(error, TEMPERA_ERROR_ARGUMENT,
                   "the exact ridge goes with --tau-prior profile only");
  if (o->kernel == TEMPERA_KERNEL_MODEL &&
      !(model->spec.recipe && model->spec.recipe->proposal_count))
    return tm_fail(error, TEMPERA_ERROR_ARGUMENT,
                   "model %s has no proposals of its own: choose another "
                   "--kernel",
                   model->spec.name);
  if (!(o->tau_min >= 0 && o->tau_min < 1))
    return tm_fail(error, TEMPERA_ERROR_ARGUMENT,
                   "--tau-min must be at least 0 and below 1, not %g",
                   o->tau_min);
  for (size_t i = 0; i < o->at_tau_count; i++)
    if (!(o->at_tau[i] >= o->tau_min && o->at_tau[i] <= 1))
      return tm_fail(error, TEMPERA_ERROR_ARGUMENT,
                     "--at-tau %g lies outside of the path, which goes from "
                     "tau = %g to 1",
                     o->at_tau[i], o->tau_min);
  if (!(o->exchange <= 1))
    return tm_fail(error, TEMPERA_ERROR_ARGUMENT,
                   "--exchange is a probability, not %g", o->exchange);
  if (!(o->tau_scale > 0))
    return tm_fail(error, TEMPERA_ERROR_ARGUMENT,
                   "the scale of tau proposals must be positive, not %g",
                   o->tau_scale);
  return TEMPERA_OK;
}

/* The reference leg goes with the target chain of pt-stwnc, in settings that
 * are not the paper's. No density fitted to draws is near a posterior over many
 * integers: the leg makes no round trip there (64 sites at their critical
 * point), and is worth its cost only where the prior gives no leg. */
static bool has_reference(const tempera_options *o,
                          const tempera_model *model) {
  if (tm_too_many_integers(model, NULL, 0) && !model->spec.prior_improper)
    return false;
  return o->method == TEMPERA_PT_STWNC && !o->paper &&
         o->tau_prior != TEMPERA_PRIOR_PROFILE && o->warmup > 0 &&
         model->dimension > 0;
}

tempera_status tm_options_resolve(const tempera_options *asked,
                                  const tempera_model *model,
                                  tempera_options *resolved,
                                  tempera_error *error) {
  tempera_options o = *asked;
  resolve_lengths(&o);
  resolve_exchange(&o);
  if (o.paper)
    resolve_paper(&o, model->spec.recipe);
  /* The exact ridge is a way to have the profile prior; the default prior has
   * no use for it. */
  if (o.ridge == TEMPERA_RIDGE_EXACT && o.tau_prior == TEMPERA_PRIOR_LEARNED)
    o.tau_prior = TEMPERA_PRIOR_PROFILE;
  if (o.tau_move == TEMPERA_TAU_DEFAULT)
    o.tau_move = o.ridge == TEMPERA_RIDGE_EXACT ? TEMPERA_TAU_UNIFORM
                                                : TEMPERA_TAU_GIBBS;
  if (o.tau_scale == 0)
    o.tau_scale = DEFAULT_TAU_SCALE;
  o.reference = o.reference && has_reference(&o, model);
  /* In batches, a thread is little more than a point that waits. */
  if (o.threads == 0 && model->spec.log_likelihood_batch)
    o.threads = o.chains < MOST_BATCHED ? (int)o.chains : MOST_BATCHED;
  TM_TRY(check(&o, model, error));
  *resolved = o;
  return TEMPERA_OK;
}
