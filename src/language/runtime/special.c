/* special.c - special functions of one, two and three arguments: GSL's and the
 * C library's, with their slopes. */
#include "language/runtime/special.h"
#include "language/runtime/fixed.h"
#include "language/runtime/rise.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_sf_bessel.h>
#include <gsl/gsl_sf_erf.h>
#include <gsl/gsl_sf_gamma.h>
#include <gsl/gsl_sf_lambert.h>
#include <gsl/gsl_sf_psi.h>

double tm_log_rise(double f, double k) {
  return f > TM_LARGE_SHAPE && f + k > TM_LARGE_SHAPE
             ? rise(k, f, log1p(k / f)) + k * log(f)
             : tm_lgamma(f + k) - tm_lgamma(f);
}

double tm_digamma_rise(double f, double k) {
  return f > TM_LARGE_SHAPE && f + k > TM_LARGE_SHAPE
             ? log1p(k / f) - below_log(f + k) + below_log(f)
             : tm_digamma(f + k) - tm_digamma(f);
}

/* ---- gamma and its relatives -------------------------------------------- */

TM_SPECIAL(trigamma) {
  gsl_sf_result r;
  if (d)
    d[0] = x[0] > 0 && !gsl_sf_psi_n_e(2, x[0], &r)
               ? r.val
               : tm_special_difference(tm_special_trigamma, x, 1, 0);
  return tm_trigamma(x[0]);
}

/* x (x - 1) ... (x - n + 1), also for n that is not whole */
TM_SPECIAL(falling_factorial) {
  double value = tgamma(x[0] + 1) / tgamma(x[0] - x[1] + 1);
  if (!isfinite(value))
    value = exp(tm_lgamma(x[0] + 1) - tm_lgamma(x[0] - x[1] + 1));
  if (d) {
    d[1] = value * tm_digamma(x[0] - x[1] + 1);
    d[0] = value * tm_digamma(x[0] + 1) - d[1];
  }
  return value;
}

TM_SPECIAL(rising_factorial) {
  double value = tgamma(x[0] + x[1]) / tgamma(x[0]);
  if (!isfinite(value))
    value = exp(tm_lgamma(x[0] + x[1]) - tm_lgamma(x[0]));
  if (d) {
    d[1] = value * tm_digamma(x[0] + x[1]);
    d[0] = d[1] - value * tm_digamma(x[0]);
  }
  return value;
}

/* log of the multivariate gamma function of dimension x[0] */
TM_SPECIAL(lmgamma) {
  double n = x[0], value = 0.25 * n * (n - 1) * 1.1447298858494002;
  if (d)
    d[0] = d[1] = 0;
  for (int j = 0; j < (int)n; j++) {
    value += tm_lgamma(x[1] - 0.5 * j);
    if (d)
      d[1] += tm_digamma(x[1] - 0.5 * j);
  }
  return value;
}

/* The regularised incomplete gamma functions; the slope in the shape is
 * differenced. */
static double gamma_part(const double *x, double *d, bool upper) {
  gsl_sf_result r;
  if (!(x[0] > 0 && x[1] >= 0))
    return NAN;
  int failed = upper ? gsl_sf_gamma_inc_Q_e(x[0], x[1], &r)
                     : gsl_sf_gamma_inc_P_e(x[0], x[1], &r);
  if (d) {
    double density = exp((x[0] - 1) * log(x[1]) - x[1] - tm_lgamma(x[0]));
    d[0] = tm_special_difference(
        upper ? tm_special_gamma_q : tm_special_gamma_p, x, 2, 0);
    d[1] = upper ? -density : density;
  }
  return failed ? NAN : r.val;
}
TM_SPECIAL(gamma_p) { return gamma_part(x, d, false); }
TM_SPECIAL(gamma_q) { return gamma_part(x, d, true); }

/* ---- the normal law ----------------------------------------------------- */

TM_SPECIAL(inv_erfc) {
  double value = -M_SQRT1_2 * tm_inv_phi(0.5 * x[0]);
  if (d)
    d[0] = -0.5 * sqrt(M_PI) * exp(value * value);
  return value;
}

TM_SPECIAL(std_normal_qf) {
  double value = tm_inv_phi(x[0]);
  if (d)
    d[0] = 1 / tm_phi_density(value);
  return value;
}

