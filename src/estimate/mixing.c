/* mixing.c - see mixing.h. Chains are split in halves (the middle draw of an
 * odd number is left out). ESS sums autocorrelations by Geyer's initial
 * monotone sequence, as Stan and the posterior package do; the first lags are
 * found directly, which is all that well-mixed chains need, and the others by
 * a Fourier transform of all chains. */
#include "estimate/mixing.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_fft_halfcomplex.h>
#include <gsl/gsl_fft_real.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DIRECT_LAGS = 64, FEWEST_ROWS = 8 };

struct tm_mixing_work {
  size_t chains, rows;  /* as given */
  size_t halves, half;  /* twice the chains, half as long each */
  double *x;            /* the split series at work */
  double *mean;         /* of each half */
  double *covariance;   /* by lag, averaged over halves */
  size_t lags;          /* of it known so far */
  double *rho;          /* autocorrelations kept */
  size_t length;        /* of the Fourier transform, a power of two */
  double *wave, *power; /* length each */
  double *score;        /* normal scores by rank */
  tm_ranked *folded;
};

static int compare_ranked(const void *a, const void *b) {
  const tm_ranked *x = a, *y = b;
  if (x->value != y->value)
    return x->value < y->value ? -1 : 1;
  return x->index < y->index ? -1 : x->index > y->index;
}

void tm_ranked_sort(tm_ranked *draws, size_t count) {
  qsort(draws, count, sizeof(tm_ranked), compare_ranked);
}

double tm_ranked_quantile(const tm_ranked *sorted, size_t count, double p) {
  if (count == 0)
    return NAN;
  double place = p * (double)(count - 1);
  size_t k = (size_t)place;
  if (k + 1 >= count)
    return sorted[count - 1].value;
  double share = place - (double)k, low = sorted[k].value;
  return share == 0 ? low : low + share * (sorted[k + 1].value - low);
}

tm_mixing_work *tm_mixing_work_create(tm_arena *arena, size_t chains,
                                      size_t rows) {
  tm_mixing_work *w = TM_NEW(arena, tm_mixing_work, 1);
  if (!w)
    return NULL;
  *w = (tm_mixing_work){.chains = chains,
                        .rows = rows,
                        .halves = 2 * chains,
                        .half = rows / 2,
                        .length = 2};
  while (w->length < 2 * w->half)
    w->length *= 2;
  w->x = TM_NEW(arena, double, w->halves * w->half);
  w->mean = TM_NEW(arena, double, w->halves);
  w->covariance = TM_NEW(arena, double, w->half + 1);
  w->rho = TM_NEW(arena, double, w->half + 2);
  w->wave = TM_NEW(arena, double, w->length);
  w->power = TM_NEW(arena, double, w->length);
  w->score = TM_NEW(arena, double, 2 * w->halves * w->half + 1);
  w->folded = TM_NEW(arena, tm_ranked, chains * rows);
  bool made = w->x && w->mean && w->covariance && w->rho && w->wave &&
              w->power && w->score && w->folded;
  return made ? w : NULL;
}

/* Where a draw goes among the halves; false for the middle one. */
static bool place_of(const tm_mixing_work *w, size_t index, size_t *place) {
  size_t chain = index / w->rows, row = index % w->rows;
  bool late = row >= w->rows - w->half;
  if (!late && row >= w->half)
    return false;
  size_t offset = late ? row - (w->rows - w->half) : row;
  *place = (2 * chain + (late ? 1 : 0)) * w->half + offset;
  return true;
}

static double average(const double *x, size_t n) {
  double sum = 0;
  for (size_t i = 0; i < n; i++)
    sum += x[i];
  return sum / (double)n;
}

/* Centre every half at its own mean, and forget earlier lags. */
static void centre(tm_mixing_work *w) {
  for (size_t c = 0; c < w->halves; c++) {
    double *x = w->x + c * w->half, mean = average(x, w->half);
    for (size_t i = 0; i < w->half; i++)
      x[i] -= mean;
    w->mean[c] = mean;
  }
  w->lags = 0;
}

