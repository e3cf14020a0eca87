/* tempera.h - the public interface of Tempera.
 *
 * Tempera draws from Bayesian posteriors with isolated modes and estimates
 * the evidence (marginal likelihood) from the same run, by tempering over a
 * continuous inverse temperature tau in [0, 1].
 *
 * A program describes a model (tempera_model_spec), sets options
 * (tempera_options_default), creates a sampler and runs it, then reads draws
 * and a summary. Handles are opaque; each has a create/free pair, and every
 * comment says who owns what. Fallible functions return a tempera_status and
 * fill an optional, caller-owned tempera_error; out-parameters are untouched
 * on failure. The library never exits, and prints nothing but what a Stan
 * program's `print` says, on standard error unless a tempera_context wants it.
 *
 * Threads. Different handles may be used by different threads at any time.
 * One handle at a time is one thread's, except that
 *   tempera_data, tempera_program, tempera_summary, tempera_comparison and a
 *     tempera_model may be read by any number of threads at once (a model
 *     whose spec has no `clone`: only if its callbacks may);
 *   tempera_sampler_cancel may be called from any thread and from a signal
 *     handler, tempera_sampler_progress from the thread that runs it;
 *   tempera_draws of a sampler must not be read while the sampler advances,
 *     except by its sinks; those that were read or merged never change;
 *   tempera_evaluator, tempera_random and tempera_options belong to one thread;
 *   tempera_context is read only once it is made, and in use by a thread from
 *     tempera_context_use on; the library's own threads inherit it.
 *
 * Growing. Structs that the caller fills are passed with their size, by inline
 * functions that end in calls named *_sized: fields added at their end by a
 * later version are then at their defaults. Structs that the library makes (a
 * summary, options in force, progress) may grow at their end too: never copy
 * or allocate them. Elements of arrays keep their size as long as the number
 * in the library's name (libtempera.so.0) stays.
 *
 * Stability. From version 1.0 on, a program built against this header runs with
 * every later library of the same number in its name (SONAME), and a model with
 * every library of the same TEMPERA_MODEL_ABI; names leave only when that number
 * changes, after a version that calls them deprecated. Until then (0.x) names may
 * change with the second number of the version, and CHANGELOG.md says so.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TEMPERA_H
#define TEMPERA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TEMPERA_VERSION "0.1.0"

#if defined(__GNUC__)
#define TEMPERA_CHECKED __attribute__((warn_unused_result))
#define TEMPERA_VISIBLE __attribute__((visibility("default")))
#else
#define TEMPERA_CHECKED
#define TEMPERA_VISIBLE
#endif
#ifdef __cplusplus
#define TEMPERA_EXTERN_C extern "C"
#else
#define TEMPERA_EXTERN_C extern
#endif

/* The version of the library in use, as TEMPERA_VERSION has that of the
 * header. */
const char *tempera_version(void);
/* ------------------------------------------------------------------------
 * Status and errors
 */

typedef enum tempera_status {
  TEMPERA_OK = 0,
  TEMPERA_ERROR_MEMORY,   /* an allocation failed */
  TEMPERA_ERROR_ARGUMENT, /* the caller broke a stated precondition */
  TEMPERA_ERROR_INPUT,    /* a file, its contents or the data are wrong */
  TEMPERA_ERROR_MODEL,    /* the model misbehaved (NaN, -infinity, "stop") */
  TEMPERA_ERROR_IO,       /* reading or writing failed (full disk, ...) */
  TEMPERA_CANCELLED       /* tempera_*_cancel was called; draws are kept */
} tempera_status;

/* line and column count from 1; 0 means "no place". */
typedef struct tempera_error {
  int line, column;
  char message[512];
} tempera_error;

/* ------------------------------------------------------------------------
 * Context: what is not a run's own. Nobody needs one: without, messages go to
 * standard error, memory is malloc's, and BLAS is left alone.
 */

typedef struct tempera_context tempera_context;

/* Everything may be left zero. */
typedef struct tempera_context_settings {
  /* What a program prints, as it says it; from any of the run's threads. */
  void (*message)(const char *text, size_t length, void *user);
  void *message_user;
  /* As malloc, realloc and free; all three or none. What was allocated under
   * a context is freed under it: use it from the first call to the last. */
  void *(*allocate)(size_t size, void *user);
  void *(*resize)(void *memory, size_t size, void *user);
  void (*release)(void *memory, void *user);
  void *memory_user;
  /* Threads of BLAS in the whole process while it is used; chains run in
   * parallel themselves, so that 1 is best. 0: as it is. */
  int blas_threads;
} tempera_context_settings;

TEMPERA_CHECKED tempera_status tempera_context_create_sized(
    const tempera_context_settings *settings, size_t size,
    tempera_context **context, tempera_error *error);
TEMPERA_CHECKED static inline tempera_status
tempera_context_create(const tempera_context_settings *settings,
                       tempera_context **context, tempera_error *error) {
  return tempera_context_create_sized(settings, sizeof *settings, context,
                                      error);
}
/* Not while it is in use. */
void tempera_context_free(tempera_context *context);
/* For all calls of this thread from now on; NULL: none. Gives back the one
 * that was used so far. */
const tempera_context *tempera_context_use(const tempera_context *context);

/* ------------------------------------------------------------------------
 * Data: CmdStan JSON, read by name
 */

typedef struct tempera_data tempera_data;

/* Read a JSON data file. Free with tempera_data_free. */
TEMPERA_CHECKED tempera_status tempera_data_read(const char *path,
                                                 tempera_data **data,
                                                 tempera_error *error);
/* The same from text in memory; `text` may be "{}". */
TEMPERA_CHECKED tempera_status tempera_data_parse(const char *text,
                                                  size_t length,
                                                  tempera_data **data,
                                                  tempera_error *error);
void tempera_data_free(tempera_data *data);

bool tempera_data_has(const tempera_data *data, const char *name);
/* One number. 3.0 is not an integer; NaN and infinities are reals. */
TEMPERA_CHECKED tempera_status tempera_data_real(const tempera_data *data,
                                                 const char *name,
                                                 double *value,
                                                 tempera_error *error);
TEMPERA_CHECKED tempera_status tempera_data_integer(const tempera_data *data,
                                                    const char *name,
                                                    int64_t *value,
                                                    tempera_error *error);
/* An array of any rank, row-major. The values are owned by `data`. */
TEMPERA_CHECKED tempera_status tempera_data_reals(const tempera_data *data,
                                                  const char *name,
                                                  const double **values,
                                                  size_t *count,
                                                  tempera_error *error);
TEMPERA_CHECKED tempera_status tempera_data_integers(const tempera_data *data,
                                                     const char *name,
                                                     const int64_t **values,
                                                     size_t *count,
                                                     tempera_error *error);
/* The sizes of a variable, outermost first: at most `most` of them are
 * written, *rank (0: a single number) says how many there are. */
TEMPERA_CHECKED tempera_status tempera_data_dimensions(
    const tempera_data *data, const char *name, size_t *dims, size_t most,
    size_t *rank, tempera_error *error);
/* FNV-1a hash of the observations: the values of all arrays, by name (of the
 * single numbers when there is no array). Single numbers choose the model (a
 * number of components, a hyperparameter), so models on the same observations
 * agree and can be compared. */
uint64_t tempera_data_hash(const tempera_data *data);

/* ------------------------------------------------------------------------
 * Random numbers for callbacks (counter-based; never share across threads)
 */

typedef struct tempera_random tempera_random;

double tempera_random_uniform(tempera_random *random); /* in (0, 1) */
double tempera_random_normal(tempera_random *random);
double tempera_random_exponential(tempera_random *random);
double tempera_random_gamma(tempera_random *random, double shape);
double tempera_random_beta(tempera_random *random, double a, double b);
int64_t tempera_random_binomial(tempera_random *random, int64_t trials,
                                double probability);
int64_t tempera_random_poisson(tempera_random *random, double mean);
/* Uniform on 0 .. bound-1. */
uint64_t tempera_random_below(tempera_random *random, uint64_t bound);

/* ------------------------------------------------------------------------
 * Models
 */

typedef enum tempera_kind { TEMPERA_REAL = 0, TEMPERA_INTEGER } tempera_kind;

/* How a block of parameters maps to the unconstrained scale. BOUNDS follows
 * `lower` and `upper`: identity, logarithm or logit. SIMPLEX holds `size`
 * values that are nonnegative and sum to one (stick-breaking); its density is
 * taken over the first size-1 of them. */
