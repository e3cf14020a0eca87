/* sampler.h - the inside of tempera_sampler: one run from starts to the last
 * draw. */
#ifndef TM_RUN_SAMPLER_H
#define TM_RUN_SAMPLER_H

#include "run/learning.h"
#include "run/starts.h"
#include "samplers/pair.h"

#include <stdatomic.h>
#include <time.h>

struct tempera_sampler {
  const tempera_model *model;
  tempera_options options; /* resolved: nothing left at "default" */
  tm_starts starts;
  bool begun; /* the ridge was looked for: by the first advance */
  tm_ridge *ridge;
  tm_laplace *laplace; /* of the laplace and learned priors, else NULL */
  tm_learner *learner; /* of the learned prior, else NULL */
  tm_tau_prior prior;
  tm_pair *pairs;                      /* options.chains of them */
  bool *integer;                       /* per natural-scale value */
  tempera_draws *draws, *warmup_draws; /* the latter only with save_warmup */
  tempera_draws *round_draws;    /* of this warmup round, for the learner */
  size_t round_start, round_end; /* sweeps between which a round lies */
  atomic_bool cancelled;
  struct timespec started;
  bool automatic;     /* the number of iterations is decided while running */
  bool satisfied;     /* ... and was: nothing more is needed */
  char decision[256]; /* in words; empty until decided */
  uint64_t estimate_evaluations; /* likelihood calls of checks on the way */
  double log_z, se;              /* the latest headline, for progress */
  size_t round_trips;
};

/* warmup.c: the ridge and the first tau prior, unless done already. */
TEMPERA_CHECKED tempera_status tm_warmup_begin(tempera_sampler *sampler,
                                               tempera_error *error);
/* All chains stand at round_end: put to use what the round taught; the last
 * round freezes everything. */
TEMPERA_CHECKED tempera_status tm_warmup_end_round(tempera_sampler *sampler,
                                                   tempera_error *error);
/* Note a warmup sweep for the learner; chains may do so concurrently. */
void tm_warmup_keep(tempera_sampler *sampler, const tm_pair *pair);

/* A summary, if asked with the model's quantities, which decide nothing. */
TEMPERA_CHECKED tempera_status
tm_sampler_summarise(const tempera_sampler *sampler, bool quantities,
                     tempera_summary **summary, tempera_error *error);

/* Fill in every "default" of the options for this model, or say what does
 * not fit together. */
TEMPERA_CHECKED tempera_status tm_options_resolve(const tempera_options *asked,
                                                  const tempera_model *model,
                                                  tempera_options *resolved,
                                                  tempera_error *error);

#endif
