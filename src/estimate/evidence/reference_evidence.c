/* reference_evidence.c - what the reference leg says (method 5): evidence by
 * `rb` on it and by reweighting all its draws together, its barrier and trips,
 * and how far the posterior reaches beyond q.
 *
 * The leg's draws are tempered draws whose log likelihood is D, so that the
 * estimators of the prior leg serve here; z(0) = 1, as q is normalised. */
#include "estimate/estimate.h"

#include "estimate/evidence/evidence.h"
#include "estimate/findings.h"
#include "estimate/mixing/mixing.h"
#include "estimate/summary.h"
#include "numeric/pareto.h"
#include "numeric/sums.h"

#include <math.h>
#include <string.h>

enum { MOST_DRAWS = 2000000, BISECTIONS = 100, FEWEST_ROWS = 40 };

/* The view and its barrier serve the mixing and the evidence. */
struct tm_leg_evidence {
  const tempera_draws *draws;
  tm_tempered view;
  tm_barrier barrier;
  tempera_reference *reference; /* the summary's */
  /* What tm_reference_weigh has found. */
  bool apart;
  double tempered, target; /* if so */
  bool weighed;
  tm_evidence rao_blackwell, reweighted;
};
typedef struct tm_leg_evidence leg_evidence;

/* ---- reweighting --------------------------------------------------------
 *
 * The leg's draws have density q M(D) / c, M(D) the mass of P(tau) e^{tau D},
 * the target's q e^D / z. With as many of both, c and z solve
 *   1 = mean[q / m], z = mean[q e^D / m], c = mean[q M / m] over all draws,
 * m = (q M / c + q e^D / z): multistate reweighting (Shirts & Chodera 2008),
 * with q as the state whose constant is known. rho = log z - log c alone
 * solves sum w = n, w = 1 / (1 + e^{log M + rho - D}).
 *
 * For q in the first of these its fitted part can stand, which is k q: its
 * constant is known as well. In many dimensions the rest, a fiftieth of q, is
 * never near the posterior, and how many draws of it a run happens to see is
 * most of the error of log z, though their mean number is known. */

typedef struct pool {
  size_t count; /* the leg's draws, then the target's */
  double *ratio, *log_mass;
  double *excess[2]; /* k - 1 of the leg's draws, of the target's; or NULL */
  double *w, *s;
} pool;

static bool pool_make(tm_tempered *view, pool *p) {
  size_t n = view->count;
  *p = (pool){.count = 2 * n,
              .excess = {view->excess, view->target_excess},
              .ratio = TM_NEW(view->arena, double, 2 * n),
              .log_mass = TM_NEW(view->arena, double, 2 * n),
              .w = TM_NEW(view->arena, double, 2 * n),
              .s = TM_NEW(view->arena, double, 2 * n)};
  if (!p->ratio || !p->log_mass || !p->w || !p->s)
    return false;
  for (size_t i = 0; i < n; i++) {
    p->ratio[i] = view->l[i];
    p->log_mass[i] = view->log_mass[i];
    p->ratio[n + i] = view->target[i];
    p->log_mass[n + i] = tm_loglinear_log_mass(&view->prior, view->target[i]);
  }
  return true;
}

static double fill_shares(pool *p, double rho) {
  double sum = 0;
  for (size_t i = 0; i < p->count; i++) {
    double x = p->log_mass[i] + rho - p->ratio[i];
    p->w[i] = x > 700 ? 0 : 1 / (1 + exp(x));
    sum += p->w[i];
  }
  return sum;
}

static double solve(pool *p) {
  double low = INFINITY, high = -INFINITY;
  for (size_t i = 0; i < p->count; i++) {
    double at = p->ratio[i] - p->log_mass[i];
    if (!isfinite(at))
      continue;
    low = fmin(low, at);
    high = fmax(high, at);
  }
  low -= 50;
  high += 50;
  for (int k = 0; k < BISECTIONS && high - low > 1e-10; k++) {
    double middle = (low + high) / 2;
    *(fill_shares(p, middle) > (double)p->count / 2 ? &low : &high) = middle;
  }
  fill_shares(p, low);
  return low;
}

