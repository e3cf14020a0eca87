/* model.h - the library's inside view of a model: blocks laid out, names,
 * and points evaluated on both scales.
 *
 * theta is natural-scale, `size` values. u is unconstrained, `dimension`
 * coordinates: reals transformed, integers as they are. The Jacobian of the
 * transform belongs to the prior and is never tempered (method 1). */
#ifndef TM_MODEL_MODEL_H
#define TM_MODEL_MODEL_H

#include "base/archive.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/stop.h"
#include "model/calls.h"

/* What becomes of a block's u; known once, not asked at every point. */
typedef enum tm_form {
  TM_FORM_FREE = 0, /* integers too */
  TM_FORM_ABOVE,    /* a lower bound */
  TM_FORM_BELOW,
  TM_FORM_BETWEEN,
  TM_FORM_SIMPLEX,
  TM_FORM_MAPPED
} tm_form;

/* Where a block lies in theta and in u. */
typedef struct tm_block {
  size_t theta, theta_count; /* offset and number of natural values */
  size_t u, u_count;
  tempera_kind kind;
  tempera_transform transform;
  tm_form form;
  double lower, upper;
  const tempera_map *map; /* TEMPERA_MAPPED */
} tm_block;

/* A Gaussian over the real coordinates: N(mean, stretch^2 L L'), L lower
 * triangular, row-major. */
typedef struct tm_normal {
  const double *mean, *factor;
  double stretch;
} tm_normal;

typedef struct tm_prior_law tm_prior_law;

struct tempera_model {
  tm_arena *arena;
  tempera_model_spec spec; /* pointers into the arena */
  size_t block_count;
  tm_block *blocks;
  size_t size;           /* natural-scale values */
  size_t dimension;      /* unconstrained coordinates, integers included */
  size_t real_dimension; /* of which reals */
  char **names;          /* size of them: mu, p[2] */
  size_t *block_of_u;    /* dimension of them */
  bool *integer;         /* dimension of them: is this coordinate an integer? */
  bool dependent;        /* some block's map reads earlier blocks */
  bool plain;            /* no integers, no maps */
  bool composed;         /* its callbacks evaluate another model */
  bool in_batches; /* it, or that model, takes many points at once: batch.h */
  void *library;   /* dlopen handle, or NULL */
  /* The prior is a mixture of Gaussians: the one that u is from, drawn given
   * u; or NULL. What it points to is valid until the next call. */
  tm_normal (*prior_normal)(void *user, const double *u,
                            tempera_random *random);
  /* How far theta is from where the program's guards let it pass: zero there,
   * infinite where that cannot be said; or NULL. */
  double (*shortfall)(const double *theta, void *user);
  /* The numbers that densities and gradients at theta read and write, about:
   * how much work they are, without a clock; or NULL. */
  double (*work)(const double *theta, void *user);
  char *improper; /* a parameter whose prior is, or NULL */
  /* Data that are outcomes of the likelihood; none: not known. */
  const char **observed;
  size_t observed_count;
  const struct tm_predictive_calls *predictive; /* predictive.h; or NULL */
  /* What exploring a prior without prior_draw found; see run/prior_run.h. */
  const tm_prior_law *law; /* its draws, or NULL */
  bool from_support;       /* tau = 0 stands for the prior where L > 0 */
  bool prior_known;        /* is its integral? then these: */
  double prior_log_z, prior_se;
  /* log of the share of the prior that numbers can tell from its bounds, where
   * draws are taken from; see run/rounded.h. */
  double log_kept;
  const struct tm_hierarchy *hierarchy; /* a run has found; or NULL */
};

/* A point on both scales with its densities. */
typedef struct tm_point {
  double *theta, *u;
  double *block_jacobian; /* log Jacobian of each block; summed below */
  double log_likelihood, log_prior, log_jacobian;
  unsigned changes; /* of integers since the densities were evaluated */
} tm_point;

/* How a callback failed: it asked to stop, or gave NaN or +infinity. */
typedef enum tm_failure {
  TM_FAILURE_NONE = 0,
  TM_FAILURE_STOP,
  TM_FAILURE_NAN,
  TM_FAILURE_INFINITE
} tm_failure;

/* One chain's way to call the model: its clone of `user`, its counts, its
 * first failure. A callback that returns < 0 sets `status`: the point then has
 * density zero and the caller stops at its leisure. NaN and +infinity are
 * rejected and counted, and a failure only when they are many, or of an
 * evaluator that is strict. */
