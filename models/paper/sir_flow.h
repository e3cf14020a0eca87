/* sir_flow.h - the SIR equations solved by Taylor series.
 *
 *   dS/dt = -beta S I,  dI/dt = beta S I - alpha I,  dR/dt = alpha I
 *
 * With J(t) = int_0^t I: log S = log S(0) - beta J and R = alpha J exactly, so
 * the state is (J, log I). J only grows and log I is carried as a logarithm:
 * both keep their relative accuracy over hundreds of orders of magnitude,
 * and N - R = S + I never cancels.
 *
 * The right hand side is quadratic, so the Taylor coefficients of
 * s = S/S_now and i = I/I_now follow from one convolution c = s*i each,
 *
 *   (k+1) s_{k+1} = -beta I_now c_k,
 *   (k+1) i_{k+1} = beta S_now c_k - alpha i_k,
 *
 * without any exponential. The step is where the last terms fall below the
 * tolerance; every data time inside it is read off the polynomial, so steps
 * ignore the data. The stiff parts of the prior cost nothing: once S no
 * longer matters to I, or no longer changes, the rest is an exponential. */
#ifndef PAPER_SIR_FLOW_H
#define PAPER_SIR_FLOW_H

#include "fast_math.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

enum { FLOW_ORDER = 20, FLOW_LANES = 4 };

/* Where the solution stands, and its rates. */
typedef struct sir_flow {
  double alpha, beta, log_S0; /* of S(0) = N - I(0) */
  double time, J, log_I;
} sir_flow;

/* The series about sir_flow.time in u = rate * (t - time). */
typedef struct sir_series {
  double rate, reach;          /* units of u per day; valid for u <= reach */
  double I;                    /* I_now */
  double scale;                /* log of the unit of `left` */
  double s[FLOW_ORDER + 1];    /* S / S_now */
  double i[FLOW_ORDER + 1];    /* I / I_now */
  double J[FLOW_ORDER + 1];    /* J - J_now, without its factor u */
  double left[FLOW_ORDER + 1]; /* (S + I) / e^scale: all who have not died */
} sir_series;

static inline double flow_log_S(const sir_flow *flow, double J) {
  return flow->log_S0 - flow->beta * J;
}

/* The exponent of |x|, rounded up; about -1023 for 0. */
static inline int exponent_above(double x) {
  return (int)((to_bits(x) >> 52) & 0x7ff) - 1022;
}

/* The u at which the last terms of both series are below 2^-46 = 1.4e-14.
 * Three orders are asked, since one coefficient may pass through zero. */
static inline double series_reach(const sir_series *series) {
  double slowest = INFINITY;
  for (int k = FLOW_ORDER - 2; k <= FLOW_ORDER; k++) {
    double size = fmax(fabs(series->s[k]), fabs(series->i[k]));
    slowest = fmin(slowest, (-46 - exponent_above(size)) / (double)k);
  }
  return exp2(slowest);
}

/* S + I in units of the larger, so that neither underflows. */
static inline void series_add(double log_S, double log_I, sir_series *series) {
  double ratio = exp(-fabs(log_S - log_I));
  double of_S = log_S > log_I ? 1 : ratio, of_I = log_S > log_I ? ratio : 1;
  series->scale = fmax(log_S, log_I);
  for (int k = 0; k <= FLOW_ORDER; k++)
    series->left[k] = of_S * series->s[k] + of_I * series->i[k];
}

