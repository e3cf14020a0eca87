/* at_tau.c - see at_tau.h.
 *
 * The law of the tempered thetas is pi(theta) M(l), M the integral of P(u) e^{u
 * l} (tempered.h). So a chain that is watched only where a coin of probability
 * c e^{tau l}/M(l) falls heads has the law pi(theta) e^{tau l}: the chain on
 * the visits to {heads} is a Markov chain of its own (the trace), with that law
 * invariant, and the errors of its means are those of any chain. c is taken
 * from the largest of these ratios; it is bounded, as tau l - log M(l) is
 * concave. With a row at every level (pt) the two levels about tau play the
 * part of P, with weights by their z. No draw is made twice, none is weighted,
 * and no call of the model is needed. */
#include "estimate/answers/at_tau.h"

#include "base/random.h"
#include "estimate/answers/power.h"
#include "estimate/estimate.h"
#include "estimate/evidence/levels.h"
#include "estimate/summary.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_DRAWS = 400000, FEWEST_ROWS = 20, WHY = 160 };

/* What the rows were drawn from, and which of them count. */
typedef struct law {
  const tempera_draws *draws;
  tempera_role role;
  double tau;
  tm_loglinear prior;
  tm_draws_levels levels; /* count 0: by the prior */
  double rung_tau[2], rung_weight[2];
  size_t first, last, width; /* rows first .. last of `width` count */
  double largest;            /* of log_ratio over all rows */
} law;

static double log_ratio(const law *w, double l) {
  double mass = w->levels.count ? tm_levels_log_mass(&w->levels, l)
                                : tm_loglinear_log_mass(&w->prior, l);
  double x = (w->tau > 0 ? w->tau * l : 0) - mass;
  return isfinite(mass) && !isnan(x) ? x : -INFINITY;
}

/* ---- the law of the rows ------------------------------------------------ */

static tempera_status take_rung(law *w, char *why, tempera_error *error) {
  tm_levels v;
  TM_TRY(tm_levels_create(w->draws, MOST_DRAWS, &v, error));
  size_t k = 0;
  while (k + 2 < v.count && v.tau[k + 1] <= w->tau)
    k++;
  if (v.count < 2 || w->tau < v.tau[0])
    snprintf(why, WHY, "it lies below the lowest level");
  for (size_t i = 0; i < 2 && !*why; i++) {
    w->rung_tau[i] = v.tau[k + i];
    w->rung_weight[i] = v.log_z[k] - v.log_z[k + i];
  }
  w->levels = (tm_draws_levels){2, w->rung_tau, w->rung_weight};
  w->width = w->draws->width;
  w->first = k;
  w->last = k + 1;
  tm_levels_free(&v);
  return TEMPERA_OK;
}

static tempera_status check_cover(law *w, char *why, tempera_error *error) {
  tm_tempered view;
  TM_TRY(tm_tempered_create(w->draws, MOST_DRAWS, &view, error));
  if (!view.log_mass)
    snprintf(why, WHY, "the law of tau in this run is not known");
  else if (view.count < FEWEST_ROWS ||
           tm_tempered_support(&view, w->tau) < TM_FEWEST_BATCHES)
    snprintf(why, WHY, "too few of the tempered draws were made near it");
  tm_tempered_free(&view);
  return TEMPERA_OK;
}

static tempera_status take_law(law *w, char *why, tempera_error *error) {
  const tempera_draws *draws = w->draws;
  w->width = 1;
  if (w->tau == 1 && draws->has_role[TEMPERA_TARGET]) {
    w->role = TEMPERA_TARGET;
    return TEMPERA_OK;
  }
  w->role = TEMPERA_TEMPERED;
  if (!draws->has_role[w->role] || draws->bare[w->role] || !draws->likelihood) {
    snprintf(why, WHY, "the run has no tempered draws");
    return TEMPERA_OK;
  }
  if (tm_levels_apply(draws))
    return take_rung(w, why, error);
  w->prior = (tm_loglinear){draws->prior.knots, draws->prior.tau,
                            draws->prior.log_prior, draws->prior.log_atom};
  if (draws->levels.log_weight)
    w->levels = draws->levels;
  return check_cover(w, why, error);
}

