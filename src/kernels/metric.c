/* metric.c - see metric.h. The dense solution, in coordinates in which every
 * draw and gradient has the same variance (geometric_mean.h). A little of the
 * identity in both covariances leaves directions that were not seen as they
 * are. */
#include "kernels/metric.h"

#include "numeric/geometric_mean.h"

#include <math.h>
#include <string.h>

enum { DENSE_MOST = 64, FIRST_WINDOW = 15, SECOND_WINDOW = 25, FEWEST = 10 };
static const double IDENTITY = 1e-3;

tempera_status tm_metric_create(size_t dimension, tm_arena *arena,
                                tm_metric *metric, tempera_error *error) {
  size_t d = dimension, square = d * d;
  bool dense = d > 1 && d <= DENSE_MOST;
  double *room = TM_NEW(arena, double, 5 * d + (dense ? 4 * square : 0));
  if (!room)
    return tm_fail_memory(error);
  *metric = (tm_metric){.dimension = d,
                        .dense = dense,
                        .next = FIRST_WINDOW,
                        .mean_x = room,
                        .mean_g = room + d,
                        .square_x = room + 2 * d,
                        .square_g = room + 3 * d,
                        .sd = room + 4 * d};
  if (!dense)
    return TEMPERA_OK;
  metric->product_x = room + 5 * d;
  metric->product_g = metric->product_x + square;
  metric->factor = metric->product_g + square;
  metric->turned = metric->factor + square;
  return TEMPERA_OK;
}

static void deviate(size_t d, double count, const double *x, double *mean,
                    double *square, double *deviation) {
  for (size_t i = 0; i < d; i++) {
    deviation[i] = x[i] - mean[i];
    mean[i] += deviation[i] / count;
    square[i] += (count - 1) / count * deviation[i] * deviation[i];
  }
}

static void multiply(size_t d, double share, const double *deviation,
                     double *product) {
  for (size_t i = 0; i < d; i++)
    for (size_t j = 0; j <= i; j++)
      product[i * d + j] += share * deviation[i] * deviation[j];
}

bool tm_metric_learn(tm_metric *m, const double *x, const double *g,
                     double *work) {
  size_t d = m->dimension;
  for (size_t i = 0; i < d; i++)
    if (!isfinite(g[i]))
      return false;
  m->count += 1;
  deviate(d, m->count, x, m->mean_x, m->square_x, work);
  deviate(d, m->count, g, m->mean_g, m->square_g, work + d);
  if (m->dense) {
    double share = (m->count - 1) / m->count;
    multiply(d, share, work, m->product_x);
    multiply(d, share, work + d, m->product_g);
  }
  return ++m->visits == m->next;
}

/* The first windows are the way in from the start: they are forgotten, later
 * ones count half of what comes after. */
static void discount(tm_metric *m) {
  double keep = m->visits <= FIRST_WINDOW + SECOND_WINDOW ? 0 : 0.5;
  size_t d = m->dimension;
  m->count *= keep;
  for (size_t i = 0; i < d; i++) {
    m->square_x[i] *= keep;
    m->square_g[i] *= keep;
  }
  for (size_t k = 0; m->dense && k < d * d; k++) {
    m->product_x[k] *= keep;
    m->product_g[k] *= keep;
  }
}

/* Standard deviations by the divergence; false while a coordinate has not
 * moved. */
static bool use_diagonal(tm_metric *m) {
  for (size_t i = 0; i < m->dimension; i++)
    if (!(m->square_x[i] > 0 && m->square_g[i] > 0 &&
          isfinite(m->square_x[i] / m->square_g[i])))
      return false;
  for (size_t i = 0; i < m->dimension; i++)
    m->sd[i] = pow(m->square_x[i] / m->square_g[i], 0.25);
  if (m->level < TM_SPREAD_DIAGONAL)
    m->level = TM_SPREAD_DIAGONAL;
  return true;
}

/* Cov / scale_i / scale_j + identity, both triangles. */
static void standardise(const tm_metric *m, const double *product, bool inverse,
                        double *out) {
  size_t d = m->dimension;
  for (size_t i = 0; i < d; i++)
    for (size_t j = 0; j <= i; j++) {
      double scale = m->sd[i] * m->sd[j];
      double value =
          product[i * d + j] / m->count * (inverse ? scale : 1 / scale);
      out[i * d + j] = out[j * d + i] = value + (i == j ? IDENTITY : 0);
    }
}

static void use_dense(tm_metric *m, double *work) {
  size_t d = m->dimension, square = d * d;
  double *l = work, *a = work + square;
  standardise(m, m->product_x, false, l);
  standardise(m, m->product_g, true, a);
  if (!tm_geometric_mean(l, a, d, work + 2 * square))
    return;
  for (size_t i = 0; i < d; i++)
    for (size_t j = 0; j < d; j++) {
      m->factor[i * d + j] = m->sd[i] * l[i * d + j];
      m->turned[j * d + i] = m->factor[i * d + j];
    }
  m->level = TM_SPREAD_DENSE;
}

bool tm_metric_use(tm_metric *m, double *work) {
  unsigned window = m->next == FIRST_WINDOW ? SECOND_WINDOW
                                            : m->next + 10; /* then doubling */
  m->next += window;
  bool changed = m->count >= FEWEST && use_diagonal(m);
  if (changed && m->dense)
    use_dense(m, work);
  discount(m);
  return changed;
}

size_t tm_metric_work(size_t dimension) {
  return 2 * dimension * dimension + tm_geometric_mean_work(dimension);
}

tm_factor tm_metric_factor(const tm_metric *m) {
  tm_factor factor = {.dimension = m->dimension};
  if (m->level == TM_SPREAD_DENSE) {
    factor.dense = m->factor;
    factor.turned = m->turned;
  } else if (m->level == TM_SPREAD_DIAGONAL)
    factor.diagonal = m->sd;
  return factor;
}

void tm_metric_archive(tm_metric *m, tm_archive *archive) {
  size_t d = m->dimension, square = m->dense ? d * d : 0;
  tm_archive_double(archive, &m->count);
  tm_archive_unsigned(archive, &m->visits);
  tm_archive_unsigned(archive, &m->next);
  double *vectors[] = {m->mean_x, m->mean_g, m->square_x, m->square_g, m->sd};
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
    tm_archive_doubles(archive, vectors[i], d);
  double *matrices[] = {m->product_x, m->product_g, m->factor, m->turned};
  for (size_t i = 0; i < sizeof matrices / sizeof *matrices; i++)
    tm_archive_doubles(archive, matrices[i], square);
  tm_spread_level_archive(&m->level, archive);
  if (!m->dense && m->level == TM_SPREAD_DENSE)
    tm_archive_fail(archive, "there is no room for a metric");
}
