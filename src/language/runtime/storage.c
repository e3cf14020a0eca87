/* storage.c - storage of variables, and parameters between theta, which is
 * column-major, and tensors, which are row-major; see storage.h. */
#include "language/runtime/storage.h"

tm_tensor tm_storage_duplicate(tm_tape *tape, tm_tensor from) {
  tm_tensor t = tm_tensor_blank(tape, from.rank, from.dim, 0);
  memcpy(t.v, from.v, (size_t)tm_count(&t) * sizeof(double));
  return t;
}

tm_tensor tm_storage_declare(tm_tape *tape, int rank, const int *dim,
                             int active) {
  tm_tensor t = tm_tensor_blank(tape, rank, dim, active);
  long n = tm_count(&t);
  for (long i = 0; i < n; i++)
    t.v[i] = NAN;
  return t;
}

typedef struct repack {
  tm_node node;
  tm_tensor t;
  double *gradient;
} repack;

static void repack_back(tm_node *node) {
  repack *r = (repack *)node;
  long n = tm_count(&r->t), rows = r->t.dim[0], columns = r->t.dim[1];
  if (r->t.rank == 2) { /* the usual one, without divisions */
    for (long j = 0; j < columns; j++)
      for (long i = 0; i < rows; i++)
        r->gradient[j * rows + i] += r->t.d[i * columns + j];
    return;
  }
  for (long k = 0; k < n; k++)
    r->gradient[k] += r->t.d[tm_columnwise(&r->t, k)];
}

tm_tensor tm_storage_unpack(tm_tape *tape, const double *theta,
                            double *gradient, int rank, const int *dim) {
  tm_tensor t = tm_tensor_blank(tape, rank, dim, gradient != NULL);
  long n = tm_count(&t);
  if (rank == 2) /* the usual one, without divisions */
    for (long j = 0; j < dim[1]; j++)
      for (long i = 0; i < dim[0]; i++)
        t.v[i * dim[1] + j] = theta[j * dim[0] + i];
  else
    for (long k = 0; k < n; k++)
      t.v[tm_columnwise(&t, k)] = theta[k];
  if (!gradient)
    return t;
  repack *r = (repack *)tm_push(tape, sizeof *r, repack_back);
  r->t = t;
  r->gradient = gradient;
  return t;
}

void tm_storage_pack(tm_tape *tape, tm_tensor from, double *theta,
                     const char *name) {
  long n = tm_count(&from);
  for (long k = 0; k < n; k++) {
    theta[k] = from.v[tm_columnwise(&from, k)];
    if (isnan(theta[k]))
      tm_runtime_fail(tape, "", "part of %s has no prior statement", name);
  }
}
