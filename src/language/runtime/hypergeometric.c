/* hypergeometric.c - generalised hypergeometric functions by their series
 *   sum_k prod (a_i)_k / prod (b_j)_k z^k / k!,
 * with slopes term by term: that of (a)_k is (a)_k sum_{l < k} 1 / (a + l). */
#include "language/runtime/fixed.h"

enum { TERMS = 1000000, MOST = 8 };

typedef struct series {
  tm_view a, b;
  double z;
  double *da, *db, *dz; /* NULL: not wanted */
} series;

/* One factor of the next term and the sums in its slopes. */
static double step(const tm_view *x, double k, double *sums) {
  double factor = 1;
  for (long i = 0; i < x->n; i++) {
    factor *= x->v[i] + k;
    sums[i] += 1 / (x->v[i] + k);
  }
  return factor;
}

static double total(const series *s) {
  double term = 1, sum = 1, up[MOST] = {0}, down[MOST] = {0};
  for (int k = 0; k < TERMS && fabs(term) > 1e-17 * fabs(sum); k++) {
    term *= step(&s->a, k, up) / step(&s->b, k, down) * s->z / (k + 1);
    sum += term;
    for (long i = 0; s->da && i < s->a.n; i++)
      s->da[i] += term * up[i];
    for (long i = 0; s->db && i < s->b.n; i++)
      s->db[i] -= term * down[i];
    if (s->dz)
      *s->dz += term * (k + 1) / s->z;
  }
  return sum;
}

static tm_any evaluate(tm_tape *tape, tm_view a, tm_view b, const tm_any *z) {
  tm_var at = tm_as_var(z);
  bool converges = a.n <= b.n || (a.n == b.n + 1 && fabs(at.v) < 1);
  for (long i = 0; i < a.n; i++)
    converges = converges || (a.v[i] <= 0 && a.v[i] == floor(a.v[i]));
  if (a.n > MOST || b.n > MOST)
    tm_runtime_fail(tape, "", "hypergeometric_pFq: more than %d values", MOST);
  if (!converges && at.v != 0)
    tm_runtime_reject(tape,
                      "hypergeometric: the series does not converge at "
                      "z = %g",
                      at.v);
  series s = {a,
              b,
              at.v,
              tm_room(tape, a.d, a.n),
              tm_room(tape, b.d, b.n),
              at.v != 0 ? tm_room(tape, at.d, 1) : NULL};
  double value = total(&s);
  double *dz = tm_room(tape, at.d, 1);
  if (dz) {
    *dz = s.dz ? *s.dz : 1;
    for (long i = 0; !s.dz && i < a.n; i++)
      *dz *= a.v[i];
    for (long i = 0; !s.dz && i < b.n; i++)
      *dz /= b.v[i];
  }
  return tm_scalar_result(
      tape, value, 3,
      (tm_partial[]){{a.d, s.da, a.n}, {b.d, s.db, b.n}, {at.d, dz, 1}});
}

TM_F(hypergeometric_pfq) {
  (void)count;
  tm_view v[2];
  tm_view_of(a, &v[0]);
  tm_view_of(a + 1, &v[1]);
  return evaluate(tape, v[0], v[1], a + 2);
}

TM_F(hypergeometric_3f2) {
  if (tm_count(&a[0].u.t) != 3 || tm_count(&a[1].u.t) != 2)
    tm_runtime_fail(tape, "", "hypergeometric_3F2 takes 3 and 2 values");
  return tm_f_hypergeometric_pfq(tape, a, count);
}

/* a1, a2, b1, z */
TM_F(hypergeometric_2f1) {
  (void)count;
  tm_any up = tm_any_tensor(tm_stack(tape, a, 2), 1);
  tm_any down = tm_any_tensor(tm_stack(tape, a + 2, 1), 1);
  return tm_f_hypergeometric_pfq(tape, (tm_any[]){up, down, a[3]}, 3);
}

/* (1 - z)^-a */
TM_F(hypergeometric_1f0) {
  (void)count;
  tm_var power = tm_v_negative(tape, tm_as_var(a));
  tm_var base = tm_v_subtract(tape, tm_constant(1), tm_as_var(a + 1));
  return tm_any_var(tm_v_pow(tape, base, power));
}
