/* labels_pivot.c - one labelling of each point: the most likely one under
 * independent normals per label, which are learned from draws (see labels.h).
 */
#include "model/labels.h"

#include <math.h>
#include <string.h>

enum { LEARN_STEPS = 20 };

tempera_status tm_label_pivot_create(const tempera_model *model,
                                     const tm_labels *labels, tm_arena *arena,
                                     tm_label_pivot *pivot,
                                     tempera_error *error) {
  tm_label_pivot made = {.model = model, .labels = labels};
  for (size_t b = 0; b < model->block_count && labels->count; b++)
    made.blocks += labels->block[b];
  size_t total = made.blocks * labels->count + 1;
  made.centre = TM_NEW(arena, double, total);
  made.spread = TM_NEW(arena, double, total);
  made.log_spread = TM_NEW(arena, double, total);
  made.feature = TM_NEW(arena, double, total);
  made.theta = TM_NEW(arena, double, model->size);
  made.u = TM_NEW(arena, double, model->dimension + 1);
  if (!made.centre || !made.spread || !made.log_spread || !made.feature ||
      !made.theta || !made.u)
    return tm_fail_memory(error);
  *pivot = made;
  return TEMPERA_OK;
}

/* What describes entry k of each block, on an unbounded scale where there is
 * one. */
static void read_features(const tm_label_pivot *p, const double *theta) {
  size_t K = p->labels->count;
  double *feature = p->feature;
  for (size_t b = 0; b < p->model->block_count; b++) {
    const tm_block *block = &p->model->blocks[b];
    const double *values = theta + block->theta;
    if (!p->labels->block[b])
      continue;
    if (tm_labels_plain(block)) {
      tm_unconstrain_block(block, theta, p->u);
      memcpy(feature, p->u + block->u, K * sizeof(double));
    } else if (block->map) {
      memcpy(feature, values, K * sizeof(double));
    } else {
      for (size_t k = 0; k < K; k++)
        feature[k] = log(fmax(values[k], 1e-300));
    }
    feature += K;
  }
}

/* Minus the log density of entry k as label j. */
static double cost(const tm_label_pivot *p, size_t k, size_t j) {
  double sum = 0;
  size_t K = p->labels->count;
  for (size_t at = 0; at < p->blocks * K; at += K) {
    double x = (p->feature[at + k] - p->centre[at + j]) / p->spread[at + j];
    sum += 0.5 * x * x + p->log_spread[at + j];
  }
  return sum;
}

/* The cheapest assignment of entries to labels 0, 1, ...: best[mask] is the
 * least cost of giving the first labels the entries in mask, one for each bit
 * that is set. */
static void cheapest(const tm_label_pivot *p, unsigned char *permutation) {
  enum { MOST = TM_LABELS_PIVOT };
  size_t K = p->labels->count, full = ((size_t)1 << K) - 1;
  double best[(size_t)1 << MOST], costs[MOST][MOST];
  unsigned char last[(size_t)1 << MOST], label[(size_t)1 << MOST];
  for (size_t j = 0; j < K; j++)
    for (size_t k = 0; k < K; k++)
      costs[j][k] = cost(p, k, j);
  best[0] = 0;
  label[0] = 0;
  for (size_t mask = 1; mask <= full; mask++) {
    size_t j = label[mask & (mask - 1)];
    label[mask] = (unsigned char)(j + 1);
    best[mask] = INFINITY;
    last[mask] = 0;
    for (size_t k = 0; k < K; k++) {
      if (!(mask >> k & 1))
        continue;
      double total = best[mask & ~((size_t)1 << k)] + costs[j][k];
      if (total < best[mask]) {
        best[mask] = total;
        last[mask] = (unsigned char)k;
      }
    }
  }
  for (size_t mask = full, j = K; j-- > 0;) {
    permutation[j] = last[mask];
    mask &= ~((size_t)1 << last[mask]);
  }
}

