/* load_parts.h - what the files that make a model of a program share.
 *
 *   load.c        a model's functions, and how it is put together
 *   load_prior.c  what its draws and the data tell of the prior */
#ifndef TM_LANGUAGE_LOAD_PARTS_H
#define TM_LANGUAGE_LOAD_PARTS_H

#include "language/load/binding.h"
#include "language/load/load.h"
#include "language/load/sites.h"
#include "model/predictive.h"

/* What all chains share; never changed after loading. */
typedef struct tm_loaded {
  void *library;
  const tm_entry *entry;
  void *instance;
  tm_tape tape; /* holds data and transformed data */
  tm_guard guard;
  tm_limits_pool *pool;           /* or NULL */
  tm_sites *sites;                /* pieces by integers; or NULL */
  size_t size;                    /* of theta */
  double *bounds;                 /* the lower ones of theta, the upper ones */
  size_t *order;                  /* Stan's place of each coordinate */
  size_t quantities, transformed; /* of which the first are transformed */
  tm_predictive_calls predictive;
  bool watched;         /* prior draws may lie where the prior is zero */
  bool cuts;            /* ... and are kept with the mass of their bounds */
  int holders;          /* users of it, counted atomically */
  int shown, generated; /* prints of model and quantities were made */
} tm_loaded;

/* One chain's. */
typedef struct tm_loaded_chain {
  tm_loaded *program;
  tm_tape tape;
  tm_guard guard;
  double cut;       /* of the last prior draw: log mass between its bounds */
  double *rejected; /* the last point of density zero ... */
  bool unexplained; /* ... of which nobody has asked why */
} tm_loaded_chain;

/* ---- load.c */

/* Of part 0, the prior, or 1, the likelihood; answers as a callback does. */
int tm_loaded_gradient(tm_loaded_chain *u, int part, const double *theta,
                       double *value, double *gradient);
/* From the prior, until one lies where it is not zero: *value, unless NULL,
 * is the log prior there. `rejected_some` when some did not. */
int tm_loaded_draw(tempera_random *random, double *theta, double *density,
                   double *value, bool *rejected_some, tm_loaded_chain *u);
/* Numbers read and written by an evaluation with its gradient. */
double tm_loaded_work(const double *theta, void *user);
/* Has a value rounded to infinity or to its bound? Runs leave that out. */
bool tm_is_rounded(const tm_loaded *program, const double *theta);

/* ---- load_prior.c */

/* What is known of the prior. */
typedef struct tm_prior_law {
  bool drawn; /* draws are exact */
  bool known; /* so is the log of its integral: */
  double log_integral;
} tm_prior_law;

/* Asked of draws; `theta` is scratch. */
tm_prior_law tm_prior_law_of(tm_loaded_chain *u, double *theta);
/* Priors and likelihoods that stand under conditions on data. */
void tm_look_closer(const tm_loaded *s, const tm_binding *b,
                    tempera_model *model);

#endif
