/* landscape.c - where the basins are: the Laplace ridge, for jumps and for
 * log z, and the natural-scale ridge. Built before the first sweep, improved
 * between warmup rounds; any method may use them. */
#include "run/sampler.h"

#include <math.h>
#include <string.h>

static tempera_status refuse(const tempera_sampler *s, const char *what,
                             const char *prior, const char *reason,
                             tempera_error *error) {
  return tm_fail(error, TEMPERA_ERROR_MODEL,
                 "model %s has no %s, which the %s tau prior needs: %s; use "
                 "--tau-prior learned",
                 s->model->spec.name, what, prior, reason);
}

tempera_status tm_landscape_ridge(tempera_sampler *s, bool needed,
                                  tempera_error *error) {
  TM_TRY(tm_landscape_do(s, &(tm_deed){.kind = TM_DO_RIDGE}, error));
  return s->ridge->view.absent && needed
             ? refuse(s, "ridge", "profile", s->ridge->view.reason, error)
             : TEMPERA_OK;
}

tempera_status tm_landscape_laplace(tempera_sampler *s, bool needed,
                                    tempera_error *error) {
  TM_TRY(tm_landscape_do(s, &(tm_deed){.kind = TM_DO_LAPLACE}, error));
  return s->laplace->view.absent && needed
             ? refuse(s, "Laplace ridge", "laplace", s->laplace->view.reason,
                      error)
             : TEMPERA_OK;
}

/* Without jumps a method other than the pair is as plain as its name. */
tempera_status tm_landscape_begin(tempera_sampler *sampler,
                                  tempera_error *error) {
  const tempera_options *o = &sampler->options;
  if (!o->jumps || o->kernel != TEMPERA_KERNEL_AUTO)
    return TEMPERA_OK;
  TM_TRY(tm_landscape_laplace(sampler, false, error));
  return tm_landscape_ridge(sampler, false, error);
}

/* In nats: a basin this far below all mass holds none worth a word, and the
 * natural scale moves optima by less than this. */
static const double NO_MASS = 4, FAR = 5;

/* A few points of every group. */
enum { MOST_ROWS = 4 };

static size_t collect(const tempera_sampler *s, double *points) {
  size_t size = s->model->size, count = 0;
  for (size_t c = 0; c < s->options.chains; c++)
    for (size_t role = 2; role-- > 0;) {
      const tm_group *group = s->groups[c];
      size_t stride = (group->width[role] + MOST_ROWS - 1) / MOST_ROWS;
      for (size_t i = 0; i < group->width[role]; i += stride) {
        const tm_point *point = group->rows[role][i].point;
        if (!isfinite(point->log_likelihood))
          continue;
        memcpy(points + count++ * size, point->theta, size * sizeof(double));
      }
    }
  return count;
}

/* The chain's highest draw, if it is above the ridge: is there a basin that
 * nobody has climbed? */
static size_t collect_best(const tempera_sampler *s, tempera_role role,
                           size_t chain, double *theta) {
  const tempera_draws *draws = s->draws;
  if (!draws->has_role[role] || draws->bare[role])
    return 0;
  const double *l = tempera_draws_log_likelihood(draws, role, chain);
  const double *prior = tempera_draws_log_prior(draws, role, chain);
  size_t rows = tempera_draws_rows(draws, role), best = 0;
  for (size_t i = 1; i < rows; i++)
    if (l[i] + prior[i] > l[best] + prior[best])
      best = i;
  if (rows == 0 ||
      !(tm_ridge_excess(s->ridge, l[best], prior[best]) > TM_RIDGE_GAP))
    return 0;
  tm_draws_take(draws, role, chain, best, s->model->size, theta);
  return 1;
}

static size_t collect_above(const tempera_sampler *s, double *points) {
  size_t count = 0;
  if (!s->ridge || s->ridge->view.absent)
    return 0;
  for (size_t c = 0; c < s->options.chains; c++)
    for (size_t role = 2; role-- > 0;)
      count += collect_best(s, (tempera_role)role, c,
                            points + count * s->model->size);
  return count;
}

tempera_status tm_landscape_search_on(tempera_sampler *s, bool warmup,
                                      tempera_error *error) {
  if (!tm_laplace_present(s->laplace))
    return TEMPERA_OK;
  size_t size = s->model->size, most = 2 * (MOST_ROWS + 1) * s->options.chains;
  double *points = tm_heap_alloc(most * size, sizeof(double));
  if (!points)
    return tm_fail_memory(error);
  size_t count = warmup ? 0 : collect_above(s, points);
  count += collect(s, points + count * size);
  tm_deed improve = {.kind = TM_DO_IMPROVE, .count = count, .points = points};
  tempera_status status =
      warmup ? tm_landscape_do(s, &improve, error) : TEMPERA_OK;
  if (status == TEMPERA_OK)
    status = tm_landscape_search(s, points, count, error);
  tm_heap_free(points);
  return status;
}