/* Phi(y) = exp(x). Far out by Newton's steps on log Phi, which is concave. */
TM_SPECIAL(std_normal_log_qf) {
  double p = x[0], y;
  if (!(p <= 0))
    return NAN;
  if (p > -300) {
    y = p > -M_LN2 ? -tm_inv_phi(-expm1(p)) : tm_inv_phi(exp(p));
  } else {
    y = -sqrt(-2 * p);
    for (int i = 0; i < 20; i++) {
      double l = gsl_sf_log_erfc(-y * M_SQRT1_2) - M_LN2;
      double slope = exp(-0.5 * y * y - 0.9189385332046727 - l);
      y -= (l - p) / slope;
    }
  }
  if (d)
    d[0] = exp(p + 0.5 * y * y + 0.9189385332046727);
  return y;
}

TM_SPECIAL(owens_t) {
  double h = fabs(x[0]), a = fabs(x[1]);
  double value = isinf(a) ? 0.5 * tm_phi(-h) : tm_owens_t(h, a);
  if (x[1] < 0)
    value = -value;
  if (d) {
    double power = 1 + a * a;
    d[0] = -0.5 * tm_phi_density(h) * erf(x[1] * x[0] * M_SQRT1_2);
    d[1] = exp(-0.5 * h * h * power) / (2 * M_PI * power);
  }
  return value;
}

/* ---- Lambert's W -------------------------------------------------------- */

static double lambert(double x, double *d, bool lower) {
  gsl_sf_result r;
  if (lower ? gsl_sf_lambert_Wm1_e(x, &r) : gsl_sf_lambert_W0_e(x, &r))
    return NAN;
  if (d)
    d[0] = 1 / (exp(r.val) * (1 + r.val));
  return r.val;
}
TM_SPECIAL(lambert_w0) { return lambert(x[0], d, false); }
TM_SPECIAL(lambert_wm1) { return x[0] < 0 ? lambert(x[0], d, true) : NAN; }

/* ---- Bessel functions, of whole orders ---------------------------------- */

TM_SPECIAL(bessel_first_kind) {
  int n = (int)x[0];
  if (d) {
    d[0] = 0;
    d[1] = 0.5 * (jn(n - 1, x[1]) - jn(n + 1, x[1]));
  }
  return jn(n, x[1]);
}
TM_SPECIAL(bessel_second_kind) {
  int n = (int)x[0];
  if (d) {
    d[0] = 0;
    d[1] = 0.5 * (yn(n - 1, x[1]) - yn(n + 1, x[1]));
  }
  return x[1] > 0 ? yn(n, x[1]) : NAN;
}

static double bessel_i(int n, double x) {
  gsl_sf_result r;
  gsl_sf_bessel_In_scaled_e(n, x, &r);
  return r.val * exp(fabs(x));
}
static double bessel_k(int n, double x) {
  gsl_sf_result r;
  int failed = gsl_sf_bessel_Kn_scaled_e(n, x, &r);
  return failed ? INFINITY : r.val * exp(-x);
}
TM_SPECIAL(modified_bessel_first_kind) {
  int n = (int)x[0];
  if (d) {
    d[0] = 0;
    d[1] = 0.5 * (bessel_i(n - 1, x[1]) + bessel_i(n + 1, x[1]));
  }
  return bessel_i(n, x[1]);
}
TM_SPECIAL(modified_bessel_second_kind) {
  int n = (int)x[0];
  if (!(x[1] > 0))
    return NAN;
  if (d) {
    d[0] = 0;
    d[1] = -0.5 * (bessel_k(n - 1, x[1]) + bessel_k(n + 1, x[1]));
  }
  return bessel_k(n, x[1]);
}

/* log I_v(z) by its series, all of whose terms are positive; far out by GSL. */
static double log_bessel_i(double v, double z) {
  enum { FAR = 500, TERMS = 100000 };
  gsl_sf_result r;
  if (z > FAR && !gsl_sf_bessel_Inu_scaled_e(v, z, &r) && r.val > 1e-200)
    return log(r.val) + z;
  double term = 1, sum = 1, q = 0.25 * z * z, scale = 0;
  for (int k = 1; k < TERMS && term > 1e-17 * sum; k++) {
    term *= q / (k * (v + k));
    sum += term;
    if (sum > 1e200) {
      scale += log(sum);
      term /= sum;
      sum = 1;
    }
  }
  return v * log(0.5 * z) - tm_lgamma(v + 1) + log(sum) + scale;
}
TM_SPECIAL(log_modified_bessel_first_kind) {
  double v = x[0], z = x[1];
  if (!(v > -1 && z >= 0))
    return NAN;
  double value = z == 0 ? (v == 0 ? 0 : -INFINITY) : log_bessel_i(v, z);
  if (d) {
    d[0] = tm_special_difference(tm_special_log_modified_bessel_first_kind, x,
                                 2, 0);
    d[1] = v / z + exp(log_bessel_i(v + 1, z) - value);
  }
  return value;
}