/* ---- the coins ---------------------------------------------------------- */

static bool counts(const law *w, size_t row) {
  return row % w->width >= w->first && row % w->width <= w->last;
}

static const double *likelihoods(const law *w, size_t chain) {
  return tm_draws_column(w->draws, w->role, chain,
                         w->draws->size + TM_LOG_LIKELIHOOD);
}

static void find_largest(law *w) {
  size_t rows = tm_draws_rows(w->draws, w->role);
  w->largest = -INFINITY;
  for (size_t c = 0; c < w->draws->chains; c++)
    for (size_t i = 0; i < rows; i++)
      if (counts(w, i))
        w->largest = fmax(w->largest, log_ratio(w, likelihoods(w, c)[i]));
}

/* The numbers of the rows that are watched, in `rows`. */
static size_t toss(const law *w, size_t chain, uint64_t seed, size_t *rows) {
  uint32_t bits[2];
  memcpy(bits, &w->tau, sizeof bits);
  tempera_random random = tm_random_part(seed, (uint32_t)chain,
                                         TM_PURPOSE_AT_TAU, bits[0] ^ bits[1]);
  const double *l = likelihoods(w, chain);
  size_t count = 0;
  for (size_t i = 0; i < tm_draws_rows(w->draws, w->role); i++) {
    if (!counts(w, i))
      continue;
    double u = tm_random_uniform(&random);
    if (w->role == TEMPERA_TARGET || log(u) < log_ratio(w, l[i]) - w->largest)
      rows[count++] = i;
  }
  return count;
}

static void copy_row(const law *w, size_t chain, size_t from, size_t to,
                     double *theta, tempera_draws *made) {
  double extra[TM_COLUMNS];
  size_t size = w->draws->size;
  for (size_t i = 0; i < size; i++)
    theta[i] = tm_draws_column(w->draws, w->role, chain, i)[from];
  for (size_t i = 0; i < TM_COLUMNS; i++)
    extra[i] = tm_draws_column(w->draws, w->role, chain, size + i)[from];
  extra[TM_TAU] = w->tau;
  tm_draws_put(made, TEMPERA_TARGET, chain, to, theta, extra);
}

/* The first so many of every chain as the poorest has. */
static tempera_status gather(const law *w, size_t *const *rows, size_t count,
                             tempera_draws **made, tempera_error *error) {
  const tempera_draws *from = w->draws;
  tempera_draws *to = NULL;
  double *theta = tm_heap_alloc(from->size + 1, sizeof *theta);
  tempera_status status =
      theta ? tm_draws_create(from->chains, from->size, from->names,
                              from->integer, true, false, &to, error)
            : tm_fail_memory(error);
  if (status == TEMPERA_OK)
    status = tm_draws_reserve(to, count, error);
  for (size_t c = 0; status == TEMPERA_OK && c < from->chains; c++)
    for (size_t i = 0; i < count; i++)
      copy_row(w, c, rows[c][i], i, theta, to);
  tm_heap_free(theta);
  if (status != TEMPERA_OK) {
    tm_draws_free(to);
    return status;
  }
  to->count = count;
  to->fixed = from->fixed;
  to->likelihood = from->likelihood;
  *made = to;
  return TEMPERA_OK;
}

