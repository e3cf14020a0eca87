/* reference.c - see reference.h. */
#include "tempering/reference.h"

#include "numeric/dense.h"
#include "numeric/geometric_mean.h"

#include <math.h>
#include <string.h>

/* One chain's: callbacks of the leg's model get it as `user`. */
typedef struct way {
  const tm_reference *reference;
  tm_arena *arena;
  tm_evaluator evaluator; /* of the original model */
  tm_point point;         /* of the original model */
  tm_reference_density density;
  size_t fits; /* which fit the density is of */
  double *x, *at, *gradient, *likelihood_gradient;
  double log_q; /* at `at` */
  bool known;
} way;

struct tm_reference {
  const tempera_model *model;
  tempera_model *leg;
  way stem;        /* the leg model's own user, of which chains get copies */
  tm_arena *arena; /* of the fit in force; NULL: none yet */
  size_t fits;
  size_t reals, *real; /* which coordinates of u */
  double *centre, *whitener, *inverse;
  double log_volume;       /* log |W| */
  const tm_labels *labels; /* NULL: none */
  tm_reference_density density;
};

/* ------------------------------------------------------------------------
 * From v to u and back
 */

static void to_u(const tm_reference *r, const double *v, double *work,
                 double *u) {
  size_t d = r->reals;
  for (size_t i = 0; i < d; i++)
    work[i] = v[r->real[i]];
  memcpy(u, v, r->model->dimension * sizeof(double));
  for (size_t i = 0; i < d; i++)
    u[r->real[i]] = r->centre[i] + tm_dot(r->whitener + i * d, work, i + 1);
}

static void to_v(const tm_reference *r, const double *u, double *work,
                 double *v) {
  size_t d = r->reals;
  for (size_t i = 0; i < d; i++)
    work[i] = u[r->real[i]] - r->centre[i];
  memcpy(v, u, r->model->dimension * sizeof(double));
  for (size_t i = 0; i < d; i++)
    v[r->real[i]] = tm_dot(r->inverse + i * d, work, i + 1);
}

/* ------------------------------------------------------------------------
 * The leg's model
 */

static void adopt_fit(way *w) {
  if (w->fits == w->reference->fits)
    return;
  tm_reference_density_share(&w->reference->density, &w->density);
  w->fits = w->reference->fits;
  w->known = false;
}

/* Prior and likelihood of a point are asked for one after the other. */
static double log_q(way *w, const double *v) {
  size_t bytes = w->reference->model->dimension * sizeof(double);
  adopt_fit(w);
  if (w->known && memcmp(w->at, v, bytes) == 0)
    return w->log_q;
  memcpy(w->at, v, bytes);
  w->log_q = tm_reference_density_log(&w->density, v);
  w->known = true;
  return w->log_q;
}

static int prior(const double *v, double *value, void *user) {
  *value = log_q(user, v);
  return 0;
}

static int prior_gradient(const double *v, double *value, double *gradient,
                          void *user) {
  way *w = user;
  adopt_fit(w);
  *value = tm_reference_density_gradient(&w->density, v, gradient);
  return 0;
}

/* What log f over u gains on the way to v: W's volume, and K! copies. */
static double log_gain(const tm_reference *r) {
  return r->log_volume + (r->labels ? r->labels->log_factorial : 0);
}

/* Is the point, of which u is set, one that stands for all its copies? */
static bool stands(way *w) {
  const tm_reference *r = w->reference;
  if (!r->labels)
    return true;
  tm_constrain_point(r->model, &w->point);
  return tm_labels_sorted(r->labels, w->point.theta);
}

/* D from log f and log q, both over v. */
static int ratio(const way *w, double log_q, double *value) {
  double log_f = tm_log_density(&w->point, 1);
  if (w->evaluator.status != TEMPERA_OK)
    return -1;
  *value = log_f + log_gain(w->reference) - log_q;
  return 0;
}

static int likelihood(const double *v, double *value, void *user) {
  way *w = user;
  to_u(w->reference, v, w->x, w->point.u);
  *value = -INFINITY;
  if (!stands(w))
    return 0;
  tm_evaluate(&w->evaluator, &w->point);
  return ratio(w, log_q(w, v), value);
}

