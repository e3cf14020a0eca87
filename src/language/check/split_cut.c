/* split_cut.c - does a parameter's bound cut a prior density by a constant?
 *
 * We keep densities as they are written. Where a bound removes mass that
 * depends on other parameters, the conditional prior is not normalised: draws
 * from it would have another distribution than the prior itself. */
#include "language/check/split.h"

#include <math.h>
#include <string.h>

static bool is_one_of(const char *name, const char *const *names) {
  size_t n = strlen(name) - 5; /* without _lpdf or _lpmf */
  for (; *names; names++)
    if (strlen(*names) == n && !strncmp(*names, name, n))
      return true;
  return false;
}

static bool is_number(const tm_expression *e, double x) {
  if (e->kind == TM_E_INT)
    return (double)e->whole == x;
  return e->kind == TM_E_REAL && e->number == x;
}

/* Do bounds leave all of (lower, upper)? */
static bool leaves(const tm_variable *v, double lower, double upper) {
  return (!v->lower || is_number(v->lower, lower)) &&
         (!v->upper || is_number(v->upper, upper));
}

/* No bound, or the very limit that the density has itself? */
static bool is_own(const tm_expression *bound, const tm_expression *limit) {
  if (!bound)
    return true;
  if (limit->kind == TM_E_INT)
    return is_number(bound, (double)limit->whole);
  if (limit->kind == TM_E_REAL)
    return is_number(bound, limit->number);
  return bound->kind == TM_E_NAME && limit->kind == TM_E_NAME &&
         bound->variable == limit->variable;
}

/* Do bounds leave all of a support that the density's arguments limit? */
static bool leaves_own(const tm_variable *v, const tm_expression *density) {
  static const char *const between[] = {"uniform", "discrete_range", NULL};
  static const char *const counts[] = {"binomial", "binomial_logit", NULL};
  static const char *const above[] = {"pareto", NULL};
  const char *name = density->builtin->name;
  tm_expression *const *argument = density->parts;
  bool from_zero = !v->lower || is_number(v->lower, 0);
  if (is_one_of(name, between))
    return is_own(v->lower, argument[1]) && is_own(v->upper, argument[2]);
  if (is_one_of(name, counts))
    return from_zero && is_own(v->upper, argument[1]);
  return is_one_of(name, above) && !v->upper &&
         (from_zero || is_own(v->lower, argument[1]));
}

/* Cut in half, whatever the scale. */
static bool is_half(const tm_variable *v, const tm_expression *density) {
  static const char *const around_first[] = {
      "normal", "cauchy", "double_exponential", "logistic", NULL};
  static const char *const around_second[] = {"student_t", NULL};
  const char *name = density->builtin->name;
  size_t location = is_one_of(name, around_first)    ? 1
                    : is_one_of(name, around_second) ? 2
                                                     : 0;
  const tm_expression *bound = v->lower ? v->lower : v->upper;
  return location && is_number(density->parts[location], 0) &&
         !(v->lower && v->upper) && is_number(bound, 0);
}

bool tm_bounds_are_own(const tm_variable *v, const tm_expression *density) {
  static const char *const positive[] = {"gamma",
                                         "inv_gamma",
                                         "lognormal",
                                         "exponential",
                                         "weibull",
                                         "chi_square",
                                         "frechet",
                                         "rayleigh",
                                         "inv_chi_square",
                                         "scaled_inv_chi_square",
                                         "loglogistic",
                                         "poisson",
                                         "poisson_log",
                                         "neg_binomial",
                                         "neg_binomial_2",
                                         "neg_binomial_2_log",
                                         NULL};
  static const char *const unit[] = {"beta", "beta_proportion", "bernoulli",
                                     "bernoulli_logit", NULL};
  if (density->kind != TM_E_CALL || !density->builtin)
    return false;
  const char *name = density->builtin->name;
  return (is_one_of(name, positive) && leaves(v, 0, INFINITY)) ||
         (is_one_of(name, unit) && leaves(v, 0, 1)) || leaves_own(v, density) ||
         is_half(v, density);
}

bool tm_cut_varies(const tm_split *split, const tm_variable *v,
                   const tm_expression *density) {
  if (v->constraint != TM_BOUNDED || density->kind != TM_E_CALL ||
      !density->builtin)
    return false;
  if (tm_bounds_are_own(v, density))
    return tm_has_dependent_limits(v);
  bool varies = tm_has_dependent_limits(v);
  for (size_t i = 1; i < density->part_count; i++)
    varies = varies || tm_depends(split, density->parts[i]).parameters;
  return varies;
}
