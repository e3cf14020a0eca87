/* hot_end.c - the first step of `ti` and `ss`, from tau = 0 to the first bin's
 * upper edge e: log E_0[e^{e l}] over draws from the prior.
 *
 * Why not by the bin: where l falls without end over the prior (-e^x, or an
 * autoregression that explodes: -1e200), log z falls at taus below any that is
 * visited, since p(tau | theta) puts such states on the atom. Bins of draws off
 * the atom see nothing of it and are off by log of the share of the prior that
 * is left. Zero likelihood, l = -infinity, is the same thing at its limit. */
#include "estimate/evidence/anchor.h"
#include "estimate/evidence/evidence.h"

#include <math.h>

enum { FEWEST_PRIOR_DRAWS = 30 }; /* in effect, after weighting by e^{e l} */

/* By the draws at the atom, which are the prior's. */
static bool step_by_atom(const tm_tempered *view, double edge,
                         tm_evidence *evidence) {
  double most = -INFINITY, sum = 0, squares = 0, n = 0;
  for (size_t i = 0; i < view->count; i++)
    if (view->tau[i] == 0) {
      most = fmax(most, edge * view->l[i]);
      n++;
    }
  if (!(most > -INFINITY))
    return false;
  for (size_t i = 0; i < view->count; i++)
    if (view->tau[i] == 0) {
      double w = exp(edge * view->l[i] - most);
      sum += w;
      squares += w * w;
    }
  if (!(sum * sum >= FEWEST_PRIOR_DRAWS * squares))
    return false;
  for (size_t i = 0; i < view->count; i++)
    if (view->tau[i] == 0)
      evidence->psi[i] += (double)view->count / n *
                          (exp(edge * view->l[i] - most) * n / sum - 1);
  evidence->log_z += most + log(sum / n);
  return true;
}

/* Does l fall so far within the first bin that its draws cannot resolve it? */
static bool falls_without_end(const tm_tempered *view, const tm_bins *bins) {
  const double far = -30;
  size_t low = 0, count = bins->first[1];
  for (size_t k = 0; k < count; k++)
    low += bins->edge[1] * view->l[view->order[k]] < far;
  return low > count / 100;
}

size_t tm_evidence_hot_end(const tempera_draws *draws, tm_tempered *view,
                           const tm_bins *bins, tm_evidence *evidence) {
  if (bins->count > 1 && view->has_atom &&
      step_by_atom(view, bins->edge[1], evidence))
    return 1;
  if (bins->count > 1 && !view->has_atom && draws->prior_log_likelihood &&
      falls_without_end(view, bins)) {
    tm_anchor anchor = tm_anchor_at(draws, bins->edge[1]);
    if (anchor.effective >= FEWEST_PRIOR_DRAWS) {
      evidence->log_z += anchor.log_z;
      evidence->variance += anchor.se * anchor.se;
      return 1;
    }
  }
  tm_evidence_add_support(draws, view, evidence);
  return 0;
}