/* Four sums at once: the additions need not wait for each other. */
static double lagged_product(const double *x, size_t n, size_t lag) {
  double part[4] = {0};
  size_t i = 0, m = n - lag;
  for (; i + 4 <= m; i += 4)
    for (size_t k = 0; k < 4; k++)
      part[k] += x[i + k] * x[i + k + lag];
  for (; i < m; i++)
    part[0] += x[i] * x[i + lag];
  return (part[0] + part[1]) + (part[2] + part[3]);
}

static void transform_all_lags(tm_mixing_work *w) {
  size_t n = w->length;
  memset(w->power, 0, n * sizeof(double));
  for (size_t c = 0; c < w->halves; c++) {
    memset(w->wave, 0, n * sizeof(double));
    memcpy(w->wave, w->x + c * w->half, w->half * sizeof(double));
    gsl_fft_real_radix2_transform(w->wave, 1, n);
    w->power[0] += w->wave[0] * w->wave[0];
    w->power[n / 2] += w->wave[n / 2] * w->wave[n / 2];
    for (size_t k = 1; k < n / 2; k++)
      w->power[k] += w->wave[k] * w->wave[k] + w->wave[n - k] * w->wave[n - k];
  }
  gsl_fft_halfcomplex_radix2_inverse(w->power, 1, n);
  for (size_t lag = 0; lag < w->half; lag++)
    w->covariance[lag] = w->power[lag] / (double)(w->half * w->halves);
  w->lags = w->half;
}

static double covariance_at(tm_mixing_work *w, size_t lag) {
  while (w->lags <= lag && w->lags < DIRECT_LAGS) {
    double sum = 0;
    for (size_t c = 0; c < w->halves; c++)
      sum += lagged_product(w->x + c * w->half, w->half, w->lags);
    w->covariance[w->lags++] = sum / (double)(w->half * w->halves);
  }
  if (w->lags <= lag)
    transform_all_lags(w);
  return w->covariance[lag];
}

static double variance_of_means(const tm_mixing_work *w) {
  double mean = average(w->mean, w->halves), squares = 0;
  for (size_t c = 0; c < w->halves; c++)
    squares += (w->mean[c] - mean) * (w->mean[c] - mean);
  return squares / (double)(w->halves - 1);
}

/* Geyer: keep pairs while their sums are positive; returns how many lags. */
static size_t positive_pairs(tm_mixing_work *w, double within, double plus) {
  double *rho = w->rho;
  size_t t = 0;
  rho[0] = 1;
  rho[1] = 1 - (within - covariance_at(w, 1)) / plus;
  double even = rho[0], odd = rho[1];
  while (t + 5 < w->half && even + odd > 0) {
    t += 2;
    even = 1 - (within - covariance_at(w, t)) / plus;
    odd = 1 - (within - covariance_at(w, t + 1)) / plus;
    bool keep = even + odd >= 0;
    rho[t] = keep ? even : 0;
    rho[t + 1] = keep ? odd : 0;
  }
  if (even > 0)
    rho[t] = even;
  return t;
}

/* ESS of the centred series in w->x. */
static double ess(tm_mixing_work *w) {
  double n = (double)w->half, within = covariance_at(w, 0) * n / (n - 1);
  double plus = within * (n - 1) / n + variance_of_means(w);
  if (!(plus > 0) || !isfinite(plus))
    return NAN;
  size_t last = positive_pairs(w, within, plus);
  double *rho = w->rho;
  for (size_t t = 2; t + 2 <= last; t += 2)
    if (rho[t] + rho[t + 1] > rho[t - 2] + rho[t - 1])
      rho[t] = rho[t + 1] = (rho[t - 2] + rho[t - 1]) / 2;
  double sum = 0, total = n * (double)w->halves;
  for (size_t t = 0; t < last; t++)
    sum += rho[t];
  double time = last ? -1 + 2 * sum + rho[last] : rho[0];
  return total / fmax(time, 1 / log10(total));
}

static double split_rhat(tm_mixing_work *w) {
  double n = (double)w->half, within = covariance_at(w, 0) * n / (n - 1);
  double between = n * variance_of_means(w);
  return sqrt((between / within + n - 1) / n);
}

