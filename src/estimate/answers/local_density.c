/* local_density.c - see local_density.h.
 *
 * About the point the log density is taken for a + b t + c t^2, and draws count
 * by a Gaussian kernel of width h. The kernel times e^{a + b t + c t^2} is then
 * a Gaussian too, whose mass, mean m and variance v are those of the draws so
 * weighted: so that
 *   e^a = mass h / sqrt(v) e^{-m^2 / 2v},
 * which is exact for a normal density at any h; elsewhere its bias is of order
 * h^4. What half of h makes of it is taken for the bias that is left, and joins
 * the error. */
#include "estimate/answers/local_density.h"

#include "estimate/evidence/evidence.h"
#include "numeric/sort.h"

#include <math.h>
#include <string.h>

static const double WIDTH = 0.7; /* times the spread, times n^(-1/9) */

typedef struct sums {
  double mass, mean, variance, squares; /* squares: of the kernel's values */
} sums;

static double kernel(double t, double h) {
  return exp(-t * t / (2 * h * h)) / (h * sqrt(2 * M_PI));
}

static sums weigh(const double *x, size_t n, double at, double h) {
  sums s = {0};
  for (size_t i = 0; i < n; i++) {
    double t = x[i] - at, k = kernel(t, h);
    s.mass += k;
    s.mean += k * t;
    s.variance += k * t * t;
    s.squares += k * k;
  }
  s.mean /= s.mass;
  s.variance = s.variance / s.mass - s.mean * s.mean;
  return s;
}

static double log_density(const sums *s, size_t n, double h) {
  return log(s->mass / (double)n) + log(h / sqrt(s->variance)) -
         s->mean * s->mean / (2 * s->variance);
}

static void fill_influence(const double *x, size_t n, double at, double h,
                           const sums *s, double *psi) {
  double m = s->mean, v = s->variance;
  for (size_t i = 0; i < n; i++) {
    double t = x[i] - at, k = kernel(t, h) * (double)n / s->mass;
    double dm = k * (t - m), dv = k * ((t - m) * (t - m) - v);
    psi[i] = k - 1 - dv / (2 * v) - m * dm / v + m * m * dv / (2 * v * v);
  }
}

/* By quartiles: a second mode far away does not widen it much. */
static double spread(double *sorted, size_t n) {
  tm_sort(sorted, n);
  return (sorted[n - 1 - n / 4] - sorted[n / 4]) / 1.349;
}

bool tm_local_density_estimate(tm_arena *arena, const double *x, size_t chains,
                               size_t rows, double at,
                               tm_local_density *density) {
  size_t n = chains * rows;
  double *room = TM_NEW(arena, double, n + 1);
  *density = (tm_local_density){NAN, NAN, 0};
  if (!room)
    return false;
  memcpy(room, x, n * sizeof *x);
  double h = WIDTH * spread(room, n) * pow((double)n, -1.0 / 9);
  sums wide = weigh(x, n, at, h), narrow = weigh(x, n, at, h / 2);
  if (!(h > 0 && wide.mass > 0 && wide.variance > 0 && narrow.mass > 0 &&
        narrow.variance > 0))
    return true;
  fill_influence(x, n, at, h, &wide, room);
  double value = log_density(&wide, n, h);
  double other = log_density(&narrow, n, h / 2);
  double se = tm_influence_error(room, chains, rows).se;
  *density = (tm_local_density){
      value, hypot(fmax(se, tm_least_se(n)), value - other),
      narrow.mass * narrow.mass / narrow.squares};
  return true;
}
