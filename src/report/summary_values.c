/* summary_values.c - parameters and quantities on the final screen: a row each,
 * long containers in one line, and probabilities of integers. */
#include "report/summary_values.h"

#include "base/locale.h"
#include "report/value_groups.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_ROWS = 20, MOST_PMF = 12 };

/* A star where labels are permuted. */
static void add_value_name(tm_table *table, const tempera_value_summary *v) {
  char marked[256];
  snprintf(marked, sizeof marked, "%s%s", v->name ? v->name : "",
           v->permuted ? " *" : "");
  tm_table_cell(table, marked);
}

static void add_row(tm_table *table, const tempera_value_summary *v) {
  add_value_name(table, v);
  tm_table_short(table, v->mean);
  tm_table_short(table, v->sd);
  tm_table_short(table, v->mcse);
  tm_table_short(table, v->q5);
  tm_table_short(table, v->q50);
  tm_table_short(table, v->q95);
  tm_table_number(table, v->ess_bulk, 0);
  tm_table_number(table, v->ess_tail, 0);
  tm_table_number(table, v->rhat, 3);
}

/* Rows of what does not fold, MOST_ROWS of them unless all are wanted; how many
 * rows there would be. */
static size_t add_rows(tm_text *out, const char *kind,
                       const tempera_value_summary *values, size_t count,
                       const tm_screen *screen) {
  static const char *const names[] = {
      "mean", "sd", "mcse", "5%", "50%", "95%", "ess_bulk", "ess_tail", "rhat"};
  tm_table table = {.columns = 1 + sizeof names / sizeof *names};
  size_t rows = 0;
  tm_table_cell(&table, kind);
  for (size_t i = 0; i + 1 < table.columns; i++)
    tm_table_cell(&table, names[i]);
  for (size_t i = 0; i < count;) {
    tm_value_group group = tm_value_group_at(values, count, i);
    bool folds = !screen->all && tm_value_group_folds(&group, count);
    for (size_t j = 0; j < group.count && !folds; j++, rows++)
      if (screen->all || rows < MOST_ROWS)
        add_row(&table, &group.values[j]);
    i += group.count;
  }
  if (rows)
    tm_table_print(&table, screen->colour, out);
  else
    tm_text_clear(&table.cells);
  return rows;
}

static void add_folded_row(tm_table *table, const tm_value_group *group) {
  char name[256];
  const tempera_value_summary *last = &group->values[group->count - 1];
  tm_value_extremes e = tm_value_group_extremes(group);
  snprintf(name, sizeof name, "%s .. %s", group->values->name,
           last->name + group->name_length);
  tm_table_cell(table, name);
  tm_table_number(table, (double)group->count, 0);
  tm_table_short(table, e.lowest_mean);
  tm_table_short(table, e.highest_mean);
  tm_table_number(table, e.least_ess, 0);
  tm_table_number(table, e.greatest_rhat, 3);
}

/* One line for each container that folds. */
static void add_folded(tm_text *out, const tempera_value_summary *values,
                       size_t count, const tm_screen *screen) {
  static const char *const names[] = {"folded",       "values",
                                      "lowest mean",  "highest mean",
                                      "smallest ess", "largest rhat"};
  tm_table table = {.columns = sizeof names / sizeof *names};
  bool any = false;
  for (size_t i = 0; i < table.columns; i++)
    tm_table_cell(&table, names[i]);
  for (size_t i = 0; i < count && !screen->all;) {
    tm_value_group group = tm_value_group_at(values, count, i);
    if (tm_value_group_folds(&group, count)) {
      add_folded_row(&table, &group);
      any = true;
    }
    i += group.count;
  }
  if (any)
    tm_table_print(&table, screen->colour, out);
  else
    tm_text_clear(&table.cells);
}

static void add_table(tm_text *out, const char *kind,
                      const tempera_value_summary *values, size_t count,
                      const tm_screen *screen) {
  size_t rows = add_rows(out, kind, values, count, screen);
  if (rows > MOST_ROWS && !screen->all)
    tm_text_printf(out, "  ... and %zu more\n", rows - MOST_ROWS);
  add_folded(out, values, count, screen);
}

/* ---- integers -------------------------------------------------------------
 */

/* Among the MOST_PMF likeliest? Of equals, the first. */
static bool is_likely(const tempera_value_summary *v, size_t j) {
  size_t before = 0;
  for (size_t i = 0; i < v->pmf_count; i++)
    before += v->pmf[i].probability > v->pmf[j].probability ||
              (v->pmf[i].probability == v->pmf[j].probability && i < j);
  return before < MOST_PMF;
}

