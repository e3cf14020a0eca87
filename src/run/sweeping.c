/* sweeping.c - the sweeps of all chains, on threads and ranks.
 *
 * Chains go on without each other, many sweeps at a time. Where there are not
 * enough of them for all threads and ranks, and the model is slow, a sweep at a
 * time is divided into its parts (the levels of pt) instead: a message for each
 * sweep then, with the answers of the model. Draws do not depend on which.
 *
 * Of whole chains ranks tell each other, after a block of sweeps, the state that
 * the chain is in and the rows it has left; nobody does another's sweeps. */
#include "run/sampler.h"

#include "model/batch.h"
#include "parallel/ranks.h"

typedef struct stretch {
  tempera_sampler *sampler;
  size_t end;    /* sweep count every group is to reach ... */
  size_t turn;   /* ... by so many at a time */
  size_t parts;  /* of each group */
  bool stopping; /* was there a wish to stop, before the sweep? */
} stretch;

/* Groups differ in cost, so that each comes in several turns. */
enum { TURNS = 32 };

static void keep_rows(tempera_sampler *s, const tm_group *group) {
  size_t warmup = s->options.warmup, thin = s->options.thin;
  bool warming = group->done <= warmup;
  if (warming && s->method->keep)
    s->method->keep(s, group);
  tempera_draws *draws = warming ? s->warmup_draws : s->draws;
  size_t index = group->done - 1 - (warming ? 0 : warmup);
  size_t row = thin > 1 ? index / thin : index;
  if (!draws || row * thin != index)
    return;
  for (size_t role = 0; role < 2; role++)
    for (size_t i = 0; draws->has_role[role] && i < group->width[role]; i++)
      tm_draws_put(
          draws, (tempera_role)role, group->chain, row * group->width[role] + i,
          group->rows[role][i].point->theta, group->rows[role][i].extra);
  for (size_t role = 0; !warming && group->leg_rows && role < 2; role++)
    tm_draws_put(s->reference, (tempera_role)role, group->chain, row,
                 group->leg_rows[role].point->theta,
                 group->leg_rows[role].extra);
}

/* A sweep during which the model failed is not a draw. */
static void settle(tempera_sampler *s, tm_group *group) {
  if (tm_group_failure(group))
    group->done--;
  else
    keep_rows(s, group);
}

static size_t rows_for(size_t sweeps, size_t thin) {
  return (sweeps + thin - 1) / thin;
}

/* Rows that a chain's sweeps have left in `draws`, which begin at a sweep. */
static void pass_rows(const tempera_sampler *s, tempera_draws *draws,
                      size_t begin, const tm_group *group,
                      tm_archive *archive) {
  size_t thin = s->options.thin;
  tm_draws_archive_chain(draws, group->chain,
                         rows_for(group->told - begin, thin),
                         rows_for(group->done - begin, thin), archive);
}

/* A chain's sweeps since the others were told of it. */
static void pass_group(size_t chain, tm_archive *archive, void *context) {
  const stretch *part = context;
  tempera_sampler *s = part->sampler;
  tm_group *group = s->groups[chain];
  size_t warmup = s->options.warmup;
  tm_group_archive(group, archive);
  tm_group_archive_sweep(group, archive);
  if (!tm_archive_fine(archive) || group->done <= group->told)
    return;
  bool warming = group->done <= warmup;
  if (warming && s->method->pass)
    s->method->pass(s, chain, group->told, group->done, archive);
  if (warming && s->warmup_draws)
    pass_rows(s, s->warmup_draws, 0, group, archive);
  if (!warming)
    pass_rows(s, s->draws, warmup, group, archive);
  if (!warming && group->leg_rows)
    pass_rows(s, s->reference, warmup, group, archive);
}

/* The exact ridge's memory is too large to be told again and again. */
static tm_pass_fn pass_of(const tempera_sampler *s) {
  return s->options.ridge == TEMPERA_RIDGE_EXACT ? NULL : pass_group;
}

static bool told_to_stop(const tempera_sampler *s) {
  return tm_answers_agree_on(
      atomic_load_explicit(&s->cancelled, memory_order_relaxed));
}

/* ---- chains without each other ------------------------------------------- */

