/* labels.c - see labels.h. The Jacobian is looked at too (that of a simplex is
 * the product of its values), so that the density over u is unchanged by
 * relabelling as well. A point that a permutation takes out of its support, as
 * entries that must be in order, has no density there. */
#include "model/labels.h"

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

/* In a simplex theta is needed on the way. */
void tm_labels_turn(const tempera_model *model, const tm_labels *labels,
                    const unsigned char *permutation, const tm_point *from,
                    tm_point *to) {
  memcpy(to->u, from->u, model->dimension * sizeof(double));
  for (size_t b = 0; b < model->block_count; b++) {
    const tm_block *block = &model->blocks[b];
    if (!labels->block[b])
      continue;
    bool plain = tm_labels_plain(block);
    const double *old = plain ? from->u + block->u : from->theta + block->theta;
    double *new = plain ? to->u + block->u : to->theta + block->theta;
    for (size_t k = 0; k < labels->count; k++)
      new[k] = old[permutation[k]];
    if (!plain)
      tm_unconstrain_block(block, to->theta, to->u);
  }
}

const double *tm_labels_in_order(const tempera_model *model,
                                 const tm_labels *labels, const tm_point *point,
                                 tm_point *spare) {
  unsigned char order[TM_LABELS_MOST];
  if (tm_labels_sorted(labels, point->theta))
    return point->u;
  tm_labels_sort(labels, point->theta, order);
  tm_labels_turn(model, labels, order, point, spare);
  return spare->u;
}

void tm_labels_random(const tm_labels *labels, tempera_random *random,
                      unsigned char *permutation) {
  for (size_t k = 0; k < labels->count; k++)
    permutation[k] = (unsigned char)k;
  for (size_t k = labels->count; k > 1; k--) {
    size_t other = (size_t)tempera_random_below(random, k);
    unsigned char kept = permutation[k - 1];
    permutation[k - 1] = permutation[other];
    permutation[other] = kept;
  }
}

/* ---- finding them ------------------------------------------------------- */

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
  double jacobian = scratch->log_jacobian;
  if (!(likelihood > -INFINITY))
    return false;
  for (int cycle = 0; cycle < (K > 2 ? 2 : 1); cycle++) {
    for (size_t k = 0; k < K; k++)
      permutation[k] = (unsigned char)(cycle ? (k + 1) % K : k < 2 ? 1 - k : k);
    tm_labels_apply(model, labels, permutation, theta, scratch->theta);
    tm_evaluate_natural(evaluator, scratch);
    if (!same(likelihood, scratch->log_likelihood) ||
        !same(prior, scratch->log_prior) ||
        !same(jacobian, scratch->log_jacobian))
      return false;
  }
  return true;
}

/* Points whose entries are all alike would prove nothing. */
static bool telling(const tm_labels *labels, const double *theta) {
  const double *key = theta + labels->key;
  for (size_t k = 1; k < labels->count; k++)
    for (size_t i = 0; i < k; i++)
      if (key[k] == key[i])
        return false;
  return true;
}

bool tm_labels_hold(tm_evaluator *evaluator, tm_point *scratch,
                    const tm_labels *labels, const double *theta) {
  return unchanged(evaluator, scratch, labels, theta);
}

static bool interchangeable(tm_evaluator *evaluator, tm_point *scratch,
                            const tm_labels *labels, const double *theta,
                            size_t count) {
  size_t looked = 0;
  for (size_t i = 0; i < count && looked < TM_LABELS_POINTS; i++) {
    const double *at = theta + i * evaluator->model->size;
    if (!telling(labels, at))
      continue;
    looked++;
    if (!unchanged(evaluator, scratch, labels, at))
      return false;
  }
  return looked > 0;
}

/* As in a dictionary: entry k of permutation p is the one that the digits of p,
 * to the bases K, K - 1, .. 1, name among those left. */
static void list_permutations(size_t K, size_t count, unsigned char *out) {
  for (size_t p = 0; p < count; p++) {
    bool taken[TM_LABELS_ALL] = {false};
    for (size_t k = 0, rest = p, block = count; k < K; k++) {
      block /= K - k;
      size_t left = rest / block, entry = 0;
      for (rest %= block; taken[entry] || left > 0; entry++)
        left -= !taken[entry];
      taken[entry] = true;
      *out++ = (unsigned char)entry;
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
  list_permutations(labels->count, labels->permutations, list);
  labels->permutation = list;
  return TEMPERA_OK;
}

/* Of the blocks of size K, counted from the last, those with a bit in `mask`;
 * beyond the mask's bits all. */
static void take(const tempera_model *model, size_t K, size_t mask, bool *block,
                 tm_labels *labels) {
  size_t seen = 0, first = 0, real = SIZE_MAX;
  for (size_t b = model->block_count; b-- > 0;) {
    bool mate = model->blocks[b].theta_count == K;
    block[b] = mate && (seen >= 8 * sizeof mask || (mask >> seen & 1));
    seen += mate;
    if (!block[b])
      continue;
    first = b;
    if (model->blocks[b].kind == TEMPERA_REAL)
      real = b;
  }
  /* Integers are too often alike to sort by. */
  first = real < SIZE_MAX ? real : first;
  *labels = (tm_labels){.count = K,
                        .block = block,
                        .first = first,
                        .key = model->blocks[first].theta};
}

/* How many blocks have the size of this one; 0 if an earlier one has it. */
static size_t mates_of(const tempera_model *model, size_t block) {
  size_t count = 0, K = model->blocks[block].theta_count;
  for (size_t b = 0; b < model->block_count; b++) {
    if (model->blocks[b].theta_count != K)
      continue;
    if (b < block)
      return 0;
    count++;
  }
  return count;
}

/* All blocks of a size together, else the largest set that passes; if there are
 * many, all or none. */
static bool find_of_size(tm_evaluator *evaluator, tm_point *scratch,
                         const double *theta, size_t count, size_t mates,
                         bool *block, tm_labels *found) {
  enum { MOST_MATES = 4 };
  const tempera_model *model = evaluator->model;
  size_t K = found->count;
  if (mates > MOST_MATES) {
    take(model, K, SIZE_MAX, block, found);
    return interchangeable(evaluator, scratch, found, theta, count);
  }
  for (size_t wanted = mates; wanted > 0; wanted--)
    for (size_t mask = ((size_t)1 << mates) - 1; mask > 0; mask--) {
      if ((size_t)__builtin_popcountll(mask) != wanted)
        continue;
      take(model, K, mask, block, found);
      if (interchangeable(evaluator, scratch, found, theta, count))
        return true;
    }
  return false;
}

tempera_status tm_labels_find(tm_evaluator *evaluator, tm_point *scratch,
                              const double *theta, size_t count,
                              tm_arena *arena, tm_labels *labels,
                              tempera_error *error) {
  const tempera_model *model = evaluator->model;
  bool *block = TM_NEW(arena, bool, model->block_count);
  if (!block)
    return tm_fail_memory(error);
  *labels = (tm_labels){0};
  for (size_t b = 0; b < model->block_count; b++) {
    size_t mates = mates_of(model, b);
    tm_labels found = {.count = model->blocks[b].theta_count};
    if (found.count < 2 || found.count > TM_LABELS_MOST || mates == 0 ||
        !find_of_size(evaluator, scratch, theta, count, mates, block, &found))
      continue;
    TM_TRY(write_out(&found, arena, error));
    *labels = found;
    return TEMPERA_OK;
  }
  return TEMPERA_OK;
}
