/* density_line.c - log densities on the real line and on the circle. */
#include "language/runtime/density.h"

/* log Phi, and its slope phi / Phi */
static double log_phi(double z) {
  return z > -10 ? log(0.5 * erfc(-z * M_SQRT1_2))
                 : -0.5 * z * z - 0.5 * LOG_2PI - log(-z) +
                       log1p(-1 / (z * z) + 3 / (z * z * z * z) -
                             15 / pow(z, 6) + 105 / pow(z, 8));
}
static double log_phi_slope(double z) {
  return exp(-0.5 * z * z - 0.5 * LOG_2PI - log_phi(z));
}

KERNEL(skew_normal) {
  double s = x[2], a = x[3], z = (x[0] - x[1]) / s;
  if (!(s > 0))
    return ZERO;
  if (d) {
    double h = log_phi_slope(a * z), dz = -z + a * h;
    d[0] = dz / s;
    d[1] = -dz / s;
    d[2] = (-dz * z - 1) / s;
    d[3] = z * h;
  }
  return LOG_2 - log(s) - 0.5 * LOG_2PI - 0.5 * z * z + log_phi(a * z);
}

KERNEL(exp_mod_normal) {
  double m = x[1], s = x[2], l = x[3];
  if (!(s > 0 && l > 0))
    return ZERO;
  double u = (x[0] - m) / s - l * s; /* log Phi(u) is the last factor */
  if (d) {
    double h = log_phi_slope(u);
    d[0] = -l + h / s;
    d[1] = -d[0];
    d[2] = l * l * s + h * (-(x[0] - m) / (s * s) - l);
    d[3] = 1 / l + m + l * s * s - x[0] - h * s;
  }
  return log(l) + l * (m + 0.5 * l * s * s - x[0]) + log_phi(u);
}

/* log I_0 and I_1 / I_0 by series or asymptotically. */
static double log_bessel0(double k, double *ratio) {
  if (k > 700) {
    *ratio = 1 - 0.5 / k - 0.125 / (k * k);
    return k - 0.5 * log(2 * M_PI * k) + 0.125 / k + 0.0625 / (k * k);
  }
  double term = 1, i0 = 1, i1 = 0.5 * k, q = 0.25 * k * k, other = 0.5 * k;
  for (int n = 1; n < 2000; n++) {
    term *= q / ((double)n * n);
    other *= q / ((double)n * (n + 1));
    i0 += term;
    i1 += other;
    if (term < 1e-17 * i0)
      break;
  }
  *ratio = i1 / i0;
  return log(i0);
}

KERNEL(von_mises) {
  double k = x[2], ratio;
  if (!(k >= 0))
    return ZERO;
  double bessel = log_bessel0(k, &ratio), z = x[0] - x[1];
  if (d) {
    d[0] = -k * sin(z);
    d[1] = -d[0];
    d[2] = cos(z) - ratio;
  }
  return k * cos(z) - LOG_2PI - bessel;
}

KERNEL(skew_double_exponential) {
  double s = x[2], t = x[3], z = 2 * (x[0] - x[1]) / s;
  if (!(s > 0 && t > 0 && t < 1))
    return ZERO;
  double w = z < 0 ? 1 - t : -t; /* slope in z */
  if (d) {
    d[0] = 2 * w / s;
    d[1] = -d[0];
    d[2] = -(1 + w * z) / s;
    d[3] = 1 / t - 1 / (1 - t) - z;
  }
  return LOG_2 + log(t) + log1p(-t) - log(s) + w * z;
}
