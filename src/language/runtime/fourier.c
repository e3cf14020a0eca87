/* fourier.c - discrete Fourier transforms of vectors and matrices:
 *   fft      w_k = sum_j z_j exp(-2 pi i j k / n),
 *   inv_fft  the inverse, divided by n.
 * The transpose of one is the other, but for the factor. */
#include "language/runtime/complex.h"

#include <gsl/gsl_fft_complex.h>

static void transform_line(double *x, size_t stride, size_t n, bool forward) {
  if (n < 2)
    return;
  if ((n & (n - 1)) == 0) {
    (void)(forward ? gsl_fft_complex_radix2_forward
                   : gsl_fft_complex_radix2_backward)(x, stride, n);
    return;
  }
  gsl_fft_complex_wavetable *table = gsl_fft_complex_wavetable_alloc(n);
  gsl_fft_complex_workspace *work = gsl_fft_complex_workspace_alloc(n);
  if (table && work)
    (void)(forward ? gsl_fft_complex_forward
                   : gsl_fft_complex_backward)(x, stride, n, table, work);
  gsl_fft_complex_wavetable_free(table);
  gsl_fft_complex_workspace_free(work);
}

/* Along the last dimension, and along the rows of a matrix. */
static void transform(double *x, int rows, int columns, bool forward) {
  for (long i = 0; i < rows; i++)
    transform_line(x + 2 * i * columns, 1, (size_t)columns, forward);
  for (long j = 0; rows > 1 && j < columns; j++)
    transform_line(x + 2 * j, (size_t)columns, (size_t)rows, forward);
}

typedef struct fourier_node {
  tm_node node;
  const double *out;
  double *in, *work;
  int rows, columns;
  bool forward;
  double factor;
} fourier_node;

static void fourier_back(tm_node *node) {
  fourier_node *p = (fourier_node *)node;
  long n = 2L * p->rows * p->columns;
  memcpy(p->work, p->out, (size_t)n * sizeof(double));
  transform(p->work, p->rows, p->columns, !p->forward);
  for (long k = 0; k < n; k++)
    p->in[k] += p->factor * p->work[k];
}

static tm_any transformed(tm_tape *tape, const tm_any *a, bool forward) {
  const tm_tensor *t = &a->u.t;
  int rows = t->rank == 3 ? t->dim[0] : 1, columns = t->dim[t->rank - 2];
  long n = 2L * rows * columns;
  double factor = forward || n == 0 ? 1 : 2.0 / (double)n;
  tm_tensor out = tm_tensor_blank(tape, t->rank, t->dim, t->d != NULL);
  memcpy(out.v, t->v, (size_t)n * sizeof(double));
  transform(out.v, rows, columns, forward);
  for (long k = 0; factor != 1 && k < n; k++)
    out.v[k] *= factor;
  if (out.d) {
    double *work = tm_take(tape, (size_t)n * sizeof(double) + 1);
    fourier_node *p = (fourier_node *)tm_push(tape, sizeof *p, fourier_back);
    *p = (fourier_node){p->node, out.d,   t->d,    work,
                        rows,    columns, forward, factor};
  }
  return tm_any_tensor(out, 1);
}

TM_F(fft) {
  (void)count;
  return transformed(tape, a, true);
}
TM_F(inv_fft) {
  (void)count;
  return transformed(tape, a, false);
}
