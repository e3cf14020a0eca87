/* rng.c - random numbers of the univariate distributions, vectorised. */
#include "language/runtime/runtime.h"
#include "language/runtime/tables.h"

#define RNG(name) static double name##_draw(tempera_random *r, const double *x)

RNG(normal) { return x[0] + x[1] * tempera_random_normal(r); }
RNG(std_normal) {
  (void)x;
  return tempera_random_normal(r);
}
RNG(student_t) {
  double chi = 2 * tempera_random_gamma(r, 0.5 * x[0]);
  return x[1] + x[2] * tempera_random_normal(r) / sqrt(chi / x[0]);
}
RNG(cauchy) {
  return x[0] + x[1] * tan(M_PI * (tempera_random_uniform(r) - 0.5));
}
RNG(double_exponential) {
  double e = tempera_random_exponential(r);
  return x[0] + (tempera_random_uniform(r) < 0.5 ? -e : e) * x[1];
}
RNG(logistic) {
  double u = tempera_random_uniform(r);
  return x[0] + x[1] * log(u / (1 - u));
}
RNG(gumbel) { return x[0] - x[1] * log(tempera_random_exponential(r)); }
RNG(skew_normal) {
  double d = x[2] / sqrt(1 + x[2] * x[2]);
  double a = fabs(tempera_random_normal(r)), b = tempera_random_normal(r);
  return x[0] + x[1] * (d * a + sqrt(1 - d * d) * b);
}
RNG(lognormal) { return exp(x[0] + x[1] * tempera_random_normal(r)); }
RNG(chi_square) { return 2 * tempera_random_gamma(r, 0.5 * x[0]); }
RNG(inv_chi_square) { return 0.5 / tempera_random_gamma(r, 0.5 * x[0]); }
RNG(scaled_inv_chi_square) {
  return 0.5 * x[0] * x[1] * x[1] / tempera_random_gamma(r, 0.5 * x[0]);
}
RNG(exponential) { return tempera_random_exponential(r) / x[0]; }
RNG(gamma) { return tempera_random_gamma(r, x[0]) / x[1]; }
RNG(inv_gamma) { return x[1] / tempera_random_gamma(r, x[0]); }
RNG(weibull) { return x[1] * pow(tempera_random_exponential(r), 1 / x[0]); }
RNG(frechet) { return x[1] * pow(tempera_random_exponential(r), -1 / x[0]); }
RNG(rayleigh) { return x[0] * sqrt(2 * tempera_random_exponential(r)); }
RNG(pareto) { return x[0] * exp(tempera_random_exponential(r) / x[1]); }
RNG(beta) { return tempera_random_beta(r, x[0], x[1]); }
RNG(uniform) { return x[0] + (x[1] - x[0]) * tempera_random_uniform(r); }
RNG(bernoulli) { return tempera_random_uniform(r) < x[0]; }
RNG(bernoulli_logit) { return tempera_random_uniform(r) < tm_inv_logit(x[0]); }
RNG(binomial) {
  return (double)tempera_random_binomial(r, (int64_t)x[0], x[1]);
}
RNG(beta_binomial) {
  double p = tempera_random_beta(r, x[1], x[2]);
  return (double)tempera_random_binomial(r, (int64_t)x[0], p);
}
RNG(discrete_range) {
  uint64_t span = x[1] >= x[0] ? (uint64_t)(x[1] - x[0]) + 1 : 1;
  return x[0] + (double)tempera_random_below(r, span);
}
/* Above 2^30 counts no longer fit: NaN, which becomes an error, as in Stan. */
static double poisson(tempera_random *r, double mean) {
  return mean < 1073741824 ? (double)tempera_random_poisson(r, mean) : NAN;
}
RNG(poisson) { return poisson(r, x[0]); }
RNG(poisson_log) { return poisson(r, exp(x[0])); }
RNG(neg_binomial) {
  double mean = tempera_random_gamma(r, x[0]) / x[1];
  return poisson(r, mean);
}
RNG(neg_binomial_2) {
  double mean = tempera_random_gamma(r, x[1]) * x[0] / x[1];
  return poisson(r, mean);
}
RNG(neg_binomial_2_log) {
  double mean = tempera_random_gamma(r, x[1]) * exp(x[0]) / x[1];
  return poisson(r, mean);
}

