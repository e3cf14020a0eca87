/* separation.c - see separation.h.
 *
 * Two normals of equal covariance, D of their standard deviations apart, have
 * two humps from D = 2 on. D is measured along the direction that parts them
 * best, D^2 = m' S^-1 m with m the difference of the means and S the covariance
 * within values, less what chance adds to it, p (1/a + 1/b) for p coordinates
 * and a and b draws. */
#include "estimate/modes/separation.h"

#include "numeric/triangular.h"

#include <math.h>
#include <string.h>

enum {
  MOST_POINTS = 4000,
  MOST_VALUES = 64,
  MOST_REALS = 64, /* more are taken one by one */
  FEWEST = 20      /* draws with a value that can be judged */
};
static const double HUMPS = 2;

typedef struct sample {
  const tempera_draws *draws;
  size_t column, step, count; /* every how many draws, and how many then */
  size_t reals, *real;
  size_t values;
  double value[MOST_VALUES];
  size_t size[MOST_VALUES];
  double *mean; /* values x reals */
} sample;

static double value_of(const sample *s, size_t column, size_t i) {
  size_t draw = i * s->step;
  return tm_draws_column(s->draws, TEMPERA_TARGET, draw / s->draws->count,
                         column)[draw % s->draws->count];
}

static size_t place_of(const sample *s, double value) {
  size_t k = 0;
  while (k < s->values && s->value[k] < value)
    k++;
  return k;
}

/* The values that occur, in order; false when they are too many. */
static bool list_values(sample *s) {
  for (size_t i = 0; i < s->count; i++) {
    double value = value_of(s, s->column, i);
    size_t k = place_of(s, value);
    if (k == s->values || s->value[k] != value) {
      if (s->values == MOST_VALUES)
        return false;
      memmove(s->value + k + 1, s->value + k,
              (s->values - k) * sizeof *s->value);
      memmove(s->size + k + 1, s->size + k, (s->values - k) * sizeof *s->size);
      s->value[k] = value;
      s->size[k] = 0;
      s->values++;
    }
    s->size[k]++;
  }
  return true;
}

static void find_means(sample *s) {
  for (size_t i = 0; i < s->count; i++) {
    size_t k = place_of(s, value_of(s, s->column, i));
    for (size_t j = 0; j < s->reals; j++)
      s->mean[k * s->reals + j] +=
          value_of(s, s->real[j], i) / (double)s->size[k];
  }
}

/* The covariance within two values, a full matrix or its diagonal. */
static void covariance(const sample *s, size_t a, bool full, double *matrix,
                       double *centred) {
  size_t p = s->reals, n = s->size[a] + s->size[a + 1];
  memset(matrix, 0, (full ? p * p : p) * sizeof *matrix);
  for (size_t i = 0; i < s->count; i++) {
    size_t k = place_of(s, value_of(s, s->column, i));
    if (k != a && k != a + 1)
      continue;
    for (size_t j = 0; j < p; j++)
      centred[j] = value_of(s, s->real[j], i) - s->mean[k * p + j];
    for (size_t j = 0; j < p; j++)
      for (size_t h = full ? 0 : j; h <= j; h++)
        matrix[full ? j * p + h : j] +=
            centred[j] * centred[h] / (double)(n - 2);
  }
}

static double distance_by_all(const sample *s, size_t a, double *matrix,
                              double *work) {
  size_t p = s->reals;
  double sum = 0, *difference = work, *solved = work + p;
  covariance(s, a, true, matrix, work);
  for (size_t j = 0; j < p; j++)
    difference[j] = s->mean[(a + 1) * p + j] - s->mean[a * p + j];
  tm_cholesky_forced(matrix, p, 1e-300, work + 2 * p);
  tm_cholesky_solve(matrix, p, difference, solved);
  for (size_t j = 0; j < p; j++)
    sum += difference[j] * solved[j];
  return sum -
         (double)p * (1 / (double)s->size[a] + 1 / (double)s->size[a + 1]);
}

static double distance_by_best(const sample *s, size_t a, double *variance,
                               double *work) {
  double best = 0;
  covariance(s, a, false, variance, work);
  for (size_t j = 0; j < s->reals; j++) {
    double m = s->mean[(a + 1) * s->reals + j] - s->mean[a * s->reals + j];
    best = fmax(best, variance[j] > 0 ? m * m / variance[j] : 0);
  }
  return best;
}

/* Every pair of neighbours that can be judged lies apart. */
static bool all_apart(const sample *s, double *matrix, double *work) {
  for (size_t a = 0; a + 1 < s->values; a++) {
    if (s->size[a] < FEWEST || s->size[a + 1] < FEWEST)
      continue;
    double square = s->reals <= MOST_REALS
                        ? distance_by_all(s, a, matrix, work)
                        : distance_by_best(s, a, matrix, work);
    if (!(square > HUMPS * HUMPS))
      return false;
  }
  return true;
}

bool tm_values_stand_apart(const tempera_draws *draws, tm_arena *arena,
                           size_t column, bool *apart) {
  size_t all = draws->chains * draws->count;
  sample s = {.draws = draws, .column = column};
  s.step = (all + MOST_POINTS - 1) / MOST_POINTS;
  s.count = all / s.step;
  s.real = TM_NEW(arena, size_t, draws->size);
  *apart = false;
  if (!s.real)
    return false;
  for (size_t j = 0; j < draws->size; j++)
    if (!draws->integer[j])
      s.real[s.reals++] = j;
  if (!s.reals || !list_values(&s))
    return true;
  size_t p = s.reals, room = p <= MOST_REALS ? p * p : p;
  s.mean = TM_NEW(arena, double, s.values *p);
  double *matrix = TM_NEW(arena, double, room);
  double *work = TM_NEW(arena, double, room + 2 * p);
  if (!s.mean || !matrix || !work)
    return false;
  find_means(&s);
  *apart = all_apart(&s, matrix, work);
  return true;
}
