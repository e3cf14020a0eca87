/* theory.c - one-dimensional integrals over mu >= 0, twice, by a
 * Gauss-Legendre rule. */
#include "reproduce/theory.h"

#include <gsl/gsl_integration.h>
#include <gsl/gsl_sf_gamma.h>
#include <math.h>

static const double LOG_2_PI = 1.83787706640934548356;

tm_theory tm_theory_of(const double *y, size_t n, bool variance_known) {
  tm_theory t = {.n = (double)n, .variance_known = variance_known};
  for (size_t i = 0; i < n; i++)
    t.mean += y[i] / t.n;
  for (size_t i = 0; i < n; i++)
    t.squares += (y[i] - t.mean) * (y[i] - t.mean);
  return t;
}

static double squares_about(const tm_theory *t, double mu) {
  double off = t->mean - fabs(mu);
  return t->squares + t->n * off * off;
}

/* With sigma2 ~ IG(1, 1): the integral of sigma2^(-a-1) exp(-b/sigma2) is
 * Gamma(a) / b^a. */
double tm_theory_log_joint(const tm_theory *t, double tau, double mu) {
  double prior = -0.5 * (LOG_2_PI + mu * mu);
  double constant = -0.5 * tau * t->n * LOG_2_PI;
  double squares = squares_about(t, mu);
  if (t->variance_known)
    return prior + constant - 0.5 * tau * squares;
  double a = 1 + 0.5 * t->n * tau, b = 1 + 0.5 * tau * squares;
  return prior + constant + gsl_sf_lngamma(a) - a * log(b);
}

/* The largest value over mu >= 0 of a function with one hump there. */
typedef double (*hump_fn)(const tm_theory *t, double tau, double mu);

static double top(const tm_theory *t, double tau, hump_fn f, double *at) {
  const double golden = 0.6180339887498949;
  double low = 0, high = fmax(1, t->mean);
  for (int i = 0; i < 100; i++) {
    double a = high - golden * (high - low), b = low + golden * (high - low);
    if (f(t, tau, a) > f(t, tau, b))
      high = b;
    else
      low = a;
  }
  *at = (low + high) / 2;
  return f(t, tau, *at);
}

/* tau l + log prior at the best sigma2 for this mu. */
static double best_sigma2(const tm_theory *t, double tau, double mu) {
  double prior = -0.5 * (LOG_2_PI + mu * mu);
  double constant = -0.5 * tau * t->n * LOG_2_PI;
  double squares = squares_about(t, mu);
  if (t->variance_known)
    return prior + constant - 0.5 * tau * squares;
  double a = 2 + 0.5 * t->n * tau, b = 1 + 0.5 * tau * squares;
  return prior + constant + a * log(a / b) - a;
}

double tm_theory_profile(const tm_theory *t, double tau) {
  double at;
  return top(t, tau, best_sigma2, &at);
}

typedef struct integrand {
  const tm_theory *theory;
  double tau, highest, power; /* times |mu|^power */
  double sigma2;              /* > 0: at this sigma2 instead */
} integrand;

static double at_sigma2(const tm_theory *t, double mu, double sigma2) {
  return -0.5 * (LOG_2_PI + mu * mu) - 0.5 * t->n * (LOG_2_PI + log(sigma2)) -
         (1 + 0.5 * squares_about(t, mu)) / sigma2 - 2 * log(sigma2);
}

static double evaluate(double mu, void *user) {
  const integrand *f = user;
  double value = f->sigma2 > 0 ? at_sigma2(f->theory, mu, f->sigma2)
                               : tm_theory_log_joint(f->theory, f->tau, mu);
  return pow(mu, f->power) * exp(value - f->highest);
}

/* Over both halves of the line. The prior alone makes mu > 12 negligible, and
 * the hump is many nodes wide. */
static double integrate(double (*function)(double, void *), integrand *f) {
  enum { NODES = 512 };
  gsl_integration_glfixed_table *table =
      gsl_integration_glfixed_table_alloc(NODES);
  if (!table)
    return NAN;
  gsl_function rule = {.function = function, .params = f};
  double value = gsl_integration_glfixed(&rule, 0, 12, table);
  gsl_integration_glfixed_table_free(table);
  return 2 * value;
}

double tm_theory_log_z(const tm_theory *t, double tau) {
  double at;
  integrand f = {.theory = t, .tau = tau};
  f.highest = top(t, tau, tm_theory_log_joint, &at);
  return f.highest + log(integrate(evaluate, &f));
}

double tm_theory_mu_mean(const tm_theory *t) {
  integrand f = {.theory = t, .tau = 1, .power = 1};
  f.highest = tm_theory_log_z(t, 1);
  return integrate(evaluate, &f);
}

double tm_theory_sigma2_density(const tm_theory *t, double sigma2) {
  integrand f = {.theory = t, .tau = 1, .sigma2 = sigma2};
  f.highest = tm_theory_log_z(t, 1);
  return integrate(evaluate, &f);
}

/* E[sigma2 | mu] = b / (a - 1), averaged over mu. */
static double conditional_mean(double mu, void *user) {
  const integrand *f = user;
  double b = 1 + 0.5 * squares_about(f->theory, mu);
  return evaluate(mu, user) * b / (0.5 * f->theory->n);
}

double tm_theory_sigma2_mean(const tm_theory *t) {
  integrand f = {.theory = t, .tau = 1, .highest = tm_theory_log_z(t, 1)};
  return integrate(conditional_mean, &f);
}