static int likelihood_gradient(const double *v, double *value, double *gradient,
                               void *user) {
  way *w = user;
  const tm_reference *r = w->reference;
  size_t d = r->reals;
  adopt_fit(w);
  double q = tm_reference_density_gradient(&w->density, v, gradient);
  to_u(r, v, w->x, w->point.u);
  *value = -INFINITY;
  if (!stands(w))
    return 0;
  tm_evaluate_gradient(&w->evaluator, &w->point, w->likelihood_gradient,
                       w->gradient);
  memset(w->x, 0, d * sizeof(double));
  for (size_t i = 0; i < d; i++) { /* W' of it, row by row, less q's */
    double slope = w->likelihood_gradient[r->real[i]] + w->gradient[r->real[i]];
    const double *row = r->whitener + i * d;
    for (size_t j = 0; j <= i; j++)
      w->x[j] += row[j] * slope;
  }
  for (size_t j = 0; j < d; j++)
    gradient[r->real[j]] = w->x[j] - gradient[r->real[j]];
  return ratio(w, q, value);
}

static int draw(tempera_random *random, double *v, void *user) {
  way *w = user;
  adopt_fit(w);
  tm_reference_density_draw(&w->density, random, v);
  return 0;
}

static tm_normal normal_of(void *user, const double *v,
                           tempera_random *random) {
  way *w = user;
  adopt_fit(w);
  return tm_reference_density_condition(&w->density, v, random);
}

static const char *reason(const void *user) {
  const way *w = user;
  return w->evaluator.status != TEMPERA_OK ? w->evaluator.error.message
                                           : tm_reason(&w->evaluator);
}

static tempera_status fill_way(way *w, tempera_error *error) {
  const tempera_model *model = w->reference->model;
  size_t n = model->dimension;
  TM_TRY(tm_evaluator_create(model, w->arena, &w->evaluator, error));
  TM_TRY(tm_point_create(model, w->arena, &w->point, error));
  TM_TRY(tm_reference_density_make_room(w->reference->leg, w->arena,
                                        &w->density, error));
  w->x = TM_NEW(w->arena, double, n);
  w->at = TM_NEW(w->arena, double, n);
  w->gradient = TM_NEW(w->arena, double, n);
  w->likelihood_gradient = TM_NEW(w->arena, double, n);
  if (!w->x || !w->at || !w->gradient || !w->likelihood_gradient)
    return tm_fail_memory(error);
  return TEMPERA_OK;
}

static void release(void *user) {
  way *w = user;
  if (!w->arena) /* the stem */
    return;
  tm_evaluator_release(&w->evaluator);
  tm_arena_free(w->arena);
}

static int clone(const void *user, void **copy) {
  tm_arena *arena;
  way *made = TM_BEGIN(&arena, way);
  if (!made)
    return 1;
  *made = (way){.reference = ((const way *)user)->reference, .arena = arena};
  if (fill_way(made, NULL) != TEMPERA_OK) {
    release(made);
    return 1;
  }
  *copy = made;
  return 0;
}

/* ------------------------------------------------------------------------
 * Making it
 */

static tempera_status make_leg(tm_reference *r, tempera_error *error) {
  const tempera_model *model = r->model;
  tempera_parameter *blocks = tm_heap_alloc(model->block_count, sizeof *blocks);
  size_t count = 0;
  if (!blocks)
    return tm_fail_memory(error);
  for (size_t b = 0; b < model->block_count; b++) {
    const tm_block *block = &model->blocks[b];
    bool integer = block->kind == TEMPERA_INTEGER;
    if (block->u_count)
      blocks[count++] =
          (tempera_parameter){.name = model->spec.parameters[b].name,
                              .kind = block->kind,
                              .size = block->u_count,
                              .lower = integer ? block->lower : -INFINITY,
                              .upper = integer ? block->upper : INFINITY};
  }
  bool gradients = tm_has_gradients(model);
  tempera_model_spec spec = {
      .name = model->spec.name,
      .parameters = blocks,
      .parameter_count = count,
      .log_likelihood = likelihood,
      .log_prior = prior,
      .log_likelihood_gradient = gradients ? likelihood_gradient : NULL,
      .log_prior_gradient = gradients ? prior_gradient : NULL,
      .prior_draw = draw,
      .prior_normalised = true,
      .user = &r->stem,
      .clone = clone,
      .release = release,
      .reason = reason};
  tempera_status status = tempera_model_create(&spec, &r->leg, error);
  tm_heap_free(blocks);
  if (status == TEMPERA_OK) {
    r->leg->prior_normal = normal_of;
    r->leg->composed = true;
    r->leg->in_batches = model->in_batches;
  }
  return status;
}