typedef enum tempera_transform {
  TEMPERA_BOUNDS = 0,
  TEMPERA_SIMPLEX,
  TEMPERA_MAPPED /* by the block's own tempera_map */
} tempera_transform;

/* A block's own map between its `size` natural values and its unconstrained
 * coordinates: ordered vectors, Cholesky factors and the like. Densities on
 * the natural scale are taken over the values that are free. */
typedef struct tempera_map tempera_map;
struct tempera_map {
  size_t unconstrained_size;
  /* theta from u; gives the log Jacobian. */
  double (*constrain)(const tempera_map *map, const double *u, double *theta);
  void (*unconstrain)(const tempera_map *map, const double *theta, double *u);
  bool (*inside)(const tempera_map *map, const double *theta);
  /* out = (dtheta/du)' gradient, plus the gradient of the log Jacobian when
   * asked. */
  void (*pull_back)(const tempera_map *map, const double *u,
                    const double *theta, const double *gradient, bool jacobian,
                    double *out);
  /* For maps that read the values of earlier blocks (theta[-1] is the value
   * before the block's first): add to the gradients of those values. Else
   * NULL. */
  void (*pull_earlier)(const tempera_map *map, const double *u,
                       const double *theta, double *gradient, bool jacobian);
  size_t size, rows, columns; /* for the map's own use, */
  double offset, multiplier;  /* like these */
  const void *context;
};

/* A named block of parameters. size 0 is a scalar called `name`; size n >= 1
 * is n values called name[1] .. name[n]. Real bounds may be infinite;
 * integers are held as doubles with whole values and may be unbounded. */
typedef struct tempera_parameter {
  const char *name;
  tempera_kind kind;
  size_t size;
  double lower, upper;
  tempera_transform transform;
  const tempera_map *map;         /* TEMPERA_MAPPED; copied */
  const char *const *value_names; /* or NULL: `size` names of the values */
} tempera_parameter;

/* Parameters described in JSON, for models whose densities are not written in
 * C: an object of names, in order, each with "real", "int", ["real", LOWER,
 * UPPER, SIZE] (the same for int; what is left out at the end, or null, is
 * absent) or ["simplex", SIZE]. SIZE is a number, or an array of sizes of which
 * the last runs fastest. Free with tempera_parameters_free; the blocks, as a
 * spec wants them, live as long. */
typedef struct tempera_parameters tempera_parameters;
TEMPERA_CHECKED tempera_status
tempera_parameters_parse(const char *text, size_t length,
                         tempera_parameters **parameters, tempera_error *error);
const tempera_parameter *
tempera_parameters_blocks(const tempera_parameters *parameters, size_t *count);
void tempera_parameters_free(tempera_parameters *parameters);

/* Callbacks see theta on the natural scale, all blocks in order. They return
 * 0; > 0 for "reject this point" (density zero); < 0 for "stop the run".
 * They are called from several threads at once with distinct `user` pointers
 * when the spec has `clone`, and otherwise with the same one. NaN and
 * +infinity are errors that stop the run; -infinity is density zero. */
typedef int (*tempera_density_fn)(const double *theta, double *value,
                                  void *user);
typedef int (*tempera_gradient_fn)(const double *theta, double *value,
                                   double *gradient, void *user);
/* Of the terms of both log densities, the sums of those that hold theta[i], an
 * integer; others may be left out, or be in, whatever else theta is. Where the
 * likelihood alone is zero: 0, and -infinity for it. */
typedef int (*tempera_terms_fn)(const double *theta, size_t i,
                                double *log_likelihood, double *log_prior,
                                void *user);
/* Densities of `count` points, which lie one behind the other, and (unless
 * NULL) their gradients, in the same order. 0; < 0 for "stop the run";
 * -infinity rejects a point. */
typedef int (*tempera_batch_fn)(const double *theta, size_t count,
                                double *values, double *gradients, void *user);
typedef int (*tempera_draw_fn)(tempera_random *random, double *theta,
                               void *user);
/* theta: in, a point to start from; out, the maximiser of
 * tau * log likelihood + log prior on the natural scale. */
typedef int (*tempera_optimum_fn)(double tau, double *theta, void *user);
/* Redraw a block of theta exactly given the rest, at this tau. */
typedef int (*tempera_gibbs_fn)(double tau, double *theta,
                                tempera_random *random, void *user);
/* A Metropolis-Hastings proposal at this tau. On entry `proposed` equals
 * `theta`; set it and `log_ratio` = log q(theta|proposed) -
 * log q(proposed|theta), densities over natural-scale theta. */
typedef int (*tempera_propose_fn)(double tau, double scale, const double *theta,
                                  double *proposed, double *log_ratio,
                                  tempera_random *random, void *user);

/* A proposal of the model's own. When target_acceptance > 0 the scale is
 * tuned towards it during warmup; otherwise it stays as given. */
typedef struct tempera_proposal {
  const char *name;
  tempera_propose_fn propose;
  double scale;
  double target_acceptance;
} tempera_proposal;

typedef enum tempera_tau_move {
  TEMPERA_TAU_DEFAULT = 0,
  TEMPERA_TAU_GIBBS,
  TEMPERA_TAU_UNIFORM,
  TEMPERA_TAU_TRUNCATED_NORMAL,
  TEMPERA_TAU_LIFTED,   /* keeps its direction until it is turned back */
  TEMPERA_TAU_NEIGHBOUR /* one level up or down (st) */
} tempera_tau_move;

/* How the model's authors sampled it: used by `--paper` (tempera_options
 * .paper) and by TEMPERA_KERNEL_MODEL. `start` may be NULL. */
typedef struct tempera_recipe {
  const tempera_proposal *proposals;
  size_t proposal_count;
  const double *start; /* natural scale */
  double start_tau;
  tempera_tau_move tau_move;
  double tau_scale; /* sd of the truncated-normal tau proposal */
} tempera_recipe;

/* Values computed from theta for the draws (transformed parameters, generated
 * quantities); `quantities` has room for quantity_count of them. Called once
 * for each row that is written and again for the summary, with the same random
 * numbers; must depend on nothing else. They stay NaN when it returns other
 * than 0, which never stops a run. */
typedef int (*tempera_quantities_fn)(const double *theta,
                                     tempera_random *random, double *quantities,
                                     void *user);

/* Everything not marked required may be left zero. tempera_model_create
 * copies the spec and what it points to, except `user`, which the model owns
 * from then on when `release` is given. */
typedef struct tempera_model_spec {
  const char *name;                    /* required */
  const tempera_parameter *parameters; /* required */
  size_t parameter_count;              /* required */
  tempera_density_fn log_likelihood;   /* required */
  tempera_density_fn log_prior;        /* required */
  tempera_gradient_fn log_likelihood_gradient;
  tempera_gradient_fn log_prior_gradient;
  tempera_draw_fn prior_draw;
  tempera_optimum_fn optimum;
  const tempera_gibbs_fn *gibbs; /* exact conditional draws, in order */
  size_t gibbs_count;
  const tempera_recipe *recipe;
  bool prior_normalised;     /* exp(log_prior) has a known integral, ... */
  double prior_log_integral; /* ... of this log: 0 when it integrates to one */
  bool prior_improper;       /* no evidence; tau must be bounded below */
  bool no_likelihood; /* log_likelihood is always 0: there is no evidence */
  size_t quantity_count;
  const char *const *quantity_names; /* quantity_count of them */
  tempera_quantities_fn quantities;
  void *user;
  int (*clone)(const void *user, void **copy); /* one per chain; 0 is success */
  void (*release)(void *user);                 /* for user and its clones */
  /* Why the last callback with this user gave < 0 or > 0; may be NULL. */
  const char *(*reason)(const void *user);
  /* Moves of single integers cost what one of them changes. A call counts as
   * this share of an evaluation; 0: as a whole one. */
  tempera_terms_fn integer_terms;
  double integer_terms_cost;
  /* Many points at once, in the place of log_likelihood: those that chains
   * wait for, which take turns on the thread that runs the sampler (by default
   * all of them; `threads` says how many), and whatever else needs many. More
   * chains make larger batches. All callbacks of such a model are made by that
   * thread, one at a time. A point's density must not
   * depend on the others. log_prior_batch, for log_prior, is optional;
   * batch_gradients: both can give gradients. Not with clone, optimum, gibbs,
   * recipe and integer_terms. */
  tempera_batch_fn log_likelihood_batch, log_prior_batch;
  bool batch_gradients;
  size_t observations; /* terms of the log likelihood; 0: not said */
} tempera_model_spec;

typedef struct tempera_model tempera_model;

