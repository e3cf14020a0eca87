/* lags.c - see lags.h. */
#include "numeric/lags.h"

#include <math.h>
#include <string.h>

double tm_lagged_product(const double *x, size_t length, size_t lag) {
  enum { PARTS = 16 }; /* the additions need not wait for each other */
  double part[PARTS] = {0}, sum = 0;
  size_t i = 0, n = length > lag ? length - lag : 0;
  for (; i + PARTS <= n; i += PARTS)
    for (size_t k = 0; k < PARTS; k++)
      part[k] += x[i + k] * x[i + k + lag];
  for (; i < n; i++)
    part[0] += x[i] * x[i + lag];
  for (size_t k = 0; k < PARTS; k++)
    sum += part[k];
  return sum;
}

static double *carve(double **next, size_t count) {
  double *begin = *next;
  *next += count;
  return begin;
}

bool tm_lags_create(tm_arena *arena, size_t length, tm_lags *lags) {
  /* Parts that begin at the same place of a page would drive each other out of
   * the cache. */
  enum { ARRAYS = 8, APART = 9 * 8 };
  *lags = (tm_lags){.most = 4, .known = 1};
  while (lags->most < length)
    lags->most *= 2;
  size_t count = 2 * lags->most + APART;
  double *next = TM_NEW(arena, double, ARRAYS *count);
  if (!next)
    return false;
  tm_waves *waves[] = {&lags->root, &lags->now, &lags->ago, &lags->sum};
  for (size_t i = 0; i < ARRAYS / 2; i++) {
    waves[i]->re = carve(&next, count);
    waves[i]->im = carve(&next, count);
  }
  return true;
}

/* Up to those of a transform of n points. */
static void tabulate_roots(tm_lags *lags, size_t n) {
  for (size_t m = lags->known; m < n; m *= 2) {
    for (size_t j = 0; j < m; j++) {
      double angle = 3.14159265358979323846 * (double)j / (double)m;
      lags->root.re[m + j] = cos(angle);
      lags->root.im[m + j] = -sin(angle);
    }
    lags->known = 2 * m;
  }
}

static tm_waves from(const tm_waves *w, size_t place) {
  return (tm_waves){w->re + place, w->im + place};
}

/* Sums of the two halves, m long each, and differences times roots. */
static void part(tm_waves w, tm_waves root, size_t m) {
  double *restrict re = w.re, *restrict im = w.im;
  double *restrict re2 = w.re + m, *restrict im2 = w.im + m;
  const double *restrict c = root.re, *restrict s = root.im;
  for (size_t j = 0; j < m; j++) {
    double a = re[j] - re2[j], b = im[j] - im2[j];
    re[j] += re2[j];
    im[j] += im2[j];
    re2[j] = a * c[j] - b * s[j];
    im2[j] = a * s[j] + b * c[j];
  }
}

/* The reverse of it, but for a factor of two. */
static void unite(tm_waves w, tm_waves root, size_t m) {
  double *restrict re = w.re, *restrict im = w.im;
  double *restrict re2 = w.re + m, *restrict im2 = w.im + m;
  const double *restrict c = root.re, *restrict s = root.im;
  for (size_t j = 0; j < m; j++) {
    double a = re2[j] * c[j] + im2[j] * s[j];
    double b = im2[j] * c[j] - re2[j] * s[j];
    re2[j] = re[j] - a;
    im2[j] = im[j] - b;
    re[j] += a;
    im[j] += b;
  }
}

/* The last two steps of the forward transform, on four points: roots are 1 and
 * -i. */
static void part_four(double *re, double *im) {
  double a = re[0] + re[2], b = re[1] + re[3];
  double c = re[0] - re[2], d = im[1] - im[3];
  double e = im[0] + im[2], f = im[1] + im[3];
  double g = im[0] - im[2], h = re[3] - re[1];
  re[0] = a + b;
  re[1] = a - b;
  re[2] = c + d;
  re[3] = c - d;
  im[0] = e + f;
  im[1] = e - f;
  im[2] = g + h;
  im[3] = g - h;
}

/* Two such steps in one, on quarters q long: with roots r of the first step,
 * those of the second are r^2, and a quarter of a turn is -i. */
