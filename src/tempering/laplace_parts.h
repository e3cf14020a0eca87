/* laplace_parts.h - what the files of the Laplace ridge share.
 *
 *   laplace_modes.c   optima made into modes; duplicates, overlap, weights
 *   laplace_knots.c   which taus, integers and starts are climbed from
 *   laplace_search.c  basins that nobody has met, and visits
 *   laplace.c         life, improvement, the view */
#ifndef TM_TEMPERING_LAPLACE_PARTS_H
#define TM_TEMPERING_LAPLACE_PARTS_H

#include "tempering/laplace.h"

enum {
  TM_LAPLACE_KNOTS = 32, /* at most */
  TM_LAPLACE_MODES = 256 /* per knot, at most */
};

/* Modes this far below the best, in nats, are not kept. */
#define TM_LAPLACE_WINDOW 12.0

typedef struct tm_mode {
  tm_laplace_mode seen; /* what the view shows */
  tm_spot spot;
  double *factor;  /* and its inverse behind it; NULL where nothing is */
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

struct tm_laplace {
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
  double *rooms; /* of factors that are free: each begins with the next */
};

/* ---- laplace_modes.c */

/* File the outcomes of the queue, in its order, under the stage; the queue is
 * then empty. `fresh` counts modes that are new. */
TEMPERA_CHECKED tempera_status tm_laplace_file(tm_laplace *laplace,
                                               tm_stage *stage, size_t *fresh,
                                               tempera_error *error);
/* Copies, overlap, log z and slope; modes sorted, best first, and those
 * outside the window dropped. */
void tm_stage_settle(tm_laplace *laplace, tm_stage *stage);
/* Is the point u in the bulk of a mode of this stage? */
bool tm_stage_covers(tm_laplace *laplace, const tm_stage *stage,
                     const double *u);

/* Is the point u in the bulk of this mode? */
bool tm_mode_covers(tm_laplace *laplace, const tm_mode *mode, const double *u);
/* laplace.c: show what is known. */
TEMPERA_CHECKED tempera_status tm_laplace_publish(tm_laplace *laplace,
                                                  tempera_error *error);

/* ---- laplace_labels.c */

/* u, relabelled by way of theta: `turned`. */
const double *tm_laplace_relabel(tm_laplace *laplace,
                                 const unsigned char *permutation,
                                 const double *u);
/* The same mode with its labels in order, upwards. */
TEMPERA_CHECKED tempera_status tm_laplace_sort_labels(tm_laplace *laplace,
                                                      tm_laplace_mode *mode,
                                                      tempera_error *error);

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
