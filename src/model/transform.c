/* transform.c - natural scale <-> unconstrained scale, block by block.
 *
 * Bounds give identity, logarithm (one bound) or logit (two), and a simplex
 * the stick-breaking map, as in Stan's reference manual, so that lp__ agrees
 * with Stan's. */
#include "model/model.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Coordinates are kept inside this box when mapped back from a bound; exp
 * stays finite and positive there. */
static const double FAR = 700;

tm_form tm_form_of(const tm_block *block) {
  bool below = isfinite(block->lower), above = isfinite(block->upper);
  if (block->transform == TEMPERA_SIMPLEX)
    return TM_FORM_SIMPLEX;
  if (block->map)
    return TM_FORM_MAPPED;
  if (block->kind == TEMPERA_INTEGER || (!below && !above))
    return TM_FORM_FREE;
  return !above ? TM_FORM_ABOVE : !below ? TM_FORM_BELOW : TM_FORM_BETWEEN;
}

tm_block tm_block_between(double lower, double upper) {
  tm_block block = {
      .theta_count = 1, .u_count = 1, .lower = lower, .upper = upper};
  block.form = tm_form_of(&block);
  return block;
}

/* Also NaN, from log(0/0): any coordinate does. */
static double clamp(double x) {
  return !(x <= FAR) ? FAR : x < -FAR ? -FAR : x;
}

/* Far out, rounding would land on the bound itself, where priors have
 * logarithms of zero; the neighbour of the bound stands for it. An overflow
 * to infinity stays: tm_reached refuses it. */
static double strictly_inside(double lower, double upper, double x) {
  if (x > lower && x < upper)
    return x;
  if (x <= lower && isfinite(lower))
    return nextafter(lower, INFINITY);
  if (x >= upper && isfinite(upper))
    return nextafter(upper, -INFINITY);
  return x;
}

/* With e = exp(-|u|): the share is 1/(1+e) or e/(1+e), and log1p(e) gives the
 * logarithms of both. */
static double constrain_between(const tm_block *block, const double *u,
                                double *theta) {
  double lower = block->lower, width = block->upper - lower, sum = 0;
  for (size_t i = 0; i < block->u_count; i++) {
    double e = exp(-fabs(u[i]));
    double x = lower + width * (u[i] > 0 ? 1 : e) / (1 + e);
    theta[i] = strictly_inside(lower, block->upper, x);
    sum += log(width) - fabs(u[i]) - 2 * log1p(e);
  }
  return sum;
}

static double constrain_above(const tm_block *block, const double *u,
                              double *theta) {
  double lower = block->lower, sum = 0;
  for (size_t i = 0; i < block->u_count; i++) {
    theta[i] = strictly_inside(lower, INFINITY, lower + exp(u[i]));
    sum += u[i];
  }
  return sum;
}

static double constrain_below(const tm_block *block, const double *u,
                              double *theta) {
  double upper = block->upper, sum = 0;
  for (size_t i = 0; i < block->u_count; i++) {
    theta[i] = strictly_inside(-INFINITY, upper, upper - exp(u[i]));
    sum += u[i];
  }
  return sum;
}

/* Stick-breaking: y_k = u_k - log(K - k), share_k = logit^-1(y_k) of what is
 * left of the stick. */
static double simplex_share(size_t k, size_t count, double u) {
  static const double LOG[] = {0,
                               0,
                               0.69314718055994531,
                               1.0986122886681098,
                               1.3862943611198906,
                               1.6094379124341003};
  size_t left = count - 1 - k;
  return u - (left < sizeof LOG / sizeof *LOG ? LOG[left] : log((double)left));
}

