/* loo.c - see loo.h. */
#include "estimate/loo.h"

#include "base/random.h"
#include "base/status.h"
#include "numeric/sums.h"
#include "numeric/vector_exp.h"

#include <math.h>
#include <string.h>

bool tm_loo_work_create(tm_arena *arena, size_t draws, tm_loo_work *work) {
  *work = (tm_loo_work){.weights = TM_NEW(arena, double, draws),
                        .values = TM_NEW(arena, double, 3 * draws + 16),
                        .ranked = TM_NEW(arena, tm_ranked, draws + 1),
                        .room = TM_NEW(arena, tm_ranked, draws + 1)};
  return work->weights && work->values && work->ranked && work->room;
}

/* log of sum of e^(x + y); y may be NULL. */
static double log_sum(const double *x, const double *y, size_t n) {
  double most = -INFINITY;
  for (size_t s = 0; s < n; s++)
    most = fmax(most, y ? x[s] + y[s] : x[s]);
  return most + log(tm_vector_exp_sum(x, y, most, n));
}

tm_loo_term tm_loo_term_of(const double *log_lik, size_t chains, size_t rows,
                           tm_loo_work *work) {
  size_t n = chains * rows;
  double most = -INFINITY;
  for (size_t s = 0; s < n; s++)
    most = fmax(most, log_lik[s]);
  for (size_t s = 0; s < n; s++) {
    work->values[s] = log_lik[s] - most;
    work->weights[s] = -log_lik[s];
  }
  tm_vector_exp(work->values, n);
  double efficiency =
      tm_relative_efficiency(work->values, chains, rows, work->values + n);
  double k = tm_psis(work->weights, n, tm_psis_tail(efficiency, n),
                     work->ranked, work->room);
  double lpd = log_sum(log_lik, NULL, n) - log((double)n);
  double elpd = log_sum(log_lik, work->weights, n);
  double spread = tm_sample_variance(log_lik, n);
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
  made->terms = made->used = count;
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

/* ---- some of many ------------------------------------------------------- */

/* Each of the rest is taken with the chance that is left (Knuth's method S). */
bool tm_loo_choose(tm_arena *arena, size_t terms, size_t used,
                   tm_loo_choice *choice) {
  tempera_random random = tm_random(terms, 0, TM_PURPOSE_TERMS);
  *choice = (tm_loo_choice){.terms = terms};
  choice->term = TM_NEW(arena, size_t, used + 1);
  choice->near = TM_NEW(arena, tm_loo_near, used + 1);
  if (!choice->term || !choice->near)
    return false;
  for (size_t i = 0; i < terms && choice->used < used; i++)
    if (tm_random_uniform(&random) * (double)(terms - i) <
        (double)(used - choice->used))
      choice->term[choice->used++] = i;
  return true;
}

static double near_elpd(tm_loo_near near) {
  return near.mean - near.variance / 2;
}

void tm_loo_add_near(tm_loo_choice *choice, tm_loo_near near, size_t use) {
  double elpd = near_elpd(near);
  choice->elpd += elpd;
  choice->squares += elpd * elpd;
  choice->p += near.variance;
  if (use < choice->used)
    choice->near[use] = near;
}

/* A sum over all terms: that of what is near, and the mean difference of the
 * `used` from it; the error of the latter joins `variance`. */
static double whole_sum(double near, double *differences,
                        const tm_loo_choice *choice, double *variance) {
  double n = (double)choice->used, N = (double)choice->terms;
  double mean = 0, squares = 0;
  for (size_t i = 0; i < choice->used; i++)
    mean += differences[i] / n;
  for (size_t i = 0; i < choice->used; i++)
    squares += pow(differences[i] - mean, 2);
  *variance += N * N / n * (1 - n / N) * squares / (n - 1);
  return near + N * mean;
}

/* The spread over terms: of the near values of all, or of those used, whichever
 * is more. */
static double term_variance(const tm_loo_choice *choice, double used_squares) {
  double N = (double)choice->terms, n = (double)choice->used;
  double near = (choice->squares - choice->elpd * choice->elpd / N) / (N - 1);
  return N * fmax(near, used_squares / (n - 1));
}

static double squares_of(const double *values, size_t n) {
  double mean = 0, squares = 0;
  for (size_t i = 0; i < n; i++)
    mean += values[i] / (double)n;
  for (size_t i = 0; i < n; i++)
    squares += pow(values[i] - mean, 2);
  return squares;
}

static void fill_chosen(const tm_loo_term *terms, const tm_loo_choice *c,
                        double *room, tempera_loo *l) {
  double none = 0, variance = 0, waic_variance = 0, *values = room + c->used;
  for (size_t i = 0; i < c->used; i++)
    room[i] = (values[i] = terms[i].elpd) - near_elpd(c->near[i]);
  l->elpd = whole_sum(c->elpd, room, c, &variance);
  l->se = sqrt(variance + term_variance(c, squares_of(values, c->used)));
  for (size_t i = 0; i < c->used; i++)
    room[i] = (values[i] = terms[i].waic) - near_elpd(c->near[i]);
  l->waic = whole_sum(c->elpd, room, c, &waic_variance);
  l->waic_se =
      sqrt(waic_variance + term_variance(c, squares_of(values, c->used)));
  for (size_t i = 0; i < c->used; i++)
    room[i] = terms[i].p - c->near[i].variance;
  l->p = whole_sum(c->p, room, c, &none);
  l->waic_p = c->p; /* it is the variance */
}

tempera_status tm_loo_sum_chosen(const tm_loo_term *terms,
                                 const tm_loo_choice *choice, size_t draws,
                                 tempera_loo **loo, tempera_error *error) {
  tempera_loo *l = NULL;
  double *room = tm_heap_alloc(2 * choice->used + 1, sizeof *room);
  size_t *term = tm_heap_alloc(choice->used + 1, sizeof *term);
  tempera_status status =
      room && term ? tm_loo_sum(terms, choice->used, draws, &l, error)
                   : tm_fail_memory(error);
  if (status == TEMPERA_OK) {
    memcpy(term, choice->term, choice->used * sizeof *term);
    fill_chosen(terms, choice, room, l);
    l->terms = choice->terms;
    l->term = term;
    term = NULL;
    *loo = l;
  }
  tm_heap_free(term);
  tm_heap_free(room);
  return status;
}

void tm_loo_free(tempera_loo *loo) {
  if (!loo)
    return;
  tm_heap_free(loo->term);
  tm_heap_free(loo->pointwise);
  tm_heap_free(loo->pareto_k);
  tm_heap_free(loo);
}
