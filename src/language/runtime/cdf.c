/* cdf.c - log cdf and log ccdf. The slope in the outcome is the density over
 * the mass; locations, scales and rates follow from it, and so do the rates of
 * counts; shapes are differenced (their derivatives have no closed form), by
 * steps that fit where they may lie. */
#include "language/runtime/runtime.h"
#include "language/runtime/tables.h"

#include <float.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sf_bessel.h>
#include <gsl/gsl_sf_erf.h>

typedef double (*log_mass_fn)(const double *x, bool upper);

static double log_of(double lower, double upper, bool want_upper) {
  double mine = want_upper ? upper : lower, other = want_upper ? lower : upper;
  return mine > 0.5 ? log1p(-other) : log(mine);
}

static double normal_z(double z, bool upper) {
  return gsl_sf_log_erfc((upper ? z : -z) * M_SQRT1_2) - M_LN2;
}

#define MASS(name) static double name##_mass(const double *x, bool upper)
#define EDGE(condition, inside_upper)                                          \
  if (condition)                                                               \
  return (inside_upper) == upper ? 0 : -INFINITY

MASS(normal) {
  return x[2] > 0 ? normal_z((x[0] - x[1]) / x[2], upper) : -INFINITY;
}
MASS(std_normal) { return normal_z(x[0], upper); }
MASS(student_t) {
  if (!(x[1] > 0 && x[3] > 0))
    return -INFINITY;
  double z = (x[0] - x[2]) / x[3];
  return log_of(gsl_cdf_tdist_P(z, x[1]), gsl_cdf_tdist_Q(z, x[1]), upper);
}
MASS(cauchy) {
  double z = (x[0] - x[1]) / x[2];
  if (!(x[2] > 0))
    return -INFINITY;
  return log(atan2(1, upper ? z : -z) / M_PI);
}
MASS(double_exponential) {
  double z = (x[0] - x[1]) / x[2];
  if (!(x[2] > 0))
    return -INFINITY;
  if (upper)
    z = -z;
  return z < 0 ? z - M_LN2 : log1p(-0.5 * exp(-z));
}
MASS(logistic) {
  double z = (x[0] - x[1]) / x[2];
  return x[2] > 0 ? -tm_log1p_exp(upper ? z : -z) : -INFINITY;
}
MASS(gumbel) {
  double e = exp(-(x[0] - x[1]) / x[2]);
  if (!(x[2] > 0))
    return -INFINITY;
  return upper ? tm_log1m_exp(-e) : -e;
}
MASS(lognormal) {
  EDGE(!(x[0] > 0), true);
  return x[2] > 0 ? normal_z((log(x[0]) - x[1]) / x[2], upper) : -INFINITY;
}
MASS(gamma) {
  EDGE(!(x[0] > 0), true);
  if (!(x[1] > 0 && x[2] > 0))
    return -INFINITY;
  return log_of(gsl_cdf_gamma_P(x[0], x[1], 1 / x[2]),
                gsl_cdf_gamma_Q(x[0], x[1], 1 / x[2]), upper);
}
MASS(chi_square) {
  double inner[3] = {x[0], 0.5 * x[1], 0.5};
  return gamma_mass(inner, upper);
}
MASS(inv_gamma) {
  EDGE(!(x[0] > 0), true);
  double inner[3] = {1 / x[0], x[1], x[2]};
  return gamma_mass(inner, !upper);
}
MASS(exponential) {
  EDGE(!(x[0] > 0), true);
  if (!(x[1] > 0))
    return -INFINITY;
  return upper ? -x[1] * x[0] : tm_log1m_exp(-x[1] * x[0]);
}
MASS(weibull) {
  EDGE(!(x[0] > 0), true);
  if (!(x[1] > 0 && x[2] > 0))
    return -INFINITY;
  double p = pow(x[0] / x[2], x[1]);
  return upper ? -p : tm_log1m_exp(-p);
}
MASS(frechet) {
  EDGE(!(x[0] > 0), true);
  if (!(x[1] > 0 && x[2] > 0))
    return -INFINITY;
  double p = pow(x[0] / x[2], -x[1]);
  return upper ? tm_log1m_exp(-p) : -p;
}
MASS(rayleigh) {
  EDGE(!(x[0] > 0), true);
  double p = 0.5 * x[0] * x[0] / (x[1] * x[1]);
  return upper ? -p : tm_log1m_exp(-p);
}
MASS(pareto) {
  EDGE(!(x[0] > x[1]), true);
  double p = x[2] * log(x[1] / x[0]);
  return upper ? p : tm_log1m_exp(p);
}
MASS(beta) {
  EDGE(!(x[0] > 0), true);
  EDGE(!(x[0] < 1), false);
  if (!(x[1] > 0 && x[2] > 0))
    return -INFINITY;
  return log_of(gsl_cdf_beta_P(x[0], x[1], x[2]),
                gsl_cdf_beta_Q(x[0], x[1], x[2]), upper);
}
MASS(uniform) {
  EDGE(!(x[0] > x[1]), true);
  EDGE(!(x[0] < x[2]), false);
  double p = (x[0] - x[1]) / (x[2] - x[1]);
  return upper ? log1p(-p) : log(p);
}
MASS(bernoulli) {
  EDGE(x[0] < 0, true);
  EDGE(x[0] >= 1, false);
  return upper ? log(x[1]) : log1p(-x[1]);
}
/* The mass below p of a beta law, by p or by 1 - p, whichever is small. */
static double beta_share(double p, double rest, double a, double b,
                         bool upper) {
  double below[3] = {p, a, b}, above[3] = {rest, b, a};
  return p < rest ? beta_mass(below, upper) : beta_mass(above, !upper);
}
MASS(binomial) {
  EDGE(x[0] < 0, true);
  EDGE(x[0] >= x[1], false);
  if (!(x[2] >= 0 && x[2] <= 1))
    return -INFINITY;
  return beta_share(x[2], 1 - x[2], x[0] + 1, x[1] - x[0], !upper);
}
MASS(poisson) {
  EDGE(x[0] < 0, true);
  double inner[3] = {x[1], x[0] + 1, 1};
  return gamma_mass(inner, !upper);
}
MASS(neg_binomial) {
  EDGE(x[0] < 0, true);
  if (!(x[1] > 0 && x[2] > 0))
    return -INFINITY;
  return beta_share(x[2] / (1 + x[2]), 1 / (1 + x[2]), x[1], x[0] + 1, upper);
}
MASS(neg_binomial_2) {
  EDGE(x[0] < 0, true);
  double sum = x[1] + x[2];
  if (!(x[1] > 0 && x[2] > 0))
    return -INFINITY;
  return beta_share(x[2] / sum, x[1] / sum, x[2], x[0] + 1, upper);
}

