/* labels.h - exchangeable labels: blocks of the same size K whose entries may
 * be permuted together without changing the density, as in mixtures. */
#ifndef TM_TEMPERING_LABELS_H
#define TM_TEMPERING_LABELS_H

#include "model/model.h"

enum {
  TM_LABELS_ALL = 5,  /* up to this K every permutation is written out */
  TM_LABELS_MOST = 32 /* more labels than this are not looked for */
};

typedef struct tm_labels {
  size_t count;                     /* K; 0 when there are none */
  const bool *block;                /* block_count of them: does it permute? */
  size_t first;                     /* the block that sorts them, ... */
  size_t key;                       /* ... and its first theta */
  size_t permutations;              /* K!, for K <= TM_LABELS_ALL; else 0 */
  const unsigned char *permutation; /* permutations x K; the first changes
                                       nothing */
  double log_factorial;             /* log K! */
} tm_labels;

/* Are the labels of this model exchangeable? Looked for at `count` points of
 * positive density (natural scale). Costs two evaluations each at most. */
TEMPERA_CHECKED tempera_status tm_labels_find(
    tm_evaluator *evaluator, tm_point *scratch, const double *theta,
    size_t count, tm_arena *arena, tm_labels *labels, tempera_error *error);
/* to's entry k is from's entry permutation[k], in every block that permutes;
 * the rest is copied. */
void tm_labels_apply(const tempera_model *model, const tm_labels *labels,
                     const unsigned char *permutation, const double *from,
                     double *to);
/* Is u permuted entry by entry when this block is? Not in a simplex. */
bool tm_labels_plain(const tm_block *block);
/* The permutation that sorts the key block upwards. */
void tm_labels_sort(const tm_labels *labels, const double *theta,
                    unsigned char *permutation);
bool tm_labels_sorted(const tm_labels *labels, const double *theta);

#endif