/* Where parts are too small for their product, or there is no such point. */
static double simplex_far_out(size_t count, const double *u, double *theta) {
  double log_left = 0, sum = 0;
  for (size_t k = 0; k + 1 < count; k++) {
    double y = simplex_share(k, count, u[k]), size = fabs(y);
    double larger = -log1p(exp(-size)), smaller = larger - size;
    double log_theta = log_left + (y > 0 ? larger : smaller);
    theta[k] = fmax(exp(log_theta), DBL_MIN);
    sum += log_theta;
    log_left += y > 0 ? smaller : larger;
  }
  theta[count - 1] = fmax(exp(log_left), DBL_MIN);
  sum += log_left;
  if (!isfinite(sum)) { /* so was not u: there is no such point */
    theta[0] = NAN;
    return -INFINITY;
  }
  return sum;
}

/* With e = exp(y): share and rest of a stick are e/(1+e) and 1/(1+e). J, the
 * product of left x share x rest over the sticks, is that of theta. */
double tm_simplex_constrain(size_t count, const double *u, double *theta) {
  double left = 1, product = 1;
  for (size_t k = 0; k + 1 < count; k++)
    theta[k] = exp(simplex_share(k, count, u[k]));
  for (size_t k = 0; k + 1 < count; k++) {
    double rest = 1 / (1 + theta[k]);
    theta[k] *= rest * left;
    left *= rest;
    product *= theta[k];
  }
  theta[count - 1] = left;
  product *= left;
  return product > 1e-280 ? log(product) : simplex_far_out(count, u, theta);
}

void tm_simplex_unconstrain(size_t count, const double *theta, double *u) {
  double left = 0; /* summed from the small end, so that nothing cancels */
  for (size_t k = count; k-- > 0;) {
    if (k + 1 < count)
      u[k] = clamp(log((double)(count - 1 - k) * (theta[k] / left)));
    left += theta[k];
  }
}

double tm_constrain_block(const tm_block *block, const double *u,
                          double *theta) {
  const double *from = u + block->u;
  double *to = theta + block->theta;
  switch (block->form) {
  case TM_FORM_ABOVE:
    return constrain_above(block, from, to);
  case TM_FORM_BELOW:
    return constrain_below(block, from, to);
  case TM_FORM_BETWEEN:
    return constrain_between(block, from, to);
  case TM_FORM_SIMPLEX:
    return tm_simplex_constrain(block->theta_count, from, to);
  case TM_FORM_MAPPED:
    return block->map->constrain(block->map, from, to);
  case TM_FORM_FREE:
    break;
  }
  for (size_t i = 0; i < block->u_count; i++)
    to[i] = from[i];
  return 0;
}

void tm_constrain(const tempera_model *model, const double *u, double *theta,
                  double *log_jacobian) {
  double sum = 0;
  for (size_t b = 0; b < model->block_count; b++)
    sum += tm_constrain_block(&model->blocks[b], u, theta);
  if (log_jacobian)
    *log_jacobian = sum;
}

static double unconstrain_value(const tm_block *block, double x) {
  switch (block->form) {
  case TM_FORM_ABOVE:
    return clamp(log(x - block->lower));
  case TM_FORM_BELOW:
    return clamp(log(block->upper - x));
  case TM_FORM_BETWEEN:
    return clamp(log(x - block->lower) - log(block->upper - x));
  default:
    return x;
  }
}

void tm_unconstrain_block(const tm_block *block, const double *theta,
                          double *u) {
  const double *from = theta + block->theta;
  double *to = u + block->u;
  if (block->form == TM_FORM_SIMPLEX)
    tm_simplex_unconstrain(block->theta_count, from, to);
  else if (block->form == TM_FORM_MAPPED)
    block->map->unconstrain(block->map, from, to);
  else
    for (size_t i = 0; i < block->u_count; i++)
      to[i] = unconstrain_value(block, from[i]);
}

