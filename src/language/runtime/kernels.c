/* kernels.c - covariances of Gaussian processes other than the squared
 * exponential of gaussian_process.c, and length scales of their own for each
 * dimension. A kernel is a function of the squared distance q and of its
 * scales; the sweep computes its slopes again. */
#include "language/runtime/fixed.h"

enum { SCALES = 3 };

/* The value at q with scales h: magnitude, length, perhaps period; d gets the
 * slopes in q and in the scales, or is NULL. */
typedef double (*kernel_fn)(double q, const double *h, double *d);

/* m^2 p(r) with r = sqrt(q) / l; `steep` is p'(r) / r, and at r = 0 what goes
 * with a distance of zero counts as zero. */
static double radial(double q, const double *h, double p, double steep,
                     double *d) {
  double square = h[0] * h[0], l2 = h[1] * h[1];
  if (d) {
    d[0] = 0.5 * square * steep / l2;
    d[1] = 2 * h[0] * p;
    d[2] = -square * steep * q / (l2 * h[1]);
  }
  return square * p;
}

static double exponential(double q, const double *h, double *d) {
  double r = sqrt(q) / h[1], p = exp(-r);
  return radial(q, h, p, r > 0 ? -p / r : 0, d);
}
static double matern32(double q, const double *h, double *d) {
  double r = sqrt(3 * q) / h[1], e = exp(-r);
  return radial(q, h, (1 + r) * e, -3 * e, d);
}
static double matern52(double q, const double *h, double *d) {
  double r = sqrt(5 * q) / h[1], e = exp(-r);
  return radial(q, h, (1 + r + r * r / 3) * e, -5.0 / 3 * (1 + r) * e, d);
}
static double exp_quad(double q, const double *h, double *d) {
  double p = exp(-0.5 * q / (h[1] * h[1]));
  return radial(q, h, p, -p, d);
}
/* m^2 exp(-2 sin^2(pi sqrt(q) / period) / l^2) */
static double periodic(double q, const double *h, double *d) {
  double r = sqrt(q), turn = M_PI * r / h[2], s = sin(turn), l2 = h[1] * h[1];
  double e = exp(-2 * s * s / l2), square = h[0] * h[0];
  if (d) {
    double slope = square * e * -2 * sin(2 * turn) / l2; /* in the turn */
    d[0] = r > 0 ? 0.5 * slope * M_PI / (h[2] * r) : 0;
    d[1] = 2 * h[0] * e;
    d[2] = square * e * 4 * s * s / (l2 * h[1]);
    d[3] = -slope * turn / h[2];
  }
  return square * e;
}

typedef struct kernel_node {
  tm_node node;
  kernel_fn f;
  tm_tensor x, y; /* points as they were */
  double h[SCALES], *to[SCALES];
  int scales;
  const double *out;
} kernel_node;

static long width_of(const tm_tensor *x) {
  return x->rank == 2 ? x->dim[1] : 1;
}

static double squared_gap(const double *a, const double *b, long width) {
  double sum = 0;
  for (long w = 0; w < width; w++)
    sum += (a[w] - b[w]) * (a[w] - b[w]);
  return sum;
}

static void kernel_back(tm_node *node) {
  kernel_node *g = (kernel_node *)node;
  long width = width_of(&g->x), rows = g->x.dim[0], columns = g->y.dim[0];
  double d[1 + SCALES];
  for (long i = 0; i < rows; i++)
    for (long j = 0; j < columns; j++) {
      const double *a = g->x.v + i * width, *b = g->y.v + j * width;
      double pull = g->out[i * columns + j];
      g->f(squared_gap(a, b, width), g->h, d);
      for (int k = 0; k < g->scales; k++)
        if (g->to[k])
          *g->to[k] += pull * d[1 + k];
      for (long w = 0; (g->x.d || g->y.d) && w < width; w++) {
        double step = 2 * pull * d[0] * (a[w] - b[w]);
        if (g->x.d)
          g->x.d[i * width + w] += step;
        if (g->y.d)
          g->y.d[j * width + w] -= step;
      }
    }
}

