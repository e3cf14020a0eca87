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

static double inverse_logit(double x) {
  return x >= 0 ? 1 / (1 + exp(-x)) : exp(x) / (1 + exp(x));
}

static double clamp(double x) { return fmax(-FAR, fmin(FAR, x)); }

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
static double constrain_between(double lower, double upper, double u,
                                double *log_jacobian) {
  double width = upper - lower, e = exp(-fabs(u));
  *log_jacobian += log(width) - fabs(u) - 2 * log1p(e);
  return strictly_inside(lower, upper,
                         lower + width * (u > 0 ? 1 : e) / (1 + e));
}

double tm_constrain_value(double lower, double upper, double u,
                          double *log_jacobian) {
  bool below = isfinite(lower), above = isfinite(upper);
  if (below && above)
    return constrain_between(lower, upper, u, log_jacobian);
  if (!below && !above)
    return u;
  *log_jacobian += u;
  return strictly_inside(lower, upper, below ? lower + exp(u) : upper - exp(u));
}

double tm_unconstrain_value(double lower, double upper, double x) {
  bool below = isfinite(lower), above = isfinite(upper);
  if (below && above)
    return clamp(log(x - lower) - log(upper - x));
  if (below)
    return clamp(log(x - lower));
  if (above)
    return clamp(log(upper - x));
  return x;
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

/* With e = exp(-|y|): share and rest of a stick are 1/(1+e) and e/(1+e), or the
 * other way round. log J sums log left + log share + log rest over the sticks,
 * so that the larger part of stick k counts K - k times in it: once in each of
 * the products of it and those before, of which one logarithm is taken. */
double tm_simplex_constrain(size_t count, const double *u, double *theta) {
  const double small = 1e-100;
  double log_jacobian = 0, left = 1, larger_parts = 1, product = 1;
  for (size_t k = 0; k + 1 < count; k++) {
    double y = simplex_share(k, count, u[k]), later = (double)(count - 2 - k);
    double e = exp(-fabs(y)), larger = 1 / (1 + e), smaller = e * larger;
    theta[k] = fmax(left * (y > 0 ? larger : smaller), DBL_MIN);
    left *= y > 0 ? smaller : larger;
    log_jacobian -= fabs(y) + (y > 0 ? later * y : 0);
    larger_parts *= larger;
    product *= larger_parts;
    if (product < small) {
      log_jacobian += log(product);
      product = 1;
    }
    if (larger_parts < small) {
      log_jacobian += (later + 1) * log(larger_parts);
      larger_parts = 1;
    }
  }
  theta[count - 1] = fmax(left, DBL_MIN);
  if (!isfinite(log_jacobian)) { /* so was not u: there is no such point */
    theta[0] = NAN;
    return -INFINITY;
  }
  return log_jacobian + log(product * larger_parts);
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
  double *to = theta + block->theta, log_jacobian = 0;
  if (block->transform == TEMPERA_SIMPLEX)
    return tm_simplex_constrain(block->theta_count, from, to);
  if (block->map)
    return block->map->constrain(block->map, from, to);
  bool free = !isfinite(block->lower) && !isfinite(block->upper);
  if (free || block->kind == TEMPERA_INTEGER)
    memcpy(to, from, block->u_count * sizeof(double));
  else
    for (size_t i = 0; i < block->u_count; i++)
      to[i] = tm_constrain_value(block->lower, block->upper, from[i],
                                 &log_jacobian);
  return log_jacobian;
}

void tm_constrain(const tempera_model *model, const double *u, double *theta,
                  double *log_jacobian) {
  *log_jacobian = 0;
  for (size_t b = 0; b < model->block_count; b++)
    *log_jacobian += tm_constrain_block(&model->blocks[b], u, theta);
}

void tm_unconstrain_block(const tm_block *block, const double *theta,
                          double *u) {
  const double *from = theta + block->theta;
  double *to = u + block->u;
  if (block->transform == TEMPERA_SIMPLEX)
    tm_simplex_unconstrain(block->theta_count, from, to);
  else if (block->map)
    block->map->unconstrain(block->map, from, to);
  else
    for (size_t i = 0; i < block->u_count; i++)
      to[i] = block->kind == TEMPERA_INTEGER
                  ? from[i]
                  : tm_unconstrain_value(block->lower, block->upper, from[i]);
}

void tm_unconstrain(const tempera_model *model, const double *theta,
                    double *u) {
  for (size_t b = 0; b < model->block_count; b++)
    tm_unconstrain_block(&model->blocks[b], theta, u);
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

bool tm_reached(const tempera_model *model, const double *theta) {
  double nothing = 0; /* NaN if a value is not finite */
  for (size_t i = 0; i < model->size; i++)
    nothing += 0 * theta[i];
  if (nothing != 0)
    return false;
  for (size_t b = 0; b < model->block_count; b++) {
    const tm_block *block = &model->blocks[b];
    const double *values = theta + block->theta;
    if ((block->map && !block->map->inside(block->map, values)) ||
        (block->kind == TEMPERA_INTEGER && !block_inside(block, values)))
      return false;
  }
  return true;
}

static void pull_back_value(const tm_block *block, double u, double theta,
                            double gradient, bool jacobian, double *out) {
  bool below = isfinite(block->lower), above = isfinite(block->upper);
  if (below && above) {
    double share = inverse_logit(u);
    *out = gradient * (block->upper - block->lower) * share * (1 - share) +
           (jacobian ? 1 - 2 * share : 0);
  } else if (!below && !above) {
    *out = gradient;
  } else {
    double derivative = below ? theta - block->lower : theta - block->upper;
    *out = gradient * derivative + (jacobian ? 1 : 0);
  }
}

/* With x_k = left_k s_k and left_{k+1} = left_k (1 - s_k), go backwards:
 * `after` is dF/dlog(left_{k+1}) from everything behind stick k. */
void tm_simplex_pull_back(size_t count, const double *u, const double *theta,
                          const double *gradient, bool jacobian, double *out) {
  double after = gradient[count - 1] * theta[count - 1];
  for (size_t k = count - 1; k-- > 0;) {
    double share = inverse_logit(simplex_share(k, count, u[k]));
    double own = gradient[k] * theta[k];
    double slope = own * (1 - share) - after * share;
    if (jacobian)
      /* log J = sum_k log left_k + log s_k + log(1 - s_k) */
      slope += (1 - share) - share - (double)(count - 2 - k) * share;
    out[k] = slope;
    after += own;
  }
}

void tm_pull_back(const tempera_model *model, const double *u,
                  const double *theta, double *gradient, bool jacobian,
                  double *out) {
  /* backwards: later blocks add to the gradients of earlier values */
  for (size_t b = model->block_count; b-- > 0;) {
    const tm_block *block = &model->blocks[b];
    const double *from = u + block->u, *at = theta + block->theta;
    double *slope = gradient + block->theta;
    double *to = out + block->u;
    if (block->transform == TEMPERA_SIMPLEX) {
      tm_simplex_pull_back(block->theta_count, from, at, slope, jacobian, to);
      continue;
    }
    if (block->map) {
      if (block->map->pull_earlier)
        block->map->pull_earlier(block->map, from, at, slope, jacobian);
      block->map->pull_back(block->map, from, at, slope, jacobian, to);
      continue;
    }
    for (size_t i = 0; i < block->u_count; i++) {
      if (block->kind == TEMPERA_INTEGER)
        to[i] = 0;
      else
        pull_back_value(block, from[i], at[i], slope[i], jacobian, to + i);
    }
  }
}
