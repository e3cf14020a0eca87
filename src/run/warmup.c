/* warmup.c - rounds of doubling length, between which a method learns.
 *
 * Rounds end at fixed sweeps; what all chains have seen is pooled in chain
 * order (method 4.7). After the last round the method and the kernels are
 * fixed: only then are draws kept. */
#include "run/sampler.h"

#include "estimate/estimate.h"
#include "parallel/ranks.h"

enum {
  FIRST_SEARCH = 3000, /* kept sweeps; later ones come after twice as many */
  FIRST_ROUND = 300,   /* sweeps; later warmup rounds double */
  PATIENCE = 2000,     /* sweeps after which the curve must have been walked */
  EARLIEST = 800,      /* sweeps after which warmup may end, if it works */
  LAST_ROUND = 600,    /* learns P(tau) where warmup ends early, */
  SHORT_ROUND = 300,   /* and where sweeps are dear */
  LEAST_ROUND = 100,   /* but so much with ever so many chains */
  WALKED = 20,         /* round trips of a round in which the prior leg works */
  MOST_EXTENSIONS = 3
};

/* The sweep at which the current round ends: a last round shorter than half
 * of its length joins the one before. With a reference leg the last quarter of
 * the last one is a round of its own: P(tau) is learned in it, for the q that
 * was fitted before it. */
static void place_round_end(tempera_sampler *s) {
  size_t warmup = s->options.warmup;
  if (s->round_end + s->round_end / 2 > warmup)
    s->round_end = warmup;
  size_t length = s->round_end - s->round_start;
  if (s->leg && s->round_end == warmup && 2 * length > s->round_start)
    s->round_end -= length / 4;
}

static tempera_status freeze(tempera_sampler *s, tempera_error *error) {
  for (size_t c = 0; c < s->options.chains; c++)
    tm_group_freeze(s->groups[c]);
  TM_TRY(tm_landscape_record(s, error));
  if (s->laplace)
    TM_TRY(tm_landscape_do(s, &(tm_deed){.kind = TM_DO_FREEZE}, error));
  s->search_due = s->options.warmup + FIRST_SEARCH;
  return s->method->freeze ? s->method->freeze(s, error) : TEMPERA_OK;
}

tempera_status tm_warmup_begin(tempera_sampler *sampler, tempera_error *error) {
  tempera_sampler *s = sampler;
  if (s->begun)
    return TEMPERA_OK;
  if (s->method->begin)
    TM_TRY(s->method->begin(s, error));
  s->begun = true;
  s->round_end = FIRST_ROUND;
  place_round_end(s);
  return s->options.warmup == 0 ? freeze(s, error) : TEMPERA_OK;
}

static bool free_to_choose(const tempera_sampler *s) {
  return s->automatic && !s->options.warmup_given;
}

static bool is_dear(const tempera_sampler *s) {
  return tm_sampler_swept(s) >= TM_DEAR;
}

/* What all chains learn together: so many sweeps of four chains, or as many in
 * all of more; what a chain learns for itself takes `least` of its own. */
size_t tm_shared_sweeps(const tempera_sampler *sampler, size_t sweeps,
                        size_t least) {
  enum { CHAINS = 4 };
  size_t chains = sampler->options.chains;
  size_t each = chains > CHAINS ? CHAINS * sweeps / chains : sweeps;
  return each < least ? least : each;
}

/* More warmup is of no use where the reference leg walks well and the prior
 * leg either does, too, or does not at all by a curve that is not to blame; and
 * too dear where the reference leg alone can vouch. */
void tm_warmup_consider_end(tempera_sampler *sampler, bool last) {
  tempera_sampler *s = sampler;
  bool walks = s->trips >= WALKED && s->trips >= s->options.chains;
  bool dear = is_dear(s);
  size_t earliest =
      tm_shared_sweeps(s, walks || dear ? EARLIEST : PATIENCE, FIRST_ROUND);
  if (last || !free_to_choose(s) || s->round_end < earliest ||
      !tm_leg_settled(s))
    return;
  bool long_enough = s->round_end >= 2 * PATIENCE || s->barren;
  bool prior_settled = walks || dear || (long_enough && !s->anew);
  size_t end =
      s->round_end +
      tm_shared_sweeps(s, dear ? SHORT_ROUND : LAST_ROUND, LEAST_ROUND);
  if (!prior_settled || end >= s->options.warmup)
    return;
  s->options.warmup = end;
  s->shortened = true;
}

/* With a time limit, a share of the time is the warmup's: then the round ends
 * here, and the last one is a quarter of the sweeps so far. */
static const double WARMUP_SHARE = 0.6;

