/* basin_check.c - do the draws miss the basin of the best point known?
 *
 * Let delta be how far a draw's log density lies below the ridge, the height
 * of the best point known at its tau. Where the draws are in that point's
 * basin, E[delta] = Var[delta] for normals and for all densities e^{-|x|^p}, of
 * any scale and dimension (delta has a Gamma law of scale one), and E < Var
 * where tails are heavier. In another basin, lower by h, E - Var = h. So E -
 * Var says how much of the height the draws do not explain. A higher basin that
 * is narrower than theirs by more than e^h in volume does not matter. Where the
 * landscape has that from its Laplace mass, its height is left out; elsewhere,
 * from ten nats on (and four standard errors, for the estimate itself) we do
 * not count on it. A draw above the ridge is a better point, and is taken for
 * it: it is no alarm by itself (where likelihoods have steps, nothing climbs to
 * the top, and draws do), but one if the other draws do not explain it. Where
 * all basins known hold next to nothing of the evidence
 * (the neck of a funnel, whose bulk has no optimum) no height says anything. */
#include "estimate/evidence/basin_check.h"

#include "estimate/evidence/influence.h"
#include "numeric/loglinear.h"

#include <math.h>
#include <string.h>

enum { FEWEST = 100 }; /* draws to judge by */
static const double NATS = 10, ERRORS = 4, CONFINED = 0.42;
/* A mass this far below the evidence (in nats) is none: what draws in a wrong
 * basin would call the evidence is less than the right one's mass. */
static const double NO_MASS = 4;

double tm_below_ridge(const tempera_draws *draws, double tau, double l,
                      double log_prior) {
  tm_loglinear s = {draws->ridge.knots, draws->ridge.tau, draws->ridge.height,
                    -INFINITY};
  if (s.count < 2)
    return NAN;
  return tm_loglinear_at(&s, tau) - (tau == 0 ? 0 : tau * l) - log_prior;
}

/* How far the best draw at tau = 1 of a role rises above the ridge, or 0. */
static double rise_of(const tempera_draws *draws, tempera_role role) {
  double rise = 0;
  if (!draws->has_role[role])
    return 0;
  for (size_t c = 0; c < draws->chains; c++) {
    const double *l = tempera_draws_log_likelihood(draws, role, c);
    const double *p = tempera_draws_log_prior(draws, role, c);
    for (size_t i = 0; i < tm_draws_rows(draws, role); i++)
      rise = fmax(rise, -tm_below_ridge(draws, 1, l[i], p[i]));
  }
  return rise;
}

/* The same below the highest point of a basin that holds mass. */
static double below_mass(const tempera_draws *draws, double tau, double l,
                         double log_prior) {
  tm_loglinear idle = {draws->ridge.knots, draws->ridge.tau, draws->ridge.idle,
                       -INFINITY};
  return tm_below_ridge(draws, tau, l, log_prior) -
         (draws->ridge.idle ? tm_loglinear_at(&idle, tau) : 0);
}

/* delta of each draw, NaN for those that are not asked for; E - Var and its
 * limit. x is overwritten. */
static tm_basin_gap judge(const tempera_draws *draws, double *x, size_t chains,
                          size_t rows, double tau) {
  size_t count = chains * rows;
  double n = 0, mean = 0, variance = 0;
  for (size_t i = 0; i < count; i++)
    if (isfinite(x[i])) {
      n++;
      mean += (x[i] - mean) / n;
    }
  for (size_t i = 0; i < count; i++)
    if (isfinite(x[i]))
      variance += (x[i] - mean) * (x[i] - mean) / n;
  if (n < FEWEST)
    return (tm_basin_gap){.tau = NAN};
  for (size_t i = 0; i < count; i++) {
    double d = x[i] - mean;
    x[i] = isfinite(d) ? (d - d * d + variance) * (double)count / n : 0;
  }
  double se = tm_influence_error(x, chains, rows).se;
  double limit = NATS + CONFINED * (double)draws->confined + ERRORS * se;
  return (tm_basin_gap){tau, mean - variance, limit};
}

/* The one that goes furthest past its limit. */
static void keep_worse(tm_basin_gap *worst, tm_basin_gap other) {
  if (!isnan(other.tau) &&
      (isnan(worst->tau) ||
       other.height - other.limit > worst->height - worst->limit))
    *worst = other;
}

/* At tau = 1 each chain for itself: one in the right basin does not excuse
 * another. */
static void check_target(const tempera_draws *draws, double *x,
                         tm_basin_gap *worst) {
  double rise =
      fmax(rise_of(draws, TEMPERA_TARGET), rise_of(draws, TEMPERA_TEMPERED));
  for (size_t c = 0; c < draws->chains; c++) {
    const double *l = tempera_draws_log_likelihood(draws, TEMPERA_TARGET, c);
    const double *p = tempera_draws_log_prior(draws, TEMPERA_TARGET, c);
    for (size_t i = 0; i < draws->count; i++)
      x[i] = below_mass(draws, 1, l[i], p[i]) + rise;
    keep_worse(worst, judge(draws, x, 1, draws->count, 1));
  }
}

static void check_bin(const tempera_draws *draws, const tempera_tau_bin *bin,
                      double *x, tm_basin_gap *worst) {
  size_t rows = tm_draws_rows(draws, TEMPERA_TEMPERED);
  for (size_t c = 0; c < draws->chains; c++) {
    const double *tau = tempera_draws_tau(draws, TEMPERA_TEMPERED, c);
    const double *l = tempera_draws_log_likelihood(draws, TEMPERA_TEMPERED, c);
    const double *p = tempera_draws_log_prior(draws, TEMPERA_TEMPERED, c);
    for (size_t i = 0; i < rows; i++)
      x[c * rows + i] = tau[i] >= bin->lower && tau[i] < bin->upper
                            ? below_mass(draws, tau[i], l[i], p[i])
                            : NAN;
  }
  keep_worse(worst, judge(draws, x, draws->chains, rows, bin->upper));
}

/* What the draws would call the evidence; by the bridge, where the way from the
 * prior gives none. */
static double evidence_of(const tempera_summary *summary) {
  for (size_t i = 0; i < summary->estimate_count && isnan(summary->log_z); i++)
    if (!strcmp(summary->estimates[i].name, "bridge") &&
        !summary->estimates[i].warning)
      return summary->estimates[i].log_z;
  return summary->log_z;
}

tempera_status tm_basin_check(const tempera_draws *draws,
                              const tempera_summary *summary,
                              tm_basin_gap *worst, tempera_error *error) {
  *worst = (tm_basin_gap){.tau = NAN};
  bool idle = draws->ridge.weighed &&
              draws->ridge.log_mass < evidence_of(summary) - NO_MASS;
  if (draws->ridge.knots < 2 || !draws->count || idle)
    return TEMPERA_OK;
  size_t rows = tm_draws_rows(draws, TEMPERA_TEMPERED);
  rows = rows > draws->count ? rows : draws->count;
  double *x = tm_heap_alloc(draws->chains * rows, sizeof *x);
  if (!x)
    return tm_fail_memory(error);
  if (draws->has_role[TEMPERA_TARGET])
    check_target(draws, x, worst);
  else if (summary->tau_bin_count)
    check_bin(draws, &summary->tau_bins[summary->tau_bin_count - 1], x, worst);
  tm_heap_free(x);
  return TEMPERA_OK;
}