MASS(exp_mod_normal) {
  double l = x[3], u = (x[0] - x[1]) / x[2];
  if (!(x[2] > 0 && l > 0))
    return -INFINITY;
  double tail = l * x[2] * (0.5 * l * x[2] - u) + normal_z(u - l * x[2], false);
  return upper ? tm_log_sum_exp(normal_z(u, true), tail)
               : tm_log_diff_exp(normal_z(u, false), tail);
}
MASS(inv_chi_square) {
  double inner[3] = {x[0], 0.5 * x[1], 0.5};
  return inv_gamma_mass(inner, upper);
}
MASS(scaled_inv_chi_square) {
  double inner[3] = {x[0], 0.5 * x[1], 0.5 * x[1] * x[2] * x[2]};
  return inv_gamma_mass(inner, upper);
}
MASS(loglogistic) {
  EDGE(!(x[0] > 0), true);
  if (!(x[1] > 0 && x[2] > 0))
    return -INFINITY;
  double t = x[2] * log(x[0] / x[1]);
  return -tm_log1p_exp(upper ? t : -t);
}
MASS(pareto_type_2) {
  EDGE(!(x[0] > x[1]), true);
  if (!(x[2] > 0 && x[3] > 0))
    return -INFINITY;
  double p = -x[3] * log1p((x[0] - x[1]) / x[2]);
  return upper ? p : tm_log1m_exp(p);
}
MASS(beta_proportion) {
  double inner[3] = {x[0], x[1] * x[2], (1 - x[1]) * x[2]};
  return beta_mass(inner, upper);
}
MASS(bernoulli_logit) {
  EDGE(x[0] < 0, true);
  EDGE(x[0] >= 1, false);
  return -tm_log1p_exp(upper ? -x[1] : x[1]);
}
MASS(binomial_logit) {
  EDGE(x[0] < 0, true);
  EDGE(x[0] >= x[1], false);
  return beta_share(tm_inv_logit(x[2]), tm_inv_logit(-x[2]), x[0] + 1,
                    x[1] - x[0], !upper);
}
MASS(discrete_range) {
  EDGE(x[0] < x[1], true);
  EDGE(x[0] >= x[2], false);
  double p = (floor(x[0]) - x[1] + 1) / (x[2] - x[1] + 1);
  return upper ? log1p(-p) : log(p);
}
MASS(poisson_log) {
  double inner[2] = {x[0], exp(x[1])};
  return poisson_mass(inner, upper);
}
MASS(neg_binomial_2_log) {
  double inner[3] = {x[0], exp(x[1]), x[2]};
  return neg_binomial_2_mass(inner, upper);
}