/* The normal score of average rank r (from 1), by twice the rank. */
static void tabulate_scores(tm_mixing_work *w) {
  size_t total = w->halves * w->half;
  if (w->score[2] == 0) /* once */
    for (size_t k = 2; k <= 2 * total; k++)
      w->score[k] = gsl_cdf_ugaussian_Pinv(((double)k / 2 - 0.375) /
                                           ((double)total + 0.25));
}

/* Normal scores of sorted draws into w->x, ties sharing their mean rank. */
static void rank_normalise(tm_mixing_work *w, const tm_ranked *sorted) {
  size_t count = w->chains * w->rows, rank = 0, place;
  tabulate_scores(w);
  for (size_t k = 0; k < count;) {
    size_t end = k, kept = 0;
    for (; end < count && sorted[end].value == sorted[k].value; end++)
      kept += place_of(w, sorted[end].index, &place);
    double score = kept ? w->score[2 * rank + kept + 1] : 0;
    for (size_t i = k; i < end; i++)
      if (place_of(w, sorted[i].index, &place))
        w->x[place] = score;
    rank += kept;
    k = end;
  }
  centre(w);
}

static double indicator_ess(tm_mixing_work *w, const tm_ranked *sorted,
                            double p) {
  size_t count = w->chains * w->rows, place;
  double quantile = tm_ranked_quantile(sorted, count, p);
  for (size_t k = 0; k < count; k++)
    if (place_of(w, sorted[k].index, &place))
      w->x[place] = sorted[k].value <= quantile;
  centre(w);
  return ess(w);
}

/* |x - median| in order, by merging the two sides of the sorted draws. */
static void fold(tm_mixing_work *w, const tm_ranked *sorted) {
  size_t count = w->chains * w->rows, right = 0;
  double median = tm_ranked_quantile(sorted, count, 0.5);
  while (right < count && sorted[right].value < median)
    right++;
  size_t left = right;
  for (size_t k = 0; k < count; k++) {
    double below = left > 0 ? median - sorted[left - 1].value : INFINITY;
    double above = right < count ? sorted[right].value - median : INFINITY;
    w->folded[k] = below < above ? (tm_ranked){below, sorted[--left].index}
                                 : (tm_ranked){above, sorted[right++].index};
  }
}

static void unrank(tm_mixing_work *w, const tm_ranked *sorted) {
  size_t place;
  for (size_t k = 0; k < w->chains * w->rows; k++)
    if (place_of(w, sorted[k].index, &place))
      w->x[place] = sorted[k].value;
  centre(w);
}

tm_mixing tm_mixing_measure(tm_mixing_work *w, const tm_ranked *sorted) {
  size_t count = w->chains * w->rows;
  tm_mixing none = {NAN, NAN, NAN, NAN}, m;
  if (w->rows < FEWEST_ROWS || !isfinite(sorted[0].value) ||
      !isfinite(sorted[count - 1].value) ||
      sorted[0].value == sorted[count - 1].value)
    return none;
  unrank(w, sorted);
  m.ess_mean = ess(w);
  rank_normalise(w, sorted);
  m.ess_bulk = ess(w);
  m.rhat = split_rhat(w);
  /* An indicator that never changes says nothing; the other one decides. */
  m.ess_tail =
      fmin(indicator_ess(w, sorted, 0.05), indicator_ess(w, sorted, 0.95));
  fold(w, sorted);
  rank_normalise(w, w->folded);
  m.rhat = fmax(m.rhat, split_rhat(w));
  if (!isfinite(m.rhat)) /* every half constant: they differ for ever */
    m.rhat = NAN;
  return m;
}

double tm_mixing_ess(tm_mixing_work *w, const double *x) {
  size_t place;
  if (w->rows < FEWEST_ROWS)
    return NAN;
  for (size_t i = 0; i < w->chains * w->rows; i++)
    if (place_of(w, i, &place))
      w->x[place] = x[i];
  centre(w);
  return ess(w);
}
