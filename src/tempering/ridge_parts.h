/* ridge_parts.h - what the files of the ridge share and nobody else sees.
 *
 *   ridge_search.c  the optimum at one tau from one start
 *   ridge_starts.c  where optimisers start: several basins, all values
 *   ridge_values.c  optima per integer value, bounds, waves of optimisations
 *   ridge_convex.c  knots, certificate and refinement
 *   ridge_spline.c  the paper's splines through 301 optima
 *   ridge_exact.c   optimisation at every proposal
 *   ridge.c         the table that all of them give, and its life */
#ifndef TM_TEMPERING_RIDGE_PARTS_H
#define TM_TEMPERING_RIDGE_PARTS_H

#include "numeric/optimise.h"
#include "parallel/threads.h"
#include "tempering/ridge.h"

enum {
  TM_RIDGE_WORKERS = 8,    /* searches that may run at once; fixed, so that */
                           /* nothing depends on the number of threads */
  TM_RIDGE_DISPERSED = 32, /* starts of our own */
  TM_RIDGE_KNOTS = 200,    /* at most */
  TM_RIDGE_VALUES = 1024,  /* integer values (or combinations) at most */
  TM_RIDGE_OTHERS = 8      /* lower local optima remembered per value */
};

/* Differences in height below this are the optimiser's, not the model's. */
#define TM_RIDGE_NOISE 1e-6

/* A point and its densities: the line tau*l + log pi, below s everywhere. */
typedef struct tm_optimum {
  double tau; /* where it was optimised */
  double log_likelihood, log_prior;
  double *u;
} tm_optimum;

static inline double tm_optimum_height(const tm_optimum *optimum, double tau) {
  return tau * optimum->log_likelihood + optimum->log_prior;
}

/* ---- ridge_search.c */

/* Box and first steps over the real coordinates; shared, read-only. */
typedef struct tm_search_frame {
  size_t reals;
  size_t *real;                   /* index into u of each real coordinate */
  double *lower, *upper;          /* box */
  double *start_low, *start_high; /* range of the starts */
  double *step;                   /* size of a first simplex */
  double *apart;                  /* far enough for another basin */
} tm_search_frame;

TEMPERA_CHECKED tempera_status tm_search_frame_create(
    const tempera_model *model, const tm_optimum *starts, size_t start_count,
    tm_arena *arena, tm_search_frame *frame, tempera_error *error);

/* One thread's optimiser. */
typedef struct tm_search {
  const tempera_model *model;
  const tm_search_frame *frame;
  tm_evaluator own;        /* when the search brings its own evaluator */
  tm_evaluator *evaluator; /* the one in use */
  tm_optimiser *simplex, *lbfgs, *slsqp, *running;
  tm_point trial;
  double tau;
  tm_optimum best; /* the best point of this search */
  double *x, *before, *step, *gradient;
  bool sound;    /* some run of this search ended as it should */
  bool infinite; /* a density was +infinity; where is in trouble */
  char trouble[256];
} tm_search;

/* With `own_evaluator` it clones the model's data. Release in any case. */
TEMPERA_CHECKED tempera_status tm_search_create(const tempera_model *model,
                                                const tm_search_frame *frame,
                                                bool own_evaluator,
                                                tm_arena *arena,
                                                tm_search *search,
                                                tempera_error *error);
void tm_search_release(tm_search *search);

/* Densities at u (integers included) into search->best as it stands; false
 * where pi*L = 0. */
bool tm_search_look(tm_search *search, const double *u);
/* The local optimum at tau, from u, integers fixed, into search->best. `step`
 * (reals) sizes the first simplex; NULL is the frame's. False when pi*L = 0
 * at u, or when the model asked to stop. */
bool tm_search_run(tm_search *search, double tau, const double *u,
                   const double *step);
/* Is this optimum on its way to infinite density? Then the reason is said. */
bool tm_search_runaway(tm_search *search, const tm_optimum *optimum,
                       char reason[256]);

/* ---- ridge_starts.c */

/* Starts scattered over a wide box around the caller's. */
TEMPERA_CHECKED tempera_status tm_ridge_disperse(tm_ridge *ridge,
                                                 tempera_error *error);
/* Queue optimisations from starts, each with its own integers. */
TEMPERA_CHECKED tempera_status tm_ridge_plan_pilots(tm_ridge *ridge, double tau,
                                                    tempera_error *error);
/* Queue optimisations from around the best, for models without integers. */
TEMPERA_CHECKED tempera_status tm_ridge_plan_hops(tm_ridge *ridge, double tau,
                                                  tempera_random *random,
                                                  tempera_error *error);
/* Queue what the optima at tau of other values suggest for each value. */
TEMPERA_CHECKED tempera_status tm_ridge_plan_transplants(tm_ridge *ridge,
                                                         double tau,
                                                         tempera_error *error);
/* Farther apart in some coordinate than one basin is likely to be. */
bool tm_ridge_apart(const tm_ridge *ridge, const double *a, const double *b);
/* Queue the best starts for a value of which nothing is known. */
TEMPERA_CHECKED tempera_status tm_ridge_plan_starts(tm_ridge *ridge, size_t v,
                                                    double tau,
                                                    tempera_error *error);

/* ---- ridge_values.c */

/* One setting of the integer coordinates with the optima found for it, sorted
 * by tau. A model without integers has one value. */