tempera_status tm_reference_create(const tempera_model *model,
                                   tm_reference **reference,
                                   tempera_error *error) {
  tm_reference *made = tm_heap_alloc(1, sizeof *made);
  if (!made)
    return tm_fail_memory(error);
  made->model = model;
  made->stem.reference = made;
  tempera_status status = make_leg(made, error);
  if (status != TEMPERA_OK)
    tm_reference_free(made);
  else
    *reference = made;
  return status;
}

void tm_reference_free(tm_reference *reference) {
  if (!reference)
    return;
  tempera_model_free(reference->leg);
  tm_arena_free(reference->arena);
  tm_heap_free(reference);
}

void tm_reference_use_labels(tm_reference *reference, const tm_labels *labels) {
  reference->labels = labels;
}

bool tm_reference_fitted(const tm_reference *reference) {
  return reference->fits > 0;
}

const tempera_model *tm_reference_model(const tm_reference *reference) {
  return reference->leg;
}

const tempera_model *tm_reference_original(const tm_reference *reference) {
  return reference->model;
}

double tm_reference_log_volume(const tm_reference *reference) {
  return reference->log_volume;
}

static bool allocate(tm_reference *r, tm_arena *arena) {
  size_t d = r->model->real_dimension;
  r->reals = 0;
  r->real = TM_NEW(arena, size_t, d);
  r->centre = TM_NEW(arena, double, d);
  r->whitener = TM_NEW(arena, double, d *d);
  r->inverse = TM_NEW(arena, double, d *d);
  if (!r->real || !r->centre || !r->whitener || !r->inverse)
    return false;
  for (size_t j = 0; j < r->model->dimension; j++)
    if (!r->model->integer[j])
      r->real[r->reals++] = j;
  return true;
}

/* Means of the reals of rows, and their covariance's lower triangle. */
static void moments(const tm_reference *r, const double *rows, size_t n,
                    double *mean, double *covariance) {
  size_t d = r->reals, width = r->model->dimension;
  memset(mean, 0, d * sizeof(double));
  memset(covariance, 0, d * d * sizeof(double));
  for (size_t p = 0; p < n; p++)
    for (size_t i = 0; i < d; i++)
      mean[i] += rows[p * width + r->real[i]] / (double)n;
  for (size_t p = 0; p < n; p++) {
    const double *row = rows + p * width;
    for (size_t i = 0; i < d; i++) {
      double x = (row[r->real[i]] - mean[i]) / (double)n;
      for (size_t j = 0; j <= i; j++)
        covariance[i * d + j] += x * (row[r->real[j]] - mean[j]);
    }
  }
}

/* Covariances of n draws are shrunk towards the diagonal by about d/n of the
 * way. A real that never moved gets a nominal scale. */
static void whiten_by_draws(tm_reference *r, const tm_points *u) {
  size_t d = r->reals, n = u->count;
  double keep = (double)n / (double)(n + d + 1);
  moments(r, u->values, n, r->centre, r->whitener);
  for (size_t i = 0; i < d; i++)
    for (size_t j = 0; j < i; j++)
      r->whitener[i * d + j] *= keep;
  for (size_t i = 0; i < d; i++) {
    double nominal = 1e-4 * fmax(1, fabs(r->centre[i]));
    if (!(r->whitener[i * d + i] > 1e-20 * nominal * nominal))
      r->whitener[i * d + i] = nominal * nominal;
  }
  tm_cholesky_forced(r->whitener, d, 1e-300, r->inverse);
}

/* The mean log density of the draws under N(centre, L L'), less a constant. */
static double score(const tm_reference *r, const tm_points *u, const double *l,
                    double *work) {
  size_t d = r->reals;
  double sum = 0;
  for (size_t p = 0; p < u->count; p++) {
    for (size_t i = 0; i < d; i++)
      work[i] = u->values[p * u->dimension + r->real[i]] - r->centre[i];
    tm_solve_lower(l, d, work);
    sum -= 0.5 * tm_dot(work, work, d) / (double)u->count;
  }
  for (size_t i = 0; i < d; i++)
    sum -= log(l[i * d + i]);
  return sum;
}

/* Both triangles, the sds divided out of draws or multiplied into gradients,
 * with a trace of the identity. */
static void standardise(double *c, const double *sd, size_t d, bool gradients) {
  for (size_t i = 0; i < d; i++)
    for (size_t j = 0; j <= i; j++) {
      double scale = sd[i] * sd[j];
      c[j * d + i] = c[i * d + j] *= gradients ? scale : 1 / scale;
    }
  for (size_t i = 0; i < d; i++)
    c[i * d + i] += 1e-6;
}

