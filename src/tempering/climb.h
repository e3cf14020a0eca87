/* climb.h - one climber for every density over the unconstrained coordinates
 * that is looked for optima:
 *
 *   tau*l + log pi + log J   the unconstrained measure (laplace.h)
 *   tau*l + log pi           the natural one (ridge.h)
 *   l                        the likelihood alone, to find basins by
 *
 * All of them are tau*l + p. Over the natural one the climber moves through the
 * unconstrained coordinates too: the maximum is the same, the scaling far
 * better, and an optimum on a bound lies far out with a converging value. */
#ifndef TM_TEMPERING_CLIMB_H
#define TM_TEMPERING_CLIMB_H

#include "model/model.h"

#include <math.h>

typedef enum tm_measure {
  TM_UNCONSTRAINED = 0,
  TM_NATURAL,
  TM_LIKELIHOOD
} tm_measure;

/* Ranges and first steps over the real coordinates; shared, read-only. */
typedef struct tm_frame {
  size_t reals;
  size_t *real;                   /* index into u of each real coordinate */
  double *start_low, *start_high; /* range of the starts */
  double *step;                   /* a quarter of their spread, or a guess */
} tm_frame;

/* A point with the derivatives of both parts of the density, so that they
 * serve every tau. */
typedef struct tm_spot {
  double l, p;
  double *u;       /* dimension */
  double *gl, *gp; /* gradients over the reals */
  double *hl, *hp; /* minus the Hessians */
  double *factor;  /* room for L L' = H and L^-1, once needed (laplace.h) */
} tm_spot;

static inline double tm_spot_height(const tm_spot *spot, double tau) {
  return tau * spot->l + spot->p;
}

/* Minus the Hessian of the density at tau. */
static inline void tm_spot_curvature(const tm_spot *spot, double tau, size_t d,
                                     double *h) {
  for (size_t i = 0; i < d * d; i++)
    h[i] = tau * spot->hl[i] + spot->hp[i];
}

/* Is coordinate j of u one of a parameter with bounds? */
static inline bool tm_is_bounded(const tempera_model *model, size_t j) {
  const tm_block *block = &model->blocks[model->block_of_u[j]];
  return isfinite(block->lower) || isfinite(block->upper);
}

TEMPERA_CHECKED tempera_status tm_spot_create(const tempera_model *model,
                                              tm_arena *arena, tm_spot *spot,
                                              tempera_error *error);
void tm_spot_copy(const tempera_model *model, const tm_spot *from, tm_spot *to);
/* Same integers? */
bool tm_same_value(const tempera_model *model, const double *a,
                   const double *b);

/* Squared length of the way over the reals, in the metric of a factor, or any
 * number beyond `most`. */
double tm_frame_square(const tm_frame *frame, const double *factor,
                       const double *to, const double *from, double most,
                       double *delta);

typedef enum tm_ascent {
  TM_ASCENT_FOUND = 0,
  TM_ASCENT_KNOWN, /* ended at a mode that is known */
  TM_ASCENT_DEAD,  /* density zero */
  TM_ASCENT_RUNAWAY,
  TM_ASCENT_STUCK
} tm_ascent;

/* A mode by which a climb may find that it brings nothing new. */
typedef struct tm_landmark {
  const double *u, *factor; /* H = L L', as in laplace.h */
  double height;
} tm_landmark;

/* One optimisation to be done, and its outcome. */
typedef struct tm_climb {
  double tau;
  tm_measure measure;
  const double *u;     /* where from; its integers may differ from warm's */
  const tm_spot *warm; /* derivatives nearby, or NULL */
  bool exact;          /* warm is at u itself, of this measure */
  bool hill;           /* warm is what lies beneath a peak */
  bool rough;          /* of little weight: a step and one look may do */
  uint64_t tracks;     /* the Laplace ridge's */
  void *source;        /* the mode it comes from, or NULL */
  const tm_landmark *known; /* modes at this tau to be recognised */
  size_t known_count;
  tm_ascent outcome;
  size_t same;    /* KNOWN: which */
  size_t culprit; /* RUNAWAY: which coordinate of u */
  bool edge;
  bool resorted;   /* begun from a relabelled optimum */
  bool shouldered; /* a narrow peak was met on top of a broad hill, ... */
  tm_spot broad;   /* ... and this is the hill's top without it; storage */
  double *from;    /* storage for u */
  tm_spot spot;    /* FOUND: where; storage */
} tm_climb;

/* One thread's optimiser: workspace and evaluator. */
typedef struct tm_climber {
  const tempera_model *model;
  const tm_frame *frame;
  tm_evaluator own;
  tm_evaluator *evaluator; /* `own`, unless another is lent */
  tm_measure measure;
  tm_point trial;
  double *lg, *pg, *jg;                /* dimension: gradients over u */
  double *b, *work, *vectors, *values; /* reals^2 (3), reals */
  double *step, *gradient, *scale, *used, *lane;
  double *tl, *tp;      /* the trial's gradients */
  double *plus, *minus; /* 2 x reals each: l and p at +-h */
  bool edge;
  bool fine; /* gradients from values by short steps: near a kink, at the end */
  double radius;
} tm_climber;

/* With `own_evaluator` it clones the model's data: release `own`. Allocates
 * here only. */
TEMPERA_CHECKED tempera_status tm_climber_create(
    const tempera_model *model, const tm_frame *frame, bool own_evaluator,
    tm_arena *arena, tm_climber *climber, tempera_error *error);
void tm_climb_run(tm_climber *climber, tm_climb *climb);

/* trust_step.c: `step` from `gradient` and `b` at hand, of length `radius` in
 * units of `scale`. */
void tm_climber_trust_step(tm_climber *climber, bool definite);

/* ---- slopes.c */

/* After an evaluation: a climb goes where no chain goes, and NaN and +infinity
 * out there are density zero; false only when the model asked to stop. */
bool tm_climber_forgive(tm_climber *climber);
/* Are all parts of the trial's density finite? */
bool tm_climber_positive(const tm_climber *climber);
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

#endif