TEMPERA_CHECKED tempera_status
tempera_model_create_sized(const tempera_model_spec *spec, size_t size,
                           tempera_model **model, tempera_error *error);
TEMPERA_CHECKED static inline tempera_status
tempera_model_create(const tempera_model_spec *spec, tempera_model **model,
                     tempera_error *error) {
  return tempera_model_create_sized(spec, sizeof *spec, model, error);
}
/* Load a shared library that exports tempera_model_open and the number that
 * TEMPERA_DECLARE_MODEL puts into it. The data may be freed afterwards. */
TEMPERA_CHECKED tempera_status tempera_model_load(const char *path,
                                                  const tempera_data *data,
                                                  tempera_model **model,
                                                  tempera_error *error);
void tempera_model_free(tempera_model *model);

/* What a model's shared library exports: this function, and the number of the
 * interface it was built against, which changes when a library built before
 * could not be called any more. A model's source says, outside of functions,
 *     TEMPERA_DECLARE_MODEL;
 * and defines tempera_model_open. Without it, or with another number, the
 * library is refused. */
typedef tempera_status (*tempera_model_open_fn)(const tempera_data *data,
                                                tempera_model **model,
                                                tempera_error *error);
#define TEMPERA_MODEL_ABI 1
#define TEMPERA_DECLARE_MODEL                                                  \
  TEMPERA_EXTERN_C TEMPERA_VISIBLE const unsigned tempera_model_abi;           \
  const unsigned tempera_model_abi = TEMPERA_MODEL_ABI;                        \
  TEMPERA_EXTERN_C TEMPERA_VISIBLE tempera_status tempera_model_open(          \
      const tempera_data *data, tempera_model **model, tempera_error *error)

/* A program as a model. `workers` copies of it are started, by `sh -c` and when
 * there is work for them; each gets points on its standard input, a line each:
 * the values of the parameters in order, separated by spaces. For each point it
 * answers with a line: log likelihood and log prior, over the natural values.
 * What it says on standard error is passed on as messages. One that ends, keeps
 * silent for too long or answers something else stops the run with its last
 * words. Its environment has TEMPERA_NAMES, the names of the values, and
 * TEMPERA_WORKER, its number. At the end of its input it should end. */
typedef struct tempera_command {
  const char *command;                  /* required */
  const tempera_parameters *parameters; /* required; copied */
  size_t workers;                       /* 0: as many as cores */
  double timeout; /* seconds without an answer; 0: wait for ever */
  bool batch;     /* give a worker many lines at once; an empty one ends them */
  bool prior_normalised, prior_improper; /* as in a spec */
} tempera_command;

TEMPERA_CHECKED tempera_status
tempera_command_model_sized(const tempera_command *command, size_t size,
                            tempera_model **model, tempera_error *error);
TEMPERA_CHECKED static inline tempera_status
tempera_command_model(const tempera_command *command, tempera_model **model,
                      tempera_error *error) {
  return tempera_command_model_sized(command, sizeof *command, model, error);
}

const char *tempera_model_name(const tempera_model *model);
/* Numbers of natural-scale values and of unconstrained coordinates. */
size_t tempera_model_size(const tempera_model *model);
size_t tempera_model_unconstrained_size(const tempera_model *model);
/* The name of natural-scale value i, as mu or p[2]. */
const char *tempera_model_value_name(const tempera_model *model, size_t i);
/* The blocks, and which optional callbacks the model has. */
const tempera_model_spec *tempera_model_spec_of(const tempera_model *model);
/* Both densities at a natural-scale point, checked for NaN. */
TEMPERA_CHECKED tempera_status tempera_model_evaluate(
    const tempera_model *model, const double *theta, double *log_likelihood,
    double *log_prior, tempera_error *error);

/* Between the scales: theta from u, with the log Jacobian (of the reals), and
 * u from a theta inside its bounds. */
void tempera_model_constrain(const tempera_model *model, const double *u,
                             double *theta, double *log_jacobian);
TEMPERA_CHECKED tempera_status
tempera_model_unconstrain(const tempera_model *model, const double *theta,
                          double *u, tempera_error *error);

/* Which call? For programs that are to say what a model did when it crashed
 * or hung: the library cannot return from such a call. */
typedef struct tempera_call {
  const char *model, *function; /* "log_likelihood"; model NULL: being opened */
  size_t chain;                 /* from 1; 0: of no chain */
  size_t size;                  /* of theta, which has these names */
  const char *const *names;
  const double *theta;
} tempera_call;
/* The call that this thread is in, false: none. Safe in a signal handler. */
bool tempera_call_current(tempera_call *call);
/* Keep a list of the calls of samplers created from now on, for: */
void tempera_call_watch(void);
/* A call, on any thread, that lasts longer than this. Time is counted from when
 * it was first seen here: ask several times in these seconds. */
bool tempera_call_overdue(double seconds, tempera_call *call);

/* A model evaluated many times, on one thread, with no allocation. */
typedef struct tempera_evaluator tempera_evaluator;
typedef struct tempera_density {
  double log_likelihood, log_prior; /* over theta */
  double log_jacobian;
} tempera_density;

/* The model must outlive it. */
TEMPERA_CHECKED tempera_status
tempera_evaluator_create(const tempera_model *model,
                         tempera_evaluator **evaluator, tempera_error *error);
void tempera_evaluator_free(tempera_evaluator *evaluator);
/* At u, which has tempera_model_unconstrained_size coordinates. `gradient`, of
 * as many, or NULL: of tau log likelihood + log prior + log Jacobian over u (0
 * for integers); refused when the model has no gradients. -infinity is no
 * failure; the gradient is then 0. */
TEMPERA_CHECKED tempera_status tempera_evaluator_at(
    tempera_evaluator *evaluator, double tau, const double *u,
    tempera_density *density, double *gradient, tempera_error *error);

/* Look at a model at `count` points: draws from the prior where the model has
 * them, else random unconstrained points (uniform on [-2, 2], as Stan starts).
 * Fills count x size values and count densities each; the log likelihood is NaN
 * where either was NaN or +infinity, which is a failure only if all are. */
TEMPERA_CHECKED tempera_status tempera_model_probe(
    const tempera_model *model, uint64_t seed, size_t count, double *theta,
    double *log_likelihood, double *log_prior, tempera_error *error);
/* What `tempera check` says of a model with its data: its parameters, and of a
 * program what is known of its prior, of others which callbacks they have. Free
 * texts with tempera_text_free. */
TEMPERA_CHECKED tempera_status tempera_model_describe(
    const tempera_model *model, bool of_program, char **text,
    tempera_error *error);
/* How the densities fare at 100 points (tempera_model_probe); *found: at least
 * at one of them a run could start. */
TEMPERA_CHECKED tempera_status
tempera_model_check_points(const tempera_model *model, char **text, bool *found,
                           tempera_error *error);
/* Gradients over the unconstrained scale beside differences of values at a few
 * points; *agree is true also where the model gives none, as the text says. */
TEMPERA_CHECKED tempera_status
tempera_model_check_gradient(const tempera_model *model, char **text,
                             bool *agree, tempera_error *error);
/* How many terms the likelihood has, one for each outcome that a statement
 * scores; 0 where that is not known (models in C, programs whose terms do not
 * add up to their likelihood). It calls the model. */
size_t tempera_model_terms(const tempera_model *model);
/* Parameters from the prior and data from the likelihood given them: theta has
 * tempera_model_size values; the data are a copy of `data`, those that the model
 * was opened with, with other outcomes, and the caller's. log_likelihood: that
 * of theta given them, as they were drawn; a model opened with them must say the
 * same. The message says why where data cannot be drawn. */
TEMPERA_CHECKED tempera_status tempera_model_simulate(
    const tempera_model *model, const tempera_data *data, uint64_t seed,
    double *theta, double *log_likelihood, tempera_data **simulated,
    tempera_error *error);
/* Starts from a JSON file: an object {name: value or array}, the same for
 * every chain, or an array of such objects, one per chain. Fills chains x
 * tempera_model_size numbers, as tempera_options.init wants them. */
TEMPERA_CHECKED tempera_status tempera_starts_read(const char *path,
                                                   const tempera_model *model,
                                                   size_t chains,
                                                   double *starts,
                                                   tempera_error *error);
/* The same from text in memory. */
TEMPERA_CHECKED tempera_status tempera_starts_parse(
    const char *text, size_t length, const tempera_model *model, size_t chains,
    double *starts, tempera_error *error);

/* ------------------------------------------------------------------------
 * Programs in the Stan language
 */

