/* influence.c - overlapping batch means pooled over chains; see influence.h.
 *
 * Batches are as long as 40 of them in all allow, so that they outlast the
 * autocorrelation; they are centred on the grand mean, so that chains which
 * disagree widen the error. With b the batch length and N the draws,
 *   sigma^2 = b/(1 - b/N) * mean (batch mean - grand mean)^2,
 * with about 1.5 (N/b - 1) degrees of freedom. The t quantile over the normal
 * one makes +- 1.96 se a 95 % interval. */
#include "estimate/evidence/influence.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

enum { BATCHES = 40 };

static double mean_of(const double *x, size_t n) {
  double sum = 0;
  for (size_t i = 0; i < n; i++)
    sum += x[i];
  return sum / (double)n;
}

/* The sum over one chain's overlapping batches of (batch mean - centre)^2. */
static double batch_squares(const double *x, size_t n, size_t b,
                            double centre) {
  double window = 0, total = 0;
  for (size_t i = 0; i < n; i++) {
    window += x[i] - centre;
    if (i >= b)
      window -= x[i - b] - centre;
    if (i + 1 >= b)
      total += window * window;
  }
  return total / ((double)b * (double)b);
}

static double spread_of_chains(const double *psi, size_t chains, size_t rows,
                               double centre) {
  if (chains < 3)
    return NAN;
  double squares = 0;
  for (size_t c = 0; c < chains; c++) {
    double d = mean_of(psi + c * rows, rows) - centre;
    squares += d * d;
  }
  return sqrt(squares / (double)(chains * (chains - 1)));
}

static double widen(double se, double df) {
  return se * gsl_cdf_tdist_Pinv(0.975, df) / 1.959963984540054;
}

tm_monte_carlo tm_influence_error(const double *psi, size_t chains,
                                  size_t rows) {
  size_t count = chains * rows, b = count / BATCHES;
  if (count < TM_FEWEST_DRAWS || rows < 2)
    return (tm_monte_carlo){NAN, NAN, NAN};
  b = b > rows / 2 ? rows / 2 : b;
  b = b < 1 ? 1 : b;
  double centre = mean_of(psi, count), total = 0;
  for (size_t c = 0; c < chains; c++)
    total += batch_squares(psi + c * rows, rows, b, centre);
  double batches = (double)chains * (double)(rows - b + 1);
  double share = (double)b / (double)count;
  double within = sqrt(total / batches * share / (1 - share));
  double between = spread_of_chains(psi, chains, rows, centre);
  double df = 1.5 * (1 / share - 1), df_between = (double)chains - 1;
  double se = widen(within, df);
  /* Chains that differ by more than their own errors can explain decide. */
  if (between > within) {
    double ratio = between * between / (within * within);
    if (gsl_cdf_fdist_Q(ratio, df_between, df) < 0.01)
      se = fmax(se, widen(between, df_between));
  }
  return (tm_monte_carlo){se, within, between};
}
