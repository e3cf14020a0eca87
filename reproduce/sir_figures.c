/* sir_figures.c - Figures 4 to 7 of the paper. */
#include "reproduce/charts.h"
#include "reproduce/sir_study.h"

#include "run/sampler.h"

#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdio.h>

enum { BINS = 50, POINTS = 1200, KNOTS = 512 };

/* ------------------------------------------------------------------------
 * Figure 4: the posterior, by I(0)
 */

static void figure4(tm_paper *paper, const tm_draw_set *target) {
  double column[TM_SIR_VALUES][POINTS];
  static const char *const names[] = {"alpha", "beta", "I(0)"};
  size_t step = 1 + (target->count - 1) / POINTS, kept = 0;
  json_t *figure = tm_figure("pairs", "Figure 4. The target chain, by I(0)");
  json_t *columns = json_array(), *groups = json_array();
  for (size_t i = 0; i < target->count; i += step) {
    double I0 = target->value[TM_SIR_I0][i];
    if (I0 < 3 || I0 > 6)
      continue; /* too rare to have a colour */
    for (int k = 0; k < TM_SIR_VALUES; k++)
      column[k][kept] = target->value[k][i];
    json_array_append_new(groups, json_integer((json_int_t)I0 - 3));
    kept++;
  }
  for (int k = 0; k < TM_SIR_VALUES; k++)
    json_array_append_new(columns,
                          json_pack("{s:s, s:o}", "name", names[k], "values",
                                    tm_numbers(column[k], kept)));
  json_object_set_new(figure, "columns", columns);
  json_object_set_new(figure, "groups", groups);
  json_object_set_new(figure, "group_names",
                      json_pack("[s, s, s, s]", "I(0) = 3", "I(0) = 4",
                                "I(0) = 5", "I(0) = 6"));
  json_object_set_new(figure, "wide", json_true());
  tm_document_heading(paper, "Figure 4. The posterior",
                      "Draws at tau = 1 with Tempera's defaults. Each value of "
                      "I(0) is a mode of its own in (alpha, beta).");
  tm_document_figure(paper, "figure4", figure);
}

/* ------------------------------------------------------------------------
 * Figure 5: the tempered chain
 */

static void tempered_histogram(tm_paper *paper, const char *file,
                               const char *title, const char *name,
                               const double *values, size_t count, double lower,
                               double upper) {
  json_t *figure = tm_chart_plot(title, name, "density");
  tm_chart_histogram(figure, "tempered", TM_COLOUR_TARGET, values, count, lower,
                     upper, BINS);
  tm_document_figure(paper, file, figure);
}

static void figure5(tm_paper *paper, const tm_draw_set *draws) {
  double *log_tau = draws->log_likelihood; /* not needed in any figure */
  for (size_t i = 0; i < draws->count; i++)
    log_tau[i] = log10(fmax(draws->tau[i], 1e-15));
  tm_document_heading(
      paper, "Figure 5. The tempered chain",
      "PT-STWNC as printed. Under the profile prior tau stays near zero, so "
      "the chain mostly explores the prior.");
  tempered_histogram(paper, "figure5a", "Figure 5A. alpha", "alpha",
                     draws->value[TM_SIR_ALPHA], draws->count, 0, 6);
  tempered_histogram(paper, "figure5b", "Figure 5B. beta", "beta",
                     draws->value[TM_SIR_BETA], draws->count, 0, 6);
  tempered_histogram(paper, "figure5c", "Figure 5C. I(0)", "I(0)",
                     draws->value[TM_SIR_I0], draws->count, -0.5, 24.5);
  tempered_histogram(paper, "figure5d", "Figure 5D. tau", "log10 tau", log_tau,
                     draws->count, -9, 0);
}

/* ------------------------------------------------------------------------
 * Figure 6: prior against posterior
 */

static void figure6(tm_paper *paper, const tm_draw_set *target) {
  enum { N = 41, I0S = 13 };
  double x[N], z[N * N];
  tm_chart_grid(0, 3, N, x);
  for (size_t j = 0; j < N; j++)
    for (size_t i = 0; i < N; i++)
      z[j * N + i] = exp(-x[i] - x[j]);
  tm_document_heading(paper, "Figure 6. Prior against posterior",
                      "The posterior is a speck in the prior's space.");
  json_t *figure = tm_figure("contour", "Figure 6A. alpha and beta");
  tm_figure_axis(figure, "x", "alpha");
  tm_figure_axis(figure, "y", "beta");
  tm_figure_add_grid(figure, tm_figure_grid("prior", x, N, x, N, z));
  tm_chart_points(figure, "posterior", TM_COLOUR_TARGET,
                  target->value[TM_SIR_ALPHA], target->value[TM_SIR_BETA],
                  target->count);
  tm_document_figure(paper, "figure6a", figure);

  double prior[I0S], posterior[I0S] = {0};
  json_t *names = json_array();
  for (unsigned k = 0; k < I0S; k++) {
    char name[8];
    snprintf(name, sizeof name, "%u", k);
    json_array_append_new(names, json_string(name));
    prior[k] = gsl_ran_binomial_pdf(k, 5.0 / 261, 261);
  }
  for (size_t i = 0; i < target->count; i++)
    if (target->value[TM_SIR_I0][i] < I0S)
      posterior[(size_t)target->value[TM_SIR_I0][i]] +=
          1 / (double)target->count;
  json_t *bars = tm_chart_plot("Figure 6B. I(0)", "I(0)", "probability");
  json_t *axis = tm_figure_axis(bars, "x", "I(0)");
  json_object_set_new(axis, "scale", json_string("category"));
  json_object_set_new(axis, "categories", names);
  tm_set_numbers(tm_figure_series(bars, "bars", "prior"), "y", prior, I0S);
  tm_set_numbers(tm_figure_series(bars, "bars", "posterior"), "y", posterior,
                 I0S);
  tm_document_figure(paper, "figure6b", bars);
}

