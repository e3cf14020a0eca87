/* sampler.h - the inside of tempera_sampler: one run from starts to the last
 * draw. */
#ifndef TM_RUN_SAMPLER_H
#define TM_RUN_SAMPLER_H

#include "run/starts.h"
#include "samplers/pair.h"

#include <stdatomic.h>
#include <time.h>

struct tempera_sampler {
  const tempera_model *model;
  tempera_options options; /* resolved: nothing left at "default" */
  tm_starts starts;
  tm_ridge *ridge; /* NULL until the first advance */
  tm_tau_prior prior;
  tm_pair *pairs;                      /* options.chains of them */
  bool *integer;                       /* per natural-scale value */
  tempera_draws *draws, *warmup_draws; /* the latter only with save_warmup */
  size_t round_end;                    /* sweep at which a warmup round ends */
  atomic_bool cancelled;
  struct timespec started;
  double log_z, se; /* the latest headline, for progress */
  size_t round_trips;
};

/* Fill in every "default" of the options for this model, or say what does
 * not fit together. */
TEMPERA_CHECKED tempera_status tm_options_resolve(const tempera_options *asked,
                                                  const tempera_model *model,
                                                  tempera_options *resolved,
                                                  tempera_error *error);

#endif