typedef struct tempera_program tempera_program;

/* Read, parse, type-check and split a program into prior and likelihood. An
 * error has the line and column and a message of three lines: what is wrong,
 * the source line, and a caret under the place. Free with
 * tempera_program_free. */
TEMPERA_CHECKED tempera_status tempera_program_read(const char *path,
                                                    tempera_program **program,
                                                    tempera_error *error);
/* The same, with folders (separated by ':') in which #include looks for files
 * that are not beside the one that includes them. */
TEMPERA_CHECKED tempera_status
tempera_program_read_including(const char *path, const char *include_path,
                               tempera_program **program, tempera_error *error);
/* The same from text in memory; `name` stands for the file in messages. */
TEMPERA_CHECKED tempera_status tempera_program_parse(const char *name,
                                                     const char *text,
                                                     size_t length,
                                                     tempera_program **program,
                                                     tempera_error *error);
void tempera_program_free(tempera_program *program);
/* The parameters with support and unconstrained size, and each statement's
 * part with the reason; free the text with tempera_text_free. */
TEMPERA_CHECKED tempera_status tempera_program_describe(
    const tempera_program *program, char **text, tempera_error *error);
/* What an evaluation costs with these data: of each statement whether its rows
 * are merged or replaced by sufficient statistics, and if not why; the time of
 * a value and of a gradient, measured. Free the text with tempera_text_free. */
TEMPERA_CHECKED tempera_status
tempera_program_cost(const tempera_program *program, const tempera_data *data,
                     char **text, tempera_error *error);
/* Warning `index`, "LINE:COLUMN: what", or NULL when there are no more; it
 * lives as long as the program. */
const char *tempera_program_warning(const tempera_program *program,
                                    size_t index);
/* False when some element of a parameter has an improper prior: then there is
 * no evidence, and tau must be bounded below. Where that depends on sizes in
 * the data, the loaded model's prior_improper knows. */
bool tempera_program_proper(const tempera_program *program);
/* Translate to C and build a shared library with the system's cc: at `output`,
 * or (NULL) in the user's private cache, where a second call finds it at once.
 * The library's path is given back; free it with tempera_text_free. At
 * `output`, and when libtempera is a shared library, it also exports
 * BridgeStan's C interface. */
TEMPERA_CHECKED tempera_status
tempera_program_compile(const tempera_program *program, const char *output,
                        char **path, tempera_error *error);
/* The C text that would be built; free with tempera_text_free. */
TEMPERA_CHECKED tempera_status tempera_program_translate(
    const tempera_program *program, char **text, tempera_error *error);
/* Compile, read the data by the program's declarations, and make a model of
 * it. The program and the data may be freed afterwards. tempera_model_load
 * does the same for a path that ends in .stan. */
TEMPERA_CHECKED tempera_status
tempera_program_load(const tempera_program *program, const tempera_data *data,
                     tempera_model **model, tempera_error *error);

/* ------------------------------------------------------------------------
 * Options
 */

typedef enum tempera_method {
  TEMPERA_PT_STWNC = 0,
  TEMPERA_STWNC,
  TEMPERA_MH,   /* one chain at tau = 1, for contrast */
  TEMPERA_ST,   /* simulated tempering on discrete levels */
  TEMPERA_PT,   /* parallel tempering: a chain at each of several levels */
  TEMPERA_PAWL, /* st with bins of tau, by adaptive Wang-Landau */
  TEMPERA_EE    /* the equi-energy sampler */
} tempera_method;

/* How the levels of `pt` exchange: neighbours in turn (non-reversible), the
 * same by the toss of a coin, or any two now and then (the paper's). */
typedef enum tempera_swaps {
  TEMPERA_SWAPS_DEFAULT = 0,
  TEMPERA_SWAPS_EVEN_ODD,
  TEMPERA_SWAPS_REVERSIBLE,
  TEMPERA_SWAPS_RANDOM_PAIR
} tempera_swaps;

/* Levels re-spaced in warmup to equal rejection rates, or (t/T)^5 for t from 1
 * to T (the paper's). */
typedef enum tempera_schedule {
  TEMPERA_SCHEDULE_DEFAULT = 0,
  TEMPERA_SCHEDULE_ADAPTED,
  TEMPERA_SCHEDULE_POWER
} tempera_schedule;

typedef enum tempera_tau_prior {
  TEMPERA_PRIOR_PROFILE = 0, /* the paper's: the ridge upside down */
  TEMPERA_PRIOR_LEARNED,     /* refined in warmup: works in any dimension */
  TEMPERA_PRIOR_LAPLACE      /* one over a Laplace estimate of z(tau) */
} tempera_tau_prior;

typedef enum tempera_ridge {
  TEMPERA_RIDGE_CONVEX = 0,
  TEMPERA_RIDGE_SPLINE,
  TEMPERA_RIDGE_EXACT
} tempera_ridge;

typedef enum tempera_kernel {
  TEMPERA_KERNEL_AUTO = 0,
  TEMPERA_KERNEL_RANDOM_WALK,
  TEMPERA_KERNEL_SLICE,
  TEMPERA_KERNEL_MODEL, /* the model's own proposals (recipe) */
  TEMPERA_KERNEL_HMC    /* Hamiltonian: the model must have gradients */
} tempera_kernel;

/* How st learns the weights of its levels. */
typedef enum tempera_weights {
  TEMPERA_WEIGHTS_GEYER_THOMPSON = 0, /* by how much levels were occupied */
  TEMPERA_WEIGHTS_WANG_LANDAU         /* by visits, until they are flat */
} tempera_weights;

/* Filled by tempera_options_default; 0 in `chains`, `iterations`, `thin` and
 * `tau_scale` means "the default for these settings". */
enum { TEMPERA_MOST_TAUS = 16 };
typedef struct tempera_options {
  tempera_method method;
  tempera_tau_prior tau_prior;
  tempera_ridge ridge;
  tempera_tau_move tau_move;
  double tau_scale; /* sd of truncated-normal tau proposals */
  double tau_min;   /* 0, or the lower end of tau for improper priors */
  tempera_kernel kernel;
  size_t chains;     /* independent groups, by method [4; paper: 1] */
  size_t iterations; /* sweeps after warmup, per chain; 0: tempera_sampler_run
                        decides while it runs (192 000 at most) */
  bool warmup_given; /* warmup below is the caller's (it may be 0) */
  size_t warmup;
  size_t thin;             /* keep every thin-th sweep */
  size_t levels;           /* of methods with a ladder; 0: as many as needed */
  tempera_weights weights; /* of st's levels */
  tempera_swaps swaps;     /* of pt */
  tempera_schedule schedule; /* of pt */
  size_t walkers;            /* of pawl, per chain; 0: 8 */
  double exchange; /* probability rho of an exchange; < 0: the default */
  uint64_t seed;
  int threads;       /* 0: all cores */
  double time_limit; /* seconds; 0: none */
  double until_se;   /* stop when the headline se is below; 0: never */
  bool paper;        /* the algorithm and settings exactly as printed */
  bool jumps;        /* between the basins found; not with prior profile */
  bool bridge;       /* spend likelihood calls on a bridge estimate */
  bool reference;    /* a second leg, from a density fitted to the posterior */
  bool save_warmup;
  bool tempered_quantities; /* compute them for draws below tau = 1 too */
  const double *init;       /* chains x tempera_model_size starts, or NULL */
  /* The number of the first chain: chains of one seed and different numbers
   * are independent, so that several processes can share a run's chains. */
  size_t chain_offset;
  size_t observations; /* n of WBIC; 0: as many as the model says */
  double at_tau[TEMPERA_MOST_TAUS]; /* power posteriors wanted, ... */
  size_t at_tau_count;              /* ... and how many */
} tempera_options;

void tempera_options_default_sized(tempera_options *options, size_t size);
static inline tempera_options tempera_options_default(void) {
  tempera_options options;
  tempera_options_default_sized(&options, sizeof options);
  return options;
}
/* Set one option by its command-line name without dashes ("tau-move",
 * "gibbs"). Names not known, or values not allowed, are reported. */
TEMPERA_CHECKED tempera_status tempera_options_set_sized(
    tempera_options *options, size_t size, const char *name, const char *value,
    tempera_error *error);
TEMPERA_CHECKED static inline tempera_status
tempera_options_set(tempera_options *options, const char *name,
                    const char *value, tempera_error *error) {
  return tempera_options_set_sized(options, sizeof *options, name, value,
                                   error);
}

/* ------------------------------------------------------------------------
 * Sampling
 */