/* ---- the rest ----------------------------------------------------------- */

TM_SPECIAL(ldexp) {
  if (d) {
    d[0] = ldexp(1, (int)x[1]);
    d[1] = 0;
  }
  return ldexp(x[0], (int)x[1]);
}

TM_SPECIAL(binary_log_loss) {
  if (d) {
    d[0] = 0;
    d[1] = x[0] != 0 ? -1 / x[1] : 1 / (1 - x[1]);
  }
  return x[0] != 0 ? -log(x[1]) : -log1p(-x[1]);
}

/* ---- incomplete beta ---------------------------------------------------- */

static double inc_beta(const double *x, double *d) {
  double a = x[0], b = x[1], z = x[2];
  if (!(a > 0 && b > 0 && z >= 0 && z <= 1))
    return NAN;
  if (d) {
    d[0] = tm_special_difference(inc_beta, x, 3, 0);
    d[1] = tm_special_difference(inc_beta, x, 3, 1);
    d[2] = exp((a - 1) * log(z) + (b - 1) * log1p(-z) + tm_lgamma(a + b) -
               tm_lgamma(a) - tm_lgamma(b));
  }
  return gsl_cdf_beta_P(z, a, b);
}

static double inv_inc_beta(const double *x, double *d) {
  double a = x[0], b = x[1], p = x[2];
  if (!(a > 0 && b > 0 && p >= 0 && p <= 1))
    return NAN;
  double z = gsl_cdf_beta_Pinv(p, a, b);
  if (d) {
    double at[3] = {a, b, z}, slopes[3];
    inc_beta(at, slopes);
    d[0] = -slopes[0] / slopes[2];
    d[1] = -slopes[1] / slopes[2];
    d[2] = 1 / slopes[2];
  }
  return z;
}

tm_any tm_kernel_call(tm_tape *tape, tm_kernel f, const tm_any *a, int count) {
  double x[8], d[8] = {0}, *slopes = tm_take(tape, 8 * sizeof(double));
  tm_partial kept[8];
  for (int i = 0; i < count; i++) {
    tm_var v = tm_as_var(&a[i]);
    x[i] = v.v;
    kept[i] = (tm_partial){v.d, slopes + i, 1};
  }
  bool active = false;
  for (int i = 0; i < count; i++)
    active = active || kept[i].to;
  double value = f(x, active ? d : NULL);
  memcpy(slopes, d, (size_t)count * sizeof(double));
  return tm_scalar_result(tape, value, count, kept);
}

TM_F(inc_beta) {
  (void)count;
  return tm_kernel_call(tape, inc_beta, a, 3);
}
TM_F(inv_inc_beta) {
  (void)count;
  return tm_kernel_call(tape, inv_inc_beta, a, 3);
}

/* Student's t: mu + sigma t, where t is that of mass p below. */
static double t_mass(const double *x, double *d) {
  (void)d;
  return gsl_cdf_tdist_P(x[0], x[1]);
}
static double t_quantile(const double *x, double *d) {
  double p = x[0], nu = x[1], sigma = x[3];
  if (!(p >= 0 && p <= 1 && nu > 0 && sigma > 0))
    return NAN;
  double t = p == 0 ? -INFINITY : p == 1 ? INFINITY : gsl_cdf_tdist_Pinv(p, nu);
  if (d) {
    double density = gsl_ran_tdist_pdf(t, nu);
    d[0] = sigma / density;
    d[1] = -sigma *
           tm_special_difference(t_mass, (const double[]){t, nu}, 2, 1) /
           density;
    d[2] = 1;
    d[3] = t;
  }
  return x[2] + sigma * t;
}
TM_F(student_t_qf) {
  (void)count;
  return tm_map_kernel(tape, t_quantile, a, 4, "student_t_qf");
}
