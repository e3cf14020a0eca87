/* group.h - what a method is to a run: groups of points that move together.
 *
 * A run has one group per chain of --chains. Groups are independent of each
 * other and threads run over them; inside a group everything happens in order,
 * on the group's own random streams. A group may hold one point (mh), a pair
 * (pt-stwnc), a point at each of T levels (pt) or M interacting points. A
 * method's own struct begins with a tm_group.
 *
 * A group may be divided into parts, each with an evaluator and a kernel of
 * its own, that move their points without each other: on any thread or rank,
 * between tm_group_begin_sweep and tm_group_end_sweep. */
#ifndef TM_SAMPLERS_GROUP_H
#define TM_SAMPLERS_GROUP_H

#include "draws/draws.h"
#include "kernels/kernel.h"

/* A draw that the last sweep left: whose theta, and its columns. */
typedef struct tm_row {
  const tm_point *point;
  tm_point *copy; /* of a point that is another rank's; or NULL */
  double extra[TM_COLUMNS];
} tm_row;

typedef struct tm_group tm_group;

typedef struct tm_group_type {
  /* One iteration: moves everything and fills every row. Allocates nothing.
   * A failing model shows in evaluator.status. */
  void (*sweep)(tm_group *group);
  /* Instead of it, of one that is divided: what comes before, a part, after. */
  void (*begin_sweep)(tm_group *group);
  void (*sweep_part)(tm_group *group, size_t part);
  void (*end_sweep)(tm_group *group);
  /* What the group holds beyond its base; NULL: nothing. */
  void (*release)(tm_group *group);
  /* Its own part of the state, see tm_group_archive. */
  void (*archive)(tm_group *group, tm_archive *archive);
} tm_group_type;

struct tm_group {
  const tm_group_type *type;
  const tempera_model *model;
  uint32_t chain;
  tm_arena *arena; /* of everything in the group, its own struct included */
  tm_evaluator evaluator;
  tm_kernel *kernel;   /* shared by the points: scales are functions of tau */
  tempera_kernel kind; /* of it */
  const tm_laplace *laplace; /* of it; or NULL */
  /* The first is the group itself; NULL and 1 while it is not divided. There
   * may be more in store than are in use. */
  tm_group **parts;
  size_t part_count, part_store;
  tm_point spare;
  size_t done;     /* sweeps so far, warmup included */
  size_t told;     /* of them, those that all ranks have (run/sweeping.c) */
  size_t width[2]; /* rows a sweep leaves, by role; 0: none */
  tm_row *rows[2];
  /* Rows of the reference leg, by role (tm_reference_walker_fill); NULL while
   * there is none. */
  tm_row *leg_rows;
};

/* The base of a group whose struct is `size` bytes, zeroed but for it. Free
 * with tm_group_free, also after a failure later on. */
TEMPERA_CHECKED tempera_status tm_group_create(const tm_group_type *type,
                                               size_t size,
                                               const tempera_model *model,
                                               tempera_kernel kernel,
                                               uint32_t chain, tm_group **group,
                                               tempera_error *error);
void tm_group_free(tm_group *group);
/* Room for this many rows of a role (0: the role is absent). */
TEMPERA_CHECKED tempera_status tm_group_set_width(tm_group *group,
                                                  tempera_role role,
                                                  size_t width,
                                                  tempera_error *error);
/* An iteration: all of it; or by its parts, in any order. */
void tm_group_sweep(tm_group *group);
void tm_group_begin_sweep(tm_group *group);
void tm_group_sweep_part(tm_group *group, size_t part);
void tm_group_end_sweep(tm_group *group);

/* Between sweeps: so many parts from now on. Part k goes on with what part
 * like[k] had learned; like[0] is 0. NULL: nothing was learned yet. */
TEMPERA_CHECKED tempera_status tm_group_divide(tm_group *group, size_t count,
                                               const size_t *like,
                                               tempera_error *error);
tm_group *tm_group_part(tm_group *group, size_t part);
/* The kernels of all parts, see kernel.h. */
void tm_group_set_laplace(tm_group *group, const tm_laplace *laplace);
void tm_group_end_round(tm_group *group);
void tm_group_freeze(tm_group *group);
/* What all parts have cost, see tm_evaluator. */
typedef struct tm_group_cost {
  uint64_t likelihood_evaluations, gradient_evaluations, answers, rejected;
  double seconds;
  const char *rejected_at; /* NULL: none was */
} tm_group_cost;
tm_group_cost tm_group_cost_of(const tm_group *group);
/* Of the first part that failed; or NULL. */
const tm_evaluator *tm_group_failure(const tm_group *group);
/* What the last sweep has left beside the state, for another rank: the points of
 * its rows, and whether it failed (see tm_evaluator_archive_failure). */
void tm_group_archive_sweep(tm_group *group, tm_archive *archive);

/* All of its state (base/archive.h), wherever it is to go on: on disk, or on
 * another machine. What the method hands out between sweeps (Laplace ridge,
 * tau prior, number of levels, reference) is to be handed out before. */
void tm_group_archive(tm_group *group, tm_archive *archive);
/* A new evaluated point at a natural-scale start. */
TEMPERA_CHECKED tempera_status tm_group_point(tm_group *group,
                                              const double *start,
                                              tm_point *point,
                                              tempera_error *error);

/* Redraw the point from the prior, which is the law at tau = 0: a
 * regeneration. False when the model cannot, and nothing is done. */
bool tm_group_redraw(tm_group *group, tempera_random *random, tm_point *point);
/* The kernel's sweep; or, at tau = 0, a redraw where there can be one. Sets
 * the row's acceptance and renewal. */
void tm_group_mutate(tm_group *group, tempera_random *random, tm_point *point,
                     double tau, tm_row *row);

/* A row of nothing proposed yet; and the point's densities at tau. */
void tm_row_clear(tm_row *row);
void tm_row_fill(tm_row *row, const tm_point *point, double tau);

/* log of the acceptance ratio of exchanging the points at tau_a and tau_b,
 * (tau_a - tau_b)(l_b - l_a). */
double tm_exchange_log_ratio(double tau_a, double log_likelihood_a,
                             double tau_b, double log_likelihood_b);
void tm_point_swap(tm_point *a, tm_point *b);

#endif