typedef enum tempera_phase {
  TEMPERA_PHASE_RIDGE = 0,
  TEMPERA_PHASE_WARMUP,
  TEMPERA_PHASE_SAMPLING,
  TEMPERA_PHASE_DONE
} tempera_phase;

typedef struct tempera_progress {
  tempera_phase phase;
  size_t done, total; /* sweeps per chain, warmup included */
  double seconds;
  double log_z, se; /* NaN until known */
  size_t round_trips;
  uint64_t likelihood_evaluations;
  size_t next; /* sweeps at which the run may end: those of the next check when
                  the length is automatic, else total */
} tempera_progress;

/* 0: go on; anything else: stop, as tempera_sampler_cancel does. */
typedef int (*tempera_progress_fn)(const tempera_progress *progress,
                                   void *user);

typedef struct tempera_sampler tempera_sampler;
typedef struct tempera_draws tempera_draws;

/* Finds starts (never at -infinity) and copies the options; the model must
 * outlive the sampler. */
TEMPERA_CHECKED tempera_status tempera_sampler_create_sized(
    const tempera_model *model, const tempera_options *options, size_t size,
    tempera_sampler **sampler, tempera_error *error);
TEMPERA_CHECKED static inline tempera_status
tempera_sampler_create(const tempera_model *model,
                       const tempera_options *options,
                       tempera_sampler **sampler, tempera_error *error) {
  return tempera_sampler_create_sized(model, options, sizeof *options, sampler,
                                      error);
}
void tempera_sampler_free(tempera_sampler *sampler);
/* Everything that a sampler is, its draws included, into one file; between
 * advances. Loaded with the same model and by the same version of the library,
 * it goes on as if it had never stopped: bit for bit the same draws, on any
 * number of threads (0: as many as before). Starts and ridges are made again,
 * which calls the model. Sinks are to be added again, and get what is drawn
 * from then on. A model with a state of its own that changes by its calls
 * cannot be saved. */
TEMPERA_CHECKED tempera_status tempera_sampler_save(tempera_sampler *sampler,
                                                    const char *path,
                                                    tempera_error *error);
TEMPERA_CHECKED tempera_status tempera_sampler_load(const tempera_model *model,
                                                    const char *path,
                                                    int threads,
                                                    tempera_sampler **sampler,
                                                    tempera_error *error);
/* So many iterations from now on, warmup as it was: equal to a run that was
 * asked for so many at once. Refused below those already done. */
TEMPERA_CHECKED tempera_status tempera_sampler_lengthen(
    tempera_sampler *sampler, size_t iterations, tempera_error *error);
/* At most `sweeps` further sweeps per chain, warmup first; the ridge is built
 * by the first call. */
TEMPERA_CHECKED tempera_status tempera_sampler_advance(tempera_sampler *sampler,
                                                       size_t sweeps,
                                                       tempera_error *error);
/* advance in a loop until done, the time limit, until_se, or cancel. */
TEMPERA_CHECKED tempera_status tempera_sampler_run(tempera_sampler *sampler,
                                                   tempera_progress_fn progress,
                                                   void *user,
                                                   tempera_error *error);
/* Ask a running sampler to stop at the next sweep. Safe in signal handlers
 * and from other threads. */
void tempera_sampler_cancel(tempera_sampler *sampler);
void tempera_sampler_progress_sized(const tempera_sampler *sampler,
                                    tempera_progress *progress, size_t size);
static inline tempera_progress
tempera_sampler_progress(const tempera_sampler *sampler) {
  tempera_progress progress;
  tempera_sampler_progress_sized(sampler, &progress, sizeof progress);
  return progress;
}
/* Owned by the sampler, valid until it is freed. */
const tempera_draws *tempera_sampler_draws(const tempera_sampler *sampler);
/* Draws of the reference leg, or NULL where there is none: tempered ones on the
 * path from a fitted density q to the posterior, whose log likelihood is
 * D = log(posterior density / q) and whose log prior is log q, both on the
 * unconstrained scale; and as target draws, without values, D of those of
 * tempera_sampler_draws. */
const tempera_draws *tempera_sampler_reference(const tempera_sampler *sampler);
/* Draws of the warmup with save_warmup, else NULL. */
const tempera_draws *
tempera_sampler_warmup_draws(const tempera_sampler *sampler);
/* The options in force, nothing left at "default"; and the model. */
const tempera_options *tempera_sampler_options(const tempera_sampler *sampler);
const tempera_model *tempera_sampler_model(const tempera_sampler *sampler);
/* Options that were asked for and have no effect with the others, a sentence
 * each; NULL after the last. Summaries have them among their warnings. */
const char *tempera_sampler_warning(const tempera_sampler *sampler, size_t i);

/* Draws just made: sweeps first .. last-1 of every chain in `draws`, which are
 * those of the warmup or those that are kept. */
typedef struct tempera_block {
  const tempera_draws *draws;
  bool warmup;
  size_t first, last;
} tempera_block;

/* Where draws flow as they are made, besides the sampler's memory: files, or a
 * store of the caller's. `append` sees every row once, in order, between
 * sweeps and on the thread that runs the sampler; other than TEMPERA_OK stops
 * the run, which returns that status and error. */
typedef struct tempera_sink {
  tempera_status (*append)(const tempera_block *block, void *user,
                           tempera_error *error);
  void *user;
} tempera_sink;

/* Before the first advance; at most 8. `user` must outlive the sampler's
 * running. */
TEMPERA_CHECKED tempera_status tempera_sampler_add_sink(
    tempera_sampler *sampler, const tempera_sink *sink, tempera_error *error);

typedef enum tempera_role {
  TEMPERA_TARGET = 0, /* draws at tau = 1 */
  TEMPERA_TEMPERED    /* draws over (theta, tau) */
} tempera_role;

/* The kept draws of a run's folder, from its CSV files; quantities come behind
 * the parameters. Free with tempera_draws_free. */
TEMPERA_CHECKED tempera_status tempera_draws_read(const char *folder,
                                                  tempera_draws **draws,
                                                  tempera_error *error);
/* The chains of all of them one after another, as many sweeps as each has: of
 * runs of one model whose chain_offset or seed differed. Free the copy with
 * tempera_draws_free. */
TEMPERA_CHECKED tempera_status
tempera_draws_merge(const tempera_draws *const *parts, size_t count,
                    tempera_draws **draws, tempera_error *error);
/* Of draws that were read or merged; a sampler's are its own. */
void tempera_draws_free(tempera_draws *draws);

/* The values a draw has, and their names, as mu or p[2]. */
size_t tempera_draws_size(const tempera_draws *draws);
const char *tempera_draws_name(const tempera_draws *draws, size_t i);
/* A variable by its name, mu or p for all of p: copies chains x rows x elements
 * numbers, in this order, into `values` (NULL: none). *elements says how many
 * there are, 1 for a single number. Refused when there is no such name, or no
 * draw of this role. */
TEMPERA_CHECKED tempera_status tempera_draws_variable(
    const tempera_draws *draws, tempera_role role, const char *name,
    double *values, size_t *elements, tempera_error *error);
/* The sizes of that variable, outermost first: at most `most` are written,
 * *rank (0: a single number) says how many there are. `places` (or NULL) has
 * room for its elements: the row-major place in the array of each, for Stan's
 * matrices are written by columns. */
TEMPERA_CHECKED tempera_status tempera_draws_shape(const tempera_draws *draws,
                                                   const char *name,
                                                   size_t *dims, size_t most,
                                                   size_t *rank, size_t *places,
                                                   tempera_error *error);
size_t tempera_draws_chains(const tempera_draws *draws);
/* Kept sweeps in every chain, and the draws of a role they left: one each, or
 * one per level (method pt, tempered); 0 when the method has no such role. */
size_t tempera_draws_count(const tempera_draws *draws);
size_t tempera_draws_rows(const tempera_draws *draws, tempera_role role);
/* Value i of the natural-scale parameters over the kept draws of a chain;
 * NULL when the method has no such role. Valid until the next advance. */
const double *tempera_draws_values(const tempera_draws *draws,
                                   tempera_role role, size_t chain, size_t i);
const double *tempera_draws_tau(const tempera_draws *draws, tempera_role role,
                                size_t chain);
const double *tempera_draws_log_likelihood(const tempera_draws *draws,
                                           tempera_role role, size_t chain);
const double *tempera_draws_log_prior(const tempera_draws *draws,
                                      tempera_role role, size_t chain);

/* ------------------------------------------------------------------------
 * Summaries. Absent numbers are NaN here and null in JSON.
 */

