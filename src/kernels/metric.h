/* metric.h - the metric of Hamiltonian moves for one stretch of tau, learned
 * from draws and from the gradients at them.
 *
 * The Fisher divergence between the target and N(m, S) is least at S with
 * S Cov(g) S = Cov(x) (Seyboldt, Carlson & Carpenter, nutpie): in one
 * coordinate the variance sqrt(Var x / Var g). For a Gaussian target that is
 * exact from d + 1 draws on, however they are spread, for g is linear in x. */
#ifndef TM_KERNELS_METRIC_H
#define TM_KERNELS_METRIC_H

#include "kernels/spread.h"

typedef struct tm_metric {
  size_t dimension;
  bool dense;   /* are correlations learned? */
  double count; /* draws since the last use, older ones at a discount */
  unsigned visits, next; /* draws in all; when to put them to use next */
  /* Means, squared deviations and (dense) products of deviations. */
  double *mean_x, *mean_g, *square_x, *square_g, *product_x, *product_g;
  /* In use: nothing yet, standard deviations, or a factor and its transpose. */
  tm_spread_level level;
  double *sd, *factor, *turned;
} tm_metric;

TEMPERA_CHECKED tempera_status tm_metric_create(size_t dimension,
                                                tm_arena *arena,
                                                tm_metric *metric,
                                                tempera_error *error);
/* A draw and the gradient of the log density there. `work` holds 2 x dimension.
 * True when it is time for tm_metric_use: after 15 draws, 40, 90, 190, ... */
bool tm_metric_learn(tm_metric *metric, const double *x, const double *g,
                     double *work);
/* Put to use what was learned; true if the metric has changed. `work` holds
 * tm_metric_work(dimension) numbers. */
bool tm_metric_use(tm_metric *metric, double *work);
size_t tm_metric_work(size_t dimension);
tm_factor tm_metric_factor(const tm_metric *metric);
void tm_metric_archive(tm_metric *metric, tm_archive *archive);

#endif
