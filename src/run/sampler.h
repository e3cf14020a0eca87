/* sampler.h - the inside of tempera_sampler: one run from starts to the last
 * draw. */
#ifndef TM_RUN_SAMPLER_H
#define TM_RUN_SAMPLER_H

#include "model/hierarchy.h"
#include "run/history.h"
#include "run/learning.h"
#include "run/methods/method.h"
#include "run/prior_run.h"
#include "run/reference_leg.h"
#include "run/rounded.h"
#include "run/saving.h"
#include "run/starts.h"
#include "run/support.h"
#include "tempering/tau_prior.h"

#include <stdatomic.h>
#include <time.h>

/* Sentences: one for each check of unused.c at most. */
enum { TM_MOST_NOTES = 9, TM_NOTE_SIZE = 160 };
typedef struct tm_notes {
  size_t count;
  char text[TM_MOST_NOTES][TM_NOTE_SIZE];
} tm_notes;

/* A place draws flow to, and the sweeps it has: kept ones, and warmup's. */
enum { TM_MOST_SINKS = 8 };
typedef struct tm_outlet {
  tempera_sink sink;
  size_t taken[2];
} tm_outlet;

/* See absorption.h; starts 0: not measured. */
typedef struct tm_absorption {
  size_t starts, absorbed;
  double lost_mass; /* -infinity: none was lost */
  uint64_t lost;    /* which, a bit for each */
  size_t tried;     /* sweeps made when they were tried last */
  size_t far, far_absorbed;
  double far_mass; /* as lost_mass, of far draws */
  size_t rows;     /* of draws, when it was measured last */
} tm_absorption;

struct tempera_sampler {
  const tempera_model *model;
  const tempera_model *given; /* the caller's; `model` may know more */
  tempera_options asked;      /* without `init`, which is here: */
  double *init;               /* or NULL */
  size_t init_values;
  tempera_options options; /* resolved: nothing left at "default" */
  tm_notes unused;         /* options that have no effect */
  const tm_method *method;
  tm_starts starts;
  tm_rounded rounded; /* of a prior with mass next to bounds, and ... */
  tm_prior_run prior; /* of a model without prior_draw; `model` is then its */
  tm_support support; /* where L > 0 hardly anywhere; the same */
  /* Scales with what they scale; `model` is then this one. */
  tm_arena *hierarchy_arena;
  tm_hierarchy hierarchy;
  tempera_model hierarchical;
  bool init_given;     /* the caller's starts */
  bool begun;          /* the ridge was looked for: by the first advance */
  tm_history history;  /* of what follows */
  tm_store *store;     /* of optima, for both ridges; or NULL */
  tm_ridge *ridge;     /* NULL: this method or these settings need none */
  tm_laplace *laplace; /* for jumps and curves of log z; or NULL */
  tm_group **groups;   /* options.chains of them */
  void *method_state;  /* or NULL */
  bool *integer;       /* per natural-scale value */
  bool *fixed;         /* the same: has it only one value? */
  tempera_draws *draws, *warmup_draws; /* the latter only with save_warmup */
  tm_reference_leg *leg;               /* NULL: none */
  tm_absorption absorption;
  tempera_draws *reference; /* its draws: D for the log likelihood; or NULL */
  tm_outlet outlets[TM_MOST_SINKS];
  size_t outlet_count;
  double warmup_seconds; /* when the last sweep of the warmup was done */
  size_t round_start, round_end; /* sweeps between which a round lies */
  size_t search_due; /* the sweep after which basins are next looked for */
  double *annealed;  /* once annealed: a point of each chain at tau = 1 */
  size_t trips;      /* to the prior and back in the last warmup round */
  bool barren;       /* no walker came up from the prior in it, ... */
  bool anew;         /* ... and its curve was therefore annealed just now */
  size_t extensions; /* rounds by which warmup was made longer for it */
  bool shortened;    /* warmup ends early, as the reference leg works */
  atomic_bool cancelled;
  struct timespec started;
  double earlier; /* seconds before it was loaded, if it was */
  /* State on disk (saving.h): who keeps it, the sweep of the latest; and that
   * it was loaded, and no sweep done since. */
  tm_keeper keeper;
  size_t saved_at;
  bool loaded;
  bool automatic;     /* the number of iterations is decided while running */
  bool satisfied;     /* ... and was: nothing more is needed */
  char decision[640]; /* in words; empty until decided */
  uint64_t estimate_evaluations; /* likelihood calls of checks on the way */
  /* The last check's summary without quantities, outcome and verdict, for the
   * summary of the same draws; or NULL. */
  _Atomic(tempera_summary *) checked;
  size_t checked_count;   /* sweeps it is of */
  uint64_t checked_calls; /* likelihood calls that it has made */
  double part_seconds;    /* a sweep of a part, lately; 0: not known yet */
  double log_z, se;       /* the latest headline, for progress */
  size_t round_trips;
};

