/* gaussian_process.c - covariances of Gaussian processes. */
#include "language/runtime/fixed.h"

#include "numeric/vector_exp.h"

typedef struct gp_node {
  tm_node node;
  tm_tensor x, y, k; /* k: with values of our own, never assigned */
  double *magnitude, *scale, m, l;
} gp_node;

static long width_of(const tm_tensor *x) {
  return x->rank == 2 ? x->dim[1] : 1;
}

/* Squared distances of point a to all of b. */
static void squared_gaps(const double *a, const double *b, long n, long width,
                         double *gaps) {
  if (width == 1)
    for (long j = 0; j < n; j++)
      gaps[j] = (a[0] - b[j]) * (a[0] - b[j]);
  else
    for (long j = 0; j < n; j++) {
      double sum = 0;
      for (long w = 0; w < width; w++)
        sum += (a[w] - b[j * width + w]) * (a[w] - b[j * width + w]);
      gaps[j] = sum;
    }
}

/* Row i's pull on the points, for inputs that vary. */
static void pull_points(const gp_node *g, int i, const double *pulls) {
  long width = width_of(&g->x);
  for (int j = 0; j < g->k.dim[1]; j++)
    for (long w = 0; w < width; w++) {
      double pull = pulls[j] / (g->l * g->l) *
                    (g->y.v[j * width + w] - g->x.v[i * width + w]);
      if (g->x.d)
        g->x.d[i * width + w] += pull;
      if (g->y.d)
        g->y.d[j * width + w] -= pull;
    }
}

static void gp_back(tm_node *node) {
  gp_node *g = (gp_node *)node;
  long n = g->k.dim[1], width = width_of(&g->x);
  double total = 0, spread = 0, *gaps = g->k.v + g->k.dim[0] * n;
  for (int i = 0; i < g->k.dim[0]; i++) {
    double *k = g->k.v + i * n, *d = g->k.d + i * n;
    squared_gaps(g->x.v + i * width, g->y.v, n, width, gaps);
#pragma omp simd reduction(+ : total, spread)
    for (long j = 0; j < n; j++) {
      k[j] *= d[j];
      total += k[j];
      spread += k[j] * gaps[j];
    }
    if (g->x.d || g->y.d)
      pull_points(g, i, k);
  }
  if (g->magnitude)
    *g->magnitude += 2 * total / g->m;
  if (g->scale)
    *g->scale += spread / (g->l * g->l * g->l);
}

static tm_any gp(tm_tape *tape, const tm_tensor *x, const tm_tensor *y,
                 const tm_any *hyper) {
  tm_view m, l;
  tm_view_of(hyper, &m);
  tm_view_of(hyper + 1, &l);
  if (!(*m.v > 0 && *l.v > 0))
    tm_runtime_reject(tape, "gp_exp_quad_cov: scales must be positive");
  long n = y->dim[0], width = width_of(x), rows = x->dim[0];
  double square = *m.v * *m.v, factor = -0.5 / (*l.v * *l.v);
  tm_tensor k = tm_tensor_blank(tape, 2, (int[]){x->dim[0], y->dim[0]},
                                m.d || l.d || x->d || y->d);
  for (long i = 0; i < rows; i++) {
    double *row = k.v + i * n;
    squared_gaps(x->v + i * width, y->v, n, width, row);
    for (long j = 0; j < n; j++)
      row[j] *= factor;
    tm_vector_exp(row, (size_t)n);
    for (long j = 0; j < n; j++)
      row[j] *= square;
  }
  if (k.d) {
    tm_tensor own = k; /* the caller may assign to the result's elements */
    size_t bytes = (size_t)(rows * n) * sizeof(double);
    own.v = tm_take_blank(tape, bytes + (size_t)n * sizeof(double));
    memcpy(own.v, k.v, bytes);
    gp_node *g = (gp_node *)tm_push(tape, sizeof *g, gp_back);
    *g = (gp_node){g->node, *x, *y, own, m.d, l.d, *m.v, *l.v};
  }
  return tm_any_tensor(k, 1);
}

TM_F(gp_exp_quad) {
  (void)count;
  return gp(tape, &a[0].u.t, &a[0].u.t, a + 1);
}
TM_F(gp_exp_quad_cross) {
  (void)count;
  return gp(tape, &a[0].u.t, &a[1].u.t, a + 2);
}
