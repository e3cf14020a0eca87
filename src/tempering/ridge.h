/* ridge.h - the ridge s(tau) = max over theta of tau*l(theta) + log pi(theta),
 * on the natural scale, under the box bounds (method 2 and 4.1).
 *
 * s is convex: tangents at knots bound it from below, chords from above. The
 * table of (tau, height) on knots, interpolated linearly, is minus the profile
 * prior's log P(tau).
 *
 *   ridge_values.c  points by integer value, and the optimum at one tau
 *   ridge.c         knots, certificate and table */
#ifndef TM_TEMPERING_RIDGE_H
#define TM_TEMPERING_RIDGE_H

#include "tempering/store.h"

enum {
  TM_RIDGE_KNOTS = 300,  /* at most */
  TM_RIDGE_VALUES = 1024 /* integer values (or combinations) at most */
};

/* The gap to which the ridge is refined, in nats, unless the settings say
 * otherwise. */
#define TM_RIDGE_GAP 1e-3
/* Differences in height below this are the climber's, not the model's. */
#define TM_RIDGE_NOISE 1e-6

typedef struct tm_ridge_settings {
  double tau_min; /* 0 unless the prior is improper */
  double gap;     /* 0: TM_RIDGE_GAP */
} tm_ridge_settings;

/* What is known of a built ridge; arrays are owned by it. */
typedef struct tm_ridge_view {
  size_t knots;         /* entries of the table below */
  const double *tau;    /* increasing, first tau_min, last 1 */
  const double *height; /* s at the knots */
  const double *theta;  /* knots x model size: the optima */
  double gap;           /* certified upper - lower bound, given global optima
                           at the knots; NaN without */
  size_t optimisations; /* of this measure alone */
  bool absent;          /* the density is unbounded: there is no ridge */
  char reason[256];     /* why absent, naming the parameter */
} tm_ridge_view;

typedef struct tm_optima {
  tm_optimum *at;
  size_t count, capacity;
} tm_optima;

/* One setting of the integer coordinates. A model without integers has one. */
typedef struct tm_value {
  double *integers; /* dimension; only the integer coordinates count */
  tm_optima points; /* of positive density: the highest found at a tau, which
                       is then theirs; and others, with tau NaN */
  size_t optimisations;
} tm_value;

typedef struct tm_knot {
  double tau, height;
  tm_optimum best; /* borrows from the value's point */
} tm_knot;

typedef struct tm_ridge {
  tm_arena *arena;
  const tempera_model *model;
  tm_ridge_settings settings;
  tm_ridge_view view;
  tm_store *store;
  size_t taken; /* optima of the store that were looked at */
  tm_value *values;
  size_t value_count, value_capacity;
  tm_knot knots[TM_RIDGE_KNOTS];
  size_t knot_count;
  double steep[TM_RIDGE_KNOTS]; /* to the next knot; made with the table */
  double runaway; /* the highest climb that ran away, at the latest tau */
  size_t culprit;
  uint64_t enough; /* evaluations of the store after which refinement ends */
  double *table;   /* the view's arrays */
  double *u;       /* scratch */
} tm_ridge;

/* Builds the ridge of the store's model, from the basins that the Laplace ridge
 * has put into the store, which must outlive it. Succeeds with view->absent set
 * when there is none. Deterministic for any number of threads. */
TEMPERA_CHECKED tempera_status
tm_ridge_create(tm_store *store, const tm_ridge_settings *settings,
                tm_ridge **ridge, tempera_error *error);
void tm_ridge_free(tm_ridge *ridge);
/* The table interpolated: the chord. */
double tm_ridge_height(const tm_ridge *ridge, double tau);
/* How far the line tau*l + log pi of a draw, whatever its tau, rises above the
 * knots (more than TM_RIDGE_GAP proves that one's optimum was not global). */
double tm_ridge_excess(const tm_ridge *ridge, double log_likelihood,
                       double log_prior);
/* Warmup only: where these natural-scale points (count x size), or what others
 * have found since, rise above the ridge, it is built again, from all that is
 * known. */
TEMPERA_CHECKED tempera_status tm_ridge_improve(tm_ridge *ridge,
                                                const double *points,
                                                size_t count,
                                                tempera_error *error);
/* Room for a table of so many rows, and one of them. */
TEMPERA_CHECKED tempera_status tm_ridge_table_alloc(tm_ridge *ridge,
                                                    size_t rows,
                                                    tempera_error *error);
void tm_ridge_table_row(tm_ridge *ridge, size_t row, double tau,
                        const tm_optimum *optimum);
/* Where two lines meet, of which the right one is the steeper, if that is
 * inside (a, b); else NaN. */
double tm_ridge_meet(const tm_optimum *left, const tm_optimum *right, double a,
                     double b);

/* ---- ridge_values.c */

TEMPERA_CHECKED tempera_status tm_optima_add(tm_optima *list,
                                             const tm_optimum *optimum,
                                             tempera_error *error);
/* The climber's trial, of which u is set, if its density is positive; borrows
 * u. */
bool tm_ridge_look_at(tm_climber *climber, tm_optimum *point);
/* The trial's u becomes the optimum that the model itself gives near u; false
 * where it gives none. */
bool tm_ridge_ask_model(tm_climber *climber, double tau, const double *u);
/* The value with these integers: its index, or value_count if not known. */
size_t tm_ridge_find_value(const tm_ridge *ridge, const double *u);
/* The highest line of a value at tau; NULL when it has none. */
const tm_optimum *tm_value_line(const tm_value *value, double tau);
/* The value's optimum at this very tau, or NULL. */
const tm_optimum *tm_value_at(const tm_value *value, double tau);
/* Above the value's optimum at tau by convexity; infinite if not known. */
double tm_value_bound(const tm_value *value, double tau);
/* Points and values from what was put into the store since. */
TEMPERA_CHECKED tempera_status tm_ridge_take_up(tm_ridge *ridge,
                                                tempera_error *error);
/* All values that may hold the optimum at tau, with their unseen integer
 * neighbours; `wide`: from every basin known. The best makes a knot; where none
 * has a positive density, there is none. */
TEMPERA_CHECKED tempera_status tm_ridge_solve(tm_ridge *ridge, double tau,
                                              bool wide, tempera_error *error);
/* The highest line at tau of all values; or, of optima `there`, the highest. */
const tm_optimum *tm_ridge_highest(const tm_ridge *ridge, double tau,
                                   bool there, size_t *value);

#endif
