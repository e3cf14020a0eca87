/* modes.c - the modes of the posterior, with weights and their errors.
 *
 * Modes are the parts into which clear valleys divide the target draws
 * (valley.h): a tree of cuts is grown on at most 4000 of the draws, then every
 * draw is led down it. Integer parameters with few values come first, if the
 * other parameters part with them (separation.h; SIR: the number first
 * infected): each value is then a part of its own. Draws with a value too rare
 * to report are in no mode, so that the weights stay probabilities of values.
 * Other integers get a width and are coordinates like the rest: the values of
 * one hump are one mode.
 *
 * The weight is a mean of an indicator, and its error is that of such a mean;
 * chains that rarely change between modes know little about weights, however
 * long they stay, so the error also rests on the number of visits: with R of
 * them, a two-state chain has variance 4 w^2 (1-w)^2 / R. */
#include "estimate/estimate.h"
#include "estimate/evidence/influence.h"
#include "estimate/mixing/mixing.h"
#include "estimate/modes/separation.h"
#include "estimate/modes/valley.h"
#include "numeric/sort.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
  MOST_MODES = 24,
  MOST_POINTS = 4000,
  MOST_VECTORS = 12, /* of integers that count as a small support */
  FEW_VISITS = 200,
  NO_MODE = -1
};
static const double SMALLEST = 0.001; /* weight */
static const double STRAIGHT = 5;     /* scales; beyond it tails are bent in */

typedef struct node {
  tm_cut cut;
  int low, high; /* nodes, or -1 for a leaf */
  size_t *member, count;
  bool done;
} node;

typedef struct search {
  const tempera_draws *draws;
  tm_arena *arena;
  size_t rows, count; /* draws per chain, and of all chains */
  size_t stride;      /* between points of the cloud */
  size_t dims;
  size_t *column;         /* of each coordinate */
  double *middle, *scale; /* of each coordinate */
  tm_cloud cloud;
  double *x, *one; /* the cloud's points; one point */
  tm_valley_work *valleys;
  size_t integer_count, *integer; /* columns of integers to group by */
  size_t groups;
  double *vector[MOST_MODES]; /* the integers of each group */
  node nodes[3 * MOST_MODES];
  int node_count, root[MOST_MODES];
  size_t leaves;
  int *leaf; /* of every draw: a node, or NO_MODE */
} search;

static double value_at(const search *s, size_t column, size_t draw) {
  return tm_draws_column(s->draws, TEMPERA_TARGET, draw / s->rows,
                         column)[draw % s->rows];
}

static bool is_integer(const search *s, size_t column) {
  return s->draws->integer && s->draws->integer[column];
}

/* ---- coordinates --------------------------------------------------------- */

/* Median and a scale from the quartiles; false for a value that is constant
 * or not finite. */
static bool measure(const search *s, size_t column, double *sorted,
                    double *middle, double *scale) {
  size_t n = 0, step = s->count / 2000 + 1;
  double low = INFINITY, high = -INFINITY;
  for (size_t i = 0; i < s->count; i++) {
    double v = value_at(s, column, i);
    if (!isfinite(v))
      return false;
    low = fmin(low, v);
    high = fmax(high, v);
    if (i % step == 0)
      sorted[n++] = v;
  }
  tm_sort(sorted, n);
  *middle = sorted[n / 2];
  *scale = (sorted[n * 3 / 4] - sorted[n / 4]) / 1.349;
  if (!(*scale > 0))
    *scale = (high - low) / 4;
  return *scale > 1e-12 * fabs(*middle) && isfinite(*scale);
}

/* Far tails grow like a logarithm, so that no few draws rule a covariance.
 * The slope is STRAIGHT / x, so the density there becomes that of log x: a
 * mode arises only where log x has one. */
static double bend(double x) {
  double size = fabs(x);
  return size <= STRAIGHT ? x
                          : copysign(STRAIGHT * (1 + log(size / STRAIGHT)), x);
}