enum { TM_AT_SIZE = 320 };
typedef struct tm_evaluator {
  const tempera_model *model;
  void *user;
  uint64_t likelihood_evaluations, gradient_evaluations, prior_draws;
  uint64_t changes;    /* of integers by integer_terms, and its calls: */
  uint64_t term_calls; /* they cost parts of evaluations */
  double part;         /* of one, not among those counted yet */
  double seconds;      /* in the model, extrapolated from a sample of calls */
  tempera_status status;
  tm_failure failure; /* of the first failure; none while status is OK */
  tempera_error error;
  tm_stop stop;     /* asked before each likelihood call: ends a search */
  double *gradient; /* workspace: natural-scale gradients (2 x size) */
  void *law_state;  /* of the model's law; NULL without one */
  tm_call *call;    /* the latest */
  bool strict;      /* the first NaN or +infinity is a failure */
  uint64_t answers, rejected,
      in_a_row;                 /* values, of them NaN or +infinity ... */
  char rejected_at[TM_AT_SIZE]; /* ... which, and where, first */
  bool capped;                  /* log likelihoods above `cap` count as `cap` */
  double cap;
} tm_evaluator;

TEMPERA_CHECKED tempera_status tm_evaluator_create(const tempera_model *model,
                                                   tm_arena *arena,
                                                   tm_evaluator *evaluator,
                                                   tempera_error *error);
void tm_evaluator_release(tm_evaluator *evaluator); /* frees the clone */
/* Add the counts of `from` to those of `to`, and begin them anew. */
void tm_evaluator_collect(tm_evaluator *to, tm_evaluator *from);
/* Its status, and of a failure the error. */
TEMPERA_CHECKED tempera_status tm_evaluator_check(const tm_evaluator *evaluator,
                                                  tempera_error *error);
/* Has its stop been asked for? Its status says so from then on. */
bool tm_evaluator_stopped(tm_evaluator *evaluator);

TEMPERA_CHECKED tempera_status tm_point_create(const tempera_model *model,
                                               tm_arena *arena, tm_point *point,
                                               tempera_error *error);
void tm_point_copy(const tempera_model *model, const tm_point *from,
                   tm_point *to);
/* State, see base/archive.h: of an evaluator its counts. */
void tm_point_archive(const tempera_model *model, tm_point *point,
                      tm_archive *archive);
void tm_evaluator_archive(tm_evaluator *evaluator, tm_archive *archive);
/* Has it failed, and how? For another process: a run on disk has not failed. */
void tm_evaluator_archive_failure(tm_evaluator *evaluator, tm_archive *archive);

/* u -> theta and, unless NULL, the log Jacobian. Integers out of bounds are let
 * through: tm_evaluate gives them density zero. */
void tm_constrain(const tempera_model *model, const double *u, double *theta,
                  double *log_jacobian);
/* The same within a point. */
void tm_constrain_point(const tempera_model *model, tm_point *point);
/* One block of it; gives its log Jacobian. u and theta are whole vectors. */
double tm_constrain_block(const tm_block *block, const double *u,
                          double *theta);
/* Which values of theta their type holds at one number (the diagonal of a
 * correlation matrix, the zeros of a factor): `fixed` has one for each. */
TEMPERA_CHECKED tempera_status tm_fixed_values(const tempera_model *model,
                                               bool *fixed,
                                               tempera_error *error);
/* theta -> u; a value on a real bound maps to a large finite coordinate. */
void tm_unconstrain(const tempera_model *model, const double *theta, double *u);
/* The first value that is at a bound of its own, as far as numbers tell, or
 * infinite; `size` when none is. */
size_t tm_first_at_bound(const tempera_model *model, const double *theta);
void tm_unconstrain_block(const tm_block *block, const double *theta,
                          double *u);
/* The log Jacobian of a block whose theta is inside and whose u was made from
 * it; what lies on a bound is moved off it, so that both describe the same
 * point. Blocks with two bounds or a map go through u and back. */
double tm_settle_block(const tm_block *block, const double *u, double *theta);
/* Is theta inside its bounds, and integer where it must be? */
bool tm_inside(const tempera_model *model, const double *theta);
/* The same of a theta that was made from u, at less cost: reals are inside, if
 * they did not overflow. */
bool tm_reached(const tempera_model *model, const double *theta);

/* Why the model rejected the last point or failed there; "" if it does not
 * say. */
const char *tm_reason(const tm_evaluator *evaluator);

/* From u (resp. theta) fill everything else. The likelihood is not called
 * where the prior is zero; both are then -infinity. */
