/* bridge_labels.c - see bridge_labels.h. */
#include "estimate/bridge/bridge_labels.h"

#include <math.h>
#include <string.h>

enum {
  TRIES = 4,       /* permuted draws that must agree */
  MOST_BLOCKS = 4, /* of one size, to try subsets of */
  LEARN_STEPS = 20
};

static const double SAME = 1e-9;

static void permute(const tm_bridge_labels *labels, const tempera_model *model,
                    const size_t *order, double *theta) {
  double moved[TM_MOST_LABELS];
  for (size_t b = 0; b < labels->blocks; b++) {
    double *values = theta + model->blocks[labels->block[b]].theta;
    for (size_t k = 0; k < labels->count; k++)
      moved[k] = values[order[k]];
    memcpy(values, moved, labels->count * sizeof(double));
  }
}

static void random_order(tempera_random *random, size_t count, size_t *order) {
  for (size_t k = 0; k < count; k++)
    order[k] = k;
  for (size_t k = count; k > 1; k--) {
    size_t other = (size_t)tempera_random_below(random, k);
    size_t kept = order[k - 1];
    order[k - 1] = order[other];
    order[other] = kept;
  }
}

void tm_bridge_labels_shuffle(const tm_bridge_labels *labels,
                              const tempera_model *model,
                              tempera_random *random, double *theta) {
  size_t order[TM_MOST_LABELS];
  random_order(random, labels->count, order);
  permute(labels, model, order, theta);
}

/* ---- Recognition ---- */

typedef struct probe {
  tm_evaluator *evaluator;
  const tm_label_rows *rows;
  tempera_random *random;
  tm_point point;
} probe;

static bool same(double a, double b) {
  return fabs(a - b) <= SAME * (1 + fabs(b));
}

/* Permute this draw in a way that changes it; false when none was found. */
static bool permuted_draw(probe *p, const tm_bridge_labels *labels,
                          size_t row) {
  const tempera_model *model = p->evaluator->model;
  const double *theta = p->rows->theta + row * model->size;
  for (int i = 0; i < 8; i++) {
    memcpy(p->point.theta, theta, model->size * sizeof(double));
    tm_bridge_labels_shuffle(labels, model, p->random, p->point.theta);
    if (memcmp(p->point.theta, theta, model->size * sizeof(double)) != 0)
      return true;
  }
  return false;
}

static bool exchangeable(probe *p, const tm_bridge_labels *labels) {
  size_t tried = 0;
  for (size_t t = 0; t < TRIES; t++) {
    size_t row = (2 * t + 1) * p->rows->count / (2 * TRIES);
    if (!permuted_draw(p, labels, row))
      continue;
    tried++;
    tm_evaluate_natural(p->evaluator, &p->point);
    if (!same(p->point.log_prior, p->rows->log_prior[row]) ||
        !same(p->point.log_likelihood, p->rows->log_likelihood[row]))
      return false;
  }
  return tried >= 2;
}

/* Blocks with K entries; a permutation must keep bounds, and it does within a
 * block. */
static size_t blocks_of_size(const tempera_model *model, size_t size,
                             size_t *found) {
  size_t count = 0;
  for (size_t b = 0; b < model->block_count; b++)
    if (model->blocks[b].theta_count == size)
      found[count++] = b;
  return count;
}

static size_t bits(size_t mask) {
  size_t count = 0;
  for (; mask; mask >>= 1)
    count += mask & 1;
  return count;
}

static void take_subset(const size_t *from, size_t count, size_t mask,
                        tm_bridge_labels *labels) {
  labels->blocks = 0;
  for (size_t b = 0; b < count; b++)
    if (mask >> b & 1)
      labels->block[labels->blocks++] = from[b];
}