static double factor_of(const pool *p, size_t i) {
  size_t n = p->count / 2;
  return p->excess[0] ? 1 + p->excess[i / n][i % n] : 1;
}

/* By the delta method: rho moves by the sum of (w - [target]) over that of
 * w(1 - w), and the sum of s = 1 / (M + e^{D - rho}) with it. */
static bool reweight(tm_tempered *view, tm_evidence *e) {
  pool p;
  if (!pool_make(view, &p))
    return false;
  double rho = solve(&p), least = INFINITY, sum = 0, along = 0, curve = 0;
  size_t n = view->count;
  for (size_t i = 0; i < p.count; i++) {
    p.s[i] = tm_log_add(p.log_mass[i], p.ratio[i] - rho);
    least = fmin(least, p.s[i]);
  }
  for (size_t i = 0; i < p.count; i++) {
    p.s[i] = exp(least - p.s[i]) * factor_of(&p, i);
    sum += p.s[i];
    along += p.s[i] * p.w[i];
    curve += p.w[i] * (1 - p.w[i]);
  }
  double h = along / sum, scale = (double)n;
  for (size_t i = 0; i < n; i++)
    e->psi[i] = scale * ((1 - h) * (p.w[i] + p.w[n + i] - 1) / curve -
                         (p.s[i] + p.s[n + i]) / sum);
  e->log_z = rho + least - log(sum / scale);
  e->top = 1;
  return true;
}

/* ---- the evidence ------------------------------------------------------- */

/* Both are of the integral of L pi: that of pi is subtracted, with its
 * error. */
static tempera_status record(tempera_summary *s, const char *name,
                             tm_evidence *e, tempera_error *error) {
  tempera_estimate *made;
  e->log_z -= s->prior_log_z;
  e->variance += s->prior_log_z_se * s->prior_log_z_se;
  return tm_evidence_record(s, name, e, &made, error);
}

static tempera_status find_evidence(leg_evidence *w, tempera_error *error) {
  tm_tempered *view = &w->view;
  if (!view->bottom || view->weight_top < 1)
    return TEMPERA_OK;
  if (!tm_evidence_begin(view, &w->rao_blackwell))
    return tm_fail_memory(error);
  tm_evidence_rb(view, &w->rao_blackwell);
  if (!tm_evidence_begin(view, &w->reweighted) ||
      !reweight(view, &w->reweighted))
    return tm_fail_memory(error);
  w->weighed = true;
  return TEMPERA_OK;
}

/* ---- diagnostics -------------------------------------------------------- */

static tempera_status fill_trips(leg_evidence *w, tempera_error *error) {
  tempera_reference *r = w->reference;
  TM_TRY(tm_barrier_find(&w->view, &w->barrier, error));
  r->barrier = w->barrier.total;
  r->fewest_trips = tm_trips_fewest(w->draws, &w->barrier);
  return tm_trips_count(w->draws, &w->barrier, &r->round_trips, &r->restarts,
                        error);
}

/* R-hat of D at the target draws, and their tail beyond q. Where P_q(e^D > y)
 * falls like y^(-1/k), P_f falls like y^(1 - 1/k): a shape k' of target draws
 * is one of k' / (1 + k') of q's. */
static tempera_status fill_ratios(leg_evidence *w, tempera_error *error) {
  tm_tempered *view = &w->view;
  tempera_reference *r = w->reference;
  size_t n = view->count;
  tm_ranked *sorted = TM_NEW(view->arena, tm_ranked, 2 * n);
  double *x = TM_NEW(view->arena, double, n);
  tm_mixing_work *room =
      tm_mixing_work_create(view->arena, view->chains, view->rows);
  if (!sorted || !x || !room)
    return tm_fail_memory(error);
  for (size_t i = 0; i < n; i++) {
    sorted[i] = (tm_ranked){view->target[i], i};
    x[i] = view->target[i];
  }
  tm_ranked_sort(sorted, sorted + n, n);
  tm_mixing mixing = tm_mixing_measure(room, sorted);
  double shape = tm_pareto_shape(x, n);
  r->rhat = mixing.rhat;
  r->ess = fmin(mixing.ess_bulk, mixing.ess_tail);
  r->pareto_k = shape > 0 ? shape / (1 + shape) : shape;
  return TEMPERA_OK;
}

