/* anchor.c - the hot end of the curve against plain draws from the prior.
 *
 * For small tau the mean of exp(tau l) over prior draws is z(tau), with an
 * error that is known. A tempered chain that has not explored the prior (its
 * steps are too small for it, say) gives another curve there, and then its
 * log z(1) - log z(0) says nothing, however steady it looks. */
#include "estimate/evidence/anchor.h"

#include <math.h>

enum { FEWEST_EFFECTIVE = 30 }; /* for an error that means something */

tm_anchor tm_anchor_at(const tempera_draws *draws, double tau) {
  const double *l = draws->prior_log_likelihood;
  size_t count = draws->prior_draws;
  double most = -INFINITY, sum = 0, squares = 0, n = (double)count;
  for (size_t i = 0; i < count; i++)
    most = fmax(most, l[i]);
  for (size_t i = 0; i < count; i++) {
    double w = isfinite(l[i]) ? exp(tau * (l[i] - most)) : 0;
    sum += w;
    squares += w * w;
  }
  double effective = sum * sum / squares;
  return (tm_anchor){.log_z = tau * most + log(sum / n),
                     .se = sqrt(fmax(0, 1 / effective - 1 / n)),
                     .effective = effective};
}

/* Four standard errors of both. That of the curve at a small tau is at most
 * about that of log Z, which it leads to, and no more than an eighth is allowed
 * for it: a chain that has not explored the prior may have any error. */
static double allowed_gap(const tm_anchor *anchor, double se) {
  const double most = 0.125, least = 0.05;
  double curve = se > 0 ? fmin(se, most) : 0;
  return least + 4 * hypot(anchor->se, curve);
}

/* The curve may lie above by as much as n draws can have missed: a share q of
 * the prior escapes them with probability (1 - q)^n, which is below 1e-4 from
 * q = 9.2/n on, and its likelihood is at most the highest that is known. */
static double allowed_above(const tm_anchor *anchor, double tau, double highest,
                            size_t n) {
  return log1p(9.2 / (double)n * exp(tau * highest - anchor->log_z));
}

static double highest_likelihood(const tempera_draws *draws) {
  double highest = -INFINITY;
  for (int role = TEMPERA_TARGET; role <= TEMPERA_TEMPERED; role++)
    for (size_t c = 0; draws->has_role[role] && c < draws->chains; c++) {
      const double *l =
          tempera_draws_log_likelihood(draws, (tempera_role)role, c);
      for (size_t i = 0; i < tm_draws_rows(draws, (tempera_role)role); i++)
        highest = fmax(highest, l[i]);
    }
  return highest;
}

tm_anchor_gap tm_anchor_compare(const tempera_draws *draws,
                                const tempera_summary *summary) {
  tm_anchor_gap gap = {.tau = NAN};
  size_t n = draws->prior_draws;
  if (!draws->prior_log_likelihood || n < 50)
    return gap;
  double highest = highest_likelihood(draws);
  for (size_t i = 0; i < summary->curve_count; i++) {
    const tempera_curve_point *p = &summary->curve[i];
    if (!(p->tau > 0) || !isfinite(p->log_z))
      continue;
    tm_anchor a = tm_anchor_at(draws, p->tau);
    a.log_z += draws->log_support;
    if (!(a.effective >= fmax(FEWEST_EFFECTIVE, 0.1 * (double)n)))
      break; /* the curve goes up in tau, the draws' worth down */
    double allowed = allowed_gap(&a, summary->se);
    if (p->log_z > a.log_z)
      allowed += allowed_above(&a, p->tau, highest, n);
    if (fabs(p->log_z - a.log_z) > allowed)
      return (tm_anchor_gap){p->tau, p->log_z, a.log_z, allowed};
  }
  return gap;
}
