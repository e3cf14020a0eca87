/* rise.h - differences of lgamma and digamma at large arguments, inline for
 * loops over rows. */
#ifndef TM_LANGUAGE_RISE_H
#define TM_LANGUAGE_RISE_H

/* From here on differences of lgamma are taken by Stirling's series: of large
 * shapes f they leave no digits (lgamma(f) = 1e19 at f = e^40). */
#define TM_LARGE_SHAPE 15.0

static inline double stirling(double x) {
  double r = 1 / x, q = r * r;
  return r * (1 / 12. - q * (1 / 360. - q * (1 / 1260. - q / 1680.)));
}

/* lgamma(f + k) - lgamma(f) - k log f of a large f, and its slope in f (with
 * `share` = log1p(k / f)). */
static inline double rise(double k, double f, double share) {
  return (f + k - 0.5) * share - k + stirling(f + k) - stirling(f);
}

/* log x - digamma(x) */
static inline double below_log(double x) {
  double r = 1 / x, q = r * r;
  return 0.5 * r +
         q * (1 / 12. - q * (1 / 120. - q * (1 / 252. - q * (1 / 240.))));
}

#endif
