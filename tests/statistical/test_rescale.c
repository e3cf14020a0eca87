/* Moves of a scale together with what it scales (kernels/rescale.c) and of a
 * mean with what lies about it keep the exact tempered posterior of a centred
 * hierarchy (centred_model.h), whatever the scale's parameter is; and runs of
 * it are right. Given t all is normal, and t has one dimension: a table of it.
 */
#include "kernels/move.h"
#include "model/hierarchy.h"

#include "centred_model.h"

#include <stdlib.h>

enum { GRID = 20000, REPLICATES = 4000, SWEEPS = 120, FACTS = 4 };

static const centred_model CASES[] = {
    {"standard deviation", 6, 1, INFINITY, 1, 0, 1.5},
    {"variance between bounds", 6, 0.5, 30, 2, -1, 1.5},
    {"precision", 6, -0.5, INFINITY, 1, 0, 1.5},
    {"neck", CENTRED_MOST, 1, INFINITY, 1, 0, 0.9},
};
enum { CASE_COUNT = sizeof CASES / sizeof *CASES };

/* ---- its exact law ------------------------------------------------------ */

typedef struct law {
  const centred_model *h;
  double tau;
  double log_t[GRID], cdf[GRID];
  double log_z, mean; /* of t */
} law;

/* Sums over y - b. */
static void sums(const centred_model *h, double *sum, double *squares) {
  *sum = *squares = 0;
  for (size_t i = 0; i < h->count; i++) {
    double r = centred_observed(h, i) - h->b;
    *sum += r;
    *squares += r * r;
  }
}

/* log of the integral over mu and x of likelihood^tau x prior, at t. */
static double log_marginal(const law *l, double t) {
  const centred_model *h = l->h;
  double n = (double)h->count, sum, squares, sigma = pow(t, h->power);
  if (l->tau == 0)
    return centred_log_prior_of(h, t);
  sums(h, &sum, &squares);
  double d = sigma * sigma + 1 / l->tau, all = d + n * h->a * h->a;
  double quadratic = (squares - sum * sum / n) / d + sum * sum / n / all;
  return centred_log_prior_of(h, t) -
         0.5 * (quadratic + (n - 1) * log(d) + log(all) + n * log(l->tau) +
                n * l->tau * log(2 * M_PI));
}

static void tabulate(law *l) {
  double top = isfinite(l->h->upper) ? log(l->h->upper) : 5, low = top - 25;
  double total = 0, before = 0, first = 0;
  for (size_t i = 0; i < GRID; i++) {
    l->log_t[i] = low + (top - low) * (double)i / (GRID - 1);
    double t = exp(l->log_t[i]);
    double density = exp(log_marginal(l, t) + l->log_t[i]);
    double share = 0.5 * (density + before) * (top - low) / (GRID - 1);
    total += i ? share : 0;
    first += i ? share * t : 0;
    l->cdf[i] = total;
    before = density;
  }
  for (size_t i = 0; i < GRID; i++)
    l->cdf[i] /= total;
  l->log_z = log(total);
  l->mean = first / total;
}

static size_t place(const double *sorted, double x) {
  size_t low = 0, high = GRID - 1;
  while (high - low > 1) {
    size_t middle = (low + high) / 2;
    if (sorted[middle] <= x)
      low = middle;
    else
      high = middle;
  }
  return low;
}

static double between(const double *x, const double *y, double at) {
  size_t i = place(x, at);
  double share = (at - x[i]) / (x[i + 1] - x[i]);
  return y[i] + fmin(1, fmax(0, share)) * (y[i + 1] - y[i]);
}

typedef struct normal {
  double mean, sd;
} normal;

static normal mu_given(const law *l, double t) {
  double n = (double)l->h->count, a = l->h->a, sum, squares;
  double sigma = pow(t, l->h->power), d = sigma * sigma + 1 / l->tau;
  sums(l->h, &sum, &squares);
  double precision = l->tau > 0 ? 1 + n * a * a / d : 1;
  return (normal){l->tau > 0 ? a * sum / d / precision : 0,
                  1 / sqrt(precision)};
}

static normal x_given(const law *l, const double *theta, size_t i) {
  double sigma = pow(theta[0], l->h->power), own = 1 / (sigma * sigma);
  double m = l->h->a * theta[1] + l->h->b;
  double precision = own + l->tau;
  return (normal){(own * m + l->tau * centred_observed(l->h, i)) / precision,
                  1 / sqrt(precision)};
}

static void draw_exactly(const law *l, tempera_random *random, double *theta) {
  double u = tempera_random_uniform(random);
  theta[0] = exp(between(l->cdf, l->log_t, u));
  normal mu = mu_given(l, theta[0]);
  theta[1] = mu.mean + mu.sd * tempera_random_normal(random);
  for (size_t i = 0; i < l->h->count; i++) {
    normal x = x_given(l, theta, i);
    theta[2 + i] = x.mean + x.sd * tempera_random_normal(random);
  }
}

static double score(normal n, double x) {
  return gsl_cdf_ugaussian_P((x - n.mean) / n.sd);
}

/* ---- invariance --------------------------------------------------------- */

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Distance of probabilities from uniform, times sqrt n. P(> 2.3) is 5e-5. */
static double kolmogorov(double *p, size_t n) {
  double worst = 0;
  qsort(p, n, sizeof *p, ascending);
  for (size_t i = 0; i < n; i++)
    worst = fmax(worst, fmax(fabs(p[i] - (double)i / (double)n),
                             fabs(p[i] - (double)(i + 1) / (double)n)));
  return worst * sqrt((double)n);
}

