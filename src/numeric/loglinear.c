/* loglinear.c - masses and exact draws; see loglinear.h.
 *
 * With h = y + slope*x at the knots, the mass of an interval of width w is
 * w e^{h0} (e^{h1-h0} - 1)/(h1 - h0), computed without cancellation. */
#include "numeric/loglinear.h"

#include "numeric/sums.h"
#include "numeric/vector_exp.h"

#include <math.h>

size_t tm_loglinear_interval(const tm_loglinear *f, double x) {
  size_t low = 0;
  for (size_t left = f->count - 1;
       left > 1;) { /* no branch on x: it is random */
    size_t half = left / 2;
    low += f->x[low + half] <= x ? half : 0;
    left -= half;
  }
  return low;
}

double tm_loglinear_at(const tm_loglinear *f, double x) {
  size_t k = tm_loglinear_interval(f, x);
  double share = (x - f->x[k]) / (f->x[k + 1] - f->x[k]);
  share = fmax(0, fmin(1, share));
  return f->y[k] + share * (f->y[k + 1] - f->y[k]);
}

/* (e^d - 1)/d, which tends to 1. */
static double mean_exp(double d) {
  return fabs(d) < 1e-8 ? 1 + d / 2 : expm1(d) / d;
}

static double tilted(const tm_loglinear *f, double slope, size_t k) {
  return f->y[k] + slope * f->x[k];
}

static double largest(const tm_loglinear *f, double slope) {
  double most = f->log_atom;
  for (size_t k = 0; k < f->count; k++)
    most = fmax(most, tilted(f, slope, k));
  return most;
}

/* Below this |d| the difference of exponentials would cancel, and a short
 * series is exact. */
#define TM_LEVEL 1e-2

enum { LANES = 8 };

/* A tree, not a chain: no sum waits for the one before. */
static double sum_lanes(const double *x) {
  return ((x[0] + x[1]) + (x[2] + x[3])) + ((x[4] + x[5]) + (x[6] + x[7]));
}

static double larger(double a, double b) { return a > b ? a : b; }

static double largest_lane(const double *x) {
  return larger(larger(larger(x[0], x[1]), larger(x[2], x[3])),
                larger(larger(x[4], x[5]), larger(x[6], x[7])));
}

static double sum_of(const double *x, size_t count) {
  double sum = 0;
  size_t k = 0;
  for (; k + LANES <= count; k += LANES)
    sum += sum_lanes(x + k);
  for (; k < count; k++)
    sum += x[k];
  return sum;
}

static double largest_of(const double *x, size_t count, double least) {
  size_t k = 0;
  for (; k + LANES <= count; k += LANES)
    least = larger(largest_lane(x + k), least);
  for (; k < count; k++)
    least = larger(x[k], least);
  return least;
}

/* Masses of the intervals relative to exp(most), in work[0..count-2], and
 * behind them the density at the knots; the sum of masses is returned.
 * Neighbours share the exponentials of their knots, and no loop has a branch,
 * so that all of them are vectorised: this is the inner loop of the tau move.
 */
static double interval_masses(const tm_loglinear *f, double slope,
                              double *restrict work) {
  size_t count = f->count;
  const double *x = f->x, *y = f->y;
  double *restrict height = work + count;
  for (size_t k = 0; k < count; k++)
    height[k] = y[k] + slope * x[k];
  double most = largest_of(height, count, f->log_atom);
  for (size_t k = 0; k < count; k++)
    height[k] -= most;
  tm_vector_exp(height, count);
  for (size_t k = 0; k + 1 < count; k++) {
    double width = x[k + 1] - x[k];
    double d = (y[k + 1] - y[k]) + slope * width;
    double level =
        height[k] *
        (1 + d * (0.5 + d * (1. / 6 + d * (1. / 24 + d * (1. / 120)))));
    bool is_level = d < TM_LEVEL && d > -TM_LEVEL;
    double steep = (height[k + 1] - height[k]) / (is_level ? 1 : d);
    work[k] = width * (is_level ? level : steep);
  }
  double total = sum_of(work, count - 1);
  /* The last slot is the atom's. */
  work[count - 1] = f->log_atom > -INFINITY ? exp(f->log_atom - most) : 0;
  return total;
}