tempera_status tm_fixed_values(const tempera_model *model, bool *fixed,
                               tempera_error *error) {
  size_t n = model->dimension, size = model->size;
  double *u = tm_heap_alloc(n + 2 * size + 1, sizeof(double));
  if (!u)
    return tm_fail_memory(error);
  double *one = u + n, *other = one + size;
  for (size_t j = 0; j < n; j++)
    u[j] = model->integer[j] ? 0 : 0.1 + 0.01 * (double)(j % 50);
  tm_constrain(model, u, one, NULL);
  for (size_t j = 0; j < n; j++)
    u[j] = model->integer[j] ? 1 : 0.2 - 0.017 * (double)(j % 31);
  tm_constrain(model, u, other, NULL);
  for (size_t i = 0; i < size; i++)
    fixed[i] = one[i] == other[i];
  tm_heap_free(u);
  return TEMPERA_OK;
}

void tm_unconstrain(const tempera_model *model, const double *theta,
                    double *u) {
  for (size_t b = 0; b < model->block_count; b++)
    tm_unconstrain_block(&model->blocks[b], theta, u);
}

/* Do u and theta describe the same point already, and with which log J? */
static bool agrees(const tm_block *block, const double *theta, const double *u,
                   double *log_jacobian) {
  double sum = 0, product = 1;
  bool near = true;
  switch (block->form) {
  case TM_FORM_FREE:
    *log_jacobian = 0;
    return true;
  case TM_FORM_ABOVE:
  case TM_FORM_BELOW:
    for (size_t i = 0; i < block->u_count; i++) {
      near &= fabs(u[block->u + i]) < FAR;
      sum += u[block->u + i];
    }
    *log_jacobian = sum;
    return near;
  case TM_FORM_SIMPLEX:
    for (size_t i = 0; i < block->theta_count; i++) {
      sum += theta[block->theta + i];
      product *= theta[block->theta + i];
    }
    *log_jacobian = log(product);
    return product > 1e-280 && fabs(sum - 1) < 1e-14;
  default:
    return false;
  }
}

double tm_settle_block(const tm_block *block, const double *u, double *theta) {
  double log_jacobian;
  return agrees(block, theta, u, &log_jacobian)
             ? log_jacobian
             : tm_constrain_block(block, u, theta);
}

bool tm_simplex_inside(size_t count, const double *theta) {
  double sum = 0;
  for (size_t i = 0; i < count; i++) {
    if (!(theta[i] >= 0))
      return false;
    sum += theta[i];
  }
  return fabs(sum - 1) < 1e-8;
}

/* Also no infinity, which bounds may be. */
static bool block_inside(const tm_block *block, const double *values) {
  bool inside = true;
  for (size_t i = 0; i < block->theta_count; i++)
    inside &= values[i] >= block->lower && values[i] <= block->upper &&
              fabs(values[i]) <= DBL_MAX;
  if (block->kind == TEMPERA_INTEGER)
    for (size_t i = 0; i < block->theta_count; i++)
      inside &= values[i] == floor(values[i]);
  return inside;
}

bool tm_inside(const tempera_model *model, const double *theta) {
  for (size_t b = 0; b < model->block_count; b++) {
    const tm_block *block = &model->blocks[b];
    const double *values = theta + block->theta;
    bool inside = block->transform == TEMPERA_SIMPLEX
                      ? tm_simplex_inside(block->theta_count, values)
                  : block->map ? block->map->inside(block->map, values)
                               : block_inside(block, values);
    if (!inside)
      return false;
  }
  return true;
}

/* As far from both bounds as numbers are exact. */
static bool is_apart(const tm_block *block, double x) {
  return fabs(x) <= DBL_MAX && x - block->lower >= DBL_MIN &&
         block->upper - x >= DBL_MIN;
}

size_t tm_first_at_bound(const tempera_model *model, const double *theta) {
  for (size_t b = 0; b < model->block_count; b++) {
    const tm_block *block = &model->blocks[b];
    bool bounded = block->form != TM_FORM_FREE && block->form != TM_FORM_MAPPED;
    for (size_t i = block->theta;
         bounded && i < block->theta + block->theta_count; i++)
      if (block->form == TM_FORM_SIMPLEX ? !(theta[i] >= DBL_MIN)
                                         : !is_apart(block, theta[i]))
        return i;
  }
  return model->size;
}