void tm_warmup_hurry(tempera_sampler *sampler) {
  tempera_sampler *s = sampler;
  size_t done = tm_sweeps_done(s), end = done + 1 + done / 4;
  double limit = s->options.time_limit;
  double spent = tm_sampler_seconds(s) - s->earlier;
  bool late = limit > 0 && spent > WARMUP_SHARE * limit;
  if (!tm_answers_agree_on(late) || !free_to_choose(s) || done == 0 ||
      end >= s->options.warmup)
    return;
  s->round_end = done + 1;
  s->options.warmup = end;
}

/* A last round in which nothing came up from the prior would be followed by a
 * run in which nothing does: the round is repeated, unless the caller has
 * fixed the lengths, or there is another leg that works. */
static bool extend(tempera_sampler *s) {
  if (!s->barren || !free_to_choose(s) || s->extensions == MOST_EXTENSIONS ||
      s->shortened || (s->leg && tm_leg_settled(s)))
    return false;
  s->extensions++;
  s->options.warmup += s->round_end - s->round_start;
  s->round_start = s->round_end;
  s->round_end = s->options.warmup;
  return true;
}

tempera_status tm_warmup_end_round(tempera_sampler *sampler,
                                   tempera_error *error) {
  tempera_sampler *s = sampler;
  bool last = s->round_end == s->options.warmup;
  for (size_t c = 0; c < s->options.chains; c++)
    tm_group_end_round(s->groups[c]);
  if (s->method->end_round)
    TM_TRY(s->method->end_round(s, last, error));
  if (last && extend(s))
    return s->warmup_draws
               ? tm_draws_reserve(s->warmup_draws,
                                  (s->options.warmup + s->options.thin - 1) /
                                      s->options.thin,
                                  error)
               : TEMPERA_OK;
  if (last)
    return freeze(s, error);
  s->round_start = s->round_end;
  s->round_end = 2 * s->round_end + FIRST_ROUND;
  place_round_end(s);
  return TEMPERA_OK;
}

tempera_status tm_round_create(const tempera_sampler *sampler,
                               tempera_draws **draws, tempera_error *error) {
  const tempera_options *o = &sampler->options;
  TM_TRY(tm_draws_create(o->chains, 0, NULL, NULL, sampler->method->target,
                         sampler->method->tempered, draws, error));
  (*draws)->tau_min = o->tau_min;
  return tm_draws_reserve(*draws, o->warmup, error);
}

void tm_round_keep(const tempera_sampler *sampler, tempera_draws *draws,
                   const tm_group *group) {
  size_t row = group->done - 1 - sampler->round_start;
  for (size_t role = 0; role < 2; role++)
    if (draws->has_role[role])
      tm_draws_put(draws, (tempera_role)role, group->chain, row, NULL,
                   group->rows[role]->extra);
}

/* What the round's draws say is of the basins that were known. */
static tempera_status begin_anew(tempera_sampler *s, tm_learner **learner,
                                 tempera_error *error) {
  tm_learner *made = NULL;
  TM_TRY(tm_landscape_learner(s, true, &made, error));
  tm_learner_free(*learner);
  *learner = made;
  s->barren = s->anew = false;
  return TEMPERA_OK;
}

/* Restarts of a round tell whether anything comes back; whether every step
 * between knots was walked, whether the curve may be to blame. */
tempera_status tm_round_learn(tempera_sampler *sampler, tempera_draws *draws,
                              tm_learner **learner, tempera_error *error) {
  tempera_sampler *s = sampler;
  size_t restarts;
  draws->count = s->round_end - s->round_start;
  if (tm_landscape_overtaken(s, *learner))
    return begin_anew(s, learner, error);
  TM_TRY(tm_learner_update(*learner, draws, error));
  TM_TRY(tm_estimate_round_trips(draws, &s->trips, &restarts, error));
  s->barren = restarts == 0;
  bool suspect = s->barren && !tm_learner_whole(*learner);
  bool spared = is_dear(s) && free_to_choose(s) && s->leg && tm_leg_settled(s);
  s->anew = suspect && !spared && !s->annealed && s->round_end > PATIENCE;
  return s->anew ? tm_landscape_anneal(s, learner, error) : TEMPERA_OK;
}

/* Of no more use once the warmup is over. */
void tm_round_archive(const tempera_sampler *sampler, tempera_draws *draws,
                      tm_archive *archive) {
  const tempera_sampler *s = sampler;
  if (s->saved_at < s->options.warmup)
    tm_draws_archive_rows(draws, 0, s->saved_at - s->round_start, archive);
}

void tm_round_pass(const tempera_sampler *sampler, tempera_draws *draws,
                   size_t chain, size_t from, size_t to, tm_archive *archive) {
  size_t start = sampler->round_start;
  tm_draws_archive_chain(draws, chain, from - start, to - start, archive);
}
