/* glm.c - generalised linear models: alpha + x beta, then the density. With a
 * row vector x there is one predictor for all outcomes, with a matrix one for
 * each row. */
#include "language/runtime/fixed.h"

/* x beta: a scalar or a vector. */
static tm_any product(tm_tape *tape, tm_any x, tm_any beta) {
  bool row = x.u.t.rank == 1;
  if (row && x.u.t.dim[0] != beta.u.t.dim[0])
    tm_runtime_fail(tape, "", "x has %d columns, beta %d elements",
                    x.u.t.dim[0], beta.u.t.dim[0]);
  return tm_call2(tape, row ? tm_f_dot_product : tm_f_matmul, x, beta);
}

/* x, alpha, beta */
static tm_any predictor(tm_tape *tape, const tm_any *a) {
  return tm_map2(tape, "add", a[1], product(tape, a[0], a[2]));
}

static tm_any density(tm_tape *tape, const char *name, const char *letters,
                      const tm_any *a, int count) {
  tm_fn f = tape->runtime->find(name, letters);
  return f(tape, a, (int)strlen(letters) | (count & TM_DIRECT));
}

TM_F(bernoulli_logit_glm) {
  return density(tape, "bernoulli_logit_lpdf", "IR",
                 (tm_any[]){a[0], predictor(tape, a + 1)}, count);
}
TM_F(poisson_log_glm) {
  return density(tape, "poisson_log_lpdf", "IR",
                 (tm_any[]){a[0], predictor(tape, a + 1)}, count);
}
TM_F(normal_id_glm) {
  return density(tape, "normal_lpdf", "RRR",
                 (tm_any[]){a[0], predictor(tape, a + 1), a[4]}, count);
}
TM_F(neg_binomial_2_log_glm) {
  return density(tape, "neg_binomial_2_log_lpdf", "IRR",
                 (tm_any[]){a[0], predictor(tape, a + 1), a[4]}, count);
}
TM_F(binomial_logit_glm) {
  return density(tape, "binomial_logit_lpdf", "IIR",
                 (tm_any[]){a[0], a[1], predictor(tape, a + 2)}, count);
}
TM_F(ordered_logistic_glm) {
  tm_any eta = product(tape, a[1], a[2]);
  return tm_f_ordered_logistic(tape, (tm_any[]){a[0], eta, a[3]}, count);
}

TM_F(bernoulli_logit_glm_rng) {
  (void)count;
  tm_any eta = predictor(tape, a);
  return tape->runtime->find("bernoulli_logit_rng", "R")(tape, &eta, 1);
}

/* Outcomes to fill, and the density's arguments. */
static tm_any fill(tm_tape *tape, const char *name, const char *letters,
                   tm_any place, const tm_any *a) {
  int n = (int)strlen(letters);
  tm_any all[6] = {place};
  memcpy(all + 1, a, (size_t)n * sizeof *a);
  all[n + 1] = tm_any_real(-INFINITY);
  all[n + 2] = tm_any_real(INFINITY);
  return tape->runtime->find(name, letters)(tape, all, 0);
}

TM_F(bernoulli_logit_glm_fill) {
  (void)count;
  return fill(tape, "bernoulli_logit_fill", "R", a[0],
              (tm_any[]){predictor(tape, a + 1)});
}
TM_F(poisson_log_glm_fill) {
  (void)count;
  return fill(tape, "poisson_log_fill", "R", a[0],
              (tm_any[]){predictor(tape, a + 1)});
}
TM_F(normal_id_glm_fill) {
  (void)count;
  return fill(tape, "normal_fill", "RR", a[0],
              (tm_any[]){predictor(tape, a + 1), a[4]});
}
TM_F(neg_binomial_2_log_glm_fill) {
  (void)count;
  return fill(tape, "neg_binomial_2_log_fill", "RR", a[0],
              (tm_any[]){predictor(tape, a + 1), a[4]});
}
TM_F(binomial_logit_glm_fill) {
  (void)count;
  return fill(tape, "binomial_logit_fill", "IR", a[0],
              (tm_any[]){a[1], predictor(tape, a + 2)});
}

/* One outcome: log softmax of logits z + alpha at k; slopes are added. */
static double one_category(const double *z, const double *alpha, long n, long k,
                           double *work, double *z_slope, double *alpha_slope) {
  double most = -INFINITY, sum = 0;
  for (long j = 0; j < n; j++) {
    work[j] = z[j] + alpha[j];
    most = work[j] > most ? work[j] : most;
  }
  for (long j = 0; j < n; j++)
    sum += exp(work[j] - most);
  double total = most + log(sum);
  for (long j = 0; j < n; j++) {
    double slope = (j == k) - exp(work[j] - total);
    if (z_slope)
      z_slope[j] += slope;
    if (alpha_slope)
      alpha_slope[j] += slope;
  }
  return work[k] - total;
}

TM_F(categorical_logit_glm) {
  (void)count;
  tm_any logits = tm_call2(tape, tm_f_matmul, a[1], a[3]);
  const tm_tensor *z = &logits.u.t;
  tm_view y, alpha;
  tm_view_of(a, &y);
  tm_view_of(a + 2, &alpha);
  long n = alpha.n, rows = z->rank == 2 ? z->dim[0] : 1;
  long times = rows > y.n ? rows : y.n;
  if (z->dim[z->rank - 1] != n || (rows > 1 && y.n > 1 && rows != y.n))
    tm_runtime_fail(tape, "",
                    "categorical_logit_glm: %ld outcomes, %ld rows, %ld "
                    "intercepts, %d columns of beta",
                    y.n, rows, n, z->dim[z->rank - 1]);
  double value = 0, *sz = tm_room(tape, z->d, rows * n),
         *sa = tm_room(tape, alpha.d, n);
  double *work = tm_take(tape, (size_t)n * sizeof(double) + 1);
  for (long i = 0; rows && i < times; i++) {
    long row = rows > 1 ? i * n : 0;
    long k = tm_at(tape, (long)y.v[y.n > 1 ? i : 0], (int)n, "");
    value +=
        one_category(z->v + row, alpha.v, n, k, work, sz ? sz + row : NULL, sa);
  }
  return tm_scalar_result(
      tape, value, 2, (tm_partial[]){{z->d, sz, rows * n}, {alpha.d, sa, n}});
}
