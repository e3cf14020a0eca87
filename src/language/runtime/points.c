/* points.c - the likelihood's terms one by one, and outcomes drawn one by one:
 * a density of n outcomes is n terms. Univariate densities have kernels; of the
 * others, whatever the signature lets be a container is taken apart. */
#include "language/runtime/runtime.h"

#include <math.h>
#include <string.h>

enum { MOST = 12 };

static void kernel_points(tm_tape *tape, tm_kernel kernel, const char *name,
                          const tm_any *arguments, int count) {
  tm_view v[MOST];
  double x[MOST];
  for (int i = 0; i < count; i++)
    tm_view_of(&arguments[i], &v[i]);
  long n = tm_common_length(tape, v, count, name);
  for (long k = 0; k < n; k++) {
    for (int i = 0; i < count; i++)
      x[i] = v[i].v[k * v[i].stride];
    double value = kernel(x, NULL);
    tm_add_point(tape, isnan(value) && !isnan(x[0]) ? -INFINITY : value);
  }
}

/* The type of argument i in a signature: "I,[v,m:r". */
static char letter_of(const char *signature, int i, bool *array) {
  for (; i > 0; i--)
    signature = strchr(signature, ',') + 1;
  *array = *signature == '[';
  return *array ? signature[1] : *signature;
}

/* How many dimensions an outcome's own value has there; -1: it is one for all
 * outcomes. An array as the outcome (counts) is one outcome. */
static int own_rank(const char *signature, int i, int rank) {
  bool array;
  char letter = letter_of(signature, i, &array);
  if (array)
    return i ? rank - 1 : -1;
  switch (letter) {
  case 'I':
  case 'R':
  case 'P':
    return 0;
  case 'V':
  case 'M': /* the rows of a model's matrix */
    return 1;
  default:
    return -1;
  }
}

/* Its k-th piece, where it has pieces. */
static tm_any piece_of(const tm_any *a, int own, long k) {
  if (a->tag != TM_TAG_TENSOR || own < 0 || a->u.t.rank <= own)
    return *a;
  if (own == 0)
    return tm_any_real(a->u.t.v[k]);
  tm_tensor t = a->u.t;
  return tm_any_tensor(tm_sub(t, k, 1), 1);
}

static tm_any argument_piece(const tm_any *a, const char *signature, int i,
                             long k) {
  bool array;
  int own = a->tag == TM_TAG_TENSOR ? own_rank(signature, i, a->u.t.rank) : -1;
  bool pieces = own >= 0 && a->u.t.rank > own;
  tm_any piece = piece_of(a, own, k);
  return pieces && letter_of(signature, i, &array) == 'I'
             ? tm_any_int((long)piece.u.r.v)
             : piece;
}

static void pieces_of(const char *signature, const tm_any *from, int count,
                      long k, tm_any *to) {
  for (int i = 0; i < count; i++)
    to[i] = argument_piece(&from[i], signature, i, k);
}

void tm_points(tm_tape *tape, const char *name, const char *signature, tm_fn f,
               const tm_any *arguments, int count) {
  if (!f) {
    kernel_points(tape, tm_density_kernel(name), name, arguments, count);
    return;
  }
  tm_any one[MOST];
  for (long k = 0, n = arguments[0].u.t.dim[0]; k < n; k++) {
    tm_tape_mark mark = tm_tape_here(tape);
    pieces_of(signature, arguments, count, k, one);
    double value = f(tape, one, count).u.r.v;
    tm_tape_back_to(tape, mark);
    tm_add_point(tape, value);
  }
}

void tm_point_each(tm_tape *tape, tm_tensor values) {
  for (long k = 0, n = tm_count(&values); k < n; k++)
    tm_add_point(tape, values.v[k]);
}

/* One outcome of `size` numbers. */
static void take_over(tm_tape *tape, double *to, long size, tm_any drawn) {
  if (drawn.tag == TM_TAG_TENSOR) {
    if (tm_count(&drawn.u.t) != size)
      tm_runtime_fail(tape, "", "a random value has the wrong size");
    memcpy(to, drawn.u.t.v, (size_t)size * sizeof *to);
  } else {
    *to = drawn.tag == TM_TAG_INT ? (double)drawn.u.i : drawn.u.r.v;
  }
}

static bool in_pieces(const char *signature, const tm_tensor *y, int *own) {
  *own = own_rank(signature, 0, y->rank);
  return *own >= 0 && y->rank > *own;
}

void tm_draw_each(tm_tape *tape, tm_fn rng, const char *signature,
                  const tm_any *arguments, int count) {
  const tm_tensor *y = &arguments[0].u.t;
  int own;
  long n = in_pieces(signature, y, &own) ? y->dim[0] : 1;
  long size = n ? tm_count(y) / n : 0;
  tm_any one[MOST];
  for (long k = 0; k < n; k++) {
    double *to = y->v + k * size;
    if (tape->replicating == 2) {
      for (long i = 0; i < size; i++)
        to[i] = (double)tape->point_count;
      tape->point_count++;
      continue;
    }
    if (!tape->replicating && size && !isnan(to[0]))
      tm_runtime_fail(tape, "", "an element has two prior statements");
    tm_tape_mark mark = tm_tape_here(tape);
    pieces_of(signature, arguments, count, k, one);
    take_over(tape, to, size, rng(tape, one + 1, count - 1));
    tm_tape_back_to(tape, mark);
  }
}
