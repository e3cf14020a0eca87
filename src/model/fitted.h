/* fitted.h - a normalised density over a model's unconstrained
 * coordinates, fitted to draws: a table of integer vectors (a pmf) times a
 * mixture of t's or Gaussians for the reals given each vector (method 4.4).
 *
 * Integer vectors seen often have a mixture of their own. The others, and
 * unseen ones next to seen ones, share a mixture of what a linear regression
 * of the reals on the integers leaves over. */
#ifndef TM_MODEL_FITTED_H
#define TM_MODEL_FITTED_H

#include "model/model.h"
#include "numeric/mixture.h"

typedef struct tm_fitted {
  const tempera_model *model;
  size_t reals, integers; /* numbers of coordinates */
  size_t *real, *integer; /* which ones */
  /* One entry per integer vector, sorted; just one without integers. */
  size_t cells;
  double *value;      /* cells x integers */
  double *mass;       /* probability */
  double *cumulative; /* of mass */
  tm_mixture **own;   /* NULL: the shared one */
  tm_mixture shared;
  double *slope, *centre; /* reals x integers; integers */
  double *x, *work, *key; /* workspaces: one thread at a time */
} tm_fitted;

typedef struct tm_fitted_settings {
  size_t most; /* components, at most; 0: the default */
  /* As in tm_mixture_settings, where there are no integers. */
  bool round;
  tm_mixture_shape shape;
} tm_fitted_settings;

/* u: at least one row of model->dimension; settings NULL: all zero. Everything
 * comes from the arena. */
TEMPERA_CHECKED tempera_status
tm_fitted_fit(const tempera_model *model, const tm_points *u,
              const tm_fitted_settings *settings, tempera_random *random,
              tm_arena *arena, tm_fitted *proposal, tempera_error *error);

/* Of the mixture, where there are no integers; else nothing chosen. */
tm_mixture_shape tm_fitted_shape(const tm_fitted *proposal);

/* The mixture, where there are no integers and it has one component; or NULL.
 */
tm_mixture *tm_fitted_single(const tm_fitted *proposal);

/* The same density with workspaces of its own, for another thread. */
TEMPERA_CHECKED tempera_status tm_fitted_copy(const tm_fitted *from,
                                              tm_arena *arena, tm_fitted *to,
                                              tempera_error *error);

/* -infinity at integer vectors outside the table. */
double tm_fitted_log_density(const tm_fitted *proposal, const double *u);
void tm_fitted_draw(const tm_fitted *proposal, tempera_random *random,
                    double *u);
/* The log density and its gradient over the reals (zero for integers). */
double tm_fitted_gradient(const tm_fitted *proposal, const double *u,
                          double *gradient);
/* The Gaussian over the reals that u is from, drawn given u, whose integers
 * must be in the table; see tm_mixture_condition. The mean is written to
 * `mean`, in the order of the reals. */
tm_normal tm_fitted_condition(const tm_fitted *proposal, const double *u,
                              tempera_random *random, double *mean);
/* Work with a copy on another thread: the same density, own workspaces, which
 * fit every density of the model. */
TEMPERA_CHECKED tempera_status tm_fitted_make_room(const tempera_model *model,
                                                   tm_arena *arena,
                                                   tm_fitted *room,
                                                   tempera_error *error);
void tm_fitted_share(const tm_fitted *from, tm_fitted *room);

#endif
