/* bridgestan_parts.h - what the two files behind BridgeStan's interface share.
 */
#ifndef TM_LANGUAGE_BRIDGESTAN_PARTS_H
#define TM_LANGUAGE_BRIDGESTAN_PARTS_H

#include "language/runtime/bridgestan.h"
#include "model/model.h"

#include <pthread.h>

/* Scratch space of one call. */
typedef struct tm_bs_worker {
  struct tm_bs_worker *next;
  tm_arena *arena;
  tm_evaluator evaluator;
  double *theta, *natural, *quantities; /* natural: a gradient */
  double *u, *direction, *gradient;     /* for differences */
} tm_bs_worker;

struct tempera_bs {
  tempera_model *model;
  size_t transformed, generated;
  char *names[2][2], *unconstrained_names, *info;
  pthread_mutex_t lock;
  tm_bs_worker *idle;
};

struct tempera_bs_rng {
  tempera_random stream;
};

/* "function: what" into *error; gives -1. */
int tm_bs_fail(char **error, const char *function, const char *what);
int tm_bs_fail_error(char **error, const char *function,
                     const tempera_error *problem);
/* NULL, with an error, when out of memory. */
tm_bs_worker *tm_bs_take(const tempera_bs *bs, const char *function,
                         char **error);
void tm_bs_give_back(const tempera_bs *bs, tm_bs_worker *w);

#endif
