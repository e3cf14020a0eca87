/* hmm.c - hidden Markov models: the states summed out forwards, seen from the
 * end backwards, and drawn. log_omega is K x N, Gamma K x K, rho a K-vector. */
#include "language/runtime/fixed.h"

typedef struct hmm {
  const double *log_omega, *gamma, *rho;
  int states, steps;
  double *omega;        /* K x N, each column over its largest */
  double *alpha, *beta; /* K x N: forwards scaled to sum 1, backwards */
  double *scale;        /* N: what the columns of alpha summed to */
  double value;
} hmm;

static void forward(hmm *h) {
  int n = h->states, steps = h->steps;
  for (int t = 0; t < steps; t++) {
    double most = -INFINITY, sum = 0;
    for (int k = 0; k < n; k++)
      most = fmax(most, h->log_omega[k * steps + t]);
    for (int k = 0; k < n; k++) {
      double before = t ? 0 : h->rho[k];
      for (int j = 0; t && j < n; j++)
        before += h->alpha[j * steps + t - 1] * h->gamma[j * n + k];
      double w = exp(h->log_omega[k * steps + t] - most);
      h->omega[k * steps + t] = w;
      sum += h->alpha[k * steps + t] = w * before;
    }
    for (int k = 0; k < n; k++)
      h->alpha[k * steps + t] /= sum;
    h->scale[t] = sum;
    h->value += log(sum) + most;
  }
}

/* beta_t scaled by the same numbers, so that alpha beta sums to one. */
static void backward(hmm *h) {
  int n = h->states, steps = h->steps;
  for (int t = steps; t-- > 0;)
    for (int k = 0; k < n; k++) {
      double sum = t == steps - 1 ? 1 : 0;
      for (int j = 0; t < steps - 1 && j < n; j++)
        sum += h->gamma[k * n + j] * h->omega[j * steps + t + 1] *
               h->beta[j * steps + t + 1] / h->scale[t + 1];
      h->beta[k * steps + t] = sum;
    }
}

static void check(tm_tape *tape, const hmm *h) {
  double sum = 0;
  for (int k = 0; k < h->states; k++) {
    double row = 0;
    sum += h->rho[k];
    for (int j = 0; j < h->states; j++)
      row += h->gamma[k * h->states + j];
    if (!(fabs(row - 1) < 1e-8))
      tm_runtime_reject(tape, "row %d of Gamma sums to %g, not 1", k + 1, row);
  }
  if (!(fabs(sum - 1) < 1e-8))
    tm_runtime_reject(tape, "rho sums to %g, not 1", sum);
}

static hmm run(tm_tape *tape, const tm_any *a) {
  const tm_tensor *o = &a[0].u.t, *g = &a[1].u.t, *r = &a[2].u.t;
  int n = o->dim[0], steps = o->dim[1];
  if (g->dim[0] != n || g->dim[1] != n || r->dim[0] != n)
    tm_runtime_fail(tape, "",
                    "hmm: log_omega has %d rows, Gamma is %d x %d, rho has %d "
                    "elements",
                    n, g->dim[0], g->dim[1], r->dim[0]);
  hmm h = {o->v, g->v, r->v, n, steps, NULL, NULL, NULL, NULL, 0};
  size_t bytes = (size_t)n * (size_t)steps * sizeof(double) + 1;
  h.omega = tm_take(tape, bytes);
  h.alpha = tm_take(tape, bytes);
  h.beta = tm_take(tape, bytes);
  h.scale = tm_take(tape, (size_t)steps * sizeof(double) + 1);
  check(tape, &h);
  forward(&h);
  return h;
}

TM_F(hmm_marginal) {
  (void)count;
  const tm_tensor *o = &a[0].u.t, *g = &a[1].u.t, *r = &a[2].u.t;
  hmm h = run(tape, a);
  int n = h.states, steps = h.steps;
  double *so = tm_room(tape, o->d, (long)n * steps);
  double *sg = tm_room(tape, g->d, (long)n * n), *sr = tm_room(tape, r->d, n);
  if (so || sg || sr)
    backward(&h);
  for (int k = 0; k < n; k++)
    for (int t = 0; t < steps; t++) {
      long at = (long)k * steps + t;
      double seen = h.omega[at] * h.beta[at] / h.scale[t];
      if (so)
        so[at] = h.alpha[at] * h.beta[at];
      if (sr && t == 0)
        sr[k] = seen;
      for (int j = 0; sg && t && j < n; j++)
        sg[j * n + k] += h.alpha[j * steps + t - 1] * seen;
    }
  return tm_scalar_result(tape, h.value, 3,
                          (tm_partial[]){{o->d, so, (long)n * steps},
                                         {g->d, sg, (long)n * n},
                                         {r->d, sr, n}});
}

/* Probabilities of the states given all observations, K x N. */
TM_F(hmm_hidden_state_prob) {
  (void)count;
  hmm h = run(tape, a);
  backward(&h);
  tm_tensor out = tm_tensor_new(tape, 2, a->u.t.dim, 0);
  for (long k = 0; k < tm_count(&out); k++)
    out.v[k] = h.alpha[k] * h.beta[k];
  return tm_any_tensor(out, 1);
}

/* From the last state to the first. */
TM_F(hmm_latent_rng) {
  (void)count;
  hmm h = run(tape, a);
  int n = h.states, steps = h.steps;
  tm_tensor out = tm_tensor_new(tape, 1, &steps, 0);
  double *p = tm_take(tape, (size_t)n * sizeof(double) + 1);
  for (int t = steps; t-- > 0;) {
    double sum = 0;
    for (int k = 0; k < n; k++) {
      long next = t + 1 < steps ? (long)out.v[t + 1] - 1 : 0;
      sum += p[k] =
          h.alpha[k * steps + t] * (t + 1 < steps ? h.gamma[k * n + next] : 1);
    }
    for (int k = 0; k < n; k++)
      p[k] /= sum;
    out.v[t] = (double)tm_pick(tape, p, n);
  }
  return tm_any_tensor(out, 1);
}
