/* bridgestan_evaluate.c - see runtime/bridgestan.h: both scales, densities,
 * gradients and second derivatives. */
#include "language/load/bridgestan_parts.h"
#include "language/load/load.h"

#include <float.h>
#include <math.h>
#include <string.h>

static int fail_reason(char **error, const char *function,
                       const tm_bs_worker *w) {
  return tm_bs_fail(error, function, tm_reason(&w->evaluator));
}

/* ---- both scales -------------------------------------------------------- */

/* The quantities asked for, behind the parameters. */
static int add_quantities(const tempera_bs *b, tm_bs_worker *w, bool tp,
                          bool gq, tempera_random *stream, double *out,
                          char **error) {
  const tempera_model_spec *spec = &b->model->spec;
  int answer =
      gq ? spec->quantities(w->theta, stream, w->quantities, w->evaluator.user)
         : tm_load_transform(w->theta, w->quantities, w->evaluator.user);
  if (answer != 0)
    return fail_reason(error, "param_constrain", w);
  if (tp)
    memcpy(out, w->quantities, b->transformed * sizeof *out);
  if (gq)
    memcpy(out + (tp ? b->transformed : 0), w->quantities + b->transformed,
           b->generated * sizeof *out);
  return 0;
}

int tempera_bs_constrain(const tempera_bs *bs, bool tp, bool gq,
                         const double *u, double *theta, tempera_bs_rng *rng,
                         char **error) {
  const tempera_model *model = bs->model;
  if (gq && !rng)
    return tm_bs_fail(error, "param_constrain",
                      "generated quantities need a random number generator");
  tm_bs_worker *w = tm_bs_take(bs, "param_constrain", error);
  if (!w)
    return -1;
  double log_jacobian;
  (void)tm_bs_from_stan(bs, u, w->ours, w->room);
  tm_constrain(model, w->ours, w->theta, &log_jacobian);
  memcpy(theta, w->theta, model->size * sizeof *theta);
  bool wanted = (tp && bs->transformed) || (gq && bs->generated);
  int code = wanted ? add_quantities(bs, w, tp, gq, rng ? &rng->stream : 0,
                                     theta + model->size, error)
                    : 0;
  tm_bs_give_back(bs, w);
  return code;
}

int tempera_bs_unconstrain(const tempera_bs *bs, const double *theta, double *u,
                           char **error) {
  if (!tm_inside(bs->model, theta))
    return tm_bs_fail(error, "param_unconstrain",
                      "a value lies outside its parameter's declared support");
  tm_bs_worker *w = tm_bs_take(bs, "param_unconstrain", error);
  if (!w)
    return -1;
  tm_unconstrain(bs->model, theta, w->ours);
  tm_bs_to_stan(bs, w->ours, theta, u);
  tm_bs_give_back(bs, w);
  return 0;
}

int tempera_bs_unconstrain_json(const tempera_bs *bs, const char *json,
                                double *u, char **error) {
  tempera_error problem = {0};
  tm_bs_worker *w = tm_bs_take(bs, "param_unconstrain_json", error);
  if (!w)
    return -1;
  tempera_status status = tempera_starts_parse(json, strlen(json), bs->model, 1,
                                               w->theta, &problem);
  if (status == TEMPERA_OK) {
    tm_unconstrain(bs->model, w->theta, w->ours);
    tm_bs_to_stan(bs, w->ours, w->theta, u);
  }
  tm_bs_give_back(bs, w);
  return status == TEMPERA_OK
             ? 0
             : tm_bs_fail_error(error, "param_unconstrain_json", &problem);
}

/* ---- densities ---------------------------------------------------------- */

/* One of the two parts, added to the value and to w->natural. */
static int add_part(tm_bs_worker *w, tempera_density_fn density,
                    tempera_gradient_fn slope, double *value) {
  const tempera_model *model = w->evaluator.model;
  double part = 0, *gradient = w->evaluator.gradient;
  int answer = slope ? slope(w->theta, &part, gradient, w->evaluator.user)
                     : density(w->theta, &part, w->evaluator.user);
  if (answer > 0 && part == -INFINITY)
    answer = 0; /* density zero is a value; reject is not */
  *value += part;
  for (size_t i = 0; slope && i < model->size; i++)
    w->natural[i] += gradient[i];
  return answer;
}