static void run_group(size_t chain, void *context) {
  stretch *part = context;
  tempera_sampler *s = part->sampler;
  tm_group *group = s->groups[chain];
  size_t turn = group->done + part->turn;
  size_t end = turn < part->end ? turn : part->end;
  while (group->done < end && !tm_group_failure(group) && !told_to_stop(s)) {
    tm_group_sweep(group);
    settle(s, group);
  }
}

/* ---- all chains in step --------------------------------------------------
 */

static void run_part(size_t piece, void *context) {
  stretch *part = context;
  if (piece == 0)
    part->stopping = told_to_stop(part->sampler);
  tm_group_sweep_part(part->sampler->groups[piece / part->parts],
                      piece % part->parts);
}

static bool in_range(const stretch *part, const tm_group *group) {
  return group->done < part->end && !tm_group_failure(group);
}

/* Every group stands at the same sweep: the first tells whether to go on. */
static bool begin_sweeps(stretch *part) {
  tempera_sampler *s = part->sampler;
  bool more = !part->stopping;
  for (size_t c = 0; c < s->options.chains; c++)
    more = more && in_range(part, s->groups[c]);
  for (size_t c = 0; more && c < s->options.chains; c++)
    tm_group_begin_sweep(s->groups[c]);
  return more;
}

static bool end_sweeps(void *context) {
  stretch *part = context;
  tempera_sampler *s = part->sampler;
  for (size_t c = 0; c < s->options.chains; c++) {
    tm_group_end_sweep(s->groups[c]);
    settle(s, s->groups[c]);
  }
  return begin_sweeps(part);
}

/* ---- which --------------------------------------------------------------- */

/* Seconds that a sweep in parts costs beside its parts: threads begin, ranks
 * tell each other what the model answered. */
static const double TOLL = 3e-4;

static bool at_same_sweep(const tempera_sampler *s) {
  for (size_t c = 1; c < s->options.chains; c++)
    if (s->groups[c]->done != s->groups[0]->done)
      return false;
  return true;
}

/* How many parts of sweeps come one after the other in a sweep of all groups:
 * with whole groups, and with parts. */
typedef struct plan {
  double whole, divided;
} plan;

static plan plan_of(const tempera_sampler *s, int threads) {
  size_t chains = s->options.chains, parts = s->groups[0]->part_count;
  size_t workers = tm_shared_pieces(threads, chains * parts);
  return (plan){(double)((chains + workers - 1) / workers * parts),
                (double)((chains * parts + workers - 1) / workers)};
}

/* Is a sweep done sooner in parts? By rank 0's clock: at first what looks at
 * the model took, then what parts did. */
static bool better_in_parts(const tempera_sampler *s, const plan *by) {
  const tm_starts *starts = &s->starts;
  if (s->groups[0]->part_count < 2 || !at_same_sweep(s))
    return false;
  double seconds = s->part_seconds;
  if (seconds == 0 && starts->likelihood_evaluations > 0)
    seconds = starts->seconds_in_model / (double)starts->likelihood_evaluations;
  return tm_answers_agree_on((by->whole - by->divided) * seconds > TOLL);
}

void tm_sweep_until(tempera_sampler *sampler, size_t end) {
  tempera_sampler *s = sampler;
  int threads = tm_model_threads(s->model, s->options.threads);
  size_t chains = s->options.chains, done = tm_sweeps_done(s);
  double began = tm_sampler_seconds(s);
  stretch part = {s, end, 0, s->groups[0]->part_count, false};
  plan by = plan_of(s, threads);
  bool divided = better_in_parts(s, &by);
  part.turn = (end - done + TURNS - 1) / TURNS;
  for (size_t c = 0; c < chains; c++)
    s->groups[c]->told = s->groups[c]->done;
  if (!divided)
    tm_shared_outcomes(chains, TURNS, threads, run_group, pass_of(s), &part);
  else if (begin_sweeps(&part))
    tm_shared_rounds(chains * part.parts, threads, run_part, end_sweeps, &part);
  double took = tm_sampler_seconds(s) - began;
  double sweeps = (double)(tm_sweeps_done(s) - done);
  if (sweeps > 0)
    s->part_seconds = took / sweeps / (divided ? by.divided : by.whole);
}