/* F = 2 tau (1 - tau) / scale times exponentials on both sides of mu */
MASS(skew_double_exponential) {
  double t = x[3], z = 2 * (x[0] - x[1]) / x[2];
  if (!(x[2] > 0 && t > 0 && t < 1))
    return -INFINITY;
  bool left = z < 0;
  double tail = left ? log(t) + (1 - t) * z : log1p(-t) - t * z;
  return left == !upper ? tail : tm_log1m_exp(tail);
}
/* n B(n, alpha + 1) of outcomes above n */
MASS(yule_simon) {
  EDGE(x[0] < 1, true);
  double n = floor(x[0]), a = x[1];
  if (!(a > 0))
    return -INFINITY;
  double tail = log(n) + tm_lgamma(n) + tm_lgamma(a + 1) - tm_lgamma(n + a + 1);
  return upper ? tail : tm_log1m_exp(tail);
}

/* The sum of a mass function's terms from x[0] + 1 up, or down to `least`. */
static double summed(const char *name, const double *x, int arity, double least,
                     double most, bool upper) {
  tm_kernel kernel = tm_density_kernel(name);
  double at[4], total = -INFINITY;
  memcpy(at, x, (size_t)arity * sizeof(double));
  double from = upper ? floor(x[0]) + 1 : least, to = upper ? most : x[0];
  for (at[0] = fmax(from, least); at[0] <= to; at[0]++)
    total = tm_log_sum_exp(total, kernel(at, NULL));
  return total;
}
/* By its finite sum; the tail is the complement, or where that cancels a sum
 * that goes on until its terms no longer count: they fall like a power, whose
 * rest is added. */
MASS(beta_neg_binomial) {
  EDGE(x[0] < 0, true);
  if (!(x[1] > 0 && x[2] > 0 && x[3] > 0))
    return -INFINITY;
  double below = summed("beta_neg_binomial", x, 4, 0, x[0], false);
  if (!upper)
    return fmin(below, 0);
  if (below < -1e-3)
    return tm_log1m_exp(below);
  enum { TERMS = 20000 };
  tm_kernel kernel = tm_density_kernel("beta_neg_binomial");
  double at[4] = {x[0], x[1], x[2], x[3]}, total = 0, last = 0;
  double first = floor(x[0]) + 1;
  for (at[0] = first; at[0] < first + TERMS; at[0]++)
    total += last = exp(kernel(at, NULL));
  return log(total + last * (at[0] - 1) / x[2]); /* terms ~ n^-(alpha + 1) */
}
MASS(beta_binomial) {
  EDGE(x[0] < 0, true);
  EDGE(x[0] >= x[1], false);
  return summed("beta_binomial", x, 4, 0, x[1], upper);
}
MASS(hypergeometric) {
  double least = fmax(0, x[1] - x[3]), most = fmin(x[1], x[2]);
  EDGE(x[0] < least, true);
  EDGE(x[0] >= most, false);
  return summed("hypergeometric", x, 4, least, most, upper);
}

/* Between -pi and the outcome, by the density's Fourier series
 *   1 / (2 pi) (1 + 2 sum_j I_j(k) / I_0(k) cos j(y - mu)). */
static double von_mises_arc(double turn, const double *ratio, int terms) {
  double sum = 0.5 * turn;
  for (int j = 1; j <= terms; j++)
    sum += ratio[j] * sin(j * turn) / j;
  return sum / M_PI;
}
MASS(von_mises) {
  enum { TERMS = 400 };
  double ratio[TERMS + 1], k = x[2];
  EDGE(!(x[0] > -M_PI), true);
  EDGE(!(x[0] < M_PI), false);
  if (!(k >= 0))
    return -INFINITY;
  int terms = (int)fmin(TERMS, 20 + 10 * sqrt(k) + k / 4);
  gsl_sf_bessel_In_scaled_array(0, terms, fmax(k, 1e-10), ratio);
  for (int j = terms; j >= 0; j--)
    ratio[j] /= ratio[0];
  double low = von_mises_arc(-M_PI - x[1], ratio, terms);
  double p = von_mises_arc(x[0] - x[1], ratio, terms) - low;
  return upper ? log1p(-p) : log(p);
}

