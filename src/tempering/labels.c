/* labels.c - see labels.h. The Jacobians of the transforms are symmetric in
 * the entries of a block (that of a simplex is the product of its values), so
 * the density over u is unchanged by relabelling too. */
#include "tempering/labels.h"

#include <math.h>
#include <string.h>

void tm_labels_apply(const tempera_model *model, const tm_labels *labels,
                     const unsigned char *permutation, const double *from,
                     double *to) {
  memcpy(to, from, model->size * sizeof(double));
  for (size_t b = 0; b < model->block_count; b++) {
    size_t first = model->blocks[b].theta;
    for (size_t k = 0; labels->block[b] && k < labels->count; k++)
      to[first + k] = from[first + permutation[k]];
  }
}

bool tm_labels_plain(const tm_block *block) {
  return block->transform != TEMPERA_SIMPLEX && !block->map;
}

/* By counting who is smaller: the order is random, and a branch on it slow. */
void tm_labels_sort(const tm_labels *labels, const double *theta,
                    unsigned char *permutation) {
  const double *key = theta + labels->key;
  for (size_t k = 0; k < labels->count; k++) {
    size_t rank = 0;
    for (size_t i = 0; i < k; i++)
      rank += key[i] <= key[k];
    for (size_t i = k + 1; i < labels->count; i++)
      rank += key[i] < key[k];
    permutation[rank] = (unsigned char)k;
  }
}

bool tm_labels_sorted(const tm_labels *labels, const double *theta) {
  const double *key = theta + labels->key;
  bool sorted = true;
  for (size_t k = 1; k < labels->count; k++)
    sorted &= key[k - 1] <= key[k];
  return sorted;
}

static bool same(double a, double b) {
  return a == b || fabs(a - b) <= 1e-9 * (1 + fabs(a));
}

/* A transposition and a cycle generate all permutations. */
static bool unchanged(tm_evaluator *evaluator, tm_point *scratch,
                      const tm_labels *labels, const double *theta) {
  const tempera_model *model = evaluator->model;
  unsigned char permutation[TM_LABELS_MOST];
  size_t K = labels->count;
  memcpy(scratch->theta, theta, model->size * sizeof(double));
  tm_evaluate_natural(evaluator, scratch);
  double likelihood = scratch->log_likelihood, prior = scratch->log_prior;
  if (!(likelihood > -INFINITY))
    return false;
  for (int cycle = 0; cycle < (K > 2 ? 2 : 1); cycle++) {
    for (size_t k = 0; k < K; k++)
      permutation[k] = (unsigned char)(cycle ? (k + 1) % K : k < 2 ? 1 - k : k);
    tm_labels_apply(model, labels, permutation, theta, scratch->theta);
    tm_evaluate_natural(evaluator, scratch);
    if (!same(likelihood, scratch->log_likelihood) ||
        !same(prior, scratch->log_prior))
      return false;
  }
  return true;
}

/* Points whose entries are all alike would prove nothing. */
static bool telling(const tm_labels *labels, const double *theta) {
  const double *key = theta + labels->key;
  for (size_t k = 1; k < labels->count; k++)
    if (key[k] == key[k - 1])
      return false;
  return true;
}

static void list_permutations(size_t K, unsigned char *out) {
  unsigned char now[TM_LABELS_ALL];
  for (size_t k = 0; k < K; k++)
    now[k] = (unsigned char)k;
  for (bool more = true; more; out += K) {
    memcpy(out, now, K);
    size_t i = K - 1, j = K - 1; /* the next one in the dictionary */
    while (i > 0 && now[i - 1] >= now[i])
      i--;
    more = i > 0;
    if (!more)
      break;
    while (now[j] <= now[i - 1])
      j--;
    unsigned char held = now[i - 1];
    now[i - 1] = now[j];
    now[j] = held;
    for (size_t a = i, b = K - 1; a < b; a++, b--) {
      held = now[a];
      now[a] = now[b];
      now[b] = held;
    }
  }
}

static tempera_status write_out(tm_labels *labels, tm_arena *arena,
                                tempera_error *error) {
  labels->log_factorial = lgamma((double)labels->count + 1);
  if (labels->count > TM_LABELS_ALL)
    return TEMPERA_OK;
  labels->permutations = (size_t)lround(exp(labels->log_factorial));
  unsigned char *list =
      TM_NEW(arena, unsigned char, labels->permutations * labels->count);
  if (!list)
    return tm_fail_memory(error);
  list_permutations(labels->count, list);
  labels->permutation = list;
  return TEMPERA_OK;
}

static void gather(const tempera_model *model, size_t first, bool *block,
                   tm_labels *labels) {
  *labels = (tm_labels){.count = model->blocks[first].theta_count,
                        .block = block,
                        .first = first,
                        .key = model->blocks[first].theta};
  for (size_t b = 0; b < model->block_count; b++)
    block[b] = model->blocks[b].theta_count == labels->count;
}

tempera_status tm_labels_find(tm_evaluator *evaluator, tm_point *scratch,
                              const double *theta, size_t count,
                              tm_arena *arena, tm_labels *labels,
                              tempera_error *error) {
  const tempera_model *model = evaluator->model;
  bool *block = TM_NEW(arena, bool, model->block_count);
  if (!block)
    return tm_fail_memory(error);
  for (size_t first = 0; first < model->block_count; first++) {
    size_t K = model->blocks[first].theta_count, looked = 0;
    if (K < 2 || K > TM_LABELS_MOST)
      continue;
    tm_labels found;
    gather(model, first, block, &found);
    bool fine = true;
    for (size_t i = 0; i < count && looked < 3 && fine; i++) {
      const double *at = theta + i * model->size;
      if (!telling(&found, at))
        continue;
      looked++;
      fine = unchanged(evaluator, scratch, &found, at);
    }
    if (!fine || looked == 0)
      continue;
    TM_TRY(write_out(&found, arena, error));
    *labels = found;
    return TEMPERA_OK;
  }
  *labels = (tm_labels){0};
  return TEMPERA_OK;
}
