/* complex_shape.c - functions of whole shapes of complex numbers, made of those
 * of reals: what is linear acts on both parts, f(x + iy) = f(x) + i f(y), and a
 * product of two is four of reals. Gradients come with them. */
#include "language/runtime/complex.h"

#include <cblas.h>
#include <lapacke.h>

enum { MOST = 8 };

/* The parts of all arguments; ints are passed on. */
static void take_apart(tm_tape *tape, const tm_any *a, int count, int part,
                       tm_any *out) {
  for (int i = 0; i < count; i++)
    out[i] =
        a[i].tag == TM_TAG_TENSOR ? tm_complex_part(tape, &a[i], part) : a[i];
}

static tm_any linear(tm_tape *tape, const tm_any *a, int count, tm_fn f) {
  tm_any real[MOST], imaginary[MOST];
  take_apart(tape, a, count, 0, real);
  take_apart(tape, a, count, 1, imaginary);
  tm_any x = f(tape, real, count);
  return tm_complex_of(tape, x, f(tape, imaginary, count));
}

/* a - b or a + b, of reals or of shapes. */
static tm_any combined(tm_tape *tape, tm_any a, tm_any b, double sign) {
  if (a.tag == TM_TAG_TENSOR)
    return tm_call2(tape, sign < 0 ? tm_tensor_subtract : tm_tensor_add, a, b);
  tm_var x = tm_as_var(&a), y = tm_as_var(&b);
  return tm_any_var(tm_linear2(tape, x.v + sign * y.v, x, 1, y, sign));
}

static tm_any bilinear(tm_tape *tape, const tm_any *a, tm_fn f) {
  tm_any x[2], y[2];
  take_apart(tape, a, 2, 0, x);
  take_apart(tape, a, 2, 1, y);
  tm_any xx = tm_call2(tape, f, x[0], x[1]), yy = tm_call2(tape, f, y[0], y[1]);
  tm_any xy = tm_call2(tape, f, x[0], y[1]), yx = tm_call2(tape, f, y[0], x[1]);
  return tm_complex_of(tape, combined(tape, xx, yy, -1),
                       combined(tape, xy, yx, 1));
}

/* Of the conjugate of an argument, and it. */
static tm_any with_conjugate(tm_tape *tape, tm_any a, tm_any b, tm_fn f) {
  tm_any pair[2] = {tm_f_complex_conj(tape, &a, 1), b};
  return bilinear(tape, pair, f);
}

/* Sums of squares: the parts' together, and no imaginary part. */
static tm_any squares(tm_tape *tape, const tm_any *a, tm_fn f) {
  tm_any x, y;
  take_apart(tape, a, 1, 0, &x);
  take_apart(tape, a, 1, 1, &y);
  tm_any sum =
      combined(tape, tm_call2(tape, f, x, x), tm_call2(tape, f, y, y), 1);
  return tm_complex_of(tape, sum, tm_any_real(0));
}

/* As in Stan, the first argument is conjugated. */
TM_F(complex_dot_product) {
  (void)count;
  return with_conjugate(tape, a[0], a[1], tm_f_dot_product);
}
TM_F(complex_dot_self) {
  (void)count;
  return squares(tape, a, tm_f_dot_product);
}
TM_F(complex_columns_dot_self) {
  (void)count;
  return squares(tape, a, tm_f_columns_dot_product);
}
TM_F(complex_rows_dot_self) {
  (void)count;
  return squares(tape, a, tm_f_rows_dot_product);
}
TM_F(complex_line_dot_self) {
  (void)count;
  return squares(tape, a, tm_f_line_dot);
}
TM_F(complex_line_self) {
  (void)count;
  return squares(tape, a, tm_f_line_product);
}

/* The lower triangle, and its conjugate above the diagonal. */
TM_F(complex_symmetrize) {
  (void)count;
  const tm_tensor *t = &a->u.t;
  tm_check_square(tape, t, "symmetrize_from_lower_tri");
  tm_any real = tm_complex_part(tape, a, 0), imag = tm_complex_part(tape, a, 1);
  long n = t->dim[0];
  const tm_tensor *y = &imag.u.t;
  tm_builder up = tm_build(tape, 2, t->dim, t->d != NULL);
  tm_builder down = tm_build(tape, 2, t->dim, t->d != NULL);
  for (long i = 0; i < n; i++)
    for (long j = 0; j <= i; j++) {
      long at = i * n + j;
      double *d = y->d ? y->d + at : NULL;
      tm_put(&down, at, y->v[at], d);
      if (i != j)
        tm_put(&up, j * n + i, y->v[at], d);
    }
  return tm_complex_of(
      tape, tm_f_symmetrize(tape, &real, 1),
      combined(tape, tm_built(tape, &down), tm_built(tape, &up), -1));
}