static void part_twice(tm_waves w, tm_waves root, tm_waves square, size_t q) {
  double *restrict x0 = w.re, *restrict y0 = w.im;
  double *restrict x1 = x0 + q, *restrict y1 = y0 + q;
  double *restrict x2 = x1 + q, *restrict y2 = y1 + q;
  double *restrict x3 = x2 + q, *restrict y3 = y2 + q;
  const double *restrict c1 = root.re, *restrict s1 = root.im;
  const double *restrict c2 = square.re, *restrict s2 = square.im;
  for (size_t j = 0; j < q; j++) {
    double a = x0[j] + x2[j], b = y0[j] + y2[j];
    double c = x1[j] + x3[j], d = y1[j] + y3[j];
    double e = x0[j] - x2[j], f = y0[j] - y2[j];
    double g = x1[j] - x3[j], h = y1[j] - y3[j];
    double m = e + h, n = f - g, o = e - h, p = f + g;
    double c3 = c1[j] * c2[j] - s1[j] * s2[j];
    double s3 = c1[j] * s2[j] + s1[j] * c2[j];
    x0[j] = a + c;
    y0[j] = b + d;
    x1[j] = (a - c) * c2[j] - (b - d) * s2[j];
    y1[j] = (a - c) * s2[j] + (b - d) * c2[j];
    x2[j] = m * c1[j] - n * s1[j];
    y2[j] = m * s1[j] + n * c1[j];
    x3[j] = o * c3 - p * s3;
    y3[j] = o * s3 + p * c3;
  }
}

/* Frequencies come out in bit-reversed order: odd ones are the second half.
 * Parts are finished one after the other, so that long transforms are in cache
 * most of the time. */
static void forward(const tm_lags *lags, tm_waves w, size_t n) {
  if (n == 4) {
    part_four(w.re, w.im);
  } else if (n == 8) {
    part(w, from(&lags->root, 4), 4);
    part_four(w.re, w.im);
    part_four(w.re + 4, w.im + 4);
  } else {
    size_t q = n / 4;
    part_twice(w, from(&lags->root, 2 * q), from(&lags->root, q), q);
    for (size_t k = 0; k < 4; k++)
      forward(lags, from(&w, k * q), q);
  }
}

static void backward(const tm_lags *lags, tm_waves w, size_t n) {
  if (n == 1)
    return;
  backward(lags, w, n / 2);
  backward(lags, from(&w, n / 2), n / 2);
  unite(w, from(&lags->root, n / 2), n / 2);
}

/* A block and as many zeros; what lies behind the end is zero too. */
static void load(double *to, const double *x, size_t start, size_t length,
                 size_t block) {
  size_t left = x && start < length ? length - start : 0;
  size_t taken = left < block ? left : block;
  if (taken)
    memcpy(to, x + start, taken * sizeof(double));
  memset(to + taken, 0, (2 * block - taken) * sizeof(double));
}

/* The products of the last block with itself and with this one, of which half
 * the frequencies enter with `sign`. */
static void add_products(const tm_waves *ago, const tm_waves *now,
                         const tm_waves *sum, size_t count, double sign) {
  const double *restrict a = ago->re, *restrict b = ago->im;
  const double *restrict c = now->re, *restrict d = now->im;
  double *restrict re = sum->re, *restrict im = sum->im;
  for (size_t k = 0; k < count; k++) {
    re[k] += a[k] * (a[k] + sign * c[k]) + b[k] * (b[k] + sign * d[k]);
    im[k] += sign * (a[k] * d[k] - b[k] * c[k]);
  }
}

/* Two series (y may be NULL), block after block. */
static void add_series(tm_lags *lags, const double *x, const double *y,
                       size_t length, size_t block) {
  for (size_t start = 0; start < length + block; start += block) {
    load(lags->now.re, x, start, length, block);
    load(lags->now.im, y, start, length, block);
    if (start < length)
      forward(lags, lags->now, 2 * block);
    if (start > 0) {
      tm_waves ago = from(&lags->ago, block), now = from(&lags->now, block),
               sum = from(&lags->sum, block);
      add_products(&lags->ago, &lags->now, &lags->sum, block, 1);
      add_products(&ago, &now, &sum, block, -1);
    }
    tm_waves last = lags->ago;
    lags->ago = lags->now;
    lags->now = last;
  }
}

void tm_lags_sum(tm_lags *lags, const double *x, size_t count, size_t length,
                 size_t below, double *products) {
  size_t n = 2 * below;
  tabulate_roots(lags, n);
  memset(lags->sum.re, 0, n * sizeof(double));
  memset(lags->sum.im, 0, n * sizeof(double));
  for (size_t c = 0; c < count; c += 2)
    add_series(lags, x + c * length,
               c + 1 < count ? x + (c + 1) * length : NULL, length, below);
  backward(lags, lags->sum, n);
  for (size_t lag = 0; lag < below; lag++)
    products[lag] = lags->sum.re[lag] / (double)n;
}
