/* ridge_parts.h - what the files of the natural ridge share.
 *
 *   ridge_values.c  optima per integer value, bounds, climbs
 *   ridge_convex.c  knots, certificate and refinement
 *   ridge.c         the table that all kinds give, and its life */
#ifndef TM_TEMPERING_RIDGE_PARTS_H
#define TM_TEMPERING_RIDGE_PARTS_H

#include "tempering/ridge.h"

enum {
  TM_RIDGE_KNOTS = 200,  /* at most */
  TM_RIDGE_VALUES = 1024 /* integer values (or combinations) at most */
};

/* Differences in height below this are the climber's, not the model's. */
#define TM_RIDGE_NOISE 1e-6

typedef struct tm_optima {
  tm_optimum *at;
  size_t count, capacity;
} tm_optima;

/* One setting of the integer coordinates. A model without integers has one. */
typedef struct tm_value {
  double *integers; /* dimension; only the integer coordinates count */
  tm_optima optima; /* the highest found at each tau, by tau */
  tm_optima lines;  /* other points: lower optima, and what others found */
  size_t optimisations;
  bool dead; /* pi*L = 0 wherever we looked */
} tm_value;

typedef struct tm_knot {
  double tau, height;
  size_t value;
  tm_optimum best; /* borrows from the value's optimum */
  bool probed;     /* lines were tried in the interval to the right */
  double gap;      /* of the interval to the right */
} tm_knot;

struct tm_ridge {
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
  tm_optima lines;              /* more lower bounds; u unused */
  bool unstarted;               /* no start has positive density */
  double runaway; /* the highest climb that ran away, at the latest tau */
  size_t culprit;
  uint64_t enough; /* evaluations of the store after which refinement ends */
  double *table;   /* the view's arrays */
  double *u;       /* scratch */
};

/* ---- ridge_values.c */

TEMPERA_CHECKED tempera_status tm_optima_insert(tm_optima *list, size_t place,
                                                const tm_optimum *optimum,
                                                tempera_error *error);
/* The climber's trial, of which u is set, if its density is positive; borrows
 * u. */
bool tm_ridge_look_at(tm_climber *climber, tm_optimum *point);
/* The trial's u becomes the optimum that the model itself gives near u; false
 * where it gives none. */
bool tm_ridge_ask_model(tm_climber *climber, double tau, const double *u);
/* Where two lines meet, of which the right one is the steeper, if that is
 * inside (a, b); else NaN. */
double tm_ridge_meet(const tm_optimum *left, const tm_optimum *right, double a,
                     double b);
/* Queue a climb at this value and tau, from a point of any value. */
TEMPERA_CHECKED tempera_status tm_ridge_plan(tm_ridge *ridge, size_t value,
                                             double tau, const tm_optimum *from,
                                             tempera_error *error);
/* Run the queue and file the results under their values. */
TEMPERA_CHECKED tempera_status tm_ridge_run(tm_ridge *ridge,
                                            tempera_error *error);
/* Lines and values from what was put into the store since. */
TEMPERA_CHECKED tempera_status tm_ridge_take_up(tm_ridge *ridge,
                                                tempera_error *error);
/* All values that may hold the optimum at tau, with their unseen integer
 * neighbours; `wide`: from every basin known. The best makes a knot. */
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
/* The height of the highest of all lines at tau, and whose it is. */
double tm_ridge_highest(const tm_ridge *ridge, double tau, size_t *value);
/* Above the value's optimum at tau by convexity; infinite if not known. */
double tm_value_bound(const tm_value *value, double tau);
/* The value's optimum at this very tau, or NULL. */
const tm_optimum *tm_value_at(const tm_value *value, double tau);
/* Make or raise the knot at tau: the highest of the values' optima there. */
void tm_ridge_set_knot(tm_ridge *ridge, double tau);

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

/* ---- ridge.c: the table */

TEMPERA_CHECKED tempera_status tm_ridge_table_alloc(tm_ridge *ridge,
                                                    size_t rows,
                                                    tempera_error *error);
void tm_ridge_table_row(tm_ridge *ridge, size_t row, double tau,
                        const tm_optimum *optimum);

#endif