/* Simpson's rule on [0, length]. */
static double simpson(double (*f)(double at, const double *x), const double *x,
                      double length) {
  enum { PIECES = 1000 };
  double sum = f(0, x) + f(length, x), step = length / PIECES;
  for (int i = 1; i < PIECES; i++)
    sum += (i % 2 ? 4 : 2) * f(i * step, x);
  return sum * step / 3;
}

static double owen(double t, const double *x) {
  return exp(-0.5 * x[0] * x[0] * (1 + t * t)) / (1 + t * t);
}

/* Owen's T for h, a >= 0. */
double tm_owens_t(double h, double a) {
  if (a > 1) {
    double p = tm_phi(-h), q = tm_phi(-a * h);
    return 0.5 * (p + q) - p * q - tm_owens_t(a * h, 1 / a);
  }
  return simpson(owen, &h, a) / (2 * M_PI);
}

/* The density relative to that at z, on the way out. */
static double skew_tail(double s, const double *x) {
  double z = x[0] + s;
  return exp(-s * (x[0] + 0.5 * s) + normal_z(x[1] * z, true) -
             normal_z(x[1] * x[0], true));
}

/* The mass beyond z > 0 of the side away from the skew (shape a > 0): 1 - Phi
 * - 2 T, or an integral where these cancel. */
static double skew_short_side(double z, double a) {
  double plain = tm_phi(-z), mass = plain - 2 * tm_owens_t(z, a);
  if (mass > 1e-4 * plain)
    return log(mass);
  double x[2] = {z, a}, power = 1 + a * a;
  double length = fmin(40 / (power * z), sqrt(80 / power));
  return M_LN2 + log(tm_phi_density(z)) + normal_z(a * z, true) +
         log(simpson(skew_tail, x, length));
}

MASS(skew_normal) {
  double z = (x[0] - x[1]) / x[2], a = x[3];
  if (!(x[2] > 0))
    return -INFINITY;
  bool right = z > 0, long_side = (a > 0) == right;
  double tail = long_side || a == 0
                    ? log(tm_phi(-fabs(z)) + 2 * tm_owens_t(fabs(z), fabs(a)))
                    : skew_short_side(fabs(z), fabs(a));
  return right == upper ? tail : tm_log1m_exp(fmin(tail, 0));
}

/* How the slope in each argument is found: Y the outcome, L a location, S a
 * scale (with the location before it, or 0), R a rate, l and s location and
 * scale of the outcome's logarithm, C the rate or probability of a count, c its
 * log or logit; by differences: P what is positive, U what is between 0 and 1,
 * N any number whose scale is 1. */
static const struct {
  const char *name, *how;
  log_mass_fn mass;
} MASSES[] = {{"normal", "YLS", normal_mass},
              {"std_normal", "Y", std_normal_mass},
              {"student_t", "YPLS", student_t_mass},
              {"cauchy", "YLS", cauchy_mass},
              {"double_exponential", "YLS", double_exponential_mass},
              {"logistic", "YLS", logistic_mass},
              {"gumbel", "YLS", gumbel_mass},
              {"lognormal", "Yls", lognormal_mass},
              {"chi_square", "YP", chi_square_mass},
              {"exponential", "YR", exponential_mass},
              {"gamma", "YPR", gamma_mass},
              {"inv_gamma", "YPS", inv_gamma_mass},
              {"weibull", "YPS", weibull_mass},
              {"frechet", "YPS", frechet_mass},
              {"rayleigh", "YS", rayleigh_mass},
              {"pareto", "YPP", pareto_mass},
              {"beta", "YPP", beta_mass},
              {"uniform", "YNN", uniform_mass},
              {"bernoulli", "IC", bernoulli_mass},
              {"binomial", "IIC", binomial_mass},
              {"poisson", "IC", poisson_mass},
              {"neg_binomial", "IPP", neg_binomial_mass},
              {"neg_binomial_2", "IPP", neg_binomial_2_mass},
              {"skew_normal", "YLSN", skew_normal_mass},
              {"exp_mod_normal", "YLPP", exp_mod_normal_mass},
              {"inv_chi_square", "YP", inv_chi_square_mass},
              {"scaled_inv_chi_square", "YPP", scaled_inv_chi_square_mass},
              {"loglogistic", "YSP", loglogistic_mass},
              {"pareto_type_2", "YLSP", pareto_type_2_mass},
              {"beta_proportion", "YUP", beta_proportion_mass},
              {"von_mises", "YNP", von_mises_mass},
              {"bernoulli_logit", "Ic", bernoulli_logit_mass},
              {"binomial_logit", "IIc", binomial_logit_mass},
              {"beta_binomial", "IIPP", beta_binomial_mass},
              {"hypergeometric", "IIII", hypergeometric_mass},
              {"discrete_range", "III", discrete_range_mass},
              {"poisson_log", "Ic", poisson_log_mass},
              {"neg_binomial_2_log", "INP", neg_binomial_2_log_mass},
              {"skew_double_exponential", "YLSU", skew_double_exponential_mass},
              {"beta_neg_binomial", "IPPP", beta_neg_binomial_mass},
              {"yule_simon", "IP", yule_simon_mass}};