/* ---- products of all ---------------------------------------------------- */

typedef struct prod_node {
  tm_node node;
  const tm_complex *out, *slope;
  tm_complex *in;
  long n;
} prod_node;

static void prod_back(tm_node *node) {
  prod_node *p = (prod_node *)node;
  for (long k = 0; k < p->n; k++)
    p->in[k] += conj(p->slope[k]) * *p->out;
}

/* The slope of each is the product of the others, from both sides. */
TM_F(complex_prod) {
  (void)count;
  const tm_tensor *t = &a->u.t;
  const tm_complex *z = tm_complexes(t->v);
  long n = tm_complex_count(t);
  tm_complex *slope = tm_complex_room(tape, n), before = 1, after = 1;
  for (long k = 0; k < n; before *= z[k++])
    slope[k] = before;
  for (long k = n; k-- > 0; after *= z[k])
    slope[k] *= after;
  tm_tensor out = tm_complex_blank(tape, 0, NULL, t->d != NULL);
  *tm_complexes(out.v) = before;
  if (out.d) {
    prod_node *p = (prod_node *)tm_push(tape, sizeof *p, prod_back);
    *p =
        (prod_node){p->node, tm_complexes(out.d), slope, tm_complexes(t->d), n};
  }
  return tm_any_tensor(out, 1);
}

/* ---- division by a matrix ----------------------------------------------- */

void tm_complex_product(tm_side a, tm_side b, int m, int k, int n, double beta,
                        tm_complex *c) {
  tm_complex one = 1, scale = beta;
  if (m && n)
    cblas_zgemm(CblasRowMajor, a.op == 'C' ? CblasConjTrans : CblasNoTrans,
                b.op == 'C' ? CblasConjTrans : CblasNoTrans, m, n, k, &one,
                a.at, a.op == 'C' ? m : k, b.at, b.op == 'C' ? k : n, &scale, c,
                n);
}

typedef struct solve_node {
  tm_node node;
  const tm_complex *inverse, *x, *out;
  tm_complex *a, *b, *work;
  int m, n;
} solve_node;

/* X = B A^-1: B' += G, A' -= X^H G with G = X' A^-H. */
static void solve_back(tm_node *node) {
  solve_node *s = (solve_node *)node;
  long many = (long)s->m * s->n, square = (long)s->n * s->n;
  tm_complex *g = s->work, *more = s->work + many;
  tm_complex_product((tm_side){'N', s->out}, (tm_side){'C', s->inverse}, s->m,
                     s->n, s->n, 0, g);
  for (long k = 0; s->b && k < many; k++)
    s->b[k] += g[k];
  if (!s->a)
    return;
  tm_complex_product((tm_side){'C', s->x}, (tm_side){'N', g}, s->n, s->m, s->n,
                     0, more);
  for (long k = 0; k < square; k++)
    s->a[k] -= more[k];
}

static const tm_complex *inverse_of(tm_tape *tape, const tm_tensor *t, int n) {
  tm_complex *inverse = tm_complex_copy(tape, t->v, (long)n * n);
  lapack_int *pivots = tm_take(tape, (size_t)n * sizeof *pivots + 1);
  if (n && (LAPACKE_zgetrf(LAPACK_ROW_MAJOR, n, n, inverse, n, pivots) ||
            LAPACKE_zgetri(LAPACK_ROW_MAJOR, n, inverse, n, pivots)))
    tm_runtime_reject(tape, "division by a singular matrix");
  return inverse;
}

TM_F(complex_solve_right) {
  (void)count;
  const tm_tensor *b = &a[0].u.t, *t = &a[1].u.t;
  tm_check_square(tape, t, "/");
  int n = t->dim[0], m = b->rank == 2 ? 1 : b->dim[0];
  if (b->dim[b->rank - 2] != n)
    tm_runtime_fail(tape, "", "/ of %d columns and %d rows",
                    b->dim[b->rank - 2], n);
  const tm_complex *inverse = inverse_of(tape, t, n);
  tm_tensor out = tm_tensor_blank(tape, b->rank, b->dim, b->d || t->d);
  tm_complex_product((tm_side){'N', tm_complexes(b->v)},
                     (tm_side){'N', inverse}, m, n, n, 0, tm_complexes(out.v));
  if (out.d) {
    const tm_complex *x = tm_complex_copy(tape, out.v, (long)m * n);
    tm_complex *work = tm_complex_room(tape, (long)(m + n) * n);
    solve_node *s = (solve_node *)tm_push(tape, sizeof *s, solve_back);
    *s = (solve_node){s->node,
                      inverse,
                      x,
                      tm_complexes(out.d),
                      tm_complexes(t->d),
                      tm_complexes(b->d),
                      work,
                      m,
                      n};
  }
  return tm_any_tensor(out, 1);
}