/* In (-1/2, 1/2), the same every time: integers get a width. */
static double jitter(size_t draw, size_t column) {
  uint64_t k = (draw + 1) * 0x9e3779b97f4a7c15u + column * 0xbf58476d1ce4e5b9u;
  k = (k ^ (k >> 30)) * 0x94d049bb133111ebu;
  return (double)((k ^ (k >> 31)) >> 11) / 9007199254740992.0 - 0.5;
}

static void place(const search *s, size_t draw, double *x) {
  for (size_t j = 0; j < s->dims; j++) {
    size_t c = s->column[j];
    double v = value_at(s, c, draw) + (is_integer(s, c) ? jitter(draw, c) : 0);
    x[j] = bend((v - s->middle[j]) / s->scale[j]);
  }
}

static bool grouped_by(const search *s, size_t column) {
  for (size_t k = 0; k < s->integer_count && s->groups; k++)
    if (s->integer[k] == column)
      return true;
  return false;
}

static bool choose_coordinates(search *s) {
  size_t size = s->draws->size;
  double *sorted = TM_NEW(s->arena, double, 2048);
  s->column = TM_NEW(s->arena, size_t, size);
  s->middle = TM_NEW(s->arena, double, size);
  s->scale = TM_NEW(s->arena, double, size);
  s->one = TM_NEW(s->arena, double, size);
  if (!sorted || !s->column || !s->middle || !s->scale || !s->one)
    return false;
  for (size_t i = 0; i < size; i++) {
    if (grouped_by(s, i) ||
        !measure(s, i, sorted, s->middle + s->dims, s->scale + s->dims))
      continue;
    s->column[s->dims++] = i;
  }
  return true;
}

static bool make_cloud(search *s) {
  s->stride = (s->count + MOST_POINTS - 1) / MOST_POINTS;
  size_t rows = s->rows / s->stride;
  s->x = TM_NEW(s->arena, double, s->draws->chains *rows * s->dims);
  s->cloud = (tm_cloud){s->draws->chains, rows, s->dims, s->x};
  if (!s->x)
    return false;
  for (size_t i = 0; i < s->draws->chains * rows; i++)
    place(s, i / rows * s->rows + i % rows * s->stride, s->x + i * s->dims);
  s->valleys = tm_valley_work_create(s->arena, &s->cloud);
  return s->valleys;
}

/* ---- groups of integers ---------------------------------------------- */

typedef struct vector_count {
  size_t draw, count;
} vector_count;

static bool same_vector(const search *s, size_t a, size_t b) {
  for (size_t k = 0; k < s->integer_count; k++)
    if (value_at(s, s->integer[k], a) != value_at(s, s->integer[k], b))
      return false;
  return true;
}

static int compare_counts(const void *a, const void *b) {
  const vector_count *x = a, *y = b;
  if (x->count != y->count)
    return x->count > y->count ? -1 : 1;
  return (x->draw > y->draw) - (x->draw < y->draw);
}

/* Distinct whole vectors into `list`; 0 when there are more than fit. */
static size_t count_vectors(const search *s, vector_count *list, size_t most) {
  size_t found = 0;
  for (size_t i = 0; i < s->count; i++) {
    size_t k = 0;
    while (k < found && !same_vector(s, list[k].draw, i))
      k++;
    if (k == most)
      return 0;
    if (k == found)
      list[found++] = (vector_count){i, 0};
    list[k].count++;
  }
  return found;
}

