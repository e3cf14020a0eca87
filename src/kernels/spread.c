/* spread.c - running means and covariances by stretch of tau (method 4.6).
 *
 * Welford's update, draw by draw; at the end of a round the covariance is
 * shrunk towards its diagonal and factored. The Cholesky factor is our own: a
 * threaded BLAS may sum in another order and results must not depend on the
 * number of threads. */
#include "kernels/spread.h"

#include "numeric/dense.h"

#include <math.h>
#include <string.h>

/* The lower ends of the regimes, as nodes of the tau grid: 0, 4^-10, 4^-6,
 * 4^-4, 4^-3, 4^-2, 4^-1. */
static const size_t REGIME_STARTS[TM_REGIMES] = {0, 11, 15, 17, 18, 19, 20};

/* Beyond this, d^2 work per sweep and 14 matrices per chain are too much. */
enum { DENSE_MOST = 256 };
static const double ENOUGH_FOR_SD = 20;

size_t tm_regime_of(tm_tau_place place) {
  size_t r = TM_REGIMES - 1;
  while (place.node < REGIME_STARTS[r])
    r--;
  return r;
}

static bool create_regime(const tm_spread *spread, tm_arena *arena,
                          tm_regime *r) {
  size_t d = spread->dimension;
  r->mean = TM_NEW(arena, double, d);
  r->square = TM_NEW(arena, double, d);
  r->sd = TM_NEW(arena, double, d);
  if (!r->mean || !r->square || !r->sd)
    return false;
  if (!spread->dense)
    return true;
  r->scatter = TM_NEW(arena, double, d *d);
  r->factor = TM_NEW(arena, double, d *d);
  r->turned = TM_NEW(arena, double, d *d);
  return r->scatter && r->factor && r->turned;
}

tempera_status tm_spread_create(size_t dimension, const size_t *coordinates,
                                tm_arena *arena, tm_spread **spread,
                                tempera_error *error) {
  tm_spread *made = TM_NEW(arena, tm_spread, 1);
  if (!made)
    return tm_fail_memory(error);
  made->dimension = dimension;
  made->coordinates = coordinates;
  made->dense = dimension > 1 && dimension <= DENSE_MOST;
  made->work = TM_NEW(arena, double, dimension);
  made->candidate =
      TM_NEW(arena, double, made->dense ? dimension *dimension : 1);
  if (!made->work || !made->candidate)
    return tm_fail_memory(error);
  for (size_t r = 0; r < TM_REGIMES; r++)
    if (!create_regime(made, arena, &made->regimes[r]))
      return tm_fail_memory(error);
  *spread = made;
  return TEMPERA_OK;
}

void tm_spread_learn(tm_spread *spread, tm_tau_place place, const double *u) {
  tm_regime *r = &spread->regimes[tm_regime_of(place)];
  size_t d = spread->dimension;
  double *deviation = spread->work;
  r->count += 1;
  double shrink = (r->count - 1) / r->count;
  for (size_t i = 0; i < d; i++)
    deviation[i] = u[spread->coordinates[i]] - r->mean[i];
  for (size_t i = 0; i < d; i++) {
    r->mean[i] += deviation[i] / r->count;
    r->square[i] += shrink * deviation[i] * deviation[i];
    if (spread->dense)
      for (size_t j = 0; j <= i; j++)
        r->scatter[i * d + j] += shrink * deviation[i] * deviation[j];
  }
}

/* The covariance shrunk towards its diagonal. While draws are few, as if
 * `d + 10` further ones had shown no correlation; then faster than that, for
 * a little of the diagonal already hides directions far narrower than any
 * coordinate is. */
static void shrunk_covariance(const tm_regime *r, size_t d, double *out) {
  double shrinkage = ((double)d + 10) / (r->count + (double)d + 10);
  double keep = 1 - shrinkage * shrinkage;
  for (size_t i = 0; i < d; i++)
    for (size_t j = 0; j <= i; j++)
      out[i * d + j] = r->scatter[i * d + j] / r->count * (i == j ? 1 : keep);
}

/* Standard deviations; false while a coordinate has never moved. */
static bool use_diagonal(tm_regime *r, size_t d) {
  for (size_t i = 0; i < d; i++)
    if (!(r->square[i] > 0 && isfinite(r->square[i])))
      return false;
  for (size_t i = 0; i < d; i++)
    r->sd[i] = sqrt(r->square[i] / r->count);
  if (r->level < TM_SPREAD_DIAGONAL)
    r->level = TM_SPREAD_DIAGONAL;
  return true;
}