RNG(exp_mod_normal) {
  return x[0] + x[1] * tempera_random_normal(r) +
         tempera_random_exponential(r) / x[2];
}
RNG(loglogistic) {
  double u = tempera_random_uniform(r);
  return x[0] * pow(u / (1 - u), 1 / x[1]);
}
RNG(pareto_type_2) {
  return x[0] + x[1] * expm1(tempera_random_exponential(r) / x[2]);
}
RNG(beta_proportion) {
  return tempera_random_beta(r, x[0] * x[1], (1 - x[0]) * x[1]);
}
/* Best and Fisher (1979): rejection from a wrapped Cauchy. */
RNG(von_mises) {
  double k = x[1], rho = 1 + sqrt(1 + 4 * k * k);
  rho = k > 1e-8 ? (rho - sqrt(2 * rho)) / (2 * k) : 0;
  double turn = (2 * tempera_random_uniform(r) - 1) * M_PI;
  if (rho > 0) {
    double s = 0.5 * (1 + rho * rho) / rho, f, c;
    do {
      double z = cos(M_PI * tempera_random_uniform(r));
      f = (1 + s * z) / (s + z);
      c = k * (s - f);
    } while (!(log(c) - log(tempera_random_uniform(r)) + 1 - c >= 0));
    turn = tempera_random_uniform(r) < 0.5 ? acos(f) : -acos(f);
  }
  return remainder(x[0] + turn, 2 * M_PI);
}
RNG(binomial_logit) {
  return (double)tempera_random_binomial(r, (int64_t)x[0], tm_inv_logit(x[1]));
}
/* Ball by ball, without putting back. */
RNG(hypergeometric) {
  double a = x[1], b = x[2], drawn = 0;
  for (double left = fmin(x[0], a + b); left > 0; left--) {
    bool white = tempera_random_uniform(r) * (a + b) < a;
    drawn += white;
    *(white ? &a : &b) -= 1;
  }
  return drawn;
}

RNG(skew_double_exponential) {
  double t = x[2], e = 0.5 * x[1] * tempera_random_exponential(r);
  bool left = tempera_random_uniform(r) < t;
  return x[0] + (left ? -e / (1 - t) : e / t);
}
RNG(beta_neg_binomial) {
  double p = tempera_random_beta(r, x[1], x[2]);
  return poisson(r, tempera_random_gamma(r, x[0]) * (1 - p) / p);
}
/* Geometric, with a success probability that is the exponential of an
 * exponential. */
RNG(yule_simon) {
  double w = tempera_random_exponential(r) / x[0];
  double n = 1 + floor(log(tempera_random_uniform(r)) / tm_log1m_exp(-w));
  return n < 1073741824 ? n : NAN;
}

typedef double (*draw_fn)(tempera_random *r, const double *x);

/* NaN would draw forever or nonsense. */
static void check_arguments(tm_tape *tape, const double *x, int arity,
                            const char *name) {
  for (int i = 0; i < arity; i++)
    if (isnan(x[i]))
      tm_runtime_fail(tape, "", "%s_rng: argument %d is not a number", name,
                      i + 1);
}

static void check_draw(tm_tape *tape, double drawn, const char *name) {
  if (isnan(drawn))
    tm_runtime_fail(tape, "",
                    "%s_rng: arguments out of range, or a rate above "
                    "2^30",
                    name);
}

static tm_any vectorised(tm_tape *tape, const tm_any *arguments, draw_fn draw,
                         int arity, bool whole, const char *name) {
  tm_view v[4] = {{0}};
  double x[3] = {0};
  for (int i = 0; i < arity; i++)
    tm_view_of(&arguments[i], &v[i]);
  long n = tm_common_length(tape, v, arity, name);
  tm_tensor out = {0};
  if (n >= 0)
    out = tm_tensor_new(tape, 1, (int[]){(int)n}, 0);
  for (long k = 0; k < (n < 0 ? 1 : n); k++) {
    for (int i = 0; i < arity; i++)
      x[i] = v[i].v[k * v[i].stride];
    check_arguments(tape, x, arity, name);
    double drawn = draw(tape->random, x);
    check_draw(tape, drawn, name);
    if (n < 0)
      return whole ? tm_any_int((long)drawn) : tm_any_real(drawn);
    out.v[k] = drawn;
  }
  return tm_any_tensor(out, 1);
}

/* ---- prior draws -------------------------------------------------------- */

/* A distribution between bounds. */
typedef struct law {
  const char *name;
  draw_fn draw;
  int arity;
  bool whole;
  double x[3], lower, upper;
} law;

static double log_mass(const law *d, double upper) {
  return tm_log_interval(d->name, d->x, d->arity, d->lower, upper, d->whole);
}