/* ---- parameters and output ---------------------------------------------- */

/* Where element k, the first index fastest, lies in a row-major shape. */
static long columnwise(const tm_tensor *t, long k) {
  tm_tensor indices = tm_shape(t->rank - 1, t->dim);
  return tm_columnwise(&indices, k);
}

typedef struct turn_node {
  tm_node node;
  tm_tensor out;
  tm_complex *in;
} turn_node;

static void turn_back(tm_node *node) {
  turn_node *p = (turn_node *)node;
  long n = tm_complex_count(&p->out);
  for (long k = 0; k < n; k++)
    p->in[k] += tm_complexes(p->out.d)[columnwise(&p->out, k)];
}

/* Parameters lie with the first index fastest, under each the two parts. */
static tm_any from_columns(tm_tape *tape, const tm_any *a, int count) {
  (void)count;
  const tm_tensor *t = &a->u.t;
  if (t->rank <= 2)
    return *a;
  tm_tensor out = tm_tensor_blank(tape, t->rank, t->dim, t->d != NULL);
  long n = tm_complex_count(t);
  for (long k = 0; k < n; k++)
    tm_complexes(out.v)[columnwise(t, k)] = tm_complexes(t->v)[k];
  if (out.d) {
    turn_node *p = (turn_node *)tm_push(tape, sizeof *p, turn_back);
    p->out = out;
    p->in = tm_complexes(t->d);
  }
  return tm_any_tensor(out, 1);
}

/* And so does output, as a list. */
static tm_any to_columns(tm_tape *tape, const tm_any *a, int count) {
  (void)count;
  const tm_tensor *t = &a->u.t;
  long n = tm_complex_count(t);
  tm_tensor out = tm_tensor_blank(tape, 1, (int[]){(int)(2 * n)}, 0);
  for (long k = 0; k < n; k++)
    tm_complexes(out.v)[k] = tm_complexes(t->v)[columnwise(t, k)];
  return tm_any_tensor(out, 1);
}

/* ---- the table ---------------------------------------------------------- */

/* One function for each of reals, whatever its names and signatures. */
#define LINEAR(f)                                                              \
  static tm_any parts_##f(tm_tape *tape, const tm_any *a, int count) {         \
    return linear(tape, a, count, tm_f_##f);                                   \
  }
#define PRODUCT(f)                                                             \
  static tm_any parts_##f(tm_tape *tape, const tm_any *a, int count) {         \
    (void)count;                                                               \
    return bilinear(tape, a, tm_f_##f);                                        \
  }
LINEAR(sum)
LINEAR(cumulative_sum)
LINEAR(rep)
LINEAR(rep_columns)
LINEAR(flatten)
LINEAR(flatten_columns)
LINEAR(to_matrix)
LINEAR(column_matrix)
LINEAR(row_matrix)
LINEAR(fill_matrix)
LINEAR(fill_matrix_as)
LINEAR(head)
LINEAR(tail)
LINEAR(segment)
LINEAR(reverse)
LINEAR(append)
LINEAR(append_rows)
LINEAR(append_columns)
LINEAR(col)
LINEAR(row)
LINEAR(block)
LINEAR(sub_col)
LINEAR(sub_row)
LINEAR(transpose)
LINEAR(diag_matrix)
LINEAR(diagonal)
LINEAR(add_diag)
LINEAR(trace)
PRODUCT(diag_pre_multiply)
PRODUCT(diag_post_multiply)
PRODUCT(columns_dot_product)
PRODUCT(rows_dot_product)
PRODUCT(line_dot)
PRODUCT(line_product)
PRODUCT(matmul)

#define PARTS(name, signature, f) {name, signature, parts_##f},
#define OTHER(name, signature, f) {name, signature, tm_f_##f},
const tm_function_entry tm_complex_shapes[] = {
    TM_COMPLEX_LINEAR(PARTS) TM_COMPLEX_PRODUCTS(PARTS)
        TM_COMPLEX_OTHERS(OTHER){"from_columns", "Z", from_columns},
    {"to_columns", "Z", to_columns},
    {NULL, NULL, NULL}};
