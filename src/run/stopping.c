/* stopping.c - tempera_sampler_run: advance until done, the time limit, the
 * asked precision, or cancel; and the number of iterations when none was
 * given. */
#include "run/sampler.h"

#include "base/locale.h"
#include "estimate/estimate.h"
#include "estimate/evidence/evidence.h"
#include "parallel/ranks.h"
#include "run/absorption.h"

#include <math.h>
#include <stdio.h>

/* Sweeps between two looks at the standard error for until_se: fixed, so that
 * where a run stops depends on its draws and never on the clock. */
enum { CHECK_EVERY = 500, FIRST_BLOCK = 20 };
static const double BLOCK_SECONDS = 0.1;
/* Ranks wait for each other at the end of a block, and chains differ in what
 * they do in it: the less, the longer it is. */
static const double SHARED_BLOCK_SECONDS = 3;
/* Share of the time that may go into estimates for the progress line. */
static const double ESTIMATE_SHARE = 0.02;

typedef struct pace {
  size_t block;
  double block_started;
  double estimate_due; /* seconds into the run */
} pace;

static size_t kept_sweeps(const tempera_sampler *s,
                          const tempera_progress *now) {
  return now->done > s->options.warmup ? now->done - s->options.warmup : 0;
}

/* Sweeps after which the next automatic check is due: 1500, 3000, 6000, ...;
 * before ALL_CHECKED only a run whose sweeps are dear (TM_DEAR) is checked, and
 * only so far as it may end. */
enum { FIRST_CHECK = 1500, ALL_CHECKED = 6000 };
/* With more than four chains sooner, after as many sweeps in all; not before:
 */
enum { SOONEST_CHECK = 600 };
/* Effective draws of a run that ends before that, or without evidence. */
enum { ENOUGH_DRAWS = 1000, PLENTY = 4000 };
/* A standard error of 0.05 nats is enough, but a quick model gets more: */
enum { QUICK = 48000 };
static const double QUICK_WORK = 10; /* times TM_DEAR */
static const double ENOUGH_SE = 0.05, FINE_SE = 0.0125;

static size_t next_check(const tempera_sampler *s, size_t kept) {
  size_t check = tm_shared_sweeps(s, FIRST_CHECK, SOONEST_CHECK);
  while (check <= kept)
    check *= 2;
  return check;
}

/* As many as all runs are checked after, but for rounding. */
static bool all_checked(const tempera_sampler *s, size_t kept) {
  return 10 * kept >= 9 * tm_shared_sweeps(s, ALL_CHECKED, SOONEST_CHECK);
}

size_t tm_next_end(const tempera_sampler *s, size_t done) {
  size_t warmup = s->options.warmup, total = tm_sweeps_total(s);
  size_t kept = done > warmup ? done - warmup : 0;
  size_t next = warmup + next_check(s, kept);
  return s->automatic && next < total ? next : total;
}

/* Sweeps to do next: about BLOCK_SECONDS worth, not past the next check. */
static size_t next_block(const tempera_sampler *s, const pace *p,
                         const tempera_progress *now) {
  size_t block = p->block, warmup = s->options.warmup;
  if (now->done < warmup && block > warmup - now->done)
    return warmup - now->done;
  size_t kept = kept_sweeps(s, now), to_check = SIZE_MAX;
  if (s->options.until_se > 0)
    to_check = CHECK_EVERY - kept % CHECK_EVERY;
  else if (s->automatic)
    to_check = next_check(s, kept) - kept;
  return block < to_check ? block : to_check;
}

static void adjust_pace(pace *p, double now) {
  double took = fmax(now - p->block_started, 1e-6);
  double wanted = tm_ranks() ? SHARED_BLOCK_SECONDS : BLOCK_SECONDS;
  double factor = fmax(0.25, fmin(4, wanted / took));
  double block = fmax(1, fmin(1e6, (double)p->block * factor));
  p->block = (size_t)block;
  tm_answers_agree(&p->block, sizeof p->block);
}