void tm_evaluate(tm_evaluator *evaluator, tm_point *point);
void tm_evaluate_natural(tm_evaluator *evaluator, tm_point *point);
/* The same where theta, u and the Jacobians are there already. */
void tm_evaluate_densities(tm_evaluator *evaluator, tm_point *point);
/* The same as tm_evaluate when only u[j] has changed since the point was last
 * evaluated or copied: the other blocks are not transformed again. */
void tm_evaluate_coordinate(tm_evaluator *evaluator, tm_point *point, size_t j);
/* An integer coordinate by itself, at the cost of the terms that hold it: may
 * that be had here? */
typedef struct tm_terms {
  double log_likelihood, log_prior;
} tm_terms;
bool tm_has_terms(const tm_evaluator *evaluator, const tm_point *point);
/* These terms with u[j] at a value inside its bounds, and the rest as it is. */
tm_terms tm_terms_at(tm_evaluator *evaluator, tm_point *point, size_t j,
                     double value);
/* u[j] becomes that value; by how much the terms differ from those at the value
 * so far is added to the densities. Now and then they are evaluated anew, which
 * bounds the rounding error, and must be what they were thought to be. */
void tm_change_integer(tm_evaluator *evaluator, tm_point *point, size_t j,
                       double value, tm_terms from, tm_terms to);
/* From u, the prior and the Jacobian only; no likelihood call is made and
 * log_likelihood is set to zero (what tau = 0 sees). */
void tm_evaluate_prior(tm_evaluator *evaluator, tm_point *point);

/* log density at tau over u (0 * -infinity = 0 at tau = 0 only): with the
 * Jacobian for kernels, without it for the natural-scale ridge. */
double tm_log_density(const tm_point *point, double tau);
double tm_log_density_natural(const tm_point *point, double tau);

/* Gradients over u (reals; zero for integers) of log likelihood and of
 * log prior + log Jacobian, also filling the point. Needs both gradient
 * callbacks (tm_has_gradients). */
bool tm_has_gradients(const tempera_model *model);
void tm_evaluate_gradient(tm_evaluator *evaluator, tm_point *point,
                          double *likelihood_gradient, double *prior_gradient);
/* The same, of tau x log likelihood + log prior + log Jacobian, where theta and
 * the Jacobians are there already. */
void tm_evaluate_slope(tm_evaluator *evaluator, tm_point *point, double tau,
                       double *gradient);
/* Of log prior + log Jacobian alone; false where there is none. */
bool tm_evaluate_prior_slope(tm_evaluator *evaluator, tm_point *point,
                             double *gradient);

/* A draw from the prior by the model's callback or its law, evaluated; with
 * the likelihood, or (as tm_evaluate_prior) without. A restricted law is
 * passed over by the second. */
void tm_prior_draw(tm_evaluator *evaluator, tempera_random *random,
                   tm_point *point);
/* Whatever it is, theta alone; false when the model rejected it. */
bool tm_prior_draw_as_is(tm_evaluator *evaluator, tempera_random *random,
                         tm_point *point);
void tm_prior_draw_only(tm_evaluator *evaluator, tempera_random *random,
                        tm_point *point);

/* The model's quantities at theta; those that could not be computed are NaN.
 * Returns false when the model rejected the point or failed there, which is
 * no failure of the chain. */
bool tm_quantities_at(tm_evaluator *evaluator, tempera_random *random,
                      const double *theta, double *quantities);

/* Pull a natural-scale gradient back to u: out[j] = sum_i dtheta_i/du_j g_i;
 * add the gradient of the log Jacobian when `jacobian`. The gradient is
 * workspace: maps that read earlier values add to theirs. */
void tm_pull_back(const tempera_model *model, const double *u,
                  const double *theta, double *gradient, bool jacobian,
                  double *out);

tm_form tm_form_of(const tm_block *block);
/* A block of one real number between bounds, which may be infinite. */
tm_block tm_block_between(double lower, double upper);
/* The same as above for one simplex. */
double tm_simplex_constrain(size_t count, const double *u, double *theta);
void tm_simplex_unconstrain(size_t count, const double *theta, double *u);
bool tm_simplex_inside(size_t count, const double *theta);
void tm_simplex_pull_back(size_t count, const double *theta,
                          const double *gradient, bool jacobian, double *out);

/* dlopen of this very file: for names without a slash it would search the
 * system. */
void *tm_library_open(const char *path);
/* NULL is fine. */
void tm_library_close(void *library);
/* A model in a shared library that exports tempera_model_open. */
TEMPERA_CHECKED tempera_status tm_model_load_library(const char *path,
                                                     const tempera_data *data,
                                                     tempera_model **model,
                                                     tempera_error *error);

#endif