tempera_status tm_landscape_end_round(tempera_sampler *s, bool last,
                                      tempera_error *error) {
  return last ? TEMPERA_OK : tm_landscape_search_on(s, true, error);
}

/* The highest point, on the natural scale, of a basin that holds mass at tau.
 */
static double height_of_mass(const tempera_sampler *s, double tau,
                             double *theta) {
  const tm_laplace_knot *knot = tm_laplace_nearest(s->laplace, tau);
  double best = -INFINITY, jacobian;
  for (size_t m = 0; m < knot->mode_count; m++) {
    const tm_laplace_mode *mode = &knot->modes[m];
    if (mode->log_weight + mode->log_copies < knot->log_z - NO_MASS)
      continue;
    tm_constrain(s->model, mode->u, theta, &jacobian);
    best = fmax(best, mode->height - jacobian +
                          (tau - knot->tau) * mode->log_likelihood);
  }
  return best;
}

/* The taus of both ridges' knots, in order. */
static size_t join_taus(const tm_ridge_view *ridge,
                        const tm_laplace_view *laplace, double *tau) {
  size_t count = 0, i = 0, k = 0, more = laplace ? laplace->knot_count : 0;
  while (i < ridge->knots || k < more) {
    double a = i < ridge->knots ? ridge->tau[i] : INFINITY;
    double b = k < more ? laplace->knots[k].tau : INFINITY;
    i += a <= b;
    k += b <= a;
    tau[count++] = fmin(a, b);
  }
  return count;
}

/* The ridge, and how far it is above all basins with mass, where that is far.
 */
static void fill_record(const tempera_sampler *s, bool idle, double *tau,
                        size_t count, double *theta) {
  for (size_t k = 0; k < count; k++) {
    double height = tm_ridge_height(s->ridge, tau[k]);
    double above = idle ? height - height_of_mass(s, tau[k], theta) : 0;
    tau[count + k] = height;
    tau[2 * count + k] = above > FAR && isfinite(above) ? above : 0;
  }
}

/* What all basins hold at tau = 1; false where Laplace says nothing of one. */
static bool weigh(const tempera_sampler *s, double *log_mass) {
  const tm_laplace_knot *knot = tm_laplace_nearest(s->laplace, 1);
  bool known = s->model->spec.prior_normalised && knot->tau == 1;
  for (size_t m = 0; m < knot->mode_count && known; m++)
    known = !knot->modes[m].indefinite && !knot->modes[m].edge;
  *log_mass = knot->log_z - s->model->spec.prior_log_integral;
  return known;
}

/* Without a Laplace ridge: the same of the best point that is known at tau = 1,
 * if it has a basin there. */
static tempera_status weigh_best(const tempera_sampler *s,
                                 const tm_ridge_view *view,
                                 tm_draws_ridge *ridge, tempera_error *error) {
  const double *best = view->theta + (view->knots - 1) * s->model->size;
  if (!s->model->spec.prior_normalised || !s->store)
    return TEMPERA_OK;
  TM_TRY(tm_store_weigh(s->store, best, &ridge->log_mass, error));
  ridge->log_mass -= s->model->spec.prior_log_integral;
  ridge->weighed = isfinite(ridge->log_mass);
  return TEMPERA_OK;
}

tempera_status tm_landscape_record(const tempera_sampler *s,
                                   tempera_error *error) {
  const tm_ridge_view *view = s->ridge ? &s->ridge->view : NULL;
  if (!view || view->absent)
    return TEMPERA_OK;
  const tm_laplace_view *laplace = tm_laplace_present(s->laplace);
  size_t most = view->knots + (laplace ? laplace->knot_count : 0);
  double *tau = tm_heap_alloc(3 * most + s->model->size, sizeof(double));
  if (!tau)
    return tm_fail_memory(error);
  size_t count = join_taus(view, laplace, tau);
  fill_record(s, laplace != NULL, tau, count, tau + 3 * most);
  tm_draws_ridge ridge = {count, tau, tau + count, tau + 2 * count, false, 0};
  ridge.weighed = laplace && weigh(s, &ridge.log_mass);
  tempera_status status = TEMPERA_OK;
  if (!laplace && view->knots && view->theta)
    status = weigh_best(s, view, &ridge, error);
  if (status == TEMPERA_OK)
    status = tm_draws_set_ridge(s->draws, &ridge, error);
  tm_heap_free(tau);
  return status;
}
