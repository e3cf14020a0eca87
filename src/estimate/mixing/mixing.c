/* mixing.c - see mixing.h. Chains are split in halves (the middle draw of an
 * odd number is left out). ESS sums autocorrelations by Geyer's initial
 * monotone sequence, as Stan and the posterior package do; the first lags are
 * found directly, which is all that well-mixed chains need, and the others by
 * Fourier transforms, as many as it takes to end the sequence. */
#include "estimate/mixing/mixing.h"

#include "numeric/lags.h"
#include "numeric/triangular.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

/* Lags found one by one, then those of a first transform and of more: each
 * further one knows eight times as many. */
enum {
  DIRECT_LAGS = 32,
  SLOW_LAGS = 8,
  FIRST_LAGS = 1024,
  MORE_LAGS = 8,
  FEWEST_ROWS = 8
};

struct tm_mixing_work {
  size_t chains, rows; /* as given */
  size_t halves, half; /* twice the chains, half as long each */
  double *x;           /* the split series at work */
  double *mean;        /* of each half */
  double *covariance;  /* by lag, averaged over halves */
  size_t known;        /* lags of it known so far */
  double *rho;         /* autocorrelations kept */
  tm_lags lags;
  double *score; /* normal scores by rank */
  tm_ranked *folded;
};

tm_mixing_work *tm_mixing_work_create(tm_arena *arena, size_t chains,
                                      size_t rows) {
  tm_mixing_work *w = TM_NEW(arena, tm_mixing_work, 1);
  if (!w)
    return NULL;
  *w = (tm_mixing_work){
      .chains = chains, .rows = rows, .halves = 2 * chains, .half = rows / 2};
  w->x = TM_NEW(arena, double, w->halves * w->half);
  w->mean = TM_NEW(arena, double, w->halves);
  bool lags = tm_lags_create(arena, w->half, &w->lags);
  w->covariance = TM_NEW(arena, double, w->lags.most);
  w->rho = TM_NEW(arena, double, w->half + 2);
  w->score = TM_NEW(arena, double, 2 * w->halves * w->half + 1);
  w->folded = TM_NEW(arena, tm_ranked, chains * rows);
  bool made = lags && w->x && w->mean && w->covariance && w->rho && w->score &&
              w->folded;
  return made ? w : NULL;
}

/* Where a draw goes among the halves; false for the middle one. */
static bool place_of(const tm_mixing_work *w, size_t index, size_t *place) {
  *place = index;
  if (w->rows % 2 == 0)
    return true;
  size_t chain = index / w->rows, row = index % w->rows;
  bool late = row >= w->rows - w->half;
  if (!late && row >= w->half)
    return false;
  size_t offset = late ? row - (w->rows - w->half) : row;
  *place = (2 * chain + (late ? 1 : 0)) * w->half + offset;
  return true;
}

static double average(const double *x, size_t n) {
  return tm_sum(x, n) / (double)n;
}

/* Centre every half at its own mean, and forget earlier lags. */
static void centre(tm_mixing_work *w) {
  for (size_t c = 0; c < w->halves; c++) {
    double *x = w->x + c * w->half, mean = average(x, w->half);
    for (size_t i = 0; i < w->half; i++)
      x[i] -= mean;
    w->mean[c] = mean;
  }
  w->known = 0;
}

static void find_more_lags(tm_mixing_work *w) {
  size_t below = FIRST_LAGS;
  while (below <= w->known)
    below *= MORE_LAGS;
  if (below > w->lags.most)
    below = w->lags.most;
  tm_lags_sum(&w->lags, w->x, w->halves, w->half, below, w->covariance);
  for (size_t lag = 0; lag < below; lag++)
    w->covariance[lag] /= (double)(w->half * w->halves);
  w->known = below;
}

/* Chains as slow as this need more lags than are worth finding directly. */
static bool is_slow(const tm_mixing_work *w) {
  return w->known >= SLOW_LAGS &&
         w->covariance[SLOW_LAGS - 1] > 0.25 * w->covariance[0];
}

static double covariance_at(tm_mixing_work *w, size_t lag) {
  while (w->known <= lag && w->known < DIRECT_LAGS && !is_slow(w)) {
    double sum = 0;
    for (size_t c = 0; c < w->halves; c++)
      sum += tm_lagged_product(w->x + c * w->half, w->half, w->known);
    w->covariance[w->known++] = sum / (double)(w->half * w->halves);
  }
  while (w->known <= lag)
    find_more_lags(w);
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

/* The normal score of an average rank (from 1), given twice the rank: found
 * once, and together with that of the rank as far from the other end. Between
 * ranks only ties ask for one. */
static double score_of(tm_mixing_work *w, size_t twice) {
  size_t total = w->halves * w->half, low = twice, high = 2 * total + 2 - twice;
  if (low == high)
    return 0;
  if (low > high) {
    low = high;
    high = twice;
  }
  if (w->score[low] == 0) {
    double rank = (double)low / 2;
    w->score[low] =
        gsl_cdf_ugaussian_Pinv((rank - 0.375) / ((double)total + 0.25));
    w->score[high] = -w->score[low];
  }
  return w->score[twice];
}

/* Normal scores of sorted draws into w->x, ties sharing their mean rank. */
static void rank_normalise(tm_mixing_work *w, const tm_ranked *sorted) {
  size_t count = w->chains * w->rows, rank = 0, place;
  for (size_t k = 0; k < count;) {
    size_t end = k, kept = 0;
    for (; end < count && sorted[end].value == sorted[k].value; end++)
      kept += place_of(w, sorted[end].index, &place);
    double score = kept ? score_of(w, 2 * rank + kept + 1) : 0;
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
  size_t count = w->chains * w->rows, first = (size_t)(p * (double)count);
  size_t place;
  double quantile = tm_ranked_quantile(sorted, count, p);
  while (first > 0 && sorted[first - 1].value > quantile)
    first--;
  while (first < count && sorted[first].value <= quantile)
    first++;
  /* Most draws are on one side: only the others are looked up. */
  bool low = p < 0.5;
  for (size_t i = 0; i < w->halves * w->half; i++)
    w->x[i] = !low;
  for (size_t k = low ? 0 : first; k < (low ? first : count); k++)
    if (place_of(w, sorted[k].index, &place))
      w->x[place] = low;
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
  /* Infinite: every half is constant, and they differ for ever. */
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