typedef struct tempera_estimate {
  char name[16];       /* bridge, rb, ti, ss, ..., as in docs/methods.md */
  double log_z, se;    /* log_z +- 1.96 se is a 95 % interval */
  double lower, upper; /* that interval */
  double se_within, se_between;
  double reach;  /* up to this tau by draws, from there bounded by convexity */
  char *warning; /* or NULL */
} tempera_estimate;

typedef struct tempera_pmf_entry {
  int64_t value;
  double probability;
} tempera_pmf_entry;

typedef struct tempera_value_summary {
  char *name;
  double mean, sd, mcse, q5, q50, q95, ess_bulk, ess_tail, rhat;
  tempera_pmf_entry *pmf; /* integers with a small support, else NULL */
  size_t pmf_count;
  bool permuted; /* its label changes places: mean and rhat mean little */
} tempera_value_summary;

/* One tau-bin of the tempered chain. ridge_excess: the ridge's height minus
 * the best draw's in the bin; a draw near the optimum makes it small. */
typedef struct tempera_tau_bin {
  double lower, upper;
  size_t draws;
  double acceptance, tau_acceptance, ridge_excess;
} tempera_tau_bin;

typedef struct tempera_curve_point {
  double tau, log_z, mean_log_likelihood;
  double barrier; /* from tau = 0 up to here; NaN where it is not known */
} tempera_curve_point;

/* The estimate of log Z by the tempered chain from a first share of the draws.
 */
typedef struct tempera_history_point {
  double share, log_z, se;
} tempera_history_point;

/* One level of a ladder. rejection: of exchanges with the next level; barrier:
 * from the first level up to this one. */
typedef struct tempera_level {
  double tau, log_z, mean_log_likelihood, rejection, barrier;
} tempera_level;
/* A knot of the ridge: the height and place of the optimum at tau. */
typedef struct tempera_ridge_point {
  double tau, height;
  double *optimum; /* one per value in `values` */
} tempera_ridge_point;

typedef struct tempera_mode {
  double weight, se;
  double *mean; /* one per value in `values` */
} tempera_mode;

/* One variable of the data, so that runs can tell whether they saw the same:
 * the hash is of its sizes and values, not of its name. */
typedef struct tempera_data_mark {
  char *name;
  bool array;
  uint64_t hash;
  double value; /* of a single number; NaN for an array */
} tempera_data_mark;

/* What a run found out about itself, from the mildest to the gravest kind:
 * worth knowing; means and quantiles are rough; nothing is to be trusted; and
 * an estimate of the evidence was taken back. */
typedef enum tempera_severity {
  TEMPERA_NOTE = 0,
  TEMPERA_ROUGH,
  TEMPERA_UNRELIABLE,
  TEMPERA_WITHDRAWN
} tempera_severity;

typedef struct tempera_finding {
  char code[24]; /* as in docs/methods.md */
  tempera_severity severity;
  double value, limit; /* what was measured, and how far it may go */
  char *words;
} tempera_finding;

/* The reference leg. `rhat`, `ess` and `pareto_k` are of D at the target draws:
 * the last below 0.7 where q covers the posterior's tails. `starts`: states
 * annealed from the prior, of which so many were absorbed, that is went down
 * the leg to q; log of the most evidence that basins of the others may hold
 * (-infinity: there are none). `far`: draws farthest from q, of which so many
 * were absorbed; far_mass: as lost_mass, for the others. */
typedef struct tempera_reference {
  double barrier, swap_acceptance, acceptance, rhat, ess, pareto_k;
  size_t restarts, round_trips, fewest_trips; /* the last: in any one chain */
  size_t starts, absorbed;
  tempera_curve_point *curve; /* of log z(tau) from q, z(0) = 1, and E[D] */
  size_t curve_count;
  double lost_mass;
  size_t far, far_absorbed;
  double far_mass;
} tempera_reference;

/* Something read off the path at one tau; value and se are NaN where it cannot
 * be had. */
typedef struct tempera_path_answer {
  double value, se, tau;
} tempera_path_answer;

/* Power-scaling sensitivity of a value (Kallioinen et al. 2023): how fast its
 * posterior moves with the weight of the prior and of the likelihood; NaN:
 * unknown. */
typedef struct tempera_sensitivity {
  double prior, prior_se, likelihood, likelihood_se;
} tempera_sensitivity;
/* "prior-data conflict", "weak likelihood", or NULL: from 0.05 on. */
const char *
tempera_sensitivity_words(const tempera_sensitivity *sensitivity);

/* A knot of log P(tau), which is linear between knots (or, for steps, constant
 * up to the next). */
typedef struct tempera_tau_knot {
  double tau, log_prior;
} tempera_tau_knot;

/* Leave-one-out predictive density of the likelihood's terms, from `draws` of
 * the target: sum and standard error of log p(term | the others), the effective
 * number of parameters, and how many terms have a Pareto k above 0.7 (there the
 * estimate is not to be trusted). waic: the same by the widely applicable
 * information criterion. Of very many terms `used` are left out one by one,
 * chosen at random (the same of every model with as many); the sums are those
 * of all terms to second order, with the mean difference at the ones used. */
typedef struct tempera_loo {
  size_t terms, draws;
  double elpd, se, p, k_max;
  size_t k_bad;
  double waic, waic_se, waic_p;
  double *pointwise, *pareto_k; /* of those used; NULL: they were not kept */
  size_t used, *term;           /* their numbers, from 0; NULL: all */
} tempera_loo;

typedef struct tempera_predictions tempera_predictions;

/* How log Z moves when the prior of a parameter is `factor` times as wide:
 * stretched about its mode, or from its bound; with its error and the Pareto k of
 * the weights. NaN where k is above 0.7: draws do not reach. `shared`: other
 * parameters take part in this prior, so that it cannot be stretched alone. */
enum { TEMPERA_WIDER_FACTORS = 2 };
typedef struct tempera_wider {
  double factor, change, se, k;
} tempera_wider;
typedef struct tempera_wider_prior {
  char *name;
  bool shared;
  tempera_wider by[TEMPERA_WIDER_FACTORS];
} tempera_wider_prior;

/* The power posterior at one tau: so many draws of every chain and their
 * summary; the mean log likelihood there, and log z(1) - log z(tau). */
typedef struct tempera_power_posterior {
  double tau;
  size_t draws;
  tempera_path_answer log_likelihood, rise;
  tempera_value_summary *values;
  size_t value_count;
  char why[160]; /* there are no draws; else empty */
} tempera_power_posterior;

typedef struct tempera_summary {
  char *version, *model, *method;
  uint64_t seed, data_hash;
  tempera_data_mark *data; /* sorted by name; NULL when none was given */
  size_t data_count;
  size_t chains, iterations, warmup, thin;
  bool complete;
  size_t running; /* the run goes on, to so many iterations at most; or 0 */
  /* evidence */
  double log_z, se, lower, upper;
  char *estimator;        /* NULL when there is no evidence (improper prior) */
  double zero_likelihood; /* prior mass where L = 0; NaN if not measured */
  double prior_log_z, prior_log_z_se; /* the prior's integral; NaN: unknown */
  tempera_estimate *estimates;
  size_t estimate_count;
  tempera_mode *modes;
  size_t mode_count;
  /* Where labels are permuted: how often each component holds the smallest
   * value, and the worst R-hat and ESS once components are put in order. */
  double *labels; /* NULL when they are not */
  size_t label_count;
  double relabelled_rhat, relabelled_ess;
  tempera_value_summary *values;
  size_t value_count;
  /* Transformed parameters and generated quantities: no part of the verdict. */
  tempera_value_summary *quantities;
  size_t quantity_count;
  /* tempering */
  double barrier, swap_acceptance, tau_acceptance, ridge_gap;
  size_t restarts, round_trips, ridge_knots, ridge_optimisations, ridge_beaten;
  /* Starts that basins were looked for from, 0 without a search, and basins
   * known at tau = 1. One that catches a share of less than about 3/starts of
   * them is missed more often than once in twenty. */
  size_t search_starts, search_basins;
  tempera_tau_bin *tau_bins;
  size_t tau_bin_count;
  tempera_curve_point *curve;
  size_t curve_count;
  tempera_reference *reference; /* NULL when there is none */
  tempera_level *levels; /* of methods with a draw at each level, else NULL */
  size_t level_count;
  tempera_ridge_point *ridge; /* NULL when there is none */
  size_t ridge_count;
  /* cost */
  uint64_t likelihood_evaluations, gradient_evaluations;
  double seconds, seconds_in_model;
  char *decision; /* how many iterations were chosen and why, or NULL */
  bool reliable;
  char *basis; /* of it: "round-trips" or "modes-found"; NULL: not reliable */
  char *verdict;
  tempera_finding *findings; /* the gravest first */
  size_t finding_count;
  char **warnings; /* their words */
  size_t warning_count;
  tempera_history_point *history; /* log Z as the run went on, or NULL */
  size_t history_count;
  /* Minus the mean log likelihood at tau = 1/log(observations); and
   * log z(1) - log z(tau), the fractional evidence, at the smallest tau that
   * the path has (0, where it is the evidence, for a proper prior). */
  tempera_path_answer wbic, fractional;
  char fractional_why[160]; /* there is none; else empty */
  size_t observations; /* 0: not known */
  /* The tau prior that the tempered draws were made under, and the log mass of
   * its atom at tau = 0 (-infinity: none); NULL: it has no such form. */
  tempera_tau_knot *tau_prior;
  size_t tau_prior_count;
  double tau_prior_atom;
  bool tau_prior_steps;
  tempera_sensitivity *sensitivity; /* one for each of `values`, or NULL */
  tempera_loo *loo; /* NULL where it cannot be had */
  tempera_predictions *predictions; /* the library's own, or NULL */
  /* Where labels are permuted: the values of mu[1..K], ... once every draw has
   * its components in one order. */
  tempera_value_summary *components;
  size_t component_count;
  tempera_power_posterior *at_tau; /* as asked for */
  size_t at_tau_count;
  char loo_why[160]; /* no leave-one-out though the model has terms; or empty */
  tempera_wider_prior *wider; /* priors that could be stretched, or NULL */
  size_t wider_count;
} tempera_summary;

