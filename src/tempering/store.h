/* store.h - one store of optima for the whole landscape: what was found, where,
 * at which tau and integers, by whom; the climbers that find; and the queue of
 * climbs to be done. The two measures on it, the Laplace ridge (laplace.h) and
 * the natural ridge (ridge.h), put in what they find and take up what others
 * found. */
#ifndef TM_TEMPERING_STORE_H
#define TM_TEMPERING_STORE_H

#include "model/labels.h"
#include "tempering/climb.h"

#include <string.h>

enum { TM_STORE_WORKERS = 8 }; /* fixed: nothing depends on threads */

typedef enum tm_finder {
  TM_BY_START = 0, /* a start of the run, --init among them */
  TM_BY_LAPLACE,   /* the unconstrained measure */
  TM_BY_RIDGE,     /* the natural measure */
  TM_BY_DRAW       /* where a chain was in warmup */
} tm_finder;

/* A point, with the parts of its density: the line tau*l + log pi lies below
 * the natural ridge everywhere. */
typedef struct tm_optimum {
  double tau; /* where it was optimised, if it was */
  tm_measure measure;
  tm_finder finder;
  double log_likelihood, log_prior, log_jacobian;
  double *u;
  tm_spot spot; /* derivatives; spot.u NULL without */
} tm_optimum;

static inline double tm_optimum_height(const tm_optimum *optimum, double tau) {
  return tau * optimum->log_likelihood + optimum->log_prior;
}

/* A copy, in the memory that `to` has for u. */
static inline void tm_optimum_copy(const tempera_model *model,
                                   const tm_optimum *from, tm_optimum *to) {
  double *u = to->u;
  *to = *from;
  to->u = memcpy(u, from->u, model->dimension * sizeof(double));
}

/* More integers than can be gone through value by value: each setting of them
 * is climbed to by itself, at every knot (eight binary ones take 700 000
 * gradients, ten four times as many). Of a wide integer a few values matter.
 * Then there is no ridge, for this reason. */
enum { TM_MOST_SETTINGS = 256, TM_VALUES_THAT_MATTER = 4 };
bool tm_too_many_integers(const tempera_model *model, char *reason,
                          size_t size);

typedef struct tm_store_settings {
  uint64_t seed;
  int threads;
  tm_stop stop; /* ends searches with TEMPERA_CANCELLED */
} tm_store_settings;

typedef struct tm_store {
  tm_arena *arena;
  const tempera_model *model;
  tm_store_settings settings;
  tm_frame frame;
  tm_labels labels;
  tm_climber climbers[TM_STORE_WORKERS];
  tm_optimum *starts; /* of positive density, best first at tau = 1 */
  size_t start_count;
  tm_optimum *optima; /* in the order in which they came */
  size_t count, capacity;
  tm_climb *climbs; /* the queue */
  size_t climb_count, climb_capacity;
  tm_spot *spare; /* spots of the arena that are free */
  size_t spare_count, spare_capacity;
  size_t optimisations;
  uint64_t tried;    /* starts climbed from or looked at */
  uint64_t searched; /* evaluations of tm_laplace_search, but for ... */
  uint64_t looked;   /* ... these, its looks beyond them */
} tm_store;

/* What all of the search has cost. */
typedef struct tm_work {
  size_t optimisations;
  uint64_t likelihood_evaluations, gradient_evaluations;
  double seconds_in_model;
} tm_work;

/* `starts`: natural-scale points (count x model size), some of positive
 * density. */
TEMPERA_CHECKED tempera_status tm_store_create(
    const tempera_model *model, const tm_store_settings *settings,
    const double *starts, size_t count, tm_store **store, tempera_error *error);
void tm_store_free(tm_store *store);

/* The evaluated point of a climber; false, and nothing done, where the density
 * is not positive and finite. u is copied. */
bool tm_store_point(const tm_climber *climber, tm_optimum *point);
/* Into the store, u copied, derivatives borrowed. */
TEMPERA_CHECKED tempera_status tm_store_add(tm_store *store,
                                            const tm_optimum *optimum,
                                            tempera_error *error);
/* A natural-scale point, if its density is positive. */
TEMPERA_CHECKED tempera_status tm_store_offer(tm_store *store,
                                              const double *theta,
                                              tm_finder finder,
                                              tempera_error *error);
/* Far enough apart in some coordinate for another basin? */
bool tm_store_apart(const tm_store *store, const double *a, const double *b);

/* Queue a climb; u is copied. */
TEMPERA_CHECKED tempera_status tm_store_plan(tm_store *store,
                                             const tm_climb *climb,
                                             tempera_error *error);
/* Memory that nobody points into any more, for climbs to come. */
void tm_store_spare(tm_store *store, const tm_spot *spot);
/* Run the queue, in parallel; it stays for its outcomes to be read. */
TEMPERA_CHECKED tempera_status tm_store_run(tm_store *store,
                                            const tm_landmark *known,
                                            size_t known_count,
                                            tempera_error *error);
/* Take the first `count` off the queue; slots keep their memory. */
void tm_store_pop(tm_store *store, size_t count);
/* The Laplace mass at tau = 1 of the basin that holds this point (natural
 * scale), by a climb of its own; NaN where the basin has no such mass. */
TEMPERA_CHECKED tempera_status tm_store_weigh(const tm_store *store,
                                              const double *theta,
                                              double *log_mass,
                                              tempera_error *error);
/* The first failure of any climber ("stop"), as an error. */
TEMPERA_CHECKED tempera_status tm_store_check(const tm_store *store,
                                              tempera_error *error);

tm_work tm_store_work(const tm_store *store);
/* Likelihood and gradient evaluations so far. */
uint64_t tm_store_spent(const tm_store *store);
/* The natural-scale name of what coordinate j of u moves. */
const char *tm_store_name(const tm_store *store, size_t j);

#endif
