/* laplace.h - the Laplace ridge: every local optimum that was found of
 *   tau*l + log pi + log J
 * on the unconstrained scale, with its curvature, at a few taus (method 4.1
 * "two ridges", 4.2, 4.6). It starts the learned tau prior, is the `laplace`
 * one, and tells jumps where the basins are.
 *
 *   laplace_modes.c   optima made into modes; duplicates, overlap, weights
 *   laplace_knots.c   which taus, integers and starts are climbed from
 *   laplace_search.c  basins that nobody has met, and visits
 *   laplace.c         life, improvement, the view */
#ifndef TM_TEMPERING_LAPLACE_H
#define TM_TEMPERING_LAPLACE_H

#include "tempering/store.h"

/* One local optimum at one tau for one setting of the integers. */
typedef struct tm_laplace_mode {
  const double *u; /* model dimension, integers included */
  /* L, L L' = H = minus the Hessian over the reals (row-major, lower): the
   * covariance is the inverse of L L'. */
  const double *factor;
  const double *inverse; /* of L, from which draws are quick */
  double half_log_det;   /* log |L| */
  double height;         /* tau*l + log pi + log J at u */
  double log_likelihood; /* at u */
  double log_weight;     /* height + (d/2) log 2 pi - half_log_det */
  double log_copies;     /* log of the number of relabelled copies, less what
                            overlapping modes share */
  double slope;          /* d/dtau of the log weight, about E_tau[l] */
  double share;          /* of proposals: flattened, with a floor; these add
                            up to one over the modes of a knot */
  double peak;           /* share x |L|, the tallest of the knot being 1 */
  bool indefinite;       /* H was not positive definite and had to be made so */
  bool edge;             /* the density is zero on one side of u */
  bool shoulder;         /* a hill with a narrow peak on top: as if without */
  size_t track;          /* which basin: the same number at other taus */
} tm_laplace_mode;

typedef struct tm_laplace_knot {
  double tau;
  double log_z;    /* log sum over modes of weight x copies */
  double slope;    /* its estimated derivative */
  double log_peak; /* of the tallest mode */
  bool relabel;    /* some mode has copies under relabelling; the labels of
                      all modes are then in order */
  size_t mode_count;
  const tm_laplace_mode *modes; /* best first */
} tm_laplace_knot;

typedef struct tm_laplace_view {
  size_t knot_count;
  const tm_laplace_knot *knots; /* taus increasing: tau_min .. 1 */
  tm_labels labels;
  bool absent; /* unbounded or flat: there is no Laplace ridge */
  char reason[256];
} tm_laplace_view;

enum {
  TM_LAPLACE_KNOTS = 32, /* at most */
  TM_LAPLACE_MODES = 256 /* per knot, at most */
};

/* Modes this far below the best, in nats, are not kept. */
#define TM_LAPLACE_WINDOW 12.0

typedef struct tm_mode {
  tm_laplace_mode seen; /* what the view shows */
  tm_spot spot;
  uint64_t tracks; /* basins, as bits: several once they have merged */
  bool dead;       /* tried in vain: density zero, or not found */
  bool lent;       /* the view or the store points into its memory */
} tm_mode;

typedef struct tm_stage {
  double tau;
  tm_mode *modes;
  size_t count;
  double best, log_z, slope;
} tm_stage;

typedef struct tm_laplace {
  tm_arena *arena;
  const tempera_model *model;
  double tau_min;
  tm_laplace_view view;
  tm_store *store;
  bool frozen;       /* what the view shows is fixed */
  uint64_t searches; /* named, for their random streams */
  uint64_t budget;   /* of evaluations when it is made, and the store's ... */
  uint64_t enough;   /* ... count of them by then. Soft: a climb once begun is
                        finished */
  size_t taken;      /* optima of the store that were looked at */
  tm_stage stages[TM_LAPLACE_KNOTS];
  size_t stage_count;
  tm_landmark landmarks[TM_LAPLACE_MODES]; /* of a stage being climbed to */
  size_t tracks;
  uint64_t split_from, split_to; /* at this stage: basins that part */
  double runaway; /* the highest of a climb that ran away, at this stage */
  size_t culprit;
  double *delta, *theta, *other, *turned; /* scratch */
} tm_laplace;

/* From the starts of the store, which must outlive it, down to tau_min (0
 * unless the prior is improper). Succeeds with view->absent set when there is
 * no ridge. The result does not depend on the number of threads. */
TEMPERA_CHECKED tempera_status tm_laplace_create(tm_store *store,
                                                 double tau_min,
                                                 tm_laplace **laplace,
                                                 tempera_error *error);