/* Free the summary with tempera_summary_free. */
TEMPERA_CHECKED tempera_status
tempera_sampler_summarise(const tempera_sampler *sampler,
                          tempera_summary **summary, tempera_error *error);
void tempera_summary_free(tempera_summary *summary);
/* Text for people (long lists folded) and for programs; free the text with
 * tempera_text_free. */
TEMPERA_CHECKED tempera_status
tempera_summary_text(const tempera_summary *summary, bool colour, char **text,
                     tempera_error *error);
/* The same with every row of every list. */
TEMPERA_CHECKED tempera_status
tempera_summary_text_all(const tempera_summary *summary, bool colour,
                         char **text, tempera_error *error);
TEMPERA_CHECKED tempera_status tempera_summary_json(
    const tempera_summary *summary, char **text, tempera_error *error);
/* The parameters and quantities, a row each, every number in full. */
TEMPERA_CHECKED tempera_status tempera_summary_csv(
    const tempera_summary *summary, char **text, tempera_error *error);
void tempera_text_free(char *text);

/* Simulation-based calibration: parameters from the prior, data given them, a
 * run on these data and the ranks of the parameters among its draws, `runs`
 * times over. Each is a process of its own (fork), so that a crash costs one;
 * it leaves a file run-00001.csv ... in the folder, and what is there is not
 * done again. A folder with other programs, data, options or seed is refused. */
typedef struct tempera_calibration {
  const tempera_program *const *programs; /* required; with several, data are
                                             from each with equal chance */
  size_t count;
  const tempera_program *simulator; /* or NULL: simulate from this one */
  const tempera_data *data; /* required: sizes, predictors; outcomes are drawn */
  const char *folder;       /* required; made if absent */
  size_t runs;              /* from 2 on */
  size_t threads;           /* runs at a time; 0: as many as cores */
  bool seeded;              /* `seed` is given; else the folder's, or a new one */
  uint64_t seed;
} tempera_calibration;
/* Called now and then, on the caller's thread. Other than 0 stops: runs under
 * way are lost, those done are kept. */
typedef int (*tempera_calibration_fn)(size_t done, size_t runs, void *user);
/* options: of every run (seed, threads and init are not read); NULL, or 0
 * iterations: 1 000 of them. */
TEMPERA_CHECKED tempera_status tempera_calibrate_sized(
    const tempera_calibration *request, size_t size,
    const tempera_options *options, size_t options_size,
    tempera_calibration_fn progress, void *user, tempera_error *error);
TEMPERA_CHECKED static inline tempera_status
tempera_calibrate(const tempera_calibration *request,
                  const tempera_options *options,
                  tempera_calibration_fn progress, void *user,
                  tempera_error *error) {
  return tempera_calibrate_sized(request, sizeof *request, options,
                                 sizeof *options, progress, user, error);
}
/* What the files of a folder say together: ranks among
 * TEMPERA_CALIBRATION_DRAWS posterior draws. Writes calibration.json and
 * report.html; tables and that JSON are the caller's (tempera_text_free). */
enum { TEMPERA_CALIBRATION_DRAWS = 99 };
TEMPERA_CHECKED tempera_status tempera_calibration_report(
    const char *folder, size_t runs, bool colour, char **text, char **json,
    tempera_error *error);

/* How text is to look. */
typedef struct tempera_text_style {
  bool colour;
  bool utf8;      /* else ASCII */
  size_t columns; /* of the terminal; 0: as if 80 */
} tempera_text_style;
/* Small pictures: a histogram of each parameter, the way of tau. */
TEMPERA_CHECKED tempera_status tempera_draws_sketch(
    const tempera_draws *draws, const tempera_text_style *style, char **text,
    tempera_error *error);
/* Read summary.json back from a run's folder. */
TEMPERA_CHECKED tempera_status tempera_summary_read(const char *folder,
                                                    tempera_summary **summary,
                                                    tempera_error *error);

/* ------------------------------------------------------------------------
 * Runs: a sampler and its folder on disk
 */

typedef struct tempera_run_request {
  const char *folder;       /* made if absent; refused if it holds a run */
  const char *model_path;   /* recorded in config.json */
  const char *data_path;    /* or NULL */
  const tempera_data *data; /* or NULL: what the model was opened with */
  const char *init_path;    /* or NULL; recorded */
  const char *command;      /* or NULL; of a program as the model: recorded */
  const char *parameters_path; /* of the command; recorded, as are ... */
  /* ... these, see tempera_command */
  bool batch, prior_normalised, prior_improper;
} tempera_run_request;

/* Sample into a folder: config.json first, CSV rows as they are drawn,
 * summary.json at the end, also after cancel, a time limit or a failing
 * model, so that nothing drawn is lost. *summary (optional) is set whenever
 * a summary could be made, even when the status is not TEMPERA_OK. */
TEMPERA_CHECKED tempera_status tempera_run_sample_sized(
    const tempera_run_request *request, size_t size, tempera_sampler *sampler,
    tempera_progress_fn progress, void *user, tempera_summary **summary,
    tempera_error *error);
TEMPERA_CHECKED static inline tempera_status
tempera_run_sample(const tempera_run_request *request, tempera_sampler *sampler,
                   tempera_progress_fn progress, void *user,
                   tempera_summary **summary, tempera_error *error) {
  return tempera_run_sample_sized(request, sizeof *request, sampler, progress,
                                  user, summary, error);
}

/* Are the CSV files of a run's folder those that its summary speaks of: all
 * chains, all rows, every row whole? Files of no chain at all are no fault. */
TEMPERA_CHECKED tempera_status tempera_run_check(const char *folder,
                                                 tempera_error *error);

/* A run whose process ended, however that was, goes on: from its last
 * checkpoint, on any number of threads (0: as many as before), to the same
 * files as if it had never stopped, but for times. request: the folder, and
 * model_path and data that must be those of config.json. Refused: another
 * model, other data, another version, a folder that a process is writing to. */
typedef struct tempera_run tempera_run;
TEMPERA_CHECKED tempera_status tempera_run_open_sized(
    const tempera_run_request *request, size_t size, const tempera_model *model,
    int threads, tempera_run **run, tempera_error *error);
TEMPERA_CHECKED static inline tempera_status
tempera_run_open(const tempera_run_request *request, const tempera_model *model,
                 int threads, tempera_run **run, tempera_error *error) {
  return tempera_run_open_sized(request, sizeof *request, model, threads, run,
                                error);
}
/* Ends its claim on the folder and frees its sampler. */
void tempera_run_close(tempera_run *run);
/* Is a folder, which need not exist, vacant for tempera_run_sample? To know
 * before the model is asked for anything; tempera_run_sample looks again. */
