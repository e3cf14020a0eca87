/* density_positive.c - log densities of positive outcomes and on intervals. */
#include "language/runtime/density.h"

KERNEL(chi_square) {
  double inner[3] = {x[0], 0.5 * x[1], 0.5}, slopes[3];
  double value = tm_kernel_gamma(inner, d ? slopes : NULL);
  if (d && value > ZERO) {
    d[0] = slopes[0];
    d[1] = 0.5 * slopes[1];
  }
  return value;
}

KERNEL(inv_chi_square) {
  double inner[3] = {x[0], 0.5 * x[1], 0.5}, slopes[3];
  double value = tm_kernel_inv_gamma(inner, d ? slopes : NULL);
  if (d && value > ZERO) {
    d[0] = slopes[0];
    d[1] = 0.5 * slopes[1];
  }
  return value;
}

KERNEL(scaled_inv_chi_square) {
  double nu = x[1], s = x[2];
  double inner[3] = {x[0], 0.5 * nu, 0.5 * nu * s * s}, slopes[3];
  if (!(s > 0))
    return ZERO;
  double value = tm_kernel_inv_gamma(inner, d ? slopes : NULL);
  if (d && value > ZERO) {
    d[0] = slopes[0];
    d[1] = 0.5 * slopes[1] + 0.5 * s * s * slopes[2];
    d[2] = nu * s * slopes[2];
  }
  return value;
}

KERNEL(frechet) {
  double y = x[0], a = x[1], s = x[2];
  if (!(y > 0 && a > 0 && s > 0))
    return ZERO;
  double r = log(y / s), p = pow(y / s, -a);
  if (d) {
    d[0] = (-1 - a + a * p) / y;
    d[1] = 1 / a - r + p * r;
    d[2] = a * (1 - p) / s;
  }
  return log(a) - log(s) - (1 + a) * r - p;
}

KERNEL(rayleigh) {
  double y = x[0], s = x[1];
  if (!(y >= 0 && s > 0))
    return ZERO;
  if (d) {
    d[0] = 1 / y - y / (s * s);
    d[1] = (y * y / (s * s) - 2) / s;
  }
  return log(y) - 2 * log(s) - 0.5 * y * y / (s * s);
}

KERNEL(loglogistic) {
  double y = x[0], a = x[1], b = x[2];
  if (!(y >= 0 && a > 0 && b > 0))
    return ZERO;
  double r = log(y / a), w = tm_inv_logit(b * r);
  if (d) {
    d[0] = (b - 1 - 2 * b * w) / y;
    d[1] = (-b + 2 * b * w) / a;
    d[2] = 1 / b + r - 2 * r * w;
  }
  return log(b) - log(a) + tm_xlogy(b - 1, y / a) - 2 * tm_log1p_exp(b * r);
}

KERNEL(pareto) {
  double y = x[0], m = x[1], a = x[2];
  if (!(m > 0 && a > 0 && y >= m))
    return ZERO;
  if (d) {
    d[0] = -(a + 1) / y;
    d[1] = a / m;
    d[2] = 1 / a + log(m / y);
  }
  return log(a) + a * log(m) - (a + 1) * log(y);
}

KERNEL(pareto_type_2) {
  double l = x[2], a = x[3], z = (x[0] - x[1]) / l;
  if (!(l > 0 && a > 0 && z >= 0))
    return ZERO;
  if (d) {
    d[0] = -(a + 1) / (l * (1 + z));
    d[1] = -d[0];
    d[2] = (-1 + (a + 1) * z / (1 + z)) / l;
    d[3] = 1 / a - log1p(z);
  }
  return log(a) - log(l) - (a + 1) * log1p(z);
}

KERNEL(beta_proportion) {
  double m = x[1], k = x[2];
  double inner[3] = {x[0], m * k, (1 - m) * k}, slopes[3];
  if (!(m > 0 && m < 1 && k > 0))
    return ZERO;
  double value = tm_kernel_beta(inner, d ? slopes : NULL);
  if (d && value > ZERO) {
    d[0] = slopes[0];
    d[1] = k * (slopes[1] - slopes[2]);
    d[2] = m * slopes[1] + (1 - m) * slopes[2];
  }
  return value;
}

KERNEL(uniform) {
  double a = x[1], b = x[2];
  if (!(a < b && x[0] >= a && x[0] <= b))
    return ZERO;
  if (d) {
    d[0] = 0;
    d[1] = 1 / (b - a);
    d[2] = -d[1];
  }
  return -log(b - a);
}
