/* triangular.c - see triangular.h. */
#include "numeric/triangular.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

/* From LARGE on BLAS does what is of third order: at 400 rows it takes a fifth
 * of the time, at 1 000 a seventh. It is given products only, whose sums it
 * does not divide among threads. */
enum { LANES = 8, QUICK = 200, LARGE = 256, BLOCK = 64 };

/* Eight doubles anywhere in an array, as vectors of whatever width the
 * processor has; not passed by value, which differs between processors. */
typedef double lanes __attribute__((vector_size(LANES * sizeof(double)),
                                    aligned(sizeof(double)), may_alias));

#define LOAD(x) (*(const lanes *)(x))

static double short_dot(const double *a, const double *b, size_t n) {
  double sum = 0;
  for (size_t i = 0; i < n; i++)
    sum += a[i] * b[i];
  return sum;
}

/* The products behind the last whole vector first, then the partial sums. */
static double add_up(const lanes *partial, double sum) {
  for (size_t l = 0; l < LANES; l++)
    sum += (*partial)[l];
  return sum;
}

double tm_dot(const double *a, const double *b, size_t n) {
  if (n < LANES)
    return short_dot(a, b, n);
  lanes partial = {0};
  size_t i = 0;
  for (; i + LANES <= n; i += LANES)
    partial += LOAD(a + i) * LOAD(b + i);
  return add_up(&partial, short_dot(a + i, b + i, n - i));
}

/* Four at a time, whose sums do not wait for each other. */
static void four_dots(const double *a, const double *b, size_t stride, size_t n,
                      double *out) {
  const double *b1 = b + stride, *b2 = b1 + stride, *b3 = b2 + stride;
  lanes p0 = {0}, p1 = {0}, p2 = {0}, p3 = {0};
  size_t i = 0, left = n % LANES;
  for (; i + LANES <= n; i += LANES) {
    lanes x = LOAD(a + i);
    p0 += x * LOAD(b + i);
    p1 += x * LOAD(b1 + i);
    p2 += x * LOAD(b2 + i);
    p3 += x * LOAD(b3 + i);
  }
  out[0] = add_up(&p0, short_dot(a + i, b + i, left));
  out[1] = add_up(&p1, short_dot(a + i, b1 + i, left));
  out[2] = add_up(&p2, short_dot(a + i, b2 + i, left));
  out[3] = add_up(&p3, short_dot(a + i, b3 + i, left));
}

void tm_dots(const double *a, const double *b, size_t stride, size_t count,
             size_t n, double *out) {
  size_t k = 0;
  for (; k + 4 <= count; k += 4)
    four_dots(a, b + k * stride, stride, n, out + k);
  for (; k < count; k++)
    out[k] = tm_dot(a, b + k * stride, n);
}

double tm_sum(const double *x, size_t n) {
  double part[4] = {0};
  size_t i = 0;
  for (; i + 4 <= n; i += 4)
    for (size_t k = 0; k < 4; k++)
      part[k] += x[i + k];
  for (; i < n; i++)
    part[0] += x[i];
  return (part[0] + part[1]) + (part[2] + part[3]);
}

/* The diagonal of row i, all before it being done. */
static bool close_row(double *row, size_t i, size_t n) {
  double left = row[i] - tm_dot(row, row, i);
  /* Relative, so that rounding does not pass for definiteness. */
  if (!(left > 1e-13 * row[i] && row[i] > 0 && isfinite(left)))
    return false;
  row[i] = sqrt(left);
  for (size_t j = i + 1; j < n; j++)
    row[j] = 0;
  return true;
}

/* A few rows at a time, so that those above are fetched once for all of them:
 * large matrices are larger than any cache. Rows are `stride` apart. */
static bool factor_rows(double *matrix, size_t n, size_t stride,
                        const tm_stop *stop) {
  enum { ROWS = 16 };
  for (size_t first = 0; first < n; first += ROWS) {
    size_t end = first + ROWS < n ? first + ROWS : n;
    if (n > QUICK && tm_stop_due(stop))
      return false;
    for (size_t j = 0; j < end; j++) {
      const double *other = matrix + j * stride;
      if (j >= first && !close_row(matrix + j * stride, j, n))
        return false;
      size_t from = j < first ? first : j + 1;
      double dots[ROWS];
      tm_dots(other, matrix + from * stride, stride, end - from, j, dots);
      for (size_t i = from; i < end; i++) {
        double *x = matrix + i * stride + j;
        *x = (*x - dots[i - from]) / other[j];
      }
    }
  }
  return true;
}

/* Columns [first, end), those before being done. */
static bool factor_block(double *matrix, size_t n, size_t first, size_t end) {
  int stride = (int)n, columns = (int)(end - first), below = (int)(n - end);
  double *block = matrix + first * n + first, before[BLOCK];
  for (size_t i = first; i < end; i++)
    before[i - first] = matrix[i * n + n - 1];
  if (first > 0)
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, columns + below,
                columns, (int)first, -1, matrix + first * n, stride,
                matrix + first * n, stride, 1, block, stride);
  if (!factor_rows(block, end - first, n, NULL))
    return false;
  for (size_t i = 0; i < end - first; i++) {
    double root = block[i * n + i];
    if (!(root * root > 1e-13 * before[i]))
      return false; /* as in close_row */
  }
  if (below > 0)
    cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit,
                below, columns, 1, block, stride, matrix + end * n + first,
                stride);
  return true;
}

