/* labels.h - interchangeable labels: blocks of the same size K whose entries
 * may be permuted together without changing the density, as mu[1..K],
 * sigma[1..K], p[1..K] of a mixture. Whether they may is asked of the density,
 * here and nowhere else; jumps, bridge, summaries and verdict use the answer.
 *
 * Such a posterior has K! copies of every mode. A chain rarely visits them
 * evenly, and no mixture of few normals covers them. But any rule that picks
 * one labelling of each point (the sorted one; the one most likely under
 * independent normals per label, a pivot) defines a fundamental domain D of the
 * permutations, and what is integrated or compared over D holds for all. */
#ifndef TM_MODEL_LABELS_H
#define TM_MODEL_LABELS_H

#include "model/model.h"

enum {
  TM_LABELS_ALL = 5,   /* up to this K every permutation is written out, ... */
  TM_LABELS_PIVOT = 8, /* ... to this the pivot decides, then the key alone */
  TM_LABELS_MOST = 32, /* more labels than this are not looked for */
  TM_LABELS_POINTS = 8 /* points of positive density that are looked at */
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

/* Are there labels of this model that can change places? Looked for at points
 * of positive density (natural scale), of which the first TM_LABELS_POINTS that
 * can tell are used. Of several sets of labels the first is taken, with as many
 * blocks as permute together. Three evaluations for each point at most, and
 * that for each set of blocks that fails late. */
TEMPERA_CHECKED tempera_status tm_labels_find(
    tm_evaluator *evaluator, tm_point *scratch, const double *theta,
    size_t count, tm_arena *arena, tm_labels *labels, tempera_error *error);
/* Do they change places at this point too? What a needle breaks is not seen
 * where it is not. Three evaluations. */
bool tm_labels_hold(tm_evaluator *evaluator, tm_point *scratch,
                    const tm_labels *labels, const double *theta);
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
/* u of a point, of which theta is set, relabelled: to->u, and of to->theta only
 * what is needed on the way. */
void tm_labels_turn(const tempera_model *model, const tm_labels *labels,
                    const unsigned char *permutation, const tm_point *from,
                    tm_point *to);
/* u of the point with its labels in order: its own, or that of `spare`. */
const double *tm_labels_in_order(const tempera_model *model,
                                 const tm_labels *labels, const tm_point *point,
                                 tm_point *spare);
/* Any permutation, all with the same chance. */
void tm_labels_random(const tm_labels *labels, tempera_random *random,
                      unsigned char *permutation);

/* Independent normals per label. One thread at a time; all is the arena's. */
typedef struct tm_label_pivot {
  const tempera_model *model;
  const tm_labels *labels;
  size_t blocks;                        /* that permute */
  double *centre, *spread, *log_spread; /* blocks x K */
  double *feature, *theta, *u;          /* workspaces */
} tm_label_pivot;

TEMPERA_CHECKED tempera_status tm_label_pivot_create(const tempera_model *model,
                                                     const tm_labels *labels,
                                                     tm_arena *arena,
                                                     tm_label_pivot *pivot,
                                                     tempera_error *error);
/* Fit the pivot to these draws, starting from row `start`, whose key is sorted
 * first; theta is relabelled in place. */
void tm_label_pivot_learn(const tm_label_pivot *pivot, double *theta,
                          size_t count, size_t start);
/* The permutation that brings theta, of which only the blocks that permute are
 * read, to D. */
void tm_label_pivot_order(const tm_label_pivot *pivot, const double *theta,
                          unsigned char *permutation);
/* Move theta to its copy in D; true when it was there already. */
bool tm_label_pivot_settle(const tm_label_pivot *pivot, double *theta);
/* Move theta to a copy chosen uniformly. */
void tm_label_pivot_shuffle(const tm_label_pivot *pivot, tempera_random *random,
                            double *theta);

#endif
