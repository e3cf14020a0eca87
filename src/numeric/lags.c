/* lags.c - see lags.h. */
#include "numeric/lags.h"

#include <gsl/gsl_fft_halfcomplex.h>
#include <gsl/gsl_fft_real.h>
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

bool tm_lags_create(tm_arena *arena, size_t length, tm_lags *lags) {
  *lags = (tm_lags){.most = 4};
  while (lags->most < length)
    lags->most *= 2;
  lags->now = TM_NEW(arena, double, 2 * lags->most);
  lags->ago = TM_NEW(arena, double, 2 * lags->most);
  lags->sum = TM_NEW(arena, double, 2 * lags->most);
  return lags->now && lags->ago && lags->sum;
}

/* A block and as many zeros; what lies behind the end is zero too. */
static void load(double *to, const double *x, size_t start, size_t length,
                 size_t block) {
  size_t left = start < length ? length - start : 0;
  size_t taken = left < block ? left : block;
  if (taken)
    memcpy(to, x + start, taken * sizeof(double));
  memset(to + taken, 0, (2 * block - taken) * sizeof(double));
}

/* The products of the last block with itself and with this one, frequency k's
 * real part at k and imaginary part at n - k. */
static void add_products(const double *ago, const double *now, double *sum,
                         size_t n) {
  sum[0] += ago[0] * (ago[0] + now[0]);
  sum[n / 2] += ago[n / 2] * (ago[n / 2] + now[n / 2]); /* n / 2 is even */
  for (size_t k = 1; k < n / 2; k++) {
    double a = ago[k], b = ago[n - k], sign = k % 2 ? -1 : 1;
    double c = sign * now[k], d = sign * now[n - k];
    sum[k] += a * (a + c) + b * (b + d);
    sum[n - k] += a * d - b * c;
  }
}

static void add_series(tm_lags *lags, const double *x, size_t length,
                       size_t block) {
  for (size_t start = 0; start < length + block; start += block) {
    load(lags->now, x, start, length, block);
    if (start < length)
      gsl_fft_real_radix2_transform(lags->now, 1, 2 * block);
    if (start > 0)
      add_products(lags->ago, lags->now, lags->sum, 2 * block);
    double *last = lags->ago;
    lags->ago = lags->now;
    lags->now = last;
  }
}

void tm_lags_sum(tm_lags *lags, const double *x, size_t count, size_t length,
                 size_t below, double *products) {
  memset(lags->sum, 0, 2 * below * sizeof(double));
  for (size_t c = 0; c < count; c++)
    add_series(lags, x + c * length, length, below);
  gsl_fft_halfcomplex_radix2_inverse(lags->sum, 1, 2 * below);
  memcpy(products, lags->sum, below * sizeof(double));
}