bool tm_reached(const tempera_model *model, const double *theta) {
  double nothing = 0; /* NaN if a value is not finite */
  for (size_t i = 0; i < model->size; i++)
    nothing += 0 * theta[i];
  if (nothing != 0 || model->plain)
    return nothing == 0;
  for (size_t b = 0; b < model->block_count; b++) {
    const tm_block *block = &model->blocks[b];
    const double *values = theta + block->theta;
    if ((block->map && !block->map->inside(block->map, values)) ||
        (block->kind == TEMPERA_INTEGER && !block_inside(block, values)))
      return false;
  }
  return true;
}

/* With x_k = left_k s_k and left_{k+1} = left_k (1 - s_k), go backwards:
 * `after` is dF/dlog(left_{k+1}) from everything behind stick k, and s_k is x_k
 * as a share of itself and all behind it. */
void tm_simplex_pull_back(size_t count, const double *theta,
                          const double *gradient, bool jacobian, double *out) {
  double after = gradient[count - 1] * theta[count - 1];
  double behind = theta[count - 1];
  for (size_t k = count - 1; k-- > 0;) {
    double left = behind + theta[k];
    double share = theta[k] / left, rest = behind / left;
    double weighted = gradient[k] * theta[k];
    double slope = weighted * rest - after * share;
    if (jacobian)
      /* log J = sum_k log left_k + log s_k + log(1 - s_k) */
      slope += rest - share - (double)(count - 2 - k) * share;
    out[k] = slope;
    after += weighted;
    behind = left;
  }
}

static void pull_back_between(const tm_block *block, const double *theta,
                              const double *gradient, bool jacobian,
                              double *out) {
  double width = block->upper - block->lower;
  for (size_t i = 0; i < block->u_count; i++) {
    double above = theta[i] - block->lower, below = block->upper - theta[i];
    out[i] = gradient[i] * above * (below / width) +
             (jacobian ? (below - above) / width : 0);
  }
}

/* With one bound, theta's distance from it is its derivative. */
static void pull_back_block(const tm_block *block, const double *theta,
                            const double *gradient, bool jacobian,
                            double *out) {
  double bound = block->form == TM_FORM_ABOVE ? block->lower : block->upper;
  double extra = jacobian ? 1 : 0;
  switch (block->form) {
  case TM_FORM_ABOVE:
  case TM_FORM_BELOW:
    for (size_t i = 0; i < block->u_count; i++)
      out[i] = gradient[i] * (theta[i] - bound) + extra;
    break;
  case TM_FORM_BETWEEN:
    pull_back_between(block, theta, gradient, jacobian, out);
    break;
  case TM_FORM_SIMPLEX:
    tm_simplex_pull_back(block->theta_count, theta, gradient, jacobian, out);
    break;
  default:
    for (size_t i = 0; i < block->u_count; i++)
      out[i] = block->kind == TEMPERA_INTEGER ? 0 : gradient[i];
  }
}

void tm_pull_back(const tempera_model *model, const double *u,
                  const double *theta, double *gradient, bool jacobian,
                  double *out) {
  /* backwards: later blocks add to the gradients of earlier values */
  for (size_t b = model->block_count; b-- > 0;) {
    const tm_block *block = &model->blocks[b];
    const tempera_map *map = block->map;
    const double *from = u + block->u, *at = theta + block->theta;
    double *slope = gradient + block->theta, *to = out + block->u;
    if (map && map->pull_earlier)
      map->pull_earlier(map, from, at, slope, jacobian);
    if (map)
      map->pull_back(map, from, at, slope, jacobian, to);
    else
      pull_back_block(block, at, slope, jacobian, to);
  }
}