double tm_loglinear_log_mass(const tm_loglinear *f, double slope) {
  if (slope == -INFINITY)
    return f->log_atom;
  double most = largest(f, slope), total = exp(f->log_atom - most);
  double h0 = tilted(f, slope, 0) - most, e0 = exp(h0);
  for (size_t k = 0; k + 1 < f->count; k++) {
    double h1 = tilted(f, slope, k + 1) - most, e1 = exp(h1);
    double d = h1 - h0, width = f->x[k + 1] - f->x[k];
    total += width * (fabs(d) > 1e-2 ? (e1 - e0) / d : e0 * mean_exp(d));
    h0 = h1;
    e0 = e1;
  }
  return most + log(total);
}

double tm_loglinear_log_mass_between(const tm_loglinear *f, double slope,
                                     double a, double b) {
  double total = -INFINITY;
  size_t last = tm_loglinear_interval(f, b);
  for (size_t k = tm_loglinear_interval(f, a); k <= last; k++) {
    double left = fmax(a, f->x[k]), right = fmin(b, f->x[k + 1]);
    if (!(left < right))
      continue;
    double h0 = tm_loglinear_at(f, left) + slope * left;
    double gradient = slope + (f->y[k + 1] - f->y[k]) / (f->x[k + 1] - f->x[k]);
    double d = gradient * (right - left);
    /* Factor the larger end out, so that expm1 cannot overflow. */
    double part = d > 0 ? h0 + d + log(mean_exp(-d)) : h0 + log(mean_exp(d));
    total = tm_log_add(total, part + log(right - left));
  }
  return total;
}

/* Invert the distribution function of density ~ e^{d*v} on v in (0,1), drawn
 * from its higher end: no branch on the sign of d, which is random. `fall` is
 * e^-|d|. */
static double truncated_exponential(double d, double fall, double uniform) {
  double steep = fabs(d);
  if (steep < 1e-5)
    return uniform + d / 2 * uniform * (1 - uniform);
  double depth = -log(uniform + (1 - uniform) * fall) / steep;
  depth = depth < 1 ? depth : 1;
  return d > 0 ? 1 - depth : depth;
}

double tm_loglinear_tilt(const tm_loglinear *f, double slope, double *work) {
  return slope == -INFINITY ? 0 : interval_masses(f, slope, work);
}

double tm_loglinear_pick(const tm_loglinear *f, double slope, double total,
                         double uniform, double uniform2, const double *work) {
  if (slope == -INFINITY)
    return f->x[0];
  double atom = work[f->count - 1];
  double left = uniform * (total + atom) - atom;
  if (left <= 0 && atom > 0)
    return f->x[0];
  size_t k = 0, last = f->count - 2;
  for (; k + LANES <= last; k += LANES) {
    double sum = sum_lanes(work + k);
    if (left <= sum)
      break;
    left -= sum;
  }
  while (k < last && left > work[k])
    left -= work[k++];
  double width = f->x[k + 1] - f->x[k];
  double d = tilted(f, slope, k + 1) - tilted(f, slope, k);
  const double *height = work + f->count + k;
  double high = height[d > 0], low = height[!(d > 0)];
  double fall = high > low ? low / high : high > 0; /* rounding may pick 0 */
  return f->x[k] + width * truncated_exponential(d, fall, uniform2);
}

double tm_loglinear_draw(const tm_loglinear *f, double slope, double uniform,
                         double uniform2, double *work) {
  double total = tm_loglinear_tilt(f, slope, work);
  return tm_loglinear_pick(f, slope, total, uniform, uniform2, work);
}