/* The diagonal is kept in the last column until its turn. */
static bool factor_blocks(double *matrix, size_t n, const tm_stop *stop) {
  for (size_t i = 0; i < n; i++)
    matrix[i * n + n - 1] = matrix[i * n + i];
  for (size_t first = 0; first < n; first += BLOCK) {
    size_t end = first + BLOCK < n ? first + BLOCK : n;
    if (tm_stop_due(stop) || !factor_block(matrix, n, first, end))
      return false;
  }
  for (size_t i = 0; i < n; i++)
    for (size_t j = i + 1; j < n; j++)
      matrix[i * n + j] = 0;
  return true;
}

bool tm_cholesky_until(double *matrix, size_t n, const tm_stop *stop) {
  return n < LARGE ? factor_rows(matrix, n, n, stop)
                   : factor_blocks(matrix, n, stop);
}

bool tm_cholesky(double *matrix, size_t n) {
  return tm_cholesky_until(matrix, n, NULL);
}

/* Numbers that are none, and diagonals that are not positive, have no say. */
static void make_finite(double *matrix, size_t n, double floor) {
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j <= i; j++) {
      double *x = &matrix[i * n + j];
      if (!isfinite(*x))
        *x = i == j ? floor : 0;
      if (i == j && !(*x > floor))
        *x = floor;
    }
}

void tm_cholesky_forced(double *matrix, size_t n, double floor, double *work) {
  make_finite(matrix, n, floor);
  memcpy(work, matrix, n * n * sizeof(double));
  for (double ridge = 1e-12; !tm_cholesky(matrix, n); ridge *= 100) {
    bool alone = ridge > 1e12; /* the diagonal alone always has a root */
    memcpy(matrix, work, n * n * sizeof(double));
    for (size_t i = 0; i < n; i++) {
      matrix[i * n + i] *= alone ? 1 : 1 + ridge;
      for (size_t j = 0; j < i && alone; j++)
        matrix[i * n + j] = 0;
    }
  }
}

/* Rows [first, end), those above being done. */
static void invert_block(const double *lower, size_t n, size_t first,
                         size_t end, double *inverse) {
  int stride = (int)n, rows = (int)(end - first);
  double *out = inverse + first * n;
  memset(out, 0, (end - first) * n * sizeof(double));
  for (size_t i = first; i < end; i++)
    inverse[i * n + i] = 1;
  if (first > 0)
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, (int)first,
                (int)first, -1, lower + first * n, stride, inverse, stride, 0,
                out, stride);
  cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit,
              rows, (int)end, 1, lower + first * n + first, stride, out,
              stride);
}

static bool invert_blocks(const double *lower, size_t n, double *inverse,
                          const tm_stop *stop) {
  for (size_t first = 0; first < n; first += BLOCK) {
    if (tm_stop_due(stop))
      return false;
    invert_block(lower, n, first, first + BLOCK < n ? first + BLOCK : n,
                 inverse);
  }
  return true;
}

bool tm_triangular_inverse_until(const double *lower, size_t n, double *inverse,
                                 const tm_stop *stop) {
  if (n >= LARGE)
    return invert_blocks(lower, n, inverse, stop);
  for (size_t i = 0; i < n; i++) {
    const double *row = lower + i * n;
    double *out = inverse + i * n;
    if (n > QUICK && tm_stop_due(stop))
      return false;
    memset(out, 0, n * sizeof(double));
    out[i] = 1;
    for (size_t k = 0; k < i; k++) /* row after row, as they lie */
      for (size_t j = 0; j <= k; j++)
        out[j] -= row[k] * inverse[k * n + j];
    for (size_t j = 0; j <= i; j++)
      out[j] /= row[i];
  }
  return true;
}

void tm_triangular_inverse(const double *lower, size_t n, double *inverse) {
  (void)tm_triangular_inverse_until(lower, n, inverse, NULL);
}

void tm_triangular_times(const double *lower, size_t n, const double *x,
                         double *y) {
  for (size_t i = n; i-- > 0;) /* from below, so that y may be x */
    y[i] = tm_dot(lower + i * n, x, i + 1);
}

void tm_cholesky_solve(const double *lower, size_t n, const double *b,
                       double *x) {
  for (size_t i = 0; i < n; i++)
    x[i] = (b[i] - tm_dot(lower + i * n, x, i)) / lower[i * n + i];
  for (size_t i = n; i-- > 0;) {
    double sum = x[i];
    for (size_t k = i + 1; k < n; k++)
      sum -= lower[k * n + i] * x[k];
    x[i] = sum / lower[i * n + i];
  }
}