/* All blocks of this size together, else the largest subset that passes. */
static bool find_of_size(probe *p, size_t size, size_t *found,
                         tm_bridge_labels *labels) {
  size_t count = blocks_of_size(p->evaluator->model, size, found);
  if (count == 0)
    return false;
  labels->count = size;
  if (count > MOST_BLOCKS) {
    labels->blocks = count;
    memcpy(labels->block, found, count * sizeof *found);
    return exchangeable(p, labels);
  }
  for (size_t wanted = count; wanted > 0; wanted--)
    for (size_t mask = 1; mask < (size_t)1 << count; mask++) {
      if (bits(mask) != wanted)
        continue;
      take_subset(found, count, mask, labels);
      if (exchangeable(p, labels))
        return true;
    }
  return false;
}

static bool allocate(tm_bridge_labels *labels, const tempera_model *model,
                     tm_arena *arena) {
  size_t blocks = model->block_count;
  labels->block = TM_NEW(arena, size_t, blocks);
  labels->centre = TM_NEW(arena, double, blocks *TM_MOST_LABELS);
  labels->spread = TM_NEW(arena, double, blocks *TM_MOST_LABELS);
  labels->log_spread = TM_NEW(arena, double, blocks *TM_MOST_LABELS);
  labels->feature = TM_NEW(arena, double, blocks *TM_MOST_LABELS);
  labels->u = TM_NEW(arena, double, model->dimension);
  return labels->block && labels->centre && labels->spread &&
         labels->log_spread && labels->feature && labels->u;
}

tempera_status tm_bridge_labels_find(tm_evaluator *evaluator,
                                     const tm_label_rows *rows,
                                     tempera_random *random, tm_arena *arena,
                                     tm_bridge_labels *labels,
                                     tempera_error *error) {
  const tempera_model *model = evaluator->model;
  tm_bridge_labels made = {0};
  probe p = {evaluator, rows, random, {0}};
  size_t *found = TM_NEW(arena, size_t, model->block_count);
  if (!found || !allocate(&made, model, arena))
    return tm_fail_memory(error);
  TM_TRY(tm_point_create(model, arena, &p.point, error));
  bool any = false;
  for (size_t size = TM_MOST_LABELS; size > 1 && !any; size--)
    any = find_of_size(&p, size, found, &made);
  if (!any)
    made.count = 0;
  *labels = made;
  return TEMPERA_OK;
}

/* ---- The pivot ---- */

/* What describes entry k of each block, on an unbounded scale. */
static void read_features(const tm_bridge_labels *labels,
                          const tempera_model *model, const double *theta) {
  size_t K = labels->count;
  tm_unconstrain(model, theta, labels->u);
  for (size_t b = 0; b < labels->blocks; b++) {
    const tm_block *block = &model->blocks[labels->block[b]];
    bool simplex = block->transform == TEMPERA_SIMPLEX;
    for (size_t k = 0; k < K; k++)
      labels->feature[b * K + k] =
          simplex ? log(fmax(theta[block->theta + k], 1e-300))
                  : labels->u[block->u + k];
  }
}

/* Minus the log density of entry k as label j. */
static double cost(const tm_bridge_labels *labels, size_t k, size_t j) {
  double sum = 0;
  for (size_t b = 0; b < labels->blocks; b++) {
    size_t at = b * labels->count;
    double x = (labels->feature[at + k] - labels->centre[at + j]) /
               labels->spread[at + j];
    sum += 0.5 * x * x + labels->log_spread[at + j];
  }
  return sum;
}

/* The cheapest assignment of entries to labels 0, 1, ...: best[mask] is the
 * least cost of giving the first labels the entries in mask. */