/* sampler.c: sweeps every group has done, and will do. */
size_t tm_sweeps_done(const tempera_sampler *sampler);
/* sweeping.c: all groups to this sweep, unless one fails or all are told to
 * stop; into the draws, for which there is room. */
void tm_sweep_until(tempera_sampler *sampler, size_t end);
/* stopping.c: after how many sweeps the run may end next. */
size_t tm_next_end(const tempera_sampler *sampler, size_t done);
size_t tm_sweeps_total(const tempera_sampler *sampler);
/* The seed of what all chains of this process share, and others do not. */
uint64_t tm_seed_of(const tempera_options *options);
/* Terms of the log likelihood: as asked for, as the model says, or as its
 * statements are found to have; 0: not known. */
size_t tm_sampler_observations(const tempera_sampler *sampler);
double tm_sampler_seconds(const tempera_sampler *sampler);
/* Is there a time limit, and is it over? It counts from the last load. */
bool tm_sampler_time_is_up(const tempera_sampler *sampler);
/* A tm_stop of searches: cancelled, or the time is up. */
bool tm_sampler_stop_due(const void *sampler);
uint64_t tm_sampler_evaluations(const tempera_sampler *sampler);
/* search.c: evaluations that target and tempered walkers have made. A run that
 * has taken TM_DEAR of them pays for every further sweep dearly, and may end
 * its warmup and itself early; by evaluations and not by the clock, so that
 * the seed alone says where. */
static const double TM_DEAR = 1e5;
double tm_sampler_swept(const tempera_sampler *sampler);

/* warmup.c: prepare the method, unless done already. */
TEMPERA_CHECKED tempera_status tm_warmup_begin(tempera_sampler *sampler,
                                               tempera_error *error);
/* All chains stand at round_end: put to use what the round taught; the last
 * round freezes everything. */
TEMPERA_CHECKED tempera_status tm_warmup_end_round(tempera_sampler *sampler,
                                                   tempera_error *error);

/* Sweeps per chain to be had of this many with four chains, when there are
 * more: what chains learn together takes the fewer of each. */
size_t tm_shared_sweeps(const tempera_sampler *sampler, size_t sweeps,
                        size_t least);

/* Before q is fitted at the end of a round: may the next, a short one, be the
 * last? Then the warmup is shortened. */
void tm_warmup_consider_end(tempera_sampler *sampler, bool last);

/* Between blocks of sweeps: does a time limit ask for an end of the warmup? */
void tm_warmup_hurry(tempera_sampler *sampler);

/* The draws of a warmup round, without their thetas, for a learner: room for
 * them, a group's latest sweep, and at the end of the round the use of them. */
TEMPERA_CHECKED tempera_status tm_round_create(const tempera_sampler *sampler,
                                               tempera_draws **draws,
                                               tempera_error *error);
void tm_round_keep(const tempera_sampler *sampler, tempera_draws *draws,
                   const tm_group *group);
void tm_round_archive(const tempera_sampler *sampler, tempera_draws *draws,
                      tm_archive *archive);
/* Sweeps of one chain, as tm_round_keep has put them. */
void tm_round_pass(const tempera_sampler *sampler, tempera_draws *draws,
                   size_t chain, size_t from, size_t to, tm_archive *archive);
TEMPERA_CHECKED tempera_status tm_round_learn(tempera_sampler *sampler,
                                              tempera_draws *draws,
                                              tm_learner **learner,
                                              tempera_error *error);

/* landscape.c: the Laplace ridge (sampler->laplace), which gives jumps to every
 * group's kernel when the options want them. `needed`: fail without one. */
TEMPERA_CHECKED tempera_status tm_landscape_laplace(tempera_sampler *sampler,
                                                    bool needed,
                                                    tempera_error *error);
/* The natural-scale ridge (sampler->ridge). */
TEMPERA_CHECKED tempera_status tm_landscape_ridge(tempera_sampler *sampler,
                                                  bool needed,
                                                  tempera_error *error);