/* Small beside the scale on which the mass varies: the way to the end of the
 * support, which for what bounds the outcome (uniform, pareto) is the outcome,
 * and for a large shape its root. */
static double step_of(const char *name, char how, const double *x, int i) {
  if (!strcmp(name, "uniform"))
    return 1e-3 * fabs(x[0] - x[i]);
  if (!strcmp(name, "pareto") && i == 1)
    return 1e-3 * fmin(x[1], x[0] - x[1]);
  if (!strcmp(name, "von_mises") && i == 1)
    return 1e-3 / sqrt(1 + x[2]);
  return how == 'P'   ? 1e-3 * x[i] / sqrt(1 + x[i])
         : how == 'U' ? 1e-3 * fmin(x[i], 1 - x[i])
                      : 1e-3 * fmax(fabs(x[i]), 1);
}

static double difference(size_t which, const double *x, int arity, int i,
                         bool upper) {
  static const double steps[4] = {-2, -1, 1, 2};
  double moved[4], f[4] = {0};
  double h = step_of(MASSES[which].name, MASSES[which].how[i], x, i);
  memcpy(moved, x, (size_t)arity * sizeof(double));
  for (int k = 0; k < 4 && h > 0; k++) {
    moved[i] = x[i] + steps[k] * h;
    f[k] = MASSES[which].mass(moved, upper);
  }
  return h > 0 ? (f[0] - 8 * f[1] + 8 * f[2] - f[3]) / (12 * h) : 0;
}

/* In the rate (or probability) of a count, or in its log (logit): more than k
 * events by a time is the k + 1-th before it, whose density is a gamma's (a
 * beta's). */
static double count_slope(const char *name, bool log_scale, const double *x,
                          int arity, bool upper, double value) {
  bool rate = !strncmp(name, "poisson", 7);
  double last = x[arity - 1], n = arity == 3 ? x[1] : 1;
  double at = !log_scale ? last : rate ? exp(last) : tm_inv_logit(last);
  double other = log_scale && !rate ? tm_inv_logit(-last) : 1 - at;
  double scale = !log_scale ? 1 : rate ? at : at * other;
  if (x[0] < 0 || (!rate && x[0] >= n))
    return 0;
  double density = tm_xlogy(x[0], at) - tm_lgamma(x[0] + 1) +
                   (rate ? -at
                         : tm_xlogy(n - x[0] - 1, other) + tm_lgamma(n + 1) -
                               tm_lgamma(n - x[0]));
  return (upper ? 1 : -1) * scale * exp(density - value);
}

static void slopes_of(size_t which, const double *x, int arity, bool upper,
                      double value, double *d) {
  const char *how = MASSES[which].how, *name = MASSES[which].name;
  double dy = 0, location = 0;
  if (how[0] == 'Y') {
    double density = tm_density_kernel(name)(x, NULL);
    dy = (upper ? -1 : 1) * exp(density - value);
  }
  for (int i = 0; i < arity; i++) {
    if (how[i] == 'L' || how[i] == 'l')
      location = x[i];
    d[i] = how[i] == 'Y'   ? dy
           : how[i] == 'L' ? -dy
           : how[i] == 'l' ? -dy * x[0]
           : how[i] == 'S' ? -dy * (x[0] - location) / x[i]
           : how[i] == 's'
               ? -dy * x[0] * (log(fmax(x[0], DBL_MIN)) - location) / x[i]
           : how[i] == 'R' ? dy * x[0] / x[i]
           : strchr("Cc", how[i])
               ? count_slope(name, how[i] == 'c', x, arity, upper, value)
           : strchr("NPU", how[i]) ? difference(which, x, arity, i, upper)
                                   : 0;
  }
}

