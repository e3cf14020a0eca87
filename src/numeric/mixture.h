/* mixture.h - mixtures of Gaussians or multivariate t's in R^d: fitted by EM,
 * evaluated and drawn from.
 *
 * They stand in for a posterior on the unconstrained scale: the proposal of
 * bridge sampling (method 4.4). All components share the degrees of freedom;
 * infinity means Gaussians. */
#ifndef TM_NUMERIC_MIXTURE_H
#define TM_NUMERIC_MIXTURE_H

#include "base/memory.h"
#include "base/random.h"

typedef struct tm_mixture {
  size_t dimension, components, capacity;
  double df;
  double *log_weight; /* per component, normalised */
  double *mean;       /* component x dimension */
  double *factor;     /* component x d x d: lower L, scale matrix L L' */
  double *inverse;    /* L^-1 */
  double *log_norm;   /* log density at the mean */
  bool *diagonal;     /* is L, so that d^2 work may be spared? */
} tm_mixture;

/* Room for `capacity` components; none are there yet. */
TEMPERA_CHECKED tempera_status tm_mixture_create(tm_arena *arena,
                                                 size_t dimension,
                                                 size_t capacity,
                                                 tm_mixture *mixture,
                                                 tempera_error *error);
/* After setting df, log_weight, mean and factor: fill inverse, log_norm and
 * normalise the weights. */
void tm_mixture_complete(tm_mixture *mixture);

/* One component becomes that of mean 0 and L = 1. */
void tm_mixture_unit(tm_mixture *mixture);

/* work: dimension + components doubles. */
double tm_mixture_log_density(const tm_mixture *mixture, const double *x,
                              double *work);
void tm_mixture_draw(const tm_mixture *mixture, tempera_random *random,
                     double *x);
/* The log density and its gradient. work: dimension + components x (2 +
 * dimension). */
double tm_mixture_gradient(const tm_mixture *mixture, const double *x,
                           double *work, double *gradient);
/* A mixture of Gaussians or t's is one of Gaussians, N(mean_k, L_k L_k' / s)
 * with s ~ Gamma(df/2, df/2): draw (k, s) given x. Gives k, and the stretch
 * 1/sqrt(s) of L_k. work: dimension + components. */
size_t tm_mixture_condition(const tm_mixture *mixture, const double *x,
                            tempera_random *random, double *work,
                            double *stretch);

/* What a fit chooses before it fits; components 0: nothing was chosen. */
typedef struct tm_mixture_shape {
  size_t components;
  double df;
} tm_mixture_shape;

typedef struct tm_mixture_settings {
  size_t most_components; /* at least 1 */
  /* If it has components: taken from another fit, and not chosen. */
  tm_mixture_shape shape;
  double df; /* 0: chosen by fit among 4, 8, 30 and Gaussian */
  /* The points are about round already: they are taken as they are, and one
   * component may be shrunk towards the unit Gaussian, as far as held-out
   * points like it. */
  bool round;
} tm_mixture_settings;

typedef struct tm_points {
  size_t count, dimension;
  const double *values;  /* row-major, finite */
  const double *weights; /* NULL: all equal */
} tm_points;

/* Fit to at least one point. The number of components maximises the log
 * likelihood of held-out runs of consecutive points, so that neither
 * overfitting nor repeats and autocorrelation of a chain's draws reward more of
 * them. Few points shrink covariances towards pooled correlations and in the
 * end towards a diagonal; constant coordinates get a small nominal scale. The
 * mixture's arrays come from the arena. */
TEMPERA_CHECKED tempera_status
tm_mixture_fit(const tm_points *points, const tm_mixture_settings *settings,
               tempera_random *random, tm_arena *arena, tm_mixture *mixture,
               tempera_error *error);

#endif
