/* answers_page.c - the page's section on what was asked beside the posterior:
 * WBIC and fractional evidence, sensitivity to prior and likelihood with each
 * parameter's mean and interval against tau, log Z under wider priors, and
 * power posteriors. */
#include "base/locale.h"
#include "estimate/evidence/tempered.h"
#include "numeric/sort.h"
#include "report/run_page.h"

#include <math.h>
#include <stdio.h>

enum { SHOWN = 6, MOST_DRAWS = 40000, FEWEST = 200, PER_DECADE = 3 };

/* ---- tables ---------------------------------------------------------------
 */

static void add_answer(json_t *table, const char *name,
                       const tempera_path_answer *a) {
  if (!(a->se > 0))
    return;
  json_t *row = tm_page_row(table, NULL);
  tm_row_text(row, name);
  tm_row_number(row, a->value, 4);
  tm_row_number(row, a->se, 4);
  tm_row_short(row, a->tau);
}

static void add_path(json_t *section, const tempera_summary *s) {
  bool fraction = s->fractional.se > 0 && s->fractional.tau > 0;
  if (s->fractional_why[0])
    tm_section_text(section, "warn", s->fractional_why);
  if (!fraction && !(s->wbic.se > 0))
    return;
  json_t *table = tm_section_table(section, NULL);
  tm_page_column(table, "read off the path", NULL, true);
  tm_page_column(table, "value", NULL, false);
  tm_page_column(table, "se", NULL, false);
  tm_page_column(table, "at tau", NULL, false);
  add_answer(table, "WBIC", &s->wbic);
  if (fraction)
    add_answer(table, "fractional evidence, log z(1) - log z(b)",
               &s->fractional);
}

static void add_sensitivities(json_t *section, const tempera_summary *s) {
  json_t *table = tm_section_table(
      section, "Power-scaling sensitivity: how far the posterior moves per "
               "doubling of the power of prior or likelihood; from 0.05 on "
               "it is worth a look.");
  tm_page_column(table, "parameter", NULL, true);
  tm_page_column(table, "to the prior", NULL, false);
  tm_page_column(table, "to the likelihood", NULL, false);
  tm_page_column(table, "may be", NULL, true);
  for (size_t i = 0; i < s->value_count; i++) {
    const char *word = tempera_sensitivity_words(&s->sensitivity[i]);
    json_t *row = tm_page_row(table, word ? "warn" : NULL);
    tm_row_text(row, s->values[i].name ? s->values[i].name : "");
    tm_row_number(row, s->sensitivity[i].prior, 3);
    tm_row_number(row, s->sensitivity[i].likelihood, 3);
    tm_row_text(row, word ? word : "");
  }
}

static void add_wider(json_t *section, const tempera_summary *s) {
  json_t *table = tm_section_table(
      section, "Change of log Z were the prior of one parameter 2 or 10 times "
               "as wide. No number: the draws do not reach there (Pareto k "
               "above 0.7), or it is a hierarchy: the prior is made of other "
               "parameters, or theirs of it, and cannot be stretched alone.");
  tm_page_column(table, "prior of", NULL, true);
  for (size_t f = 0; f < TEMPERA_WIDER_FACTORS; f++) {
    char title[40];
    tm_snprintf(title, sizeof title, "%.0f times", s->wider[0].by[f].factor);
    tm_page_column(table, title, NULL, false);
    tm_page_column(table, "se", NULL, false);
    tm_page_column(table, "k", NULL, false);
  }
  for (size_t i = 0; i < s->wider_count; i++) {
    json_t *row = tm_page_row(table, NULL);
    tm_row_text(row, s->wider[i].name);
    for (size_t f = 0; f < TEMPERA_WIDER_FACTORS; f++) {
      tm_row_number(row, s->wider[i].by[f].change, 3);
      tm_row_number(row, s->wider[i].by[f].se, 3);
      tm_row_number(row, s->wider[i].by[f].k, 2);
    }
  }
}

static void add_powers(json_t *section, const tempera_summary *s) {
  static const char *const names[] = {"parameter", "mean", "sd", "mcse",
                                      "5%",        "50%",  "95%"};
  for (size_t i = 0; i < s->at_tau_count; i++) {
    const tempera_power_posterior *p = &s->at_tau[i];
    char note[256];
    tm_snprintf(note, sizeof note, "Power posterior at tau = %.6g%s%.150s",
                p->tau, p->why[0] ? ": no draws, " : "", p->why);
    json_t *table = tm_section_table(section, note);
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
      tm_page_column(table, names[k], NULL, k == 0);
    for (size_t v = 0; v < p->value_count; v++) {
      const tempera_value_summary *x = &p->values[v];
      json_t *row = tm_page_row(table, NULL);
      tm_row_text(row, x->name ? x->name : "");
      const double numbers[] = {x->mean, x->sd, x->mcse, x->q5, x->q50, x->q95};
      for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
        tm_row_short(row, numbers[k]);
    }
  }
}

/* ---- against tau -----------------------------------------------------------
 */

/* A value's draws in their order, and what is drawn of it at each tau. */
typedef struct curve {
  bool finite; /* all of them? */
  tm_ranked *sorted;
  double *mean, *low, *high;
} curve;

typedef struct curves {
  tm_tempered view;
  size_t stride, count, values; /* count: taus */
  double *tau;
  tm_ranked *room;
  curve value[SHOWN];
} curves;