static double mean_of(const tempera_draws *draws, tm_column column,
                      double counts) {
  double sum = 0;
  for (size_t c = 0; c < draws->chains; c++) {
    const double *x =
        tm_draws_column(draws, TEMPERA_TEMPERED, c, draws->size + column);
    for (size_t i = 0; i < draws->count; i++)
      sum += isnan(counts) ? x[i] : x[i] == counts;
  }
  return sum / (double)(draws->chains * draws->count);
}

static tempera_status fill_mixing(leg_evidence *w, tempera_error *error) {
  tempera_reference *r = w->reference;
  r->swap_acceptance = mean_of(w->draws, TM_EXCHANGE, 2);
  r->acceptance = mean_of(w->draws, TM_ACCEPT, NAN);
  TM_TRY(fill_trips(w, error));
  return fill_ratios(w, error);
}

static tempera_status fill_curve(leg_evidence *w, tempera_error *error) {
  tempera_reference *r = w->reference;
  TM_TRY(tm_curve_by_weights(&w->view, &r->curve, &r->curve_count, error));
  for (size_t i = 0; i < r->curve_count; i++)
    r->curve[i].barrier = tm_barrier_between(&w->barrier, 0, r->curve[i].tau);
  return TEMPERA_OK;
}

static bool can_see(const leg_evidence *w) {
  return w->view.log_mass && w->view.target;
}

tempera_status tm_leg_evidence_make(const tempera_draws *reference,
                                    tempera_summary *summary,
                                    tm_leg_evidence **made,
                                    tempera_error *error) {
  if (!reference || reference->count < FEWEST_ROWS)
    return TEMPERA_OK;
  summary->reference = tm_heap_alloc(1, sizeof *summary->reference);
  leg_evidence *w = summary->reference ? tm_heap_alloc(1, sizeof *w) : NULL;
  if (!w)
    return tm_fail_memory(error);
  *made = w;
  w->draws = reference;
  w->reference = summary->reference;
  TM_TRY(tm_tempered_create(reference, MOST_DRAWS, &w->view, error));
  return can_see(w) ? fill_mixing(w, error) : TEMPERA_OK;
}

void tm_leg_evidence_free(tm_leg_evidence *made) {
  if (!made)
    return;
  tm_tempered_free(&made->view);
  tm_heap_free(made);
}

tempera_status tm_reference_weigh(tm_leg_evidence *made, bool evidence,
                                  tempera_error *error) {
  leg_evidence *w = made;
  if (!w || !can_see(w))
    return TEMPERA_OK;
  double *scratch = TM_NEW(w->view.arena, double, w->view.count);
  if (!scratch)
    return tm_fail_memory(error);
  w->apart =
      tm_evidence_target_apart(&w->view, scratch, &w->tempered, &w->target);
  if (!w->apart && evidence)
    TM_TRY(find_evidence(w, error));
  return fill_curve(w, error);
}

tempera_status tm_estimate_add_reference(tm_leg_evidence *made,
                                         tempera_summary *summary,
                                         tempera_error *error) {
  leg_evidence *w = made;
  if (!w || !can_see(w))
    return TEMPERA_OK;
  if (w->apart) {
    /* Its estimates mean nothing; the prior leg, if it can, vouches alone. */
    TM_TRY(tm_find(summary, TM_FIND_REFERENCE_APART, w->tempered, w->target,
                   error));
    if (summary->round_trips >= TM_FEWEST_TRIPS)
      tm_findings_pardon(summary, TM_FIND_REFERENCE_APART);
    return TEMPERA_OK;
  }
  if (w->weighed && isfinite(summary->prior_log_z)) {
    TM_TRY(record(summary, "rb-reference", &w->rao_blackwell, error));
    TM_TRY(record(summary, "reweighted", &w->reweighted, error));
  }
  return tm_estimate_weigh_reference(summary, error);
}