TEMPERA_CHECKED tempera_status
tempera_run_folder_vacant(const char *folder, tempera_error *error);
/* The run's; for tempera_sampler_lengthen, say. */
tempera_sampler *tempera_run_sampler(tempera_run *run);
TEMPERA_CHECKED tempera_status tempera_run_resume(tempera_run *run,
                                                  tempera_progress_fn progress,
                                                  void *user,
                                                  tempera_summary **summary,
                                                  tempera_error *error);
/* The model and data files of a run, as they were named; NULL where it has
 * none. Free with tempera_text_free. */
TEMPERA_CHECKED tempera_status tempera_run_paths(const char *folder,
                                                 char **model_path,
                                                 char **data_path,
                                                 tempera_error *error);
/* The program that is the model of a run, as it was named; both NULL where it
 * has none. Free with tempera_text_free. */
TEMPERA_CHECKED tempera_status tempera_run_program(
    const char *folder, char **command, char **parameters_path, bool *batch,
    bool *prior_normalised, bool *prior_improper, tempera_error *error);

/* The draws as ArviZ InferenceData (NetCDF4), with the data and the evidence
 * where these are given (either may be NULL). Loads libnetcdf. The file is
 * whole or not there. */
TEMPERA_CHECKED tempera_status tempera_netcdf_write(
    const char *path, const tempera_sampler *sampler, const tempera_data *data,
    const tempera_summary *summary, tempera_error *error);

/* A run's folder as one self-contained page with charts, from its files alone;
 * at `path`, or (NULL) as report.html in the folder. */
TEMPERA_CHECKED tempera_status tempera_run_report(const char *folder,
                                                  const char *path,
                                                  tempera_error *error);

/* The evidence of a fit made elsewhere, by bridge sampling: `paths` are CSV
 * files of CmdStan, rstan or this program, one per chain. Refused where they
 * cannot be draws of this model's posterior (bounds, zero density, an lp__ that
 * differs from the log density by more than a constant). The summary has no
 * verdict: what the fit has not seen nobody knows. Its reference has the Pareto
 * k of the fitted density. */
TEMPERA_CHECKED tempera_status tempera_fit_evidence(
    const tempera_model *model, const char *const *paths, size_t count,
    uint64_t seed, tempera_summary **summary, tempera_error *error);
/* In words; `search` (or NULL) is the summary of a tempered run of the same
 * model, which may have found modes that the fit has not. Free with
 * tempera_text_free. */
TEMPERA_CHECKED tempera_status tempera_fit_text(const tempera_summary *fit,
                                                const tempera_summary *search,
                                                char **text,
                                                tempera_error *error);

/* ------------------------------------------------------------------------
 * Hypotheses on parameters
 */

/* A hypothesis tested within one model. With positive prior probability (an
 * interval, a value of an integer) `posterior` and `prior` are logs of
 * probabilities, log_bf is the log of posterior over prior odds; else they are
 * logs of densities over the parameters that are fixed, and log_bf is the
 * Savage-Dickey ratio, posterior - prior. */
typedef struct tempera_hypothesis {
  char *words; /* as it was understood */
  bool point;  /* reals are fixed */
  double log_bf, se; /* for it, against its being false; NaN: none */
  double posterior, posterior_se, prior, prior_se;
  double pareto_k; /* the worse of both; beyond 0.7 errors mean little; NaN for
                      probabilities */
  size_t evaluations; /* of the likelihood */
  char *warning;      /* or NULL */
} tempera_hypothesis;

/* `null`: conditions separated by commas, all of which must hold: NAME = X,
 * NAME < X, NAME > X, A < NAME < B, |NAME| < X. The draws are the model's, with
 * target draws. Free with tempera_hypothesis_free. */
TEMPERA_CHECKED tempera_status tempera_hypothesis_test(
    const tempera_model *model, const tempera_draws *draws, const char *null,
    uint64_t seed, tempera_hypothesis **hypothesis, tempera_error *error);
void tempera_hypothesis_free(tempera_hypothesis *hypothesis);
/* Free the texts with tempera_text_free. */
TEMPERA_CHECKED tempera_status
tempera_hypothesis_text(const tempera_hypothesis *hypothesis, char **text,
                        tempera_error *error);
TEMPERA_CHECKED tempera_status
tempera_hypothesis_json(const tempera_hypothesis *hypothesis, char **text,
                        tempera_error *error);

/* ------------------------------------------------------------------------
 * Model comparison
 */

/* What runs are compared by; a comparison is of one kind, never of two.
 * EVIDENCE: Bayes factors. FRACTIONAL: fractional Bayes factors (O'Hagan 1995),
 * of log z(1) - log z(b) at one b, which improper priors have too. WBIC:
 * differences of WBIC (Watanabe 2013), which stand in for log Bayes factors. */
typedef enum tempera_factor {
  TEMPERA_FACTOR_EVIDENCE = 0,
  TEMPERA_FACTOR_FRACTIONAL,
  TEMPERA_FACTOR_WBIC
} tempera_factor;

/* Vectors hold one number per run; matrices are count x count, [i][j] being
 * run i against run j. */
/* A model by its predictions: elpd by leave-one-out, the difference from the
 * best one's with its error (NaN without the terms), bad Pareto k; WAIC's. */
typedef struct tempera_loo_row {
  double elpd, se, p, difference, difference_se;
  size_t k_bad;
  double waic, waic_se;
} tempera_loo_row;

typedef struct tempera_comparison {
  size_t count, best; /* best: the run with the largest log Z */
  char **names, **models;
  double *log_z, *se;
  double *prior;       /* prior probabilities of the models */
  double *probability; /* posterior ones, with error and 95 % interval */
  double *probability_se, *probability_lower, *probability_upper;
  double *log_bayes_factors, *log_bayes_factor_se;
  char **warnings;
  size_t warning_count;
  char *numbers; /* single numbers that differ in the data, in words, or NULL */
  tempera_factor kind;
  double tau; /* b, or WBIC's tau; else NaN */
  tempera_loo_row *loo; /* one per run; NULL unless all have it of as many terms */
} tempera_comparison;

/* Compare runs, called by these names. prior_odds: a positive number for each
 * (only their ratios matter), or NULL for equal odds. Refuses summaries without
 * evidence and runs on different data: arrays of one name that differ, or
 * nothing in common. Single numbers may differ (a number of components, a
 * hyperparameter); `numbers` lists them. */
TEMPERA_CHECKED tempera_status tempera_compare(
    const tempera_summary *const *summaries, const char *const *names,
    size_t count, const double *prior_odds, tempera_comparison **comparison,
    tempera_error *error);
/* The same by another kind: by `fractional` or `wbic` of the summaries (log_z of
 * the comparison then holds the former, or minus the latter). Refused where a
 * run lacks it, or where they are not at one tau; see
 * tempera_run_fractional. */
TEMPERA_CHECKED tempera_status tempera_compare_by(
    tempera_factor kind, const tempera_summary *const *summaries,
    const char *const *names, size_t count, const double *prior_odds,
    tempera_comparison **comparison, tempera_error *error);
/* log z(1) - log z(b) of the run in a folder, by its tempered draws. Refused
 * where the path does not cover b. */
TEMPERA_CHECKED tempera_status tempera_run_fractional(
    const char *folder, double b, tempera_path_answer *fractional,
    tempera_error *error);
/* The same for runs that are to be compared, all at one b, into their summaries;
 * b = 0: at the largest that one of them has by itself (all are proper: refused,
 * for then b must be said). */
TEMPERA_CHECKED tempera_status tempera_runs_fractional(
    const char *const *folders, tempera_summary *const *summaries, size_t count,
    double b, tempera_error *error);
void tempera_comparison_free(tempera_comparison *comparison);
/* What a log Bayes factor of this size says, after Kass & Raftery (1995):
 * "bare mention", "positive", "strong" or "very strong". */
const char *tempera_evidence_words(double log_bayes_factor);
/* Tables and JSON. Free the text with tempera_text_free. */
TEMPERA_CHECKED tempera_status
tempera_comparison_text(const tempera_comparison *comparison, bool colour,
                        char **text, tempera_error *error);
TEMPERA_CHECKED tempera_status tempera_comparison_json(
    const tempera_comparison *comparison, char **text, tempera_error *error);
/* A self-contained page with charts; `summaries` are those compared. With the
 * runs' folders (else NULL) also the marginals of what they share. */
TEMPERA_CHECKED tempera_status
tempera_comparison_page(const tempera_comparison *comparison,
                        const tempera_summary *const *summaries,
                        const char *const *folders, const char *path,
                        tempera_error *error);

#ifdef __cplusplus
}
#endif

#endif