static double quantile(const curves *c, const curve *of, double total,
                       double share) {
  double sum = 0;
  for (size_t k = 0; k < c->view.count; k++) {
    sum += c->view.weight[of->sorted[k].index];
    if (sum >= share * total)
      return of->sorted[k].value;
  }
  return NAN;
}

/* By the weights at the k-th tau, as they stand. */
static void fill_value(const curves *c, const curve *of, size_t k) {
  double total = 0, sum = 0;
  for (size_t i = 0; i < c->view.count; i++) {
    double w = c->view.weight[of->sorted[i].index];
    total += w;
    sum += w * of->sorted[i].value;
  }
  of->mean[k] = sum / total;
  of->low[k] = quantile(c, of, total, 0.05);
  of->high[k] = quantile(c, of, total, 0.95);
}

/* Weighted by p(tau | theta), where enough draws were made near tau. */
static void fill(curves *c) {
  for (size_t k = 0; k < c->count; k++) {
    bool supported =
        tm_tempered_support(&c->view, c->tau[k]) >= TM_FEWEST_BATCHES;
    if (supported)
      tm_tempered_weights(&c->view, c->tau[k]);
    for (size_t v = 0; v < c->values; v++) {
      const curve *of = &c->value[v];
      of->mean[k] = of->low[k] = of->high[k] = NAN;
      if (supported && of->finite)
        fill_value(c, of, k);
    }
  }
}

static void sort_value(const curves *c, const tempera_draws *draws, size_t v,
                       curve *of) {
  of->finite = true;
  for (size_t i = 0; i < c->view.count && of->finite; i++) {
    const double *x =
        tm_draws_column(draws, TEMPERA_TEMPERED, i / c->view.rows, v);
    of->sorted[i] = (tm_ranked){x[i % c->view.rows * c->stride], i};
    of->finite = isfinite(of->sorted[i].value);
  }
  if (of->finite)
    tm_ranked_sort(of->sorted, c->room, c->view.count);
}

static json_t *figure_of(const curves *c, const curve *of, const char *name) {
  char title[160];
  snprintf(title, sizeof title, "%.100s against tau", name);
  json_t *figure = tm_figure("plot", title);
  tm_figure_note(figure, "Mean and 90 % interval, from the prior (tau = 0) to "
                         "the posterior (tau = 1)");
  tm_figure_tau(figure, "x");
  tm_figure_axis(figure, "y", name);
  json_t *band = tm_figure_series(figure, "band", "90 %");
  tm_set_numbers(band, "x", c->tau, c->count);
  tm_set_numbers(band, "lower", of->low, c->count);
  tm_set_numbers(band, "upper", of->high, c->count);
  tm_figure_xy(figure, "line", "mean", c->tau, of->mean, c->count);
  return figure;
}

static bool prepare_value(const curves *c, curve *of) {
  tm_arena *arena = c->view.arena;
  *of = (curve){.sorted = TM_NEW(arena, tm_ranked, c->view.count),
                .mean = TM_NEW(arena, double, c->count),
                .low = TM_NEW(arena, double, c->count),
                .high = TM_NEW(arena, double, c->count)};
  return of->sorted && of->mean && of->low && of->high;
}

static bool prepare(curves *c, const tempera_draws *draws, size_t values) {
  size_t rows = tm_draws_rows(draws, TEMPERA_TEMPERED);
  tm_arena *arena = c->view.arena;
  c->stride = (draws->chains * rows + MOST_DRAWS - 1) / MOST_DRAWS;
  c->tau = tm_tau_grid(arena, c->view.tau_min, PER_DECADE, &c->count);
  if (!c->tau)
    return false;
  c->room = TM_NEW(arena, tm_ranked, c->view.count);
  c->values = values < SHOWN ? values : SHOWN;
  bool made = c->room != NULL;
  for (size_t v = 0; made && v < c->values; v++)
    made = prepare_value(c, &c->value[v]);
  for (size_t v = 0; made && v < c->values; v++)
    sort_value(c, draws, v, &c->value[v]);
  return made;
}

/* A page is no worse for lacking them: no memory, no figures. */
static void add_curves(json_t *section, const tm_run_files *files) {
  tempera_draws *draws = NULL;
  curves c = {0};
  if (tm_run_files_draws(files, files->folder, &draws, NULL) != TEMPERA_OK)
    return;
  if (draws->has_role[TEMPERA_TEMPERED] &&
      tm_tempered_create(draws, MOST_DRAWS, &c.view, NULL) == TEMPERA_OK) {
    if (c.view.log_mass && c.view.count >= FEWEST &&
        prepare(&c, draws, files->summary->value_count)) {
      json_t *figures = tm_section_figures(section);
      fill(&c);
      for (size_t v = 0; v < c.values; v++)
        if (c.value[v].finite)
          tm_figures_add(figures, figure_of(&c, &c.value[v], draws->names[v]));
    }
    tm_tempered_free(&c.view);
  }
  tempera_draws_free(draws);
}

void tm_run_answers(json_t *page, const tm_run_files *files) {
  const tempera_summary *s = files->summary;
  json_t *section = tm_page_section(page, "Prior, likelihood and powers");
  add_path(section, s);
  if (s->sensitivity)
    add_sensitivities(section, s);
  if (s->wider_count)
    add_wider(section, s);
  add_powers(section, s);
  add_curves(section, files);
}