static tm_any covariance(tm_tape *tape, kernel_fn f, tm_any x, tm_any y,
                         const tm_any *scales, int count) {
  kernel_node g = {.f = f, .x = x.u.t, .y = y.u.t, .scales = count};
  long width = width_of(&g.x), rows = g.x.dim[0], columns = g.y.dim[0];
  int active = g.x.d || g.y.d;
  if (width != width_of(&g.y))
    tm_runtime_fail(tape, "", "points of %ld and %ld dimensions", width,
                    width_of(&g.y));
  for (int i = 0; i < count; i++) {
    tm_var h = tm_as_var(&scales[i]);
    g.h[i] = h.v;
    g.to[i] = h.d;
    active = active || h.d;
    if (!(h.v > 0))
      tm_runtime_reject(tape, "a kernel's scales must be positive");
  }
  tm_tensor k =
      tm_tensor_blank(tape, 2, (int[]){g.x.dim[0], g.y.dim[0]}, active);
  for (long i = 0; i < rows; i++)
    for (long j = 0; j < columns; j++)
      k.v[i * columns + j] = f(
          squared_gap(g.x.v + i * width, g.y.v + j * width, width), g.h, NULL);
  if (active) {
    g.x.v = tm_copied(tape, g.x.v, rows * width);
    g.y.v = tm_copied(tape, g.y.v, columns * width);
    g.out = k.d;
    kernel_node *node = (kernel_node *)tm_push(tape, sizeof *node, kernel_back);
    g.node = node->node;
    *node = g;
  }
  return tm_any_tensor(k, 1);
}

/* Points over a length for each dimension. */
static tm_any stretched(tm_tape *tape, tm_any x, tm_any lengths) {
  int width = x.u.t.rank == 2 ? x.u.t.dim[1] : 1;
  if (lengths.u.t.dim[0] != width)
    tm_runtime_fail(tape, "", "%d length scales for points of %d dimensions",
                    lengths.u.t.dim[0], width);
  for (int i = 0; i < width; i++)
    if (!(lengths.u.t.v[i] > 0))
      tm_runtime_reject(tape, "a kernel's scales must be positive");
  tm_any full = tm_call2(tape, tm_f_rep, lengths, tm_any_int(x.u.t.dim[0]));
  return tm_map2(tape, "elt_divide", x, full);
}

/* a: x, [y,] magnitude, length(s) [, period]; `cross` when y is there. */
static tm_any general(tm_tape *tape, kernel_fn f, const tm_any *a, bool cross,
                      int scales) {
  tm_any x = a[0], y = cross ? a[1] : a[0];
  const tm_any *h = a + 1 + cross;
  if (h[1].tag != TM_TAG_TENSOR)
    return covariance(tape, f, x, y, h, scales);
  x = stretched(tape, x, h[1]);
  y = cross ? stretched(tape, y, h[1]) : x;
  return covariance(tape, f, x, y, (tm_any[]){h[0], tm_any_real(1)}, 2);
}

#define KERNEL(name, f, scales)                                                \
  TM_F(gp_##name) {                                                            \
    (void)count;                                                               \
    return general(tape, f, a, false, scales);                                 \
  }                                                                            \
  TM_F(gp_##name##_cross) {                                                    \
    (void)count;                                                               \
    return general(tape, f, a, true, scales);                                  \
  }
KERNEL(exponential, exponential, 2)
KERNEL(matern32, matern32, 2)
KERNEL(matern52, matern52, 2)
KERNEL(periodic, periodic, 3)
KERNEL(exp_quad_each, exp_quad, 2)

/* sigma^2 + x y' */
static tm_any dot_products(tm_tape *tape, tm_any x, tm_any y, tm_any sigma) {
  tm_any products = x.u.t.rank == 1 ? tm_call2(tape, tm_f_matmul, x, y)
                                    : tm_call2(tape, tm_f_matmul, x,
                                               tm_f_transpose(tape, &y, 1));
  tm_var s = tm_v_square(tape, tm_as_var(&sigma));
  return tm_map2(tape, "add", products, tm_any_var(s));
}
TM_F(gp_dot_prod) {
  (void)count;
  return dot_products(tape, a[0], a[0], a[1]);
}
TM_F(gp_dot_prod_cross) {
  (void)count;
  return dot_products(tape, a[0], a[1], a[2]);
}