void tm_label_pivot_order(const tm_label_pivot *pivot, const double *theta,
                          unsigned char *permutation) {
  if (pivot->labels->count > TM_LABELS_PIVOT) {
    tm_labels_sort(pivot->labels, theta, permutation);
    return;
  }
  read_features(pivot, theta);
  cheapest(pivot, permutation);
}

static void relabel(const tm_label_pivot *p, const unsigned char *permutation,
                    double *theta) {
  tm_labels_apply(p->model, p->labels, permutation, theta, p->theta);
  memcpy(theta, p->theta, p->model->size * sizeof(double));
}

bool tm_label_pivot_settle(const tm_label_pivot *pivot, double *theta) {
  unsigned char permutation[TM_LABELS_MOST];
  bool there = true;
  tm_label_pivot_order(pivot, theta, permutation);
  for (size_t k = 0; k < pivot->labels->count; k++)
    there = there && permutation[k] == k;
  if (!there)
    relabel(pivot, permutation, theta);
  return there;
}

void tm_label_pivot_shuffle(const tm_label_pivot *pivot, tempera_random *random,
                            double *theta) {
  unsigned char permutation[TM_LABELS_MOST];
  tm_labels_random(pivot->labels, random, permutation);
  relabel(pivot, permutation, theta);
}

/* Centres and spreads of the features as labelled now. */
static void update(const tm_label_pivot *p, const double *theta, size_t count) {
  size_t total = p->blocks * p->labels->count;
  memset(p->centre, 0, total * sizeof(double));
  memset(p->spread, 0, total * sizeof(double));
  for (size_t r = 0; r < count; r++) {
    read_features(p, theta + r * p->model->size);
    for (size_t i = 0; i < total; i++) { /* Welford's running moments */
      double x = p->feature[i], before = x - p->centre[i];
      p->centre[i] += before / (double)(r + 1);
      p->spread[i] += before * (x - p->centre[i]);
    }
  }
  for (size_t i = 0; i < total; i++) {
    double floor = 1e-6 * (1 + fabs(p->centre[i]));
    p->spread[i] = fmax(floor, sqrt(p->spread[i] / (double)count));
    p->log_spread[i] = log(p->spread[i]);
  }
}

/* Start: centres at one draw, spreads over all entries of all draws. */
static void start_at(const tm_label_pivot *p, double *theta, size_t count,
                     size_t start) {
  size_t K = p->labels->count;
  unsigned char permutation[TM_LABELS_MOST];
  double *first = theta + start * p->model->size;
  update(p, theta, count);
  for (size_t at = 0; at < p->blocks * K; at += K) {
    double mean = 0, square = 0;
    for (size_t k = at; k < at + K; k++)
      mean += p->centre[k] / (double)K;
    for (size_t k = at; k < at + K; k++) {
      double off = p->centre[k] - mean, spread = p->spread[k];
      square += (off * off + spread * spread) / (double)K;
    }
    for (size_t k = at; k < at + K; k++) {
      p->spread[k] = sqrt(square);
      p->log_spread[k] = log(sqrt(square));
    }
  }
  tm_labels_sort(p->labels, first, permutation);
  relabel(p, permutation, first);
  read_features(p, first);
  memcpy(p->centre, p->feature, p->blocks * K * sizeof(double));
}

void tm_label_pivot_learn(const tm_label_pivot *pivot, double *theta,
                          size_t count, size_t start) {
  size_t size = pivot->model->size;
  start_at(pivot, theta, count, start);
  for (int step = 0; step < LEARN_STEPS; step++) {
    size_t moved = 0;
    for (size_t r = 0; r < count; r++)
      moved += !tm_label_pivot_settle(pivot, theta + r * size);
    if (moved == 0 && step > 0)
      return; /* every draw is in D as the pivot is now */
    update(pivot, theta, count);
  }
  for (size_t r = 0; r < count; r++)
    tm_label_pivot_settle(pivot, theta + r * size);
}
