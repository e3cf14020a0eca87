/* laplace_parts.h - what the files of the Laplace ridge share.
 *
 *   laplace_slopes.c  densities, gradients, Hessians
 *   laplace_climb.c   one local optimum from one start, with its Hessian
 *   laplace_modes.c   optima made into modes; duplicates, overlap, weights
 *   laplace_knots.c   which taus, integers and starts are climbed from
 *   laplace.c          life, improvement, the view */
#ifndef TM_TEMPERING_LAPLACE_PARTS_H
#define TM_TEMPERING_LAPLACE_PARTS_H

#include "parallel/threads.h"
#include "tempering/laplace.h"
#include "tempering/ridge_parts.h"

enum {
  TM_LAPLACE_WORKERS = 8, /* fixed: nothing depends on threads */
  TM_LAPLACE_KNOTS = 32,  /* at most */
  TM_LAPLACE_MODES = 256  /* per knot, at most */
};

/* Modes this far below the best, in nats, are not kept. */
#define TM_LAPLACE_WINDOW 12.0

/* A point with the derivatives of both parts of the density, so that they
 * serve every tau: l, and p = log pi + log J. */
typedef struct tm_spot {
  double l, p;
  double *u;       /* dimension */
  double *gl, *gp; /* gradients over the reals */
  double *hl, *hp; /* minus the Hessians */
} tm_spot;

static inline double tm_spot_height(const tm_spot *spot, double tau) {
  return tau * spot->l + spot->p;
}

TEMPERA_CHECKED tempera_status tm_spot_create(const tempera_model *model,
                                              tm_arena *arena, tm_spot *spot,
                                              tempera_error *error);
void tm_spot_copy(const tempera_model *model, const tm_spot *from, tm_spot *to);

typedef struct tm_mode {
  tm_laplace_mode seen; /* what the view shows */
  tm_spot spot;
  double *factor;
  uint64_t tracks; /* basins, as bits: several once they have merged */
  bool dead;       /* tried in vain: density zero, or not found */
} tm_mode;

typedef enum tm_ascent {
  TM_ASCENT_FOUND = 0,
  TM_ASCENT_KNOWN, /* ended at a mode that is known */
  TM_ASCENT_DEAD,  /* density zero */
  TM_ASCENT_RUNAWAY,
  TM_ASCENT_STUCK
} tm_ascent;

/* One optimisation to be done, and its outcome. */
typedef struct tm_climb {
  double tau;
  const double *u;     /* where from; its integers may differ from warm's;
                          tm_laplace_plan copies it */
  const tm_spot *warm; /* derivatives nearby, or NULL */
  bool exact;          /* warm is at u itself */
  bool rough;          /* of little weight: a step and one look may do */
  uint64_t tracks;
  tm_mode *source;      /* the mode it comes from, or NULL */
  const tm_mode *known; /* modes at this tau to be recognised */
  size_t known_count;
  tm_ascent outcome;
  size_t same;    /* KNOWN: which */
  size_t culprit; /* RUNAWAY: which coordinate of u */
  bool edge;
  bool resorted; /* begun from a relabelled optimum */
  double *from;  /* storage for u */
  tm_spot spot;  /* FOUND: where */
} tm_climb;

/* One thread's optimiser: workspace and evaluator. */
typedef struct tm_climber {
  const tempera_model *model;
  const tm_search_frame *frame;
  tm_evaluator evaluator;
  tm_point trial;
  double *lg, *pg;                     /* dimension: gradients over u */
  double *b, *work, *vectors, *values; /* reals^2 (3), reals */
  double *step, *gradient, *scale, *used, *lane;
  double *tl, *tp;      /* the trial's gradients */
  double *plus, *minus; /* 2 x reals each: l and p at +-h */
  bool edge;
  double radius;
} tm_climber;

TEMPERA_CHECKED tempera_status tm_climber_create(const tempera_model *model,
                                                 const tm_search_frame *frame,
                                                 tm_arena *arena,
                                                 tm_climber *climber,
                                                 tempera_error *error);
void tm_climb_run(tm_climber *climber, tm_climb *climb);

/* ---- laplace_slopes.c */

/* The next point to be looked at. */
void tm_climber_go(tm_climber *climber, const double *u);
/* l and p there, and gradients over the reals; false where the density is
 * zero. */
bool tm_climber_look(tm_climber *climber, double *l, double *p);
bool tm_climber_slopes(tm_climber *climber, double *l, double *p, double *gl,
                       double *gp);
/* Gradients by differences of values, and the Hessians' diagonals with them
 * when `curvature`. */
void tm_climber_differences(tm_climber *climber, tm_spot *at, double tau,
                            bool curvature);
/* Both Hessians at this point, anew; without gradients these too. */
void tm_climber_renew(tm_climber *climber, tm_spot *at, double tau);
/* Steps of differences and of the trust region: the spread along each axis,
 * where the density bends as it should. */
void tm_climber_rescale(tm_climber *climber, const tm_spot *at, double tau);

typedef struct tm_stage {
  double tau;
  tm_mode *modes;
  size_t count;
  double best, log_z, slope;
} tm_stage;

struct tm_laplace {
  tm_arena *arena;
  const tempera_model *model;
  tm_laplace_settings settings;
  tm_laplace_view view;
  tm_labels labels;
  tm_search_frame frame;
  tm_climber climbers[TM_LAPLACE_WORKERS];
  tm_optimum *starts;
  size_t start_count;
  tm_stage stages[TM_LAPLACE_KNOTS];
  size_t stage_count;
  tm_climb *climbs; /* the queue */
  size_t climb_count, climb_capacity;
  size_t tracks, optimisations;
  uint64_t split_from, split_to; /* at this stage: basins that part */
  double runaway; /* the highest of a climb that ran away, at this stage */
  size_t culprit;
  double *delta, *theta, *other, *turned; /* scratch */
};

/* ---- laplace_modes.c */

/* Same integers? */
bool tm_same_value(const tempera_model *model, const double *a,
                   const double *b);
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

/* ---- laplace_labels.c */

/* The same mode with its labels in order, upwards. */
TEMPERA_CHECKED tempera_status tm_laplace_sort_labels(tm_laplace *laplace,
                                                      tm_laplace_mode *mode,
                                                      tempera_error *error);

/* ---- laplace_knots.c */

TEMPERA_CHECKED tempera_status tm_laplace_plan(tm_laplace *laplace,
                                               const tm_climb *climb,
                                               tempera_error *error);
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
uint64_t tm_laplace_spent(const tm_laplace *laplace);

#endif