/* The likeliest values, in their own order. */
static void add_pmf(tm_text *out, const tempera_value_summary *v) {
  tm_text_printf(out, "  P(%s):", v->name);
  for (size_t j = 0; j < v->pmf_count; j++) {
    char text[TM_NUMBER_TEXT];
    tm_format_probability(text, v->pmf[j].probability);
    if (is_likely(v, j))
      tm_text_printf(out, "  %" PRId64 ": %s", v->pmf[j].value, text);
  }
  if (v->pmf_count > MOST_PMF)
    tm_text_printf(out, "  (and %zu less likely)", v->pmf_count - MOST_PMF);
  tm_text_add(out, "\n");
}

static void add_pmfs(tm_text *out, const tempera_summary *s,
                     const tm_screen *screen) {
  size_t shown = 0, count = 0;
  for (size_t i = 0; i < s->value_count; i++) {
    const tempera_value_summary *v = &s->values[i];
    if (!v->pmf || v->pmf_count == 0)
      continue;
    count++;
    if (!screen->all && shown == MOST_ROWS)
      continue;
    add_pmf(out, v);
    shown++;
  }
  if (count > shown)
    tm_text_printf(out, "  ... and %zu more\n", count - shown);
}

/* ---- sections -------------------------------------------------------------
 */

static bool any_permuted(const tempera_summary *s) {
  for (size_t i = 0; i < s->value_count; i++)
    if (s->values[i].permuted)
      return true;
  return false;
}

void tm_screen_values(tm_text *out, const tempera_summary *s,
                      const tm_screen *screen) {
  tm_screen_heading(out, "Parameters (draws at tau = 1)", screen);
  add_table(out, "parameter", s->values, s->value_count, screen);
  if (any_permuted(s))
    tm_text_add(out, "  * its label changes places: not to be read alone\n");
  add_pmfs(out, s, screen);
  if (s->component_count) {
    tm_screen_heading(out, "Components (labels put in order, draw by draw)",
                      screen);
    add_table(out, "component", s->components, s->component_count, screen);
  }
  if (s->quantity_count == 0)
    return;
  tm_screen_heading(out, "Quantities computed from them", screen);
  add_table(out, "quantity", s->quantities, s->quantity_count, screen);
}

void tm_screen_powers(tm_text *out, const tempera_summary *s,
                      const tm_screen *screen) {
  for (size_t i = 0; i < s->at_tau_count; i++) {
    const tempera_power_posterior *p = &s->at_tau[i];
    char title[80];
    tm_snprintf(title, sizeof title, "Power posterior at tau = %.6g", p->tau);
    tm_screen_heading(out, title, screen);
    if (p->why[0]) {
      tm_text_printf(out, "  no draws: %s\n", p->why);
      continue;
    }
    int decimals = tm_decimals(p->log_likelihood.se);
    tm_text_printf(out, "  %zu draws per chain", p->draws);
    if (p->log_likelihood.se > 0)
      tm_text_printf(out, "; mean log likelihood %.*f, se %.*f", decimals,
                     p->log_likelihood.value, decimals, p->log_likelihood.se);
    decimals = tm_decimals(p->rise.se);
    if (p->rise.se > 0)
      tm_text_printf(out, "; log z(1) - log z(tau) = %.*f, se %.*f", decimals,
                     p->rise.value, decimals, p->rise.se);
    tm_text_add(out, "\n");
    add_table(out, "parameter", p->values, p->value_count, screen);
  }
}

static void add_change(tm_table *table, const tempera_wider_prior *p,
                       const tempera_wider *w) {
  char text[64];
  int decimals = tm_decimals(w->se);
  if (p->shared)
    snprintf(text, sizeof text, "-");
  else if (isnan(w->change))
    tm_snprintf(text, sizeof text, "? (k %.1f)", w->k);
  else
    tm_snprintf(text, sizeof text, "%+.*f +- %.*f", decimals, w->change,
                decimals, w->se);
  tm_table_cell(table, text);
}

void tm_screen_wider(tm_text *out, const tempera_summary *s,
                     const tm_screen *screen) {
  tm_table table = {.columns = 3};
  bool shared = false, unknown = false;
  if (!s->wider_count)
    return;
  tm_screen_heading(out, "Change of log Z, were a prior wider", screen);
  tm_table_cell(&table, "prior of");
  tm_table_cell(&table, "2 times");
  tm_table_cell(&table, "10 times");
  for (size_t i = 0; i < s->wider_count; i++) {
    const tempera_wider_prior *p = &s->wider[i];
    tm_table_cell(&table, p->name);
    for (size_t f = 0; f < TEMPERA_WIDER_FACTORS; f++) {
      add_change(&table, p, &p->by[f]);
      unknown = unknown || (!p->shared && isnan(p->by[f].change));
    }
    shared = shared || p->shared;
  }
  tm_table_print(&table, screen->colour, out);
  if (shared)
    tm_text_add(out, "  -: a hierarchy: this prior is made of other parameters, "
                     "or theirs of it, and cannot\n     be stretched alone; run "
                     "the program with another one, or non-centred\n");
  if (unknown)
    tm_text_add(out, "  ?: the draws do not reach where the wider prior leads "
                     "(Pareto k above 0.7);\n     run the program with it\n");
}
