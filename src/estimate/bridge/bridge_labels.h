/* bridge_labels.h - exchangeable labels: blocks mu[1..K], sigma[1..K], ... of
 * which the K entries may be permuted together without changing the density,
 * as in mixture models.
 *
 * Such a posterior has K! copies of every mode. A chain rarely visits them
 * evenly, and no mixture of few components covers them. Once recognised, every
 * draw can be moved to one copy: the permutation that is most likely under
 * independent normals per label (a pivot) defines a fundamental domain D of
 * the permutations, and the integral over everything is K! times that over D,
 * whichever labellings were visited. */
#ifndef TM_ESTIMATE_BRIDGE_LABELS_H
#define TM_ESTIMATE_BRIDGE_LABELS_H

#include "model/model.h"

enum { TM_MOST_LABELS = 8 };

typedef struct tm_bridge_labels {
  size_t count;   /* K; 0: nothing is exchangeable */
  size_t blocks;  /* permuted together */
  size_t *block;  /* their indices in the model */
  double *centre; /* blocks x K: the pivot, where learned */
  double *spread, *log_spread;
  double *feature; /* workspaces; one thread at a time */
  double *u;
} tm_bridge_labels;

/* Draws with their densities. */
typedef struct tm_label_rows {
  size_t count;
  const double *theta; /* count x model->size */
  const double *log_likelihood, *log_prior;
} tm_label_rows;

/* Look for such blocks by calling the densities at permuted draws; they must
 * come back to 1e-9. Blocks of the largest size that passes are taken. */
TEMPERA_CHECKED tempera_status tm_bridge_labels_find(
    tm_evaluator *evaluator, const tm_label_rows *rows, tempera_random *random,
    tm_arena *arena, tm_bridge_labels *labels, tempera_error *error);

/* Fit the pivot to these draws, starting from row `start`; theta is relabelled
 * in place. */
void tm_bridge_labels_learn(const tm_bridge_labels *labels,
                            const tempera_model *model, double *theta,
                            size_t count, size_t start);
/* Move theta to its copy in D; true when it was there already. */
bool tm_bridge_labels_canonical(const tm_bridge_labels *labels,
                                const tempera_model *model, double *theta);
/* Move theta to a copy chosen uniformly. */
void tm_bridge_labels_shuffle(const tm_bridge_labels *labels,
                              const tempera_model *model,
                              tempera_random *random, double *theta);

#endif