static void use_covariance(tm_spread *spread, tm_regime *r) {
  size_t d = spread->dimension;
  shrunk_covariance(r, d, spread->candidate);
  if (!tm_cholesky(spread->candidate, d))
    return;
  memcpy(r->factor, spread->candidate, d * d * sizeof(double));
  for (size_t i = 0; i < d; i++)
    for (size_t j = 0; j < d; j++)
      r->turned[j * d + i] = r->factor[i * d + j];
  r->level = TM_SPREAD_DENSE;
}

static void discount(const tm_spread *spread, tm_regime *r) {
  size_t d = spread->dimension;
  r->count /= 2;
  for (size_t i = 0; i < d; i++)
    r->square[i] /= 2;
  if (spread->dense)
    for (size_t k = 0; k < d * d; k++)
      r->scatter[k] /= 2;
}

void tm_spread_end_round(tm_spread *spread) {
  double enough = 40 + (spread->dense ? 4 * (double)spread->dimension : 0);
  for (size_t i = 0; i < TM_REGIMES; i++) {
    tm_regime *r = &spread->regimes[i];
    if (r->count < ENOUGH_FOR_SD || !use_diagonal(r, spread->dimension))
      continue;
    if (r->count < enough)
      continue;
    if (spread->dense)
      use_covariance(spread, r);
    discount(spread, r);
  }
}

tm_factor tm_spread_factor(const tm_spread *spread, size_t regime,
                           tm_spread_level finest) {
  tm_factor factor = {.dimension = spread->dimension};
  if (regime >= TM_REGIMES)
    return factor;
  const tm_regime *r = &spread->regimes[regime];
  if (r->level == TM_SPREAD_DENSE && finest == TM_SPREAD_DENSE) {
    factor.dense = r->factor;
    factor.turned = r->turned;
  } else if (r->level != TM_SPREAD_NOTHING)
    factor.diagonal = r->sd;
  return factor;
}

void tm_factor_times(const tm_factor *factor, const double *z, double *out) {
  size_t d = factor->dimension;
  if (factor->dense)
    tm_upper_transposed(factor->turned, d, z, out);
  else
    for (size_t i = 0; i < d; i++)
      out[i] = factor->diagonal ? factor->diagonal[i] * z[i] : z[i];
}

void tm_factor_transposed(const tm_factor *factor, const double *z,
                          double *out) {
  if (factor->dense)
    tm_lower_transposed(factor->dense, factor->dimension, z, out);
  else
    tm_factor_times(factor, z, out);
}

void tm_factor_solve(const tm_factor *factor, const double *z, double *out) {
  size_t d = factor->dimension;
  for (size_t i = 0; i < d; i++) {
    if (!factor->dense) {
      out[i] = factor->diagonal ? z[i] / factor->diagonal[i] : z[i];
      continue;
    }
    double sum = z[i];
    for (size_t j = 0; j < i; j++)
      sum -= factor->dense[i * d + j] * out[j];
    out[i] = sum / factor->dense[i * d + i];
  }
}

void tm_spread_level_archive(tm_spread_level *level, tm_archive *archive) {
  size_t number = *level;
  tm_archive_index(archive, &number, TM_SPREAD_DENSE + 1);
  *level = (tm_spread_level)number;
}

void tm_spread_archive(tm_spread *spread, tm_archive *archive) {
  size_t d = spread->dimension, square = spread->dense ? d * d : 0;
  for (size_t i = 0; i < TM_REGIMES; i++) {
    tm_regime *r = &spread->regimes[i];
    tm_archive_double(archive, &r->count);
    tm_archive_doubles(archive, r->mean, d);
    tm_archive_doubles(archive, r->square, d);
    tm_archive_doubles(archive, r->scatter, square);
    tm_spread_level_archive(&r->level, archive);
    tm_archive_doubles(archive, r->sd, d);
    tm_archive_doubles(archive, r->factor, square);
    tm_archive_doubles(archive, r->turned, square);
    if (!spread->dense && r->level == TM_SPREAD_DENSE)
      tm_archive_fail(archive, "there is no room for a covariance");
  }
}