static int evaluate(const tempera_bs *bs, tm_bs_worker *w, bool jacobian,
                    const double *u, double *value, double *gradient,
                    const char *function, char **error) {
  const tempera_model *model = w->evaluator.model;
  const tempera_model_spec *spec = &model->spec;
  double log_jacobian, sum = 0;
  double extra = tm_bs_from_stan(bs, u, w->ours, w->room);
  tm_constrain(model, w->ours, w->theta, &log_jacobian);
  log_jacobian += extra;
  memset(w->natural, 0, model->size * sizeof *w->natural);
  if (add_part(w, spec->log_prior, gradient ? spec->log_prior_gradient : NULL,
               &sum) != 0 ||
      add_part(w, spec->log_likelihood,
               gradient ? spec->log_likelihood_gradient : NULL, &sum) != 0)
    return fail_reason(error, function, w);
  if (gradient) {
    tm_pull_back(model, w->ours, w->theta, w->natural, jacobian, w->slope);
    tm_bs_slope_to_stan(bs, u, w->slope, w->natural, jacobian, gradient);
  }
  *value = sum + (jacobian ? log_jacobian : 0);
  return 0;
}

int tempera_bs_density(const tempera_bs *bs, bool jacobian, const double *u,
                       double *value, double *gradient, char **error) {
  const char *function = gradient ? "log_density_gradient" : "log_density";
  tm_bs_worker *w = tm_bs_take(bs, function, error);
  if (!w)
    return -1;
  int code = evaluate(bs, w, jacobian, u, value, gradient, function, error);
  tm_bs_give_back(bs, w);
  return code;
}

/* The derivative of the gradient along a direction, by central differences of
 * fourth order. */
static int slope_along(const tempera_bs *bs, tm_bs_worker *w, bool jacobian,
                       const double *u, const double *direction, double *out,
                       const char *function, char **error) {
  static const double steps[] = {-2, -1, 1, 2}, weights[] = {1, -8, 8, -1};
  size_t n = bs->scale.size;
  double size = 0, scale = 1;
  for (size_t i = 0; i < n; i++) {
    size = fmax(size, fabs(direction[i]));
    scale = fmax(scale, direction[i] != 0 ? fabs(u[i]) : 0);
  }
  memset(out, 0, n * sizeof *out);
  if (size == 0)
    return 0;
  double h = pow(DBL_EPSILON, 0.2) * scale / size;
  for (size_t k = 0; k < 4; k++) {
    double value;
    for (size_t i = 0; i < n; i++)
      w->u[i] = u[i] + steps[k] * h * direction[i];
    if (evaluate(bs, w, jacobian, w->u, &value, w->gradient, function, error))
      return -1;
    for (size_t i = 0; i < n; i++)
      out[i] += weights[k] * w->gradient[i] / (12 * h);
  }
  return 0;
}

static int fill_hessian(const tempera_bs *bs, tm_bs_worker *w, bool jacobian,
                        const double *u, double *hessian, char **error) {
  size_t n = bs->scale.size;
  for (size_t j = 0; j < n; j++) {
    memset(w->direction, 0, n * sizeof *w->direction);
    w->direction[j] = 1;
    if (slope_along(bs, w, jacobian, u, w->direction, hessian + j * n,
                    "log_density_hessian", error))
      return -1;
  }
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < i; j++)
      hessian[i * n + j] = hessian[j * n + i] =
          0.5 * (hessian[i * n + j] + hessian[j * n + i]);
  return 0;
}

int tempera_bs_hessian(const tempera_bs *bs, bool jacobian, const double *u,
                       double *value, double *gradient, double *hessian,
                       char **error) {
  tm_bs_worker *w = tm_bs_take(bs, "log_density_hessian", error);
  if (!w)
    return -1;
  int code = evaluate(bs, w, jacobian, u, value, gradient,
                      "log_density_hessian", error);
  if (code == 0)
    code = fill_hessian(bs, w, jacobian, u, hessian, error);
  tm_bs_give_back(bs, w);
  return code;
}

int tempera_bs_product(const tempera_bs *bs, bool jacobian, const double *u,
                       const double *direction, double *value, double *product,
                       char **error) {
  const char *function = "log_density_hessian_vector_product";
  tm_bs_worker *w = tm_bs_take(bs, function, error);
  if (!w)
    return -1;
  int code = evaluate(bs, w, jacobian, u, value, NULL, function, error);
  if (code == 0)
    code = slope_along(bs, w, jacobian, u, direction, product, function, error);
  tm_bs_give_back(bs, w);
  return code;
}
