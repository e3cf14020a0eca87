/* bimodal_figures.c - Figures 1 and 2 of the paper, on the data of seed 1555.
 */
#include "reproduce/bimodal_study.h"
#include "reproduce/charts.h"

#include <math.h>

enum { NX = 61, NY = 41, CURVE = 201, BINS = 60 };

/* ------------------------------------------------------------------------
 * Figure 1: the joint density of mu and tau, one parameter
 */

/* Under the profile prior: exp(tau l + log prior - s(tau)), normalised on the
 * grid, which holds all of it. */
static void exact_joint(const tm_theory *theory, const double *mu,
                        const double *tau, double *z) {
  double total = 0;
  for (size_t j = 0; j < NY; j++) {
    double profile = tm_theory_profile(theory, tau[j]);
    for (size_t i = 0; i < NX; i++) {
      z[j * NX + i] = exp(tm_theory_log_joint(theory, tau[j], mu[i]) - profile);
      total += z[j * NX + i] * (j == 0 || j == NY - 1 ? 0.5 : 1);
    }
  }
  double cell = (mu[1] - mu[0]) * (tau[1] - tau[0]);
  for (size_t k = 0; k < NX * NY; k++)
    z[k] /= total * cell;
}

static void figure1(tm_paper *paper, const tm_theory *theory,
                    const tm_picture *picture) {
  double mu[NX], tau[NY], sampled[NX * NY], exact[NX * NY];
  const tm_draw_set *draws = &picture->tempered;
  tm_chart_grid(-3, 3, NX, mu);
  tm_chart_grid(0, 1, NY, tau);
  tm_chart_density(draws->value[0], draws->tau, draws->count, 0.1, 0.04, mu, NX,
                   tau, NY, sampled);
  exact_joint(theory, mu, tau, exact);

  tm_document_heading(
      paper, "Figure 1. The joint density of mu and tau",
      "One-parameter model. The two ridges have about constant height along "
      "tau: that is what the profile prior is for.");
  json_t *surface =
      tm_figure("surface", "Figure 1A. Density of the tempered chain");
  tm_figure_axis(surface, "x", "mu");
  tm_figure_axis(surface, "y", "tau");
  tm_figure_axis(surface, "z", "density");
  json_object_set_new(surface, "grid",
                      tm_figure_grid("sampled", mu, NX, tau, NY, sampled));
  tm_document_figure(paper, "figure1a", surface);

  json_t *contour = tm_figure(
      "contour", "Figure 1B. Its contours, and the exact ones as lines");
  tm_figure_axis(contour, "x", "mu");
  tm_figure_axis(contour, "y", "tau");
  json_t *grid = tm_figure_grid("sampled", mu, NX, tau, NY, sampled);
  json_object_set_new(grid, "filled", json_true());
  tm_figure_add_grid(contour, grid);
  tm_figure_add_grid(contour, tm_figure_grid("exact", mu, NX, tau, NY, exact));
  tm_document_figure(paper, "figure1b", contour);
}

/* ------------------------------------------------------------------------
 * Figure 2: marginals of the two-parameter model
 */

static void theory_curve(json_t *figure, const tm_theory *theory,
                         double (*density)(const tm_theory *, double),
                         double lower, double upper) {
  double x[CURVE], y[CURVE];
  tm_chart_grid(lower, upper, CURVE, x);
  for (size_t i = 0; i < CURVE; i++)
    y[i] = density(theory, x[i]);
  tm_chart_curve(figure, "theory", TM_COLOUR_THEORY, x, y, CURVE);
}

static double mu_density(const tm_theory *theory, double mu) {
  return exp(tm_theory_log_joint(theory, 1, mu) - tm_theory_log_z(theory, 1));
}

/* Up to its constant; that of the tempered chain's tau under `profile`. */
static double tau_weight(const tm_theory *theory, double tau) {
  return exp(tm_theory_log_z(theory, tau) - tm_theory_profile(theory, tau));
}

static void tau_curve(json_t *figure, const tm_theory *theory) {
  double x[CURVE], y[CURVE], total = 0;
  tm_chart_grid(0, 1, CURVE, x);
  for (size_t i = 0; i < CURVE; i++) {
    y[i] = tau_weight(theory, x[i]);
    total += y[i] * (i == 0 || i == CURVE - 1 ? 0.5 : 1) / (CURVE - 1);
  }
  for (size_t i = 0; i < CURVE; i++)
    y[i] /= total;
  tm_chart_curve(figure, "theory (tempered)", TM_COLOUR_THEORY, x, y, CURVE);
}

