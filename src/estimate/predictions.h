/* predictions.h - what a run's draws say of the data: terms left out one by
 * one, and data drawn anew from posterior and prior.
 *
 * Computed after sampling, from evenly thinned target draws, a block of terms
 * at a time: 10^5 terms take no more memory than 10^3. Of still more a random
 * choice of terms is left out, and the outcomes of these are kept; statistics are
 * of all data. Random numbers are named by seed, chain and row, so threads cannot
 * change anything. */
#ifndef TM_ESTIMATE_PREDICTIONS_H
#define TM_ESTIMATE_PREDICTIONS_H

#include "estimate/loo.h"
#include "model/predictive.h"

/* Statistics of a variable's outcomes. */
enum { TM_STATISTICS = 4 };
extern const char *const tm_statistic_names[TM_STATISTICS];
/* Of those values that `term` says are scored (all, where it is NULL). */
void tm_statistics(const double *values, const long *term, size_t count,
                   double statistics[TM_STATISTICS]);

typedef struct tempera_predictions {
  tm_arena *arena;
  tm_replicas replicas; /* variables with outcomes, and their `observed` */
  long *term;
  size_t size;  /* elements in all, of those that are kept */
  /* NULL: all are kept; else the place of each in its variable, which has rank 1
   * in `replicas` and the shape `shape` */
  size_t *place;
  const tm_replica *shape;
  bool own;     /* by the program's own quantities */
  size_t draws; /* of the posterior that statistics are of */
  /* observed[v * TM_STATISTICS + i] and the share of replicated data with a
   * greater one, equal ones counting half */
  double *statistic, *tail;
  /* rows of replicated data, evenly over chains: values[r * size + e] */
  size_t rows, chains, rows_each;
  double *values;
  /* the same from the prior, with the parameters it was drawn at */
  size_t prior_rows;
  double *prior_theta, *prior_values;
  bool *prior_drawn; /* could data be drawn there? */
  double *pit;       /* leave-one-out, by element; NULL: they cannot be had */
  char no_replicas[256]; /* why there are none */
} tempera_predictions;

void tm_predictions_free(tempera_predictions *predictions);

#endif