/* A finite place beyond which, from `from` on, lies next to nothing. */
static double far_from(const law *d, double from, double sign) {
  double step = 1;
  law rest = *d;
  for (int i = 0; i < 1000; i++, step *= 2) {
    rest.lower = sign > 0 ? from + step : -INFINITY;
    rest.upper = sign > 0 ? INFINITY : from - step;
    if (!(log_mass(&rest, rest.upper) > log_mass(d, d->upper) - 40))
      break;
  }
  return from + sign * step;
}

/* Where the mass from the lower bound on is this share of all: bisection. */
static double invert(tm_tape *tape, const law *d) {
  double wanted =
      log(tempera_random_uniform(tape->random)) + log_mass(d, d->upper);
  double low = d->lower, high = d->upper;
  if (!isfinite(wanted))
    tm_runtime_fail(tape, "", "draws from %s hardly ever keep the bounds",
                    d->name);
  if (!isfinite(low))
    low = far_from(d, high, -1);
  if (!isfinite(high))
    high = far_from(d, low, 1);
  for (int i = 0; i < 200 && (d->whole ? high - low > 0.5 : high > low); i++) {
    double middle = d->whole ? floor((low + high) / 2) : (low + high) / 2;
    if (middle <= low && !d->whole)
      break;
    if (log_mass(d, middle) < wanted)
      low = d->whole ? middle + 1 : middle;
    else
      high = middle;
  }
  return high;
}

/* By rejection while that is quick. */
static double draw_between(tm_tape *tape, const law *d) {
  enum { TRIES = 100 };
  for (int i = 0; i < TRIES; i++) {
    double x = d->draw(tape->random, d->x);
    if (x >= d->lower && x <= d->upper)
      return x;
  }
  return invert(tape, d);
}

/* The element's law: arguments are the place to fill, the distribution's own
 * and the bounds. */
static void law_of(const tm_view *v, long k, law *d) {
  for (int i = 0; i < d->arity; i++)
    d->x[i] = v[i + 1].v[k * v[i + 1].stride];
  d->lower = v[d->arity + 1].v[k * v[d->arity + 1].stride];
  d->upper = v[d->arity + 2].v[k * v[d->arity + 2].stride];
}

/* Fill each element of the first argument, once. */
static tm_any fill(tm_tape *tape, const tm_any *arguments, law d) {
  tm_view v[6] = {{0}};
  for (int i = 0; i < d.arity + 3; i++)
    tm_view_of(&arguments[i], &v[i]);
  (void)tm_common_length(tape, v, d.arity + 1, d.name);
  double *out = arguments[0].u.t.v;
  for (long k = 0; k < v[0].n; k++) {
    law_of(v, k, &d);
    if (tape->replicating == 2) {
      out[k] = (double)tape->point_count++;
      continue;
    }
    if (!tape->replicating && !isnan(out[k]))
      tm_runtime_fail(tape, "", "an element has two prior statements");
    check_arguments(tape, d.x, d.arity, d.name);
    out[k] = draw_between(tape, &d);
    check_draw(tape, out[k], d.name);
  }
  return tm_any_int(0);
}

/* The log of the mass between the bounds, summed over the elements. */
static tm_any between(tm_tape *tape, const tm_any *arguments, law d) {
  tm_view v[6] = {{0}};
  double total = 0;
  for (int i = 0; i < d.arity + 3; i++)
    tm_view_of(&arguments[i], &v[i]);
  (void)tm_common_length(tape, v, d.arity + 1, d.name);
  for (long k = 0; k < v[0].n; k++) {
    law_of(v, k, &d);
    total += log_mass(&d, d.upper);
  }
  return tm_any_real(total);
}

#define DEFINE(name, letters, whole)                                           \
  static tm_any name##_rng(tm_tape *t, const tm_any *a, int n) {               \
    (void)n;                                                                   \
    return vectorised(t, a, name##_draw, (int)sizeof letters - 1, whole,       \
                      #name);                                                  \
  }                                                                            \
  static tm_any name##_fill(tm_tape *t, const tm_any *a, int n) {              \
    (void)n;                                                                   \
    return fill(t, a,                                                          \
                (law){#name, name##_draw, (int)sizeof letters - 1, whole});    \
  }                                                                            \
  static tm_any name##_between(tm_tape *t, const tm_any *a, int n) {           \
    (void)n;                                                                   \
    return between(t, a,                                                       \
                   (law){#name, name##_draw, (int)sizeof letters - 1, whole}); \
  }
TM_RNGS(DEFINE)

#define TABLE(name, letters, whole)                                            \
  {#name "_rng", letters, name##_rng}, {#name "_fill", letters, name##_fill},  \
      {#name "_between", letters, name##_between},
const tm_function_entry tm_rng_functions[] = {TM_RNGS(TABLE){NULL, NULL, NULL}};