/* Small support: few vectors hold nearly all of the draws. */
static bool group_by_integers(search *s) {
  vector_count list[8 * MOST_VECTORS];
  s->integer = TM_NEW(s->arena, size_t, s->draws->size);
  if (!s->integer)
    return false;
  for (size_t i = 0; i < s->draws->size; i++) {
    bool apart = false;
    if (is_integer(s, i) &&
        !tm_values_stand_apart(s->draws, s->arena, i, &apart))
      return false;
    if (apart)
      s->integer[s->integer_count++] = i;
  }
  size_t found =
      s->integer_count ? count_vectors(s, list, 8 * MOST_VECTORS) : 0;
  qsort(list, found, sizeof *list, compare_counts);
  size_t held = 0, kept = 0;
  while (kept < found && kept < MOST_VECTORS &&
         (double)list[kept].count >= SMALLEST * (double)s->count)
    held += list[kept++].count;
  if (kept == 0 || (double)held < 0.98 * (double)s->count)
    return true;
  for (size_t g = 0; g < kept; g++) {
    s->vector[g] = TM_NEW(s->arena, double, s->integer_count);
    if (!s->vector[g])
      return false;
    for (size_t k = 0; k < s->integer_count; k++)
      s->vector[g][k] = value_at(s, s->integer[k], list[g].draw);
  }
  s->groups = kept;
  return true;
}

/* Which group a draw is of; -1 for none. */
static int group_of(const search *s, size_t draw) {
  if (s->groups == 0)
    return 0;
  for (size_t g = 0; g < s->groups; g++) {
    size_t k = 0;
    while (k < s->integer_count &&
           s->vector[g][k] == value_at(s, s->integer[k], draw))
      k++;
    if (k == s->integer_count)
      return (int)g;
  }
  return NO_MODE;
}

/* ---- the tree ------------------------------------------------------------ */

static int add_node(search *s) {
  node *n = &s->nodes[s->node_count];
  *n = (node){.low = NO_MODE, .high = NO_MODE};
  n->cut.direction = TM_NEW(s->arena, double, s->dims + 1);
  n->member = TM_NEW(s->arena, size_t, s->cloud.chains * s->cloud.rows + 1);
  return n->cut.direction && n->member ? s->node_count++ : NO_MODE;
}

static double along(const tm_cut *cut, const double *x, size_t dims) {
  double sum = 0;
  for (size_t j = 0; j < dims; j++)
    sum += cut->direction[j] * x[j];
  return sum;
}

static bool plant(search *s) {
  size_t groups = s->groups ? s->groups : 1, rows = s->cloud.rows;
  for (size_t g = 0; g < groups; g++) {
    s->root[g] = add_node(s);
    if (s->root[g] < 0)
      return false;
  }
  for (size_t i = 0; i < s->cloud.chains * rows; i++) {
    int g = group_of(s, i / rows * s->rows + i % rows * s->stride);
    if (g >= 0) {
      node *n = &s->nodes[s->root[g]];
      n->member[n->count++] = i;
    }
  }
  s->leaves = groups;
  return true;
}

static bool split(search *s, node *n) {
  n->low = add_node(s);
  n->high = n->low < 0 ? NO_MODE : add_node(s);
  if (n->high < 0)
    return false;
  for (size_t i = 0; i < n->count; i++) {
    const double *x = s->x + n->member[i] * s->dims;
    node *side =
        &s->nodes[along(&n->cut, x, s->dims) < n->cut.cut ? n->low : n->high];
    side->member[side->count++] = n->member[i];
  }
  s->leaves++;
  return true;
}

/* The largest leaf first, so that at the limit no part is split finely while
 * another is not split at all. */
static bool grow(search *s) {
  while (s->leaves < MOST_MODES) {
    node *next = NULL;
    for (int k = 0; k < s->node_count; k++)
      if (!s->nodes[k].done && (!next || s->nodes[k].count > next->count))
        next = &s->nodes[k];
    if (!next)
      break;
    next->done = true;
    if (tm_valley_find(s->valleys, next->member, next->count, &next->cut) &&
        !split(s, next))
      return false;
  }
  return true;
}

static int leaf_of(search *s, size_t draw) {
  int g = group_of(s, draw);
  if (g < 0)
    return NO_MODE;
  int k = s->root[g];
  if (s->nodes[k].low >= 0)
    place(s, draw, s->one);
  while (s->nodes[k].low >= 0) {
    const node *n = &s->nodes[k];
    k = along(&n->cut, s->one, s->dims) < n->cut.cut ? n->low : n->high;
  }
  return k;
}