/* The factor of S with S Cov(g) S = Cov(x), in `factor`; `work` holds four
 * matrices more. */
static bool factor_by_slopes(const tm_reference *r, const tm_slopes_at *slopes,
                             double *factor, double *work) {
  size_t d = r->reals;
  double *g = work, *mean = work + d * d, *sd = mean + d;
  moments(r, slopes->gradient, slopes->count, mean, g);
  moments(r, slopes->u, slopes->count, mean, factor);
  for (size_t i = 0; i < d; i++) {
    sd[i] = sqrt(factor[i * d + i]);
    if (!(sd[i] > 0) || !(g[i * d + i] > 0) || !isfinite(g[i * d + i]))
      return false;
  }
  standardise(factor, sd, d, false);
  standardise(g, sd, d, true);
  if (!tm_geometric_mean(factor, g, d, sd + d))
    return false;
  for (size_t i = 0; i < d; i++)
    for (size_t j = 0; j < d; j++)
      factor[i * d + j] = j <= i ? sd[i] * factor[i * d + j] : 0;
  return true;
}

/* The covariance by gradients, which is exact for a Gaussian, instead of the
 * draws' own, which has noise: k = d(d+1)/2 numbers learned from n draws (worth
 * half as many) fit these draws too well by k/n nats each, and others too badly
 * by as much. Where the draws like theirs better by less than both, gradients
 * win. */
static bool whiten_by_slopes(tm_reference *r, const tm_points *u,
                             const tm_slopes_at *slopes, tempera_error *error) {
  size_t d = r->reals;
  if (!slopes || slopes->count < 2 * d || d < 2)
    return true;
  double *factor = tm_heap_alloc(5 * d * d + 4 * d, sizeof(double));
  if (!factor) {
    (void)tm_fail_memory(error);
    return false;
  }
  double *work = factor + d * d;
  if (factor_by_slopes(r, slopes, factor, work)) {
    double learned = 0.5 * (double)(d * (d + 1)) / (double)u->count;
    double better = score(r, u, r->whitener, work) - score(r, u, factor, work);
    if (better < 2 * learned)
      memcpy(r->whitener, factor, d * d * sizeof(double));
  }
  tm_heap_free(factor);
  return true;
}

static void measure_volume(tm_reference *r) {
  r->log_volume = 0;
  for (size_t i = 0; i < r->reals; i++)
    r->log_volume += log(r->whitener[i * r->reals + i]);
}

static bool whiten(tm_reference *r, const tm_points *u,
                   const tm_slopes_at *slopes, tempera_error *error) {
  size_t d = r->reals;
  whiten_by_draws(r, u);
  if (!whiten_by_slopes(r, u, slopes, error))
    return false;
  tm_triangular_inverse(r->whitener, d, r->inverse);
  measure_volume(r);
  return true;
}

/* In many dimensions, where q is one Gaussian or t with dense L: W <- W L,
 * centre <- centre + W m, so that it is the unit one over v and an evaluation
 * takes one product with a matrix where it took three. */
static void fold(tm_reference *r) {
  tm_mixture *q = tm_fitted_single(&r->density.fitted);
  size_t d = r->reals;
  if (d < TM_REFERENCE_MANY || !q)
    return;
  for (size_t i = 0; i < d; i++)
    r->centre[i] += tm_dot(r->whitener + i * d, q->mean, i + 1);
  for (size_t i = 0; i < d; i++) {
    double *row = r->whitener + i * d;
    for (size_t j = 0; j <= i; j++) {
      double sum = 0;
      for (size_t k = j; k <= i; k++)
        sum += row[k] * q->factor[k * d + j];
      row[j] = sum;
    }
  }
  tm_triangular_inverse(r->whitener, d, r->inverse);
  tm_mixture_unit(q);
  measure_volume(r);
}

/* A component has a covariance to learn: this many draws per coordinate for
 * each of them. And many of them in many dimensions take long: so many
 * coordinates in all (at d = 100 a fit of three took ten seconds). */
enum {
  DRAWS_PER_COORDINATE = 10,
  MOST_COMPONENTS = 16,
  MOST_COORDINATES = 300
};