typedef struct walker {
  tempera_model *model;
  tm_arena *arena;
  tm_hierarchy hierarchy;
  tm_kernel *kernel;
  tm_evaluator evaluator;
  tm_point point;
} walker;

static walker begin(const centred_model *h) {
  walker w = {.model = centred_open(h), .arena = tm_arena_create()};
  double start[CENTRED_MOST + 2] = {1};
  const tm_move_type *type = &tm_move_rescale;
  assert_int_equal(
      tm_hierarchy_find(w.model, start, w.arena, &w.hierarchy, NULL),
      TEMPERA_OK);
  w.model->hierarchy = &w.hierarchy;
  assert_int_equal(
      tm_kernel_compose(w.model, &type, 1, w.arena, &w.kernel, NULL),
      TEMPERA_OK);
  assert_int_equal(tm_evaluator_create(w.model, w.arena, &w.evaluator, NULL),
                   TEMPERA_OK);
  assert_int_equal(tm_point_create(w.model, w.arena, &w.point, NULL),
                   TEMPERA_OK);
  return w;
}

static void end(walker *w) {
  tm_evaluator_release(&w->evaluator);
  tempera_model_free(w->model);
  tm_arena_free(w->arena);
}

static double sweeps(walker *w, double tau, tempera_random *random) {
  double acceptance = 0;
  for (int k = 0; k < SWEEPS; k++)
    acceptance +=
        tm_kernel_sweep(w->kernel, &w->evaluator, &w->point, tau, random)
            .acceptance;
  return acceptance / SWEEPS;
}

static void the_family_is_found(const centred_model *h, const walker *w) {
  const tm_family *f = w->hierarchy.families;
  assert_int_equal(w->hierarchy.count, 1);
  assert_int_equal(f->count, h->count);
  assert_int_equal(f->centres, 1);
  assert_int_equal(f->mover[0], 1);
  assert_true(f->power == h->power);
  assert_true(f->weight[0] == h->a && f->shift[0] == h->b);
}

static void check_law(const centred_model *h, walker *w, const law *l) {
  static double p[FACTS][REPLICATES];
  tempera_random random = tm_random(3, 0, TM_PURPOSE_TEST);
  uint64_t before = w->evaluator.likelihood_evaluations;
  double acceptance = 0;
  for (size_t r = 0; r < REPLICATES; r++) {
    draw_exactly(l, &random, w->point.theta);
    tm_evaluate_natural(&w->evaluator, &w->point);
    acceptance += sweeps(w, l->tau, &random) / REPLICATES;
    const double *theta = w->point.theta;
    p[0][r] = between(l->log_t, l->cdf, log(theta[0]));
    p[1][r] = score(mu_given(l, theta[0]), theta[1]);
    p[2][r] = score(x_given(l, theta, 0), theta[2]);
    p[3][r] = score(x_given(l, theta, 1), theta[3]);
  }
  /* Sweeps without a walk, most of them, count as accepted. */
  double walks =
      (double)(w->evaluator.likelihood_evaluations - before) / REPLICATES - 1;
  double rejected = (1 - acceptance) * SWEEPS / walks;
  assert_true(walks > 4);
  assert_true(rejected > 0.3 && rejected < 0.8);
  for (size_t k = 0; k < FACTS; k++) {
    double distance = kolmogorov(p[k], REPLICATES);
    if (!(distance < 2.3))
      fail_msg("%s at tau = %g, fact %zu: %g", h->name, l->tau, k, distance);
  }
}

static void the_move_keeps_the_tempered_posterior(void **state) {
  (void)state;
  static law l;
  const double taus[] = {0, 0.3, 1};
  for (size_t c = 0; c < CASE_COUNT; c++) {
    walker w = begin(&CASES[c]);
    the_family_is_found(&CASES[c], &w);
    tempera_random random = tm_random(2, 0, TM_PURPOSE_TEST);
    for (int round = 0; round < 3; round++)
      for (int i = 0; i < 200; i++) {
        l.h = &CASES[c];
        l.tau = taus[round];
        if (i == 0)
          tabulate(&l);
        draw_exactly(&l, &random, w.point.theta);
        tm_evaluate_natural(&w.evaluator, &w.point);
        (void)sweeps(&w, l.tau, &random);
      }
    tm_kernel_freeze(w.kernel);
    for (size_t k = 0; k < 3; k++) {
      l.tau = taus[k];
      tabulate(&l);
      check_law(&CASES[c], &w, &l);
    }
    end(&w);
  }
}

/* ---- whole runs --------------------------------------------------------- */

static void runs_are_right(void **state) {
  (void)state;
  static law l;
  for (size_t c = 0; c < CASE_COUNT; c++) {
    l = (law){.h = &CASES[c], .tau = 1};
    tabulate(&l);
    tempera_model *model = centred_open(&CASES[c]);
    tempera_options options = tempera_options_default();
    options.seed = 1;
    tempera_summary *s = run_model(model, &options);
    const tempera_value_summary *t = &s->values[0];
    print_message("%s: log Z %.4f +- %.4f, exact %.4f; t %.4f +- %.4f, exact "
                  "%.4f, %.0f effective draws\n",
                  CASES[c].name, s->log_z, s->se, l.log_z, t->mean, t->mcse,
                  l.mean, t->ess_bulk);
    if (!s->reliable)
      fail_msg("%s: %s", CASES[c].name, s->verdict);
    assert_true(s->se < 0.1 && fabs(s->log_z - l.log_z) < 4 * s->se);
    assert_true(fabs(t->mean - l.mean) < 4 * t->mcse);
    tempera_summary_free(s);
    tempera_model_free(model);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_move_keeps_the_tempered_posterior),
      cmocka_unit_test(runs_are_right),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