static void best_order(const tm_bridge_labels *labels, size_t *order) {
  size_t K = labels->count, full = ((size_t)1 << K) - 1;
  double best[(size_t)1 << TM_MOST_LABELS];
  unsigned char last[(size_t)1 << TM_MOST_LABELS];
  double costs[TM_MOST_LABELS][TM_MOST_LABELS];
  for (size_t j = 0; j < K; j++)
    for (size_t k = 0; k < K; k++)
      costs[j][k] = cost(labels, k, j);
  best[0] = 0;
  for (size_t mask = 1; mask <= full; mask++) {
    size_t label = bits(mask) - 1;
    best[mask] = INFINITY;
    last[mask] = 0;
    for (size_t k = 0; k < K; k++) {
      if (!(mask >> k & 1))
        continue;
      double total = best[mask & ~((size_t)1 << k)] + costs[label][k];
      if (total < best[mask]) {
        best[mask] = total;
        last[mask] = (unsigned char)k;
      }
    }
  }
  for (size_t mask = full, j = K; j-- > 0;) {
    order[j] = last[mask];
    mask &= ~((size_t)1 << last[mask]);
  }
}

bool tm_bridge_labels_canonical(const tm_bridge_labels *labels,
                                const tempera_model *model, double *theta) {
  size_t order[TM_MOST_LABELS];
  bool there = true;
  read_features(labels, model, theta);
  best_order(labels, order);
  for (size_t k = 0; k < labels->count; k++)
    there = there && order[k] == k;
  if (!there)
    permute(labels, model, order, theta);
  return there;
}

/* Centres and spreads of the features as labelled now. */
static void update_pivot(const tm_bridge_labels *labels,
                         const tempera_model *model, const double *theta,
                         size_t count) {
  size_t total = labels->blocks * labels->count;
  memset(labels->centre, 0, total * sizeof(double));
  memset(labels->spread, 0, total * sizeof(double));
  for (size_t r = 0; r < count; r++) {
    read_features(labels, model, theta + r * model->size);
    for (size_t i = 0; i < total; i++) { /* Welford's running moments */
      double x = labels->feature[i], before = x - labels->centre[i];
      labels->centre[i] += before / (double)(r + 1);
      labels->spread[i] += before * (x - labels->centre[i]);
    }
  }
  for (size_t i = 0; i < total; i++) {
    double floor = 1e-6 * (1 + fabs(labels->centre[i]));
    labels->spread[i] = fmax(floor, sqrt(labels->spread[i] / (double)count));
    labels->log_spread[i] = log(labels->spread[i]);
  }
}

/* Start: centres at one draw, spreads over all entries of all draws. */
static void start_pivot(const tm_bridge_labels *labels,
                        const tempera_model *model, const double *theta,
                        size_t count, size_t start) {
  size_t K = labels->count;
  update_pivot(labels, model, theta, count);
  for (size_t b = 0; b < labels->blocks; b++) {
    double mean = 0, square = 0;
    for (size_t k = 0; k < K; k++)
      mean += labels->centre[b * K + k] / (double)K;
    for (size_t k = 0; k < K; k++) {
      double off = labels->centre[b * K + k] - mean;
      double spread = labels->spread[b * K + k];
      square += (off * off + spread * spread) / (double)K;
    }
    for (size_t k = 0; k < K; k++) {
      labels->spread[b * K + k] = sqrt(square);
      labels->log_spread[b * K + k] = log(sqrt(square));
    }
  }
  read_features(labels, model, theta + start * model->size);
  memcpy(labels->centre, labels->feature, labels->blocks * K * sizeof(double));
}

void tm_bridge_labels_learn(const tm_bridge_labels *labels,
                            const tempera_model *model, double *theta,
                            size_t count, size_t start) {
  start_pivot(labels, model, theta, count, start);
  for (int step = 0; step < LEARN_STEPS; step++) {
    size_t moved = 0;
    for (size_t r = 0; r < count; r++)
      moved +=
          !tm_bridge_labels_canonical(labels, model, theta + r * model->size);
    if (moved == 0 && step > 0)
      return; /* every draw is in D as the pivot is now */
    update_pivot(labels, model, theta, count);
  }
  for (size_t r = 0; r < count; r++)
    tm_bridge_labels_canonical(labels, model, theta + r * model->size);
}
