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
  double *u, *direction, *gradient;     /* for differences, Stan's scale */
  double *ours, *slope, *room;          /* on our scale; values of a block */
} tm_bs_worker;

/* A unit vector: its values in theta, its coordinates on both scales. */
typedef struct tm_bs_sphere {
  const tempera_map *map;
  size_t theta, step, u, stan;
} tm_bs_sphere;

typedef struct tm_bs_scale {
  size_t size; /* Stan's coordinates */
  long *place; /* by our coordinate: Stan's; -1 inside unit vectors */
  tm_bs_sphere *spheres;
  size_t sphere_count;
} tm_bs_scale;

struct tempera_bs {
  tempera_model *model;
  tm_bs_scale scale;
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

/* Stan's unconstrained scale; false when out of memory. */
bool tm_bs_scale_build(const tempera_model *model, tm_bs_scale *scale);
void tm_bs_scale_clear(tm_bs_scale *scale);
/* Gives what has to be added to our log Jacobian; `room` for a unit vector. */
double tm_bs_from_stan(const tempera_bs *bs, const double *stan, double *u,
                       double *room);
void tm_bs_to_stan(const tempera_bs *bs, const double *u, const double *theta,
                   double *stan);
/* A gradient: `slope` on our scale, `natural` that over theta. */
void tm_bs_slope_to_stan(const tempera_bs *bs, const double *stan,
                         const double *slope, const double *natural,
                         bool jacobian, double *out);

#endif