/* ------------------------------------------------------------------------
 * Figure 7: the ridge diagnostic
 */

typedef struct optimum_line {
  size_t count;
  double tau[KNOTS], value[2][KNOTS]; /* alpha and beta */
} optimum_line;

/* The axes are logarithmic: what is smaller is not shown. */
static const double LEAST = 1e-8;

static optimum_line line_of(const tm_ridge *ridge) {
  optimum_line line = {0};
  const tm_ridge_view *view = &ridge->view;
  for (size_t k = 0; view && k < view->knots && line.count < KNOTS; k++) {
    const double *theta = view->theta + k * TM_SIR_VALUES;
    if (view->tau[k] < 1e-9 || !(theta[TM_SIR_ALPHA] > LEAST) ||
        !(theta[TM_SIR_BETA] > LEAST))
      continue;
    line.tau[line.count] = view->tau[k];
    line.value[0][line.count] = theta[TM_SIR_ALPHA];
    line.value[1][line.count] = theta[TM_SIR_BETA];
    line.count++;
  }
  return line;
}

static void diagnostic(tm_paper *paper, const char *file, const char *title,
                       const char *name, const tm_draw_set *draws,
                       const optimum_line *line, size_t value) {
  json_t *figure = tm_chart_plot(title, "tau", name);
  static const char *const axes[] = {"x", "y"};
  for (int i = 0; i < 2; i++)
    json_object_set_new(tm_figure_axis(figure, axes[i], i == 0 ? "tau" : name),
                        "scale", json_string("log"));
  json_object_set_new(tm_figure_axis(figure, "x", "tau"), "min",
                      json_real(1e-9));
  tm_chart_points(figure, "tempered", TM_COLOUR_TEMPERED, draws->tau,
                  draws->value[value], draws->count);
  tm_chart_curve(figure, "optimum", TM_COLOUR_TARGET, line->tau,
                 line->value[value], line->count);
  tm_document_figure(paper, file, figure);
}

static void figure7(tm_paper *paper, const tm_draw_set *draws,
                    const optimum_line *line) {
  tm_document_heading(
      paper, "Figure 7. The ridge diagnostic",
      "Draws of the tempered chain against tau, with the optimum for every "
      "tau: a chain that samples correctly stays around it.");
  diagnostic(paper, "figure7a", "Figure 7A. beta against tau", "beta", draws,
             line, TM_SIR_BETA);
  diagnostic(paper, "figure7b", "Figure 7B. alpha against tau", "alpha", draws,
             line, TM_SIR_ALPHA);
}

/* ------------------------------------------------------------------------ */

/* The paper's own table of optima, the densest: that of a spline ridge. */
static tempera_status find_line(const tm_paper *paper,
                                const tempera_model *model, optimum_line *line,
                                tempera_error *error) {
  static const char *const words[] = {"tau-prior", "profile", "ridge", "spline",
                                      NULL};
  tm_batch batch = {.model = model};
  tempera_sampler *sampler = NULL;
  TM_TRY(tm_batch_options(paper, TM_LENGTH_SHORT, words, &batch, error));
  batch.options.seed = paper->request->seed;
  batch.options.chains = 1;
  batch.options.init = tempera_model_spec_of(model)->recipe->start;
  TM_TRY(tempera_sampler_create(model, &batch.options, &sampler, error));
  tempera_status status = tempera_sampler_advance(sampler, 1, error);
  if (status == TEMPERA_OK)
    *line = line_of(sampler->ridge);
  tempera_sampler_free(sampler);
  return status;
}

tempera_status tm_sir_figures(tm_paper *paper, const tempera_model *model,
                              tempera_error *error) {
  tm_picture printed = {0}, automatic = {0};
  optimum_line line;
  tempera_status status = TEMPERA_OK;
  TM_TRY_DONE(tm_picture_take(paper, "SIR: Figures 5 and 7", model,
                              TM_LENGTH_SHORT, tm_as_printed, &printed, error));
  TM_TRY_DONE(tm_picture_take(paper, "SIR: Figures 4 and 6", model,
                              TM_LENGTH_AUTOMATIC, tm_by_default, &automatic,
                              error));
  TM_TRY_DONE(find_line(paper, model, &line, error));
  figure4(paper, &automatic.target);
  figure5(paper, &printed.tempered);
  figure6(paper, &automatic.target);
  figure7(paper, &printed.tempered, &line);
done:
  tm_picture_free(&printed);
  tm_picture_free(&automatic);
  return status;
}
