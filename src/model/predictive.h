/* predictive.h - what a model can say of its data beyond a likelihood: its
 * terms one by one, and data drawn anew given the parameters. The language
 * gives both; see language/emit/emit_points.c and replicate.c. */
#ifndef TM_MODEL_PREDICTIVE_H
#define TM_MODEL_PREDICTIVE_H

#include "model/model.h"

enum { TM_MOST_REPLICAS = 16, TM_REPLICA_RANK = 11 };

/* A variable of the data with outcomes; elements are row-major. */
typedef struct tm_replica {
  char name[64];
  bool whole;
  int rank, dim[TM_REPLICA_RANK];
  size_t first, count; /* among all elements */
} tm_replica;

/* Filled while a model draws data: up to `room` elements of all variables. */
typedef struct tm_replicas {
  tm_replica each[TM_MOST_REPLICAS];
  size_t count, size;
  double *observed, *drawn; /* either may be NULL */
  size_t room;
} tm_replicas;

/* Terms [first, first + room) of the likelihood at a point. */
typedef struct tm_points_wanted {
  size_t first, room;
  double *values;
  size_t count;      /* of all terms */
  double sum, extra; /* of them; and what is in the likelihood besides */
} tm_points_wanted;

/* A model's own functions, which take its `user`; any may be NULL. They return
 * as its callbacks do. */
typedef struct tm_predictive_calls {
  int (*points)(const double *theta, tm_points_wanted *wanted, void *user);
  /* `numbers`: each element gets the number of its term, from 0, or NaN */
  int (*replicate)(const double *theta, tempera_random *random, bool numbers,
                   tm_replicas *replicas, double *log_density, void *user);
  const char *unreplicated; /* why there is no replicate; "" */
} tm_predictive_calls;

/* What is known of a model's predictions, once a point has been seen. */
typedef struct tm_predictive {
  tm_arena *arena;
  size_t term_count; /* of the likelihood; 0: they cannot be had */
  char no_terms[160], no_replicas[256]; /* why not; "" where they can */
  tm_replicas replicas;                 /* with `observed`; count 0: none */
  long *term;   /* of each element: its number; -1: it is not scored */
  bool matched; /* are the numbers those of the likelihood's terms? */
} tm_predictive;

/* Look at a point where the likelihood is not zero. */
TEMPERA_CHECKED tempera_status tm_predictive_create(tm_evaluator *evaluator,
                                                    const double *theta,
                                                    tm_predictive *predictive,
                                                    tempera_error *error);
void tm_predictive_free(tm_predictive *predictive);
/* One at a point of density not zero; false: the model rejected it. */
bool tm_points_at(tm_evaluator *evaluator, const double *theta,
                  tm_points_wanted *wanted);
bool tm_replicate_at(tm_evaluator *evaluator, const double *theta,
                     tempera_random *random, tm_replicas *replicas,
                     double *log_density);

#endif