static inline void series_expand(const sir_flow *flow, sir_series *series) {
  double log_S = flow_log_S(flow, flow->J), I = exp(flow->log_I);
  double fall = flow->beta * I, rise = flow->beta * exp(log_S);
  double rate = fmax(flow->alpha, fmax(fall, rise));
  double *s = series->s, *i = series->i;
  series->rate = rate;
  series->I = I;
  fall /= rate;
  rise /= rate;
  double decay = flow->alpha / rate;
  s[0] = i[0] = series->J[0] = 1;
#pragma GCC unroll 20
  for (int k = 0; k < FLOW_ORDER; k++) {
    /* From the middle outwards: what is newest comes last, so that most of
     * the sum is done before the previous order is known. */
    double c = k > 0 && k % 2 == 0 ? s[k / 2] * i[k / 2] : 0, d = 0;
    for (int j = (k - 1) / 2; j > 0; j--) {
      c = fused(s[j], i[k - j], c);
      d = fused(s[k - j], i[j], d);
    }
    c = k > 0 ? (c + d) + (s[k] + i[k]) : 1;
    const double order = 1 / (k + 1.0);
    s[k + 1] = -(fall * order) * c;
    i[k + 1] = fused(rise * order, c, -(decay * order) * i[k]);
    series->J[k + 1] = i[k + 1] * (1 / (k + 2.0));
  }
  series->reach = series_reach(series);
  series_add(log_S, flow->log_I, series);
}

static inline double series_value(const double *coefficients, double u) {
  double value = coefficients[FLOW_ORDER];
  for (int k = FLOW_ORDER - 1; k >= 0; k--)
    value = fused(value, u, coefficients[k]);
  return value;
}

/* J and (S + I)/e^scale at FLOW_LANES times at once. */
static inline void series_read(const sir_flow *flow, const sir_series *series,
                               const double *restrict times, double *restrict J,
                               double *restrict left) {
  double u[FLOW_LANES], sum_J[FLOW_LANES], sum_left[FLOW_LANES];
  for (int lane = 0; lane < FLOW_LANES; lane++) {
    u[lane] = series->rate * (times[lane] - flow->time);
    sum_J[lane] = series->J[FLOW_ORDER];
    sum_left[lane] = series->left[FLOW_ORDER];
  }
  for (int k = FLOW_ORDER - 1; k >= 0; k--)
    for (int lane = 0; lane < FLOW_LANES; lane++) {
      sum_J[lane] = fused(sum_J[lane], u[lane], series->J[k]);
      sum_left[lane] = fused(sum_left[lane], u[lane], series->left[k]);
    }
  double unit = series->I / series->rate;
  for (int lane = 0; lane < FLOW_LANES; lane++) {
    J[lane] = flow->J + unit * (u[lane] * sum_J[lane]);
    left[lane] = sum_left[lane];
  }
}

static inline double series_log_I(const sir_flow *flow,
                                  const sir_series *series, double time) {
  double u = series->rate * (time - flow->time);
  return flow->log_I + log(series_value(series->i, u));
}

/* Go to the end of the series. */
static inline void flow_advance(sir_flow *flow, const sir_series *series) {
  double u = series->reach;
  flow->J += series->I / series->rate * (u * series_value(series->J, u));
  flow->log_I += log(series_value(series->i, u));
  flow->time += u / series->rate;
}

/* int_0^duration e^{growth t} dt */
static inline double exponential_area(double growth, double duration) {
  double x = growth * duration;
  return fabs(x) < 1e-300 ? duration : expm1(x) / growth;
}

/* Is log I a straight line from here on, up to 1e-13? Either S is so small
 * that what it still adds to log I, int beta S, does not count; with
 * I >= I_now e^{-alpha t} that integral is at most e S/I up to t = 1/alpha
 * and, S having decayed by then, beta S duration e^{-0.63 beta I/alpha} after
 * it. Or S stays the same, because beta int I does not count. */
static inline bool flow_settled(const sir_flow *flow, double duration,
                                double *growth) {
  double S = exp(flow_log_S(flow, flow->J)), I = exp(flow->log_I);
  double rise = flow->beta * S, fall = flow->beta * I;
  double added = rise * duration, most = 1e-13;
  if (S < most * I)
    added = fmin(added, 2.72 * S / I + added * exp(-0.63 * fall / flow->alpha));
  if (added < most) {
    *growth = -flow->alpha;
    return true;
  }
  *growth = rise - flow->alpha;
  if (fall * fmin(duration, 1 / flow->alpha) > 2 * most)
    return false;
  double change = fall * exponential_area(*growth, duration);
  return change * fmax(1, added) < most;
}

#endif