static tempera_status draw_law(law *w, uint64_t seed, tempera_draws **made,
                               char *why, tempera_error *error) {
  size_t chains = w->draws->chains, fewest = SIZE_MAX;
  tm_arena *arena = tm_arena_create();
  size_t **rows = arena ? TM_NEW(arena, size_t *, chains + 1) : NULL;
  tempera_status status = rows ? TEMPERA_OK : tm_fail_memory(error);
  if (w->role == TEMPERA_TEMPERED)
    find_largest(w);
  for (size_t c = 0; status == TEMPERA_OK && c < chains; c++) {
    rows[c] = TM_NEW(arena, size_t, tm_draws_rows(w->draws, w->role) + 1);
    if (!rows[c]) {
      status = tm_fail_memory(error);
      break;
    }
    size_t count = toss(w, c, seed, rows[c]);
    fewest = count < fewest ? count : fewest;
  }
  if (status == TEMPERA_OK && chains && fewest >= FEWEST_ROWS)
    status = gather(w, rows, fewest, made, error);
  else if (status == TEMPERA_OK)
    snprintf(why, WHY, "some chain has too few draws of it");
  tm_arena_free(arena);
  return status;
}

tempera_status tm_at_tau_draws(const tempera_draws *draws, double tau,
                               uint64_t seed, tempera_draws **made,
                               char why[160], tempera_error *error) {
  law w = {.draws = draws, .tau = tau};
  *made = NULL;
  why[0] = '\0';
  TM_TRY(take_law(&w, why, error));
  return *why ? TEMPERA_OK : draw_law(&w, seed, made, why, error);
}

/* ---- a summary ---------------------------------------------------------- */

/* By all tempered draws, with their weights: sharper than by those watched. */
static tempera_status fill_answers(const tempera_draws *draws,
                                   tempera_power_posterior *p,
                                   tempera_error *error) {
  tm_tempered view;
  if (tm_levels_apply(draws))
    return tm_level_power(draws, p->tau, &p->log_likelihood, &p->rise, error);
  TM_TRY(tm_tempered_create(draws, MOST_DRAWS, &view, error));
  double *scratch = TM_NEW(view.arena, double, view.count + 1);
  if (scratch) {
    p->log_likelihood = tm_power_mean(&view, p->tau);
    p->rise = tm_power_rise(&view, p->tau, scratch);
  }
  tm_tempered_free(&view);
  return scratch ? TEMPERA_OK : tm_fail_memory(error);
}

static tempera_status fill(const tempera_draws *draws, uint64_t seed,
                           int threads, tempera_power_posterior *p,
                           tempera_error *error) {
  tempera_draws *made = NULL;
  p->log_likelihood = p->rise = (tempera_path_answer){NAN, NAN, NAN};
  TM_TRY(tm_at_tau_draws(draws, p->tau, seed, &made, p->why, error));
  if (!made)
    return TEMPERA_OK;
  p->draws = made->count;
  tempera_status status = tm_estimate_name_values(
      made->names, made->size, &p->values, &p->value_count, error);
  if (status == TEMPERA_OK)
    status = tm_estimate_values(made, NULL, p->value_count, threads, p->values,
                                error);
  if (status == TEMPERA_OK && draws->has_role[TEMPERA_TEMPERED])
    status = fill_answers(draws, p, error);
  tm_draws_free(made);
  return status;
}

tempera_status tm_estimate_at_tau(const tempera_draws *draws, const double *tau,
                                  size_t count, uint64_t seed, int threads,
                                  tempera_summary *summary,
                                  tempera_error *error) {
  if (count == 0 || summary->at_tau || draws->count == 0)
    return TEMPERA_OK;
  summary->at_tau = tm_heap_alloc(count, sizeof *summary->at_tau);
  if (!summary->at_tau)
    return tm_fail_memory(error);
  for (size_t i = 0; i < count; i++) {
    summary->at_tau[summary->at_tau_count++] =
        (tempera_power_posterior){.tau = tau[i]};
    TM_TRY(fill(draws, seed, threads, &summary->at_tau[i], error));
  }
  return TEMPERA_OK;
}

void tm_at_tau_free(tempera_power_posterior *each, size_t count) {
  for (size_t i = 0; i < count; i++)
    tm_values_free(each[i].values, each[i].value_count);
  tm_heap_free(each);
}
