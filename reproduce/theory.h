/* theory.h - the bimodal models exactly, by quadrature:
 *
 *   y_i ~ N(|mu|, sigma2),  mu ~ N(0, 1),  sigma2 = 1 or ~ IG(1, 1)
 *
 * Both are symmetric in mu, and sigma2 integrates out in closed form. */
#ifndef TM_REPRODUCE_THEORY_H
#define TM_REPRODUCE_THEORY_H

#include <stdbool.h>
#include <stddef.h>

typedef struct tm_theory {
  double n, mean, squares; /* of y; squares about its mean */
  bool variance_known;
} tm_theory;

tm_theory tm_theory_of(const double *y, size_t n, bool variance_known);

/* log z(tau), z the integral of L^tau over the prior. */
double tm_theory_log_z(const tm_theory *theory, double tau);
/* The profile: max over the parameters of tau l + log prior. */
double tm_theory_profile(const tm_theory *theory, double tau);
/* log of L^tau prior, sigma2 integrated out: up to log z(tau), the density of
 * mu at tau. */
double tm_theory_log_joint(const tm_theory *theory, double tau, double mu);
/* Posterior (tau = 1) density of sigma2, its mean, and the mean of |mu|. */
double tm_theory_sigma2_density(const tm_theory *theory, double sigma2);
double tm_theory_sigma2_mean(const tm_theory *theory);
double tm_theory_mu_mean(const tm_theory *theory);

#endif