/* ---- weights ------------------------------------------------------------- */

static double weight_error(const search *s, int leaf, double weight,
                           double *inside) {
  size_t visits = s->draws->chains;
  for (size_t i = 0; i < s->count; i++) {
    inside[i] = s->leaf[i] == leaf;
    visits += i % s->rows && inside[i] != inside[i - 1];
  }
  double se = tm_influence_error(inside, s->draws->chains, s->rows).se;
  if (visits < FEW_VISITS)
    se = fmax(se, 2 * weight * (1 - weight) / sqrt((double)visits));
  return se;
}

/* Of every column over the draws of each leaf: sums[leaf * size + column]. */
static void add_up(const search *s, double *sums) {
  size_t size = s->draws->size;
  for (size_t c = 0; c < size; c++)
    for (size_t chain = 0; chain < s->draws->chains; chain++) {
      const double *x = tm_draws_column(s->draws, TEMPERA_TARGET, chain, c);
      const int *leaf = s->leaf + chain * s->rows;
      for (size_t i = 0; i < s->rows; i++)
        if (leaf[i] != NO_MODE)
          sums[(size_t)leaf[i] * size + c] += x[i];
    }
}

static int compare_modes(const void *a, const void *b) {
  const tempera_mode *x = a, *y = b;
  if (x->weight != y->weight)
    return x->weight > y->weight ? -1 : 1;
  for (size_t j = 0; x->mean && y->mean && j < 1; j++)
    if (x->mean[j] != y->mean[j])
      return x->mean[j] < y->mean[j] ? -1 : 1;
  return 0;
}

static bool report(search *s, tempera_summary *summary) {
  size_t size = s->draws->size;
  double *inside = TM_NEW(s->arena, double, s->count);
  double *sums = TM_NEW(s->arena, double, (size_t)s->node_count *size);
  summary->modes = tm_heap_alloc(s->leaves, sizeof *summary->modes);
  if (!inside || !sums || !summary->modes)
    return false;
  add_up(s, sums);
  for (int k = 0; k < s->node_count; k++) {
    if (s->nodes[k].low >= 0)
      continue;
    double count = 0;
    for (size_t i = 0; i < s->count; i++)
      count += s->leaf[i] == k;
    double weight = count / (double)s->count;
    if (weight < SMALLEST)
      continue;
    tempera_mode *mode = &summary->modes[summary->mode_count++];
    mode->weight = weight;
    mode->se = weight_error(s, k, weight, inside);
    mode->mean = tm_heap_alloc(size, sizeof(double));
    if (!mode->mean)
      return false;
    for (size_t c = 0; c < size; c++)
      mode->mean[c] = sums[(size_t)k * size + c] / count;
  }
  qsort(summary->modes, summary->mode_count, sizeof *summary->modes,
        compare_modes);
  return true;
}

static bool find_modes(search *s, tempera_summary *summary) {
  s->leaf = TM_NEW(s->arena, int, s->count);
  if (!s->leaf || !group_by_integers(s) || !choose_coordinates(s) ||
      !make_cloud(s) || !plant(s) || !grow(s))
    return false;
  for (size_t i = 0; i < s->count; i++)
    s->leaf[i] = leaf_of(s, i);
  return report(s, summary);
}

tempera_status tm_estimate_modes(const tempera_draws *draws,
                                 tempera_summary *summary,
                                 tempera_error *error) {
  if (!draws->has_role[TEMPERA_TARGET] || draws->size == 0 ||
      draws->count * draws->chains < TM_FEWEST_DRAWS)
    return TEMPERA_OK;
  search s = {.draws = draws,
              .rows = draws->count,
              .count = draws->count * draws->chains,
              .arena = tm_arena_create()};
  bool found = s.arena && find_modes(&s, summary);
  tm_arena_free(s.arena);
  return found ? TEMPERA_OK : tm_fail_memory(error);
}