static json_t *marginal(const char *title, const char *name, size_t value,
                        const tm_picture *pair, const tm_picture *pawl,
                        double lower, double upper) {
  json_t *figure = tm_chart_plot(title, name, "density");
  tm_chart_histogram(figure, "tempered", TM_COLOUR_TEMPERED,
                     pair->tempered.value[value], pair->tempered.count, lower,
                     upper, BINS);
  tm_chart_histogram(figure, "target", TM_COLOUR_TARGET,
                     pair->target.value[value], pair->target.count, lower,
                     upper, BINS);
  tm_chart_histogram(figure, "PAWL in ST, all levels", TM_COLOUR_OTHER,
                     pawl->tempered.value[value], pawl->tempered.count, lower,
                     upper, BINS);
  return figure;
}

static void figure2(tm_paper *paper, const tm_theory *theory,
                    const tm_picture *pair, const tm_picture *pawl) {
  tm_document_heading(paper, "Figure 2. Marginals of the two-parameter model",
                      "Tempered and target chain of PT-STWNC, theory by "
                      "quadrature, and PAWL within simulated tempering.");
  json_t *mu = marginal("Figure 2A. mu", "mu", 0, pair, pawl, -3, 3);
  theory_curve(mu, theory, mu_density, -3, 3);
  tm_document_figure(paper, "figure2a", mu);
  json_t *tau = tm_chart_plot("Figure 2B. tau", "tau", "density");
  tm_chart_histogram(tau, "tempered", TM_COLOUR_TEMPERED, pair->tempered.tau,
                     pair->tempered.count, 0, 1, 40);
  tm_chart_histogram(tau, "PAWL in ST (discrete)", TM_COLOUR_OTHER,
                     pawl->tempered.tau, pawl->tempered.count, 0, 1, 40);
  tau_curve(tau, theory);
  tm_document_figure(paper, "figure2b", tau);
  json_t *sigma2 =
      marginal("Figure 2C. sigma^2", "sigma^2", 1, pair, pawl, 0, 4);
  theory_curve(sigma2, theory, tm_theory_sigma2_density, 0.02, 4);
  tm_document_figure(paper, "figure2c", sigma2);
}

/* ------------------------------------------------------------------------ */

static tempera_status one_parameter(tm_paper *paper, tempera_error *error) {
  tm_theory theory;
  tempera_model *model = NULL;
  tm_picture picture = {0};
  tempera_status status = TEMPERA_OK;
  TM_TRY(tm_bimodal_theory("bimodal-1555.json", true, &theory, error));
  TM_TRY(tm_paper_model("bimodal", "bimodal-1555.json", &model, error));
  TM_TRY_DONE(tm_picture_take(paper, "bimodal: Figure 1", model, TM_LENGTH_LONG,
                              tm_as_printed, &picture, error));
  figure1(paper, &theory, &picture);
done:
  tm_picture_free(&picture);
  tempera_model_free(model);
  return status;
}

static tempera_status two_parameters(tm_paper *paper, tempera_error *error) {
  static const char *const in_st[] = {"method", "pawl", NULL};
  tm_theory theory;
  tempera_model *model = NULL;
  tm_picture pair = {0}, pawl = {0};
  tempera_status status = TEMPERA_OK;
  TM_TRY(tm_bimodal_theory("bimodal-1555.json", false, &theory, error));
  TM_TRY(tm_paper_model("bimodal2", "bimodal-1555.json", &model, error));
  TM_TRY_DONE(tm_picture_take(paper, "bimodal: Figure 2", model, TM_LENGTH_LONG,
                              tm_as_printed, &pair, error));
  TM_TRY_DONE(tm_picture_take(paper, "bimodal: Figure 2, PAWL", model,
                              TM_LENGTH_LONG, in_st, &pawl, error));
  figure2(paper, &theory, &pair, &pawl);
done:
  tm_picture_free(&pair);
  tm_picture_free(&pawl);
  tempera_model_free(model);
  return status;
}

tempera_status tm_bimodal_figures(tm_paper *paper, tempera_error *error) {
  TM_TRY(one_parameter(paper, error));
  return two_parameters(paper, error);
}