void tm_laplace_free(tm_laplace *laplace);
/* NULL where there is no ridge, or not even the attempt at one. */
const tm_laplace_view *tm_laplace_present(const tm_laplace *laplace);

/* Warmup only, and never while a kernel that uses it sweeps: points (count x
 * size) that lie in no known basin are climbed from, and what is found is
 * followed to other taus. `found`, unless NULL, is how many new basins. */
TEMPERA_CHECKED tempera_status tm_laplace_improve(tm_laplace *laplace,
                                                  const double *points,
                                                  size_t count, size_t *found,
                                                  tempera_error *error);

/* Never while a kernel that uses it sweeps: spend about so many evaluations on
 * looking for basins that are not known, from draws of the prior and from
 * `points` (natural scale). Once frozen, what is found is no longer shown, but
 * counts among the basins below. The store counts the starts. */
TEMPERA_CHECKED tempera_status
tm_laplace_search(tm_laplace *laplace, uint64_t looks, uint64_t evaluations,
                  const double *points, size_t count, tempera_error *error);
void tm_laplace_freeze(tm_laplace *laplace);
/* The basins known at tau = 1, and whether a draw lies in the bulk of one; one
 * thread at a time. */
size_t tm_laplace_basins(const tm_laplace *laplace);
const tm_laplace_mode *tm_laplace_basin(const tm_laplace *laplace, size_t m);
bool tm_laplace_visited(tm_laplace *laplace, size_t m, const double *theta);

/* log z between the knots: a cubic through values and slopes, kept between
 * chord and tangents. Needs a ridge that is not absent. */
double tm_laplace_log_z(const tm_laplace *laplace, double tau);
/* The knot at or below tau, with another above; and that whose modes serve this
 * tau. */
const tm_laplace_knot *tm_laplace_below(const tm_laplace *laplace, double tau);
const tm_laplace_knot *tm_laplace_nearest(const tm_laplace *laplace,
                                          double tau);

/* ---- laplace_modes.c */

/* File the outcomes of the queue, in its order, under the stage; the queue is
 * then empty. `fresh` counts modes that are new. */
TEMPERA_CHECKED tempera_status tm_laplace_file(tm_laplace *laplace,
                                               tm_stage *stage, size_t *fresh,
                                               tempera_error *error);
/* Copies, overlap, log z and slope; modes sorted, best first, and those
 * outside the window dropped. */
void tm_stage_settle(tm_laplace *laplace, tm_stage *stage);
/* The same integers, also under other labels: where duplicates are recognised
 * so, what was found for one setting of them stands for its copies. */
bool tm_laplace_same_value(tm_laplace *laplace, const double *a,
                           const double *b);
/* The least curvature along a coordinate, in steps of the starts, and which
 * coordinate of u that is. */
double tm_laplace_flattest(const tm_laplace *laplace, const tm_spot *spot,
                           double tau, size_t *coordinate);
/* Is the point u in the bulk of a mode of this stage? */
bool tm_stage_covers(tm_laplace *laplace, const tm_stage *stage,
                     const double *u);

/* Is the point u in the bulk of this mode? */
bool tm_mode_covers(tm_laplace *laplace, const tm_mode *mode, const double *u);

/* ---- laplace.c, for the others: show what is known; u, relabelled by way of
 * theta: `turned` */
TEMPERA_CHECKED tempera_status tm_laplace_publish(tm_laplace *laplace,
                                                  tempera_error *error);
const double *tm_laplace_relabel(tm_laplace *laplace,
                                 const unsigned char *permutation,
                                 const double *u);

/* ---- laplace_knots.c */

/* Run the queue against a stage, file it, and look at integers next to those
 * found until nothing within the window is new. */
TEMPERA_CHECKED tempera_status tm_laplace_explore(tm_laplace *laplace,
                                                  tm_stage *stage,
                                                  size_t *fresh,
                                                  tempera_error *error);
TEMPERA_CHECKED tempera_status tm_laplace_anchor(tm_laplace *laplace,
                                                 tempera_error *error);
TEMPERA_CHECKED tempera_status tm_laplace_refine(tm_laplace *laplace,
                                                 tempera_error *error);
/* What stage s knows and its neighbours do not is climbed to there, and so
 * on, upwards or downwards. */
TEMPERA_CHECKED tempera_status tm_laplace_follow(tm_laplace *laplace, size_t s,
                                                 int way, tempera_error *error);
uint64_t tm_laplace_new_track(tm_laplace *laplace);

#endif
