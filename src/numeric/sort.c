/* sort.c - see sort.h.
 *
 * A run's draws are sorted by every parameter. Long lists go by the digits of
 * the numbers' leading bits, from the last digit on (radix sort): a few passes
 * instead of comparisons by the million. Few numbers share all of these bits;
 * where some do, comparisons put them in order. */
#include "numeric/sort.h"

#include "base/memory.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
  BITS = 8,
  DIGITS = 5,
  REST = 64 - BITS * DIGITS, /* bits that are not looked at */
  BUCKETS = 1 << BITS,
  FEW = 500
};

/* A whole number in the order of the values; that of -0 is that of 0. */
static uint64_t key_of(double value) {
  uint64_t bits;
  value += 0.0;
  memcpy(&bits, &value, sizeof bits);
  return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

static size_t digit(uint64_t key, int d) {
  return (size_t)(key >> (REST + d * BITS)) & (BUCKETS - 1);
}

typedef uint32_t counts[DIGITS][BUCKETS];

static void count_digits(const tm_ranked *values, size_t count, counts n) {
  memset(n, 0, sizeof(counts));
  for (size_t i = 0; i < count; i++) {
    uint64_t key = key_of(values[i].value);
    for (int d = 0; d < DIGITS; d++)
      n[d][digit(key, d)]++;
  }
}

/* By one digit; false when all values share it. */
static bool pass(const tm_ranked *from, tm_ranked *to, size_t count, int d,
                 uint32_t *n) {
  if (n[digit(key_of(from[0].value), d)] == count)
    return false;
  uint32_t start = 0;
  for (size_t b = 0; b < BUCKETS; b++) {
    uint32_t size = n[b];
    n[b] = start;
    start += size;
  }
  for (size_t i = 0; i < count; i++)
    to[n[digit(key_of(from[i].value), d)]++] = from[i];
  return true;
}

/* Halves by comparisons, then merged. */
static void sort_by_merging(tm_ranked *values, tm_ranked *room, size_t count) {
  if (count < 2)
    return;
  size_t half = count / 2, i = 0, j = half;
  sort_by_merging(values, room, half);
  sort_by_merging(values + half, room, count - half);
  if (!(values[half].value < values[half - 1].value))
    return;
  memcpy(room, values, half * sizeof *values);
  for (size_t k = 0; i < half; k++)
    values[k] =
        j < count && values[j].value < room[i].value ? values[j++] : room[i++];
}

/* Values whose leading bits agree lie together, but as they came. */
static void sort_runs(tm_ranked *values, tm_ranked *room, size_t count) {
  for (size_t k = 1, start = 0; k <= count; k++) {
    if (k < count &&
        key_of(values[k].value) >> REST == key_of(values[start].value) >> REST)
      continue;
    if (k - start > 1)
      sort_by_merging(values + start, room, k - start);
    start = k;
  }
}

static void sort_by_digits(tm_ranked *values, tm_ranked *room, size_t count) {
  counts n;
  tm_ranked *from = values, *to = room;
  count_digits(values, count, n);
  for (int d = 0; d < DIGITS; d++)
    if (pass(from, to, count, d, n[d])) {
      tm_ranked *other = from;
      from = to;
      to = other;
    }
  if (from != values)
    memcpy(values, from, count * sizeof *values);
  sort_runs(values, room, count);
}

void tm_ranked_sort(tm_ranked *values, tm_ranked *room, size_t count) {
  if (count < FEW || count > UINT32_MAX)
    sort_by_merging(values, room, count);
  else
    sort_by_digits(values, room, count);
}

double tm_ranked_quantile(const tm_ranked *sorted, size_t count, double p) {
  if (count == 0)
    return NAN;
  double place = p * (double)(count - 1);
  size_t k = (size_t)place;
  if (k + 1 >= count)
    return sorted[count - 1].value;
  double share = place - (double)k, low = sorted[k].value;
  return share == 0 ? low : low + share * (sorted[k + 1].value - low);
}

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* By digits where there is room for it. */
void tm_sort(double *values, size_t count) {
  tm_ranked *list = count < FEW ? NULL : tm_heap_large(2 * count, sizeof *list);
  if (!list) {
    qsort(values, count, sizeof *values, compare);
    return;
  }
  for (size_t i = 0; i < count; i++)
    list[i] = (tm_ranked){values[i], i};
  tm_ranked_sort(list, list + count, count);
  for (size_t i = 0; i < count; i++)
    values[i] = list[i].value;
  tm_heap_free(list);
}
