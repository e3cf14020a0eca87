/* galaxy_figures.c - Figure 3 of the paper: three components. */
#include "reproduce/charts.h"
#include "reproduce/galaxy_study.h"

enum { MU_1 = 0, MU_3 = 2, SIGMA2_1 = 3, BINS = 60 };

static void marginal(tm_paper *paper, const char *file, const char *title,
                     const char *name, const tm_picture *p, size_t value,
                     double lower, double upper) {
  json_t *figure = tm_chart_plot(title, name, "density");
  tm_chart_histogram(figure, "tempered", TM_COLOUR_TEMPERED,
                     p->tempered.value[value], p->tempered.count, lower, upper,
                     BINS);
  tm_chart_histogram(figure, "target", TM_COLOUR_TARGET, p->target.value[value],
                     p->target.count, lower, upper, BINS);
  tm_document_figure(paper, file, figure);
}

static void cloud(tm_paper *paper, const char *file, const char *title,
                  const tm_picture *p) {
  json_t *figure = tm_chart_plot(title, "mu[1]", "mu[3]");
  tm_chart_points(figure, "tempered", TM_COLOUR_TEMPERED,
                  p->tempered.value[MU_1], p->tempered.value[MU_3],
                  p->tempered.count);
  tm_chart_points(figure, "target", TM_COLOUR_TARGET, p->target.value[MU_1],
                  p->target.value[MU_3], p->target.count);
  tm_document_figure(paper, file, figure);
}

static void tau(tm_paper *paper, const char *file, const char *title,
                const tm_picture *p) {
  json_t *figure = tm_chart_plot(title, "tau", "density");
  tm_chart_histogram(figure, "tempered", TM_COLOUR_TEMPERED, p->tempered.tau,
                     p->tempered.count, 0, 1, BINS);
  tm_document_figure(paper, file, figure);
}

static void figure3(tm_paper *paper, const tm_picture *p) {
  tm_document_heading(
      paper, "Figure 3. Three components, as printed",
      "PT-STWNC with the profile prior: tau stays near zero, and the target "
      "chain is handed few states of other labellings.");
  marginal(paper, "figure3a", "Figure 3A. mu[1]", "mu[1]", p, MU_1, 0, 40);
  marginal(paper, "figure3b", "Figure 3B. mu[3]", "mu[3]", p, MU_3, 0, 40);
  marginal(paper, "figure3c", "Figure 3C. sigma^2[1]", "sigma^2[1]", p,
           SIGMA2_1, 0, 30);
  tau(paper, "figure3d", "Figure 3D. tau", p);
  cloud(paper, "figure3e", "Figure 3E. mu[1] and mu[3]", p);
}

static void figure3_automatic(tm_paper *paper, const tm_picture *p) {
  tm_document_heading(
      paper, "Figure 3 with Tempera's defaults",
      "The learned prior spreads tau over [0, 1], and all six labellings are "
      "visited in equal shares, as they must be.");
  marginal(paper, "figure3a-defaults", "mu[1], defaults", "mu[1]", p, MU_1, 0,
           40);
  marginal(paper, "figure3b-defaults", "mu[3], defaults", "mu[3]", p, MU_3, 0,
           40);
  marginal(paper, "figure3c-defaults", "sigma^2[1], defaults", "sigma^2[1]", p,
           SIGMA2_1, 0, 30);
  tau(paper, "figure3d-defaults", "tau, defaults", p);
  cloud(paper, "figure3e-defaults", "mu[1] and mu[3], defaults", p);
}

tempera_status tm_galaxy_figures(tm_paper *paper, tempera_error *error) {
  tempera_model *model = NULL;
  tm_picture printed = {0}, automatic = {0};
  tempera_status status = TEMPERA_OK;
  TM_TRY(tm_paper_model("galaxy", "galaxy-3.json", &model, error));
  TM_TRY_DONE(tm_picture_take(paper, "galaxy: Figure 3", model, TM_LENGTH_SHORT,
                              tm_as_printed, &printed, error));
  TM_TRY_DONE(tm_picture_take(paper, "galaxy: Figure 3, defaults", model,
                              TM_LENGTH_AUTOMATIC, tm_by_default, &automatic,
                              error));
  figure3(paper, &printed);
  figure3_automatic(paper, &automatic);
done:
  tm_picture_free(&printed);
  tm_picture_free(&automatic);
  tempera_model_free(model);
  return status;
}
