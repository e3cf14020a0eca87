/* loo.c - see loo.h. */
#include "estimate/loo.h"

#include "base/status.h"

#include <math.h>

bool tm_loo_work_create(tm_arena *arena, size_t draws, tm_loo_work *work) {
  *work = (tm_loo_work){.weights = TM_NEW(arena, double, draws),
                        .values = TM_NEW(arena, double, 3 * draws + 16),
                        .ranked = TM_NEW(arena, tm_ranked, draws + 1),
                        .room = TM_NEW(arena, tm_ranked, draws + 1)};
  return work->weights && work->values && work->ranked && work->room;
}

/* log of sum of e^(x + y); y may be NULL. */
static double log_sum(const double *x, const double *y, size_t n) {
  double most = -INFINITY, sum = 0;
  for (size_t s = 0; s < n; s++)
    most = fmax(most, y ? x[s] + y[s] : x[s]);
  for (size_t s = 0; s < n; s++)
    sum += exp((y ? x[s] + y[s] : x[s]) - most);
  return most + log(sum);
}

static double variance(const double *x, size_t n) {
  double mean = 0, sum = 0;
  for (size_t s = 0; s < n; s++)
    mean += x[s] / (double)n;
  for (size_t s = 0; s < n; s++)
    sum += (x[s] - mean) * (x[s] - mean);
  return sum / (double)(n - 1);
}

tm_loo_term tm_loo_term_of(const double *log_lik, size_t chains, size_t rows,
                           tm_loo_work *work) {
  size_t n = chains * rows;
  double most = -INFINITY;
  for (size_t s = 0; s < n; s++)
    most = fmax(most, log_lik[s]);
  for (size_t s = 0; s < n; s++) {
    work->values[s] = exp(log_lik[s] - most);
    work->weights[s] = -log_lik[s];
  }
  double efficiency =
      tm_relative_efficiency(work->values, chains, rows, work->values + n);
  double k = tm_psis(work->weights, n, tm_psis_tail(efficiency, n),
                     work->ranked, work->room);
  double lpd = log_sum(log_lik, NULL, n) - log((double)n);
  double elpd = log_sum(log_lik, work->weights, n);
  double spread = variance(log_lik, n);
  return (tm_loo_term){.elpd = elpd,
                       .p = lpd - elpd,
                       .k = k,
                       .waic = lpd - spread,
                       .waic_p = spread};
}

/* From this on an estimate without the term is not to be trusted. */
static const double BAD_K = 0.7;

static tempera_loo *make(size_t count) {
  tempera_loo *made = tm_heap_alloc(1, sizeof *made);
  if (!made)
    return NULL;
  made->terms = count;
  made->pointwise = tm_heap_alloc(count, sizeof *made->pointwise);
  made->pareto_k = tm_heap_alloc(count, sizeof *made->pareto_k);
  if (made->pointwise && made->pareto_k)
    return made;
  tm_loo_free(made);
  return NULL;
}

tempera_status tm_loo_sum(const tm_loo_term *terms, size_t count, size_t draws,
                          tempera_loo **loo, tempera_error *error) {
  tempera_loo *l = make(count);
  if (!l)
    return tm_fail_memory(error);
  double n = (double)count, squares = 0, waic_squares = 0;
  l->draws = draws;
  l->k_max = -INFINITY;
  for (size_t i = 0; i < count; i++) {
    l->elpd += terms[i].elpd;
    l->p += terms[i].p;
    l->waic += terms[i].waic;
    l->waic_p += terms[i].waic_p;
    l->k_bad += terms[i].k <= BAD_K ? 0 : 1;
    l->k_max = fmax(l->k_max, terms[i].k);
    l->pointwise[i] = terms[i].elpd;
    l->pareto_k[i] = terms[i].k;
  }
  for (size_t i = 0; i < count; i++) {
    squares += pow(terms[i].elpd - l->elpd / n, 2);
    waic_squares += pow(terms[i].waic - l->waic / n, 2);
  }
  l->se = sqrt(n * squares / (n - 1));
  l->waic_se = sqrt(n * waic_squares / (n - 1));
  *loo = l;
  return TEMPERA_OK;
}

void tm_loo_free(tempera_loo *loo) {
  if (!loo)
    return;
  tm_heap_free(loo->pointwise);
  tm_heap_free(loo->pareto_k);
  tm_heap_free(loo);
}