static void estimate_now(tempera_sampler *s) {
  tm_estimate_headline(s->draws, &s->log_z, &s->se);
  size_t trips, restarts;
  if (tm_estimate_round_trips(s->draws, &trips, &restarts, NULL) == TEMPERA_OK)
    s->round_trips = trips; /* else the last count stays on display */
}

static void estimate_for_progress(tempera_sampler *s, pace *p, double now) {
  if (s->draws->count < 100 || now < p->estimate_due)
    return;
  estimate_now(s);
  double took = tempera_sampler_progress(s).seconds - now;
  p->estimate_due = now + took + fmax(0.5, took / ESTIMATE_SHARE);
}

static bool precise_enough(tempera_sampler *s, const tempera_progress *now) {
  size_t kept = kept_sweeps(s, now);
  if (!(s->options.until_se > 0) || kept == 0 || kept % CHECK_EVERY != 0)
    return false;
  estimate_now(s);
  return s->se <= s->options.until_se;
}

static bool is_check(const tempera_sampler *s, size_t kept) {
  return s->automatic && kept > 0 && next_check(s, kept - 1) == kept;
}

/* With all the draws that anyone wants and no prospect of enough round trips
 * (one more than so far, at the same rate to the end), the run ends with what
 * it has. */
static bool is_hopeless(const tempera_sampler *s, const tm_check *c,
                        size_t kept) {
  double left = (double)s->options.iterations / (double)kept;
  return c->open && c->only_trips && c->ess >= PLENTY &&
         (double)(c->round_trips + 1) * left < TM_FEWEST_TRIPS;
}

/* One that is checked early has the draws, and would have no more to go by at
 * the next regular check: enough round trips, or none to hope for by then. (One
 * that is hopeless is ripe.) */
static bool is_ripe(const tempera_sampler *s, const tm_check *c) {
  double left = (double)tm_shared_sweeps(s, ALL_CHECKED, SOONEST_CHECK) /
                (double)(tm_sweeps_done(s) - s->options.warmup);
  return c->ess >= ENOUGH_DRAWS &&
         (c->round_trips >= TM_FEWEST_TRIPS ||
          (double)(c->round_trips + 1) * left < TM_FEWEST_TRIPS);
}

static void say_unripe(tempera_sampler *s, const tm_check *c, size_t kept) {
  tm_snprintf(s->decision, sizeof s->decision,
              "not yet enough after %zu iterations per chain: %.0f effective "
              "draws, %zu round trips",
              kept, c->ess, c->round_trips);
}

/* Without a given number of iterations: enough when the evidence is precise,
 * and the verdict finds nothing, rough or worse, that more draws may cure. */
static tempera_status decide(tempera_sampler *s, const tempera_progress *now,
                             tempera_error *error) {
  size_t kept = kept_sweeps(s, now);
  if (!is_check(s, kept))
    return TEMPERA_OK;
  tm_check c;
  double swept = tm_sampler_swept(s);
  bool early = !all_checked(s, kept);
  if (early && swept < TM_DEAR)
    return TEMPERA_OK;
  TM_TRY(tm_sampler_check(s, early ? is_ripe : NULL, &c, error));
  if (c.mixed && !c.whole) {
    say_unripe(s, &c, kept);
    return TEMPERA_OK;
  }
  bool quick = kept < QUICK && swept < QUICK_WORK * TM_DEAR;
  double enough = quick ? FINE_SE : ENOUGH_SE;
  bool precise = !s->draws->evidence || c.se <= enough;
  bool hopeless = is_hopeless(s, &c, kept);
  s->satisfied = (!c.open && precise) || hopeless;
  tm_snprintf(s->decision, sizeof s->decision,
              "%s after %zu iterations per chain: se of log Z %.3g (%.3g is "
              "enough), %zu round trips%s%s",
              hopeless       ? "ended without hope of more round trips"
              : s->satisfied ? "stopped"
                             : "not yet enough",
              kept, c.se, enough, c.round_trips, c.open ? ". " : "",
              c.open ? c.why : "");
  return TEMPERA_OK;
}

