/* embedded_laplace_families.c - the embedded Laplace approximation of the likelihoods
 * that Stan has ready: y[i] ~ family(theta[g[i]] + m[g[i]]). Whatever block
 * size is given, an observation sees one element of theta only. */
#include "language/runtime/embedded_laplace.h"

/* x[g], an element for each observation. */
static tm_any chosen(tm_tape *tape, tm_any x, const tm_tensor *g) {
  tm_builder b = tm_build(tape, 1, g->dim, x.u.t.d != NULL);
  for (long i = 0; i < tm_count(g); i++) {
    long k = (long)g->v[i] - 1;
    if (k < 0 || k >= tm_count(&x.u.t))
      tm_runtime_fail(tape, "", "laplace: y_index has %ld, theta %ld elements",
                      k + 1, tm_count(&x.u.t));
    tm_put(&b, i, x.u.t.v[k], x.u.t.d ? &x.u.t.d[k] : NULL);
  }
  return tm_built(tape, &b);
}

/* theta, y, y_index, perhaps eta, m */
static tm_any likelihood(tm_tape *tape, const tm_any *a, const char *density,
                         bool eta) {
  const tm_any *m = &a[eta ? 4 : 3];
  tm_any mean = chosen(tape, tm_map2(tape, "add", a[0], *m), &a[2].u.t);
  tm_fn f = tape->runtime->find(density, eta ? "IRR" : "IR");
  return f(tape, (tm_any[]){a[1], mean, a[3]}, eta ? 3 : 2);
}
static tm_any poisson(tm_tape *tape, const tm_any *a) {
  return likelihood(tape, a, "poisson_log_lpdf", false);
}
static tm_any bernoulli(tm_tape *tape, const tm_any *a) {
  return likelihood(tape, a, "bernoulli_logit_lpdf", false);
}
static tm_any neg_binomial(tm_tape *tape, const tm_any *a) {
  return likelihood(tape, a, "neg_binomial_2_log_lpdf", true);
}

/* (y, y_index, perhaps eta, m, block, K, perhaps options) */
static tm_any apply(tm_tape *tape, const tm_any *a, int count, tm_callback f,
                    tm_any (*what)(tm_callable *, bool)) {
  enum { OPTIONS = 6 };
  int arguments = f == neg_binomial ? 4 : 3;
  count &= TM_DIRECT - 1;
  bool options = count > arguments + 2;
  if (a[0].u.t.dim[0] != a[1].u.t.dim[0])
    tm_runtime_fail(tape, "", "laplace: y has %d elements, y_index %d",
                    a[0].u.t.dim[0], a[1].u.t.dim[0]);
  tm_any controls[2 + OPTIONS];
  memcpy(controls, a + arguments, (options ? 2 + OPTIONS : 2) * sizeof *a);
  controls[TM_LAPLACE_BLOCK] = tm_int_result(1);
  tm_system system = {.value = f,
                      .gradient = f,
                      .controls = controls,
                      .arguments = a,
                      .argument_count = arguments};
  tm_callable c = tm_callable_new(tape, &system, 1, "");
  return what(&c, options);
}

#define FAMILY(name, f)                                                        \
  TM_F(laplace_marginal_##name) {                                              \
    return apply(tape, a, count, f, tm_laplace_marginal);                      \
  }                                                                            \
  TM_F(laplace_latent_##name) {                                                \
    return apply(tape, a, count, f, tm_laplace_latent);                        \
  }
FAMILY(poisson_log, poisson)
FAMILY(bernoulli_logit, bernoulli)
FAMILY(neg_binomial_2_log, neg_binomial)