static tempera_status fit_density(tm_reference *r, const tm_points *u,
                                  tempera_random *random, tm_arena *arena,
                                  tempera_error *error) {
  size_t n = r->model->dimension;
  double *rows = tm_heap_alloc(u->count * n + n, sizeof(double));
  if (!rows)
    return tm_fail_memory(error);
  double *work = rows + u->count * n;
  for (size_t p = 0; p < u->count; p++)
    to_v(r, u->values + p * n, work, rows + p * n);
  tm_points v = {u->count, n, rows, NULL};
  size_t most = u->count / (DRAWS_PER_COORDINATE * (n + 1));
  most = most < MOST_COORDINATES / n ? most : MOST_COORDINATES / n;
  most = most < 1 ? 1 : most > MOST_COMPONENTS ? MOST_COMPONENTS : most;
  tempera_status status = tm_reference_density_fit(r->leg, &v, most, random,
                                                   arena, &r->density, error);
  if (status == TEMPERA_OK)
    fold(r);
  tm_heap_free(rows);
  return status;
}

tempera_status tm_reference_fit(tm_reference *reference, const tm_points *u,
                                const tm_slopes_at *slopes,
                                tempera_random *random, tempera_error *error) {
  tm_reference *r = reference;
  tm_arena *arena = tm_arena_create();
  if (!arena || !allocate(r, arena)) {
    tm_arena_free(arena);
    return tm_fail_memory(error);
  }
  tempera_status status = whiten(r, u, slopes, error)
                              ? fit_density(r, u, random, arena, error)
                              : TEMPERA_ERROR_MEMORY;
  tm_arena_free(r->arena);
  r->arena = arena;
  if (status == TEMPERA_OK)
    r->fits++;
  return status;
}

/* ------------------------------------------------------------------------
 * A chain's points
 */

tempera_status tm_reference_chain_create(const tm_reference *reference,
                                         tm_arena *arena,
                                         tm_reference_chain *chain,
                                         tempera_error *error) {
  TM_TRY(tm_evaluator_create(reference->leg, arena, &chain->evaluator, error));
  chain->reference = reference;
  chain->own = chain->evaluator.user;
  chain->inner = &((way *)chain->own)->evaluator;
  return TEMPERA_OK;
}

void tm_reference_chain_release(tm_reference_chain *chain) {
  if (chain->own)
    tm_evaluator_release(&chain->evaluator);
}

void tm_reference_enter(tm_reference_chain *chain, const tm_point *from,
                        tm_point *to) {
  way *w = chain->own;
  const tm_reference *r = w->reference;
  const double *u = from->u;
  if (r->labels)
    u = tm_labels_in_order(r->model, r->labels, from, &w->point);
  to_v(r, u, w->x, to->u);
  memcpy(to->theta, to->u, r->model->dimension * sizeof(double));
  to->log_jacobian = 0;
  memset(to->block_jacobian, 0, r->leg->block_count * sizeof(double));
  to->log_prior = log_q(w, to->u);
  to->log_likelihood = tm_log_density(from, 1) + log_gain(r) - to->log_prior;
}

/* The log likelihood is had by a difference, which a log prior of this size
 * takes its digits from: a density fitted to draws that are 1e38 apart. */
static const double ROUNDS = 1e8;

void tm_reference_leave(tm_reference_chain *chain, tempera_random *random,
                        const tm_point *from, tm_point *to) {
  way *w = chain->own;
  const tm_reference *r = w->reference;
  double log_f = from->log_likelihood + from->log_prior - log_gain(r);
  unsigned char permutation[TM_LABELS_MOST];
  to_u(r, from->u, w->x, r->labels ? w->point.u : to->u);
  if (r->labels) {
    tm_constrain_point(r->model, &w->point);
    tm_labels_random(r->labels, random, permutation);
    tm_labels_turn(r->model, r->labels, permutation, &w->point, to);
  }
  tm_evaluate_prior(&w->evaluator, to);
  to->log_likelihood = log_f - to->log_prior - to->log_jacobian;
  if (!(fabs(to->log_prior) < ROUNDS))
    tm_evaluate(&w->evaluator, to);
}

void tm_reference_theta(tm_reference_chain *chain, const tm_point *from,
                        double *theta) {
  way *w = chain->own;
  to_u(w->reference, from->u, w->x, w->point.u);
  tm_constrain(w->reference->model, w->point.u, theta, NULL);
}

double tm_reference_excess(tm_reference_chain *chain, const tm_point *point) {
  way *w = chain->own;
  adopt_fit(w);
  return tm_reference_density_excess(&w->density, point->u, point->log_prior);
}