typedef enum form { CDF, LCDF, LCCDF } form;

static tm_any evaluate(tm_tape *tape, const tm_any *arguments, size_t which,
                       int arity, form wanted) {
  tm_view v[4];
  tm_partial kept[4];
  int keeps = 0;
  double *to[4] = {0}, total = 0, x[4], d[4];
  for (int i = 0; i < arity; i++) {
    tm_view_of(&arguments[i], &v[i]);
    if (!v[i].d)
      continue;
    to[i] = tm_take(tape, (size_t)v[i].n * sizeof(double));
    kept[keeps++] = (tm_partial){v[i].d, to[i], v[i].n};
  }
  long n = tm_common_length(tape, v, arity, MASSES[which].name);
  for (long k = 0; k < (n < 0 ? 1 : n); k++) {
    for (int i = 0; i < arity; i++)
      x[i] = v[i].v[k * v[i].stride];
    double value = MASSES[which].mass(x, wanted == LCCDF);
    total += value;
    if (keeps && isfinite(value)) {
      slopes_of(which, x, arity, wanted == LCCDF, value, d);
      for (int i = 0; i < arity; i++)
        if (to[i])
          to[i][k * v[i].stride] += d[i];
    }
  }
  if (wanted == CDF) {
    total = exp(total);
    for (int i = 0; i < keeps; i++)
      for (long k = 0; k < kept[i].n; k++)
        kept[i].partial[k] *= total;
  }
  return tm_scalar_result(tape, total, keeps, kept);
}

static size_t which_of(const char *name) {
  size_t i = 0;
  while (strcmp(MASSES[i].name, name))
    i++;
  return i;
}

static log_mass_fn mass_named(const char *name) {
  for (size_t i = 0; i < sizeof MASSES / sizeof *MASSES; i++)
    if (!strcmp(MASSES[i].name, name))
      return MASSES[i].mass;
  return NULL;
}

static double at(log_mass_fn mass, double *x, double where, bool upper) {
  x[0] = where;
  return mass(x, upper);
}

/* By the tail that the interval lies in, so that nothing cancels. */
double tm_log_interval(const char *name, const double *arguments, int arity,
                       double lower, double upper, bool whole) {
  double x[5] = {0};
  if (lower == -INFINITY && upper == INFINITY)
    return 0;
  log_mass_fn mass = mass_named(name);
  if (!mass)
    return NAN;
  for (int i = 0; i < arity; i++)
    x[i + 1] = arguments[i];
  if (whole && isfinite(lower))
    lower -= 1;
  if (lower == -INFINITY)
    return at(mass, x, upper, false);
  double above = at(mass, x, lower, true);
  if (upper == INFINITY)
    return above;
  double below = at(mass, x, lower, false);
  return below < above ? tm_log_diff_exp(at(mass, x, upper, false), below)
                       : tm_log_diff_exp(above, at(mass, x, upper, true));
}

#define DEFINE(name, letters)                                                  \
  static tm_any name##_cdf(tm_tape *t, const tm_any *a, int n) {               \
    (void)n;                                                                   \
    return evaluate(t, a, which_of(#name), (int)sizeof letters - 1, CDF);      \
  }                                                                            \
  static tm_any name##_lcdf(tm_tape *t, const tm_any *a, int n) {              \
    (void)n;                                                                   \
    return evaluate(t, a, which_of(#name), (int)sizeof letters - 1, LCDF);     \
  }                                                                            \
  static tm_any name##_lccdf(tm_tape *t, const tm_any *a, int n) {             \
    (void)n;                                                                   \
    return evaluate(t, a, which_of(#name), (int)sizeof letters - 1, LCCDF);    \
  }
TM_CDFS(DEFINE)

#define TABLE(name, letters)                                                   \
  {#name "_cdf", letters, name##_cdf}, {#name "_lcdf", letters, name##_lcdf},  \
      {#name "_lccdf", letters, name##_lccdf},
const tm_function_entry tm_cdf_functions[] = {TM_CDFS(TABLE){NULL, NULL, NULL}};