typedef struct tm_value {
  double *whole; /* dimension; only the integer coordinates count */
  tm_optimum *optima;
  size_t count, capacity;
  tm_optimum others[TM_RIDGE_OTHERS]; /* lower local optima: other basins */
  size_t other_count;
  size_t optimisations;
  bool dead; /* pi*L = 0 wherever we looked */
} tm_value;

/* One optimisation to be done, and its outcome. */
typedef struct tm_task {
  size_t value;
  double tau;
  double *u, *step;
  tm_optimum result;
  bool found;
} tm_task;

typedef struct tm_knot {
  double tau, height;
  size_t value;
  tm_optimum best; /* borrows u from the value's optimum */
  bool probed;     /* lines were tried in the interval to the right */
  double gap;      /* of the interval to the right */
} tm_knot;

struct tm_ridge {
  tm_arena *arena;
  const tempera_model *model;
  tm_ridge_settings settings;
  tm_ridge_view view;
  tm_search_frame frame;
  tm_search workers[TM_RIDGE_WORKERS];
  tm_optimum *starts; /* the caller's, best first at tau = 1; then others */
  size_t start_count; /* the caller's */
  size_t pool_count;  /* with the dispersed ones behind them */
  size_t next_pilot;  /* the next dispersed start to be used */
  tm_value *values;
  size_t value_count, value_capacity;
  tm_knot knots[TM_RIDGE_KNOTS];
  size_t knot_count;
  double steep[TM_RIDGE_KNOTS]; /* to the next knot; made with the table */
  tm_optimum *lines;            /* more lower bounds; u unused */
  size_t line_count, line_capacity;
  tm_task *tasks;
  size_t task_count, task_capacity;
  size_t optimisations;
  double *table; /* the view's arrays */
};

double *tm_ridge_copy_u(tm_ridge *ridge, const double *u);
/* Queue an optimisation from u with its integers replaced by the value's. */
TEMPERA_CHECKED tempera_status tm_ridge_plan(tm_ridge *ridge, size_t value,
                                             double tau, const double *u,
                                             const double *step,
                                             tempera_error *error);
/* Run the queue in parallel and file the results under their values. */
TEMPERA_CHECKED tempera_status tm_ridge_run_tasks(tm_ridge *ridge,
                                                  tempera_error *error);
TEMPERA_CHECKED tempera_status tm_ridge_first_values(tm_ridge *ridge,
                                                     tempera_error *error);
/* All values that may hold the optimum at tau, with their unseen integer
 * neighbours; `wide` also from the starts. The best makes a knot. */
TEMPERA_CHECKED tempera_status tm_ridge_solve(tm_ridge *ridge, double tau,
                                              bool wide, tempera_error *error);
/* What was found for one value at tau is tried at the others and at unseen
 * integer neighbours; the best makes a knot. */
TEMPERA_CHECKED tempera_status tm_ridge_spread(tm_ridge *ridge, double tau,
                                               tempera_error *error);
/* Every value gets optima at both ends, where there are knots. */
TEMPERA_CHECKED tempera_status tm_ridge_bracket(tm_ridge *ridge,
                                                tempera_error *error);
/* The value with these integers: its index, or value_count if not known. */
size_t tm_ridge_find_value(const tm_ridge *ridge, const double *u);
/* The same, added when there is room (index TM_RIDGE_VALUES when not). */
TEMPERA_CHECKED tempera_status tm_ridge_add_value(tm_ridge *ridge,
                                                  const double *u,
                                                  size_t *index,
                                                  tempera_error *error);
/* The highest line of a value at tau; NULL when it has none. */
const tm_optimum *tm_value_line(const tm_value *value, double tau);
/* Above the value's optimum at tau by convexity; infinite if not known. */
double tm_value_bound(const tm_value *value, double tau);
/* The value's optimum at this very tau, or NULL. */
const tm_optimum *tm_value_at(const tm_value *value, double tau);
/* Make or raise the knot at tau: the highest of the values' optima there. */
void tm_ridge_set_knot(tm_ridge *ridge, double tau);
/* The first failure of any worker ("stop"), as an error. */
TEMPERA_CHECKED tempera_status tm_ridge_check(const tm_ridge *ridge,
                                              tempera_error *error);

/* ---- ridge_convex.c */

/* Anchors, then refinement; sets view.absent. */
TEMPERA_CHECKED tempera_status tm_ridge_convex_build(tm_ridge *ridge,
                                                     tempera_error *error);
/* After a missed basin was found, most knots between the ends are beaten, at
 * most integers. They are forgotten, not optimised again: refinement puts new
 * ones where they are needed. */
void tm_ridge_forget_beaten(tm_ridge *ridge);
/* Re-optimise where lines beat knots, and refine to TM_RIDGE_GAP. */
TEMPERA_CHECKED tempera_status tm_ridge_convex_refine(tm_ridge *ridge,
                                                      tempera_error *error);

/* ---- ridge.c and ridge_spline.c: the table */

TEMPERA_CHECKED tempera_status tm_ridge_table_alloc(tm_ridge *ridge,
                                                    size_t rows,
                                                    tempera_error *error);
void tm_ridge_table_row(tm_ridge *ridge, size_t row, double tau,
                        const tm_optimum *optimum);
TEMPERA_CHECKED tempera_status tm_ridge_spline_build(tm_ridge *ridge,
                                                     tempera_error *error);

#endif