/* Both, for methods that only jump by them, and only if they do. */
TEMPERA_CHECKED tempera_status tm_landscape_begin(tempera_sampler *sampler,
                                                  tempera_error *error);
/* Where the groups are now may be a basin not known yet; after the last round
 * nothing is to change. */
TEMPERA_CHECKED tempera_status tm_landscape_end_round(tempera_sampler *sampler,
                                                      bool last,
                                                      tempera_error *error);
/* first_curve.c: log z(tau) up to a constant, as far as the landscape (or,
 * where there is none, the looks at the prior) tells it; and a learner begun
 * from it. */
double tm_landscape_log_z(const tempera_sampler *sampler, double tau);
/* Without a Laplace ridge, one that learns is begun by annealing. */
TEMPERA_CHECKED tempera_status tm_landscape_learner(tempera_sampler *sampler,
                                                    bool by_barrier,
                                                    tm_learner **learner,
                                                    tempera_error *error);
/* Was a basin found since that outweighs all that the learner's curve knows?
 * Then that curve is of another phase, however well draws support it. */
bool tm_landscape_overtaken(const tempera_sampler *sampler,
                            const tm_learner *learner);
/* Begin the learner anew, with knots of its own, from a curve that is annealed
 * where no draws have been; once in a run (`annealed` is then set). */
TEMPERA_CHECKED tempera_status tm_landscape_anneal(tempera_sampler *sampler,
                                                   tm_learner **learner,
                                                   tempera_error *error);
/* search.c: can a run that was saved at `saved_at` have looked so long? */
bool tm_search_possible(const tempera_sampler *sampler, const tm_deed *deed);
/* search.c: look for basins with the run's share of evaluations, from these
 * points among others; and say what was searched and what was not visited. */
TEMPERA_CHECKED tempera_status tm_landscape_search(tempera_sampler *sampler,
                                                   const double *points,
                                                   size_t count,
                                                   tempera_error *error);
/* The log of the ratio of the mass found about a basin's optimum, or that might
 * be there, to Laplace's; 0 where it cannot be had. */
double tm_landscape_log_confirmed(const tempera_sampler *sampler, size_t basin);
TEMPERA_CHECKED tempera_status
tm_landscape_describe(const tempera_sampler *sampler, tempera_summary *summary,
                      tempera_error *error);
/* landscape.c: the same from where the groups are; in warmup what is found
 * there is learned. */
TEMPERA_CHECKED tempera_status tm_landscape_search_on(tempera_sampler *sampler,
                                                      bool warmup,
                                                      tempera_error *error);
/* Put the ridge into the draws, for the ridge diagnostic. */
TEMPERA_CHECKED tempera_status
tm_landscape_record(const tempera_sampler *sampler, tempera_error *error);

/* What a run of automatic length decides by. */
typedef struct tm_check {
  bool whole;      /* if not, no more than mixing was looked at, ... */
  bool mixed;      /* ... which was bad, or the run cannot end yet */
  bool open;       /* there is a finding that more draws may cure, ... */
  char why[320];   /* ... the gravest in words */
  bool only_trips; /* all that is open is about round trips */
  double ess;      /* the fewest effective draws of any value */
  double se;       /* of log Z */
  size_t round_trips;
} tm_check;
/* `may_end` (NULL: it may) is asked once mixing is known, effective draws and
 * round trips: if a run cannot end whatever the rest is, that is not found. */
typedef bool (*tm_may_end)(const tempera_sampler *sampler,
                           const tm_check *check);
TEMPERA_CHECKED tempera_status tm_sampler_check(tempera_sampler *sampler,
                                                tm_may_end may_end,
                                                tm_check *check,
                                                tempera_error *error);

/* Fill in every "default" of the options for this model, or say what does
 * not fit together. */
TEMPERA_CHECKED tempera_status tm_options_resolve(const tempera_options *asked,
                                                  const tempera_model *model,
                                                  tempera_options *resolved,
                                                  tempera_error *error);
/* Is the method pt-stwnc or stwnc? And its word. */
bool tm_is_pair(const tempera_options *options);
const char *tm_method_word(const tempera_options *options);
/* unused.c: what was asked for and has no effect. */
tm_notes tm_options_unused(const tempera_options *asked,
                           const tempera_options *resolved);

#endif