/* A run that ends with few round trips: may the reference leg vouch? */
static tempera_status look_for_modes(tempera_sampler *s, tempera_error *error) {
  size_t trips = 0, restarts;
  if (!s->leg || s->draws->count < 100 || tm_sampler_stop_due(s))
    return TEMPERA_OK;
  TM_TRY(tm_estimate_round_trips(s->draws, &trips, &restarts, error));
  return trips < TM_FEWEST_TRIPS ? tm_absorption_measure(s, error) : TEMPERA_OK;
}

static tempera_status ended(tempera_sampler *s, tempera_progress_fn progress,
                            void *user, tempera_error *error) {
  const tempera_progress now = tempera_sampler_progress(s);
  if (progress)
    (void)progress(&now, user);
  return look_for_modes(s, error);
}

/* State is kept when a block of sweeps is done, before anything is decided by
 * it: then whoever goes on from there decides the same. */
static tempera_status keep(tempera_sampler *s, bool must,
                           tempera_error *error) {
  tempera_status status = s->keeper.keep
                              ? s->keeper.keep(s, must, s->keeper.user, error)
                              : TEMPERA_OK;
  if (status != TEMPERA_OK)
    tm_ranks_part(); /* the others know nothing of it */
  return status;
}

/* One block of sweeps; a sampler just loaded stands at the end of one. */
static tempera_status do_block(tempera_sampler *s, pace *p,
                               const tempera_progress *now,
                               tempera_error *error) {
  p->block_started = now->seconds;
  if (s->loaded) {
    s->loaded = false;
    return TEMPERA_OK;
  }
  return tempera_sampler_advance(s, next_block(s, p, now), error);
}

/* After a block: keep what there is, and is it enough? */
static tempera_status weigh(tempera_sampler *s, pace *p,
                            const tempera_progress *now, bool *enough,
                            tempera_error *error) {
  adjust_pace(p, now->seconds);
  if (now->done == s->options.warmup)
    p->block = FIRST_BLOCK; /* the first draws are on disk soon */
  tm_warmup_hurry(s);
  bool check = is_check(s, kept_sweeps(s, now));
  /* Asked before the state is written: other ranks go on in the meantime. */
  bool late = tm_answers_agree_on(tm_sampler_time_is_up(s));
  TM_TRY(keep(s, check, error));
  TM_TRY(decide(s, now, error));
  if (check) /* that may take long */
    late = tm_answers_agree_on(late || tm_sampler_time_is_up(s));
  *enough = precise_enough(s, now) || late;
  return TEMPERA_OK;
}

tempera_status tempera_sampler_run(tempera_sampler *sampler,
                                   tempera_progress_fn progress, void *user,
                                   tempera_error *error) {
  tempera_sampler *s = sampler;
  pace p = {.block = FIRST_BLOCK};
  tempera_progress now = tempera_sampler_progress(s);
  for (bool enough = false; now.phase != TEMPERA_PHASE_DONE && !enough;
       now = tempera_sampler_progress(s)) {
    if (progress && progress(&now, user))
      tempera_sampler_cancel(s);
    tempera_status status = do_block(s, &p, &now, error);
    now = tempera_sampler_progress(s);
    if (progress)
      estimate_for_progress(s, &p, now.seconds);
    if (status == TEMPERA_CANCELLED &&
        !tm_answers_agree_on(atomic_load(&s->cancelled)))
      return ended(s, progress, user, error); /* the time was up in a search */
    if (status != TEMPERA_OK) {
      if (progress)
        (void)progress(&now, user);
      return status;
    }
    TM_TRY(weigh(s, &p, &now, &enough, error));
  }
  TM_TRY(s->satisfied ? TEMPERA_OK : keep(s, true, error));
  return ended(s, progress, user, error);
}
