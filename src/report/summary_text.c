/* summary_text.c - the final screen: the verdict in words and the evidence,
 * then parameters, modes and tempering. */
#include "report/summary_values.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { WRAP = 78, MODES_SHOWN = 8, SENSITIVITIES_SHOWN = 8, MODE_COLUMNS = 6 };

void tm_screen_heading(tm_text *out, const char *title,
                       const tm_screen *screen) {
  tm_text_printf(out, "\n%s%s%s\n", tm_bold(screen->colour), title,
                 tm_plain(screen->colour));
}

static void titles(tm_table *table, const char *const *names) {
  for (size_t i = 0; i < table->columns; i++)
    tm_table_cell(table, names[i]);
}

/* How it ended, if it has. */
static void add_end(tm_text *out, const tempera_summary *s) {
  if (s->running)
    tm_text_printf(out, " (written while it was running, to %zu at most)",
                   s->running);
  else if (!s->complete)
    tm_text_add(out, " (stopped before the end)");
  tm_text_add(out, "\n");
}

static void add_head(tm_text *out, const tempera_summary *s) {
  tm_text_printf(out,
                 "%s by %s: %zu chain%s, %zu iterations after %zu of warmup, "
                 "seed %" PRIu64,
                 s->model ? s->model : "model", s->method ? s->method : "?",
                 s->chains, s->chains == 1 ? "" : "s", s->iterations, s->warmup,
                 s->seed);
  add_end(out, s);
}

static void add_labels(tm_text *out, const tempera_summary *s) {
  if (s->label_count == 0)
    return;
  tm_text_add(out, "  share of draws in which each label comes first:");
  for (size_t i = 0; i < s->label_count; i++)
    tm_text_printf(out, "  %.3f", s->labels[i]);
  tm_text_printf(out, "\n  components in order: R-hat %.3f, ESS %.0f\n",
                 s->relabelled_rhat, s->relabelled_ess);
}

/* Only what calls for a look: the rest is in summary.json. */
static void add_sensitivities(tm_text *out, const tempera_summary *s,
                              const tm_screen *screen) {
  size_t found = 0;
  for (size_t i = 0; s->sensitivity && i < s->value_count; i++) {
    const tempera_sensitivity *v = &s->sensitivity[i];
    const char *word = tempera_sensitivity_words(v);
    if (!word)
      continue;
    if (found++ == 0)
      tm_screen_heading(out, "Sensitivity to prior and likelihood", screen);
    if (found <= SENSITIVITIES_SHOWN || screen->all)
      tm_text_printf(out, "  %-12s %s: prior %.3f, likelihood %.3f\n",
                     s->values[i].name, word, v->prior, v->likelihood);
  }
  if (found > SENSITIVITIES_SHOWN && !screen->all)
    tm_text_printf(out, "  ... and %zu more (--all)\n",
                   found - SENSITIVITIES_SHOWN);
}

static void add_modes(tm_text *out, const tempera_summary *s,
                      const tm_screen *screen) {
  if (s->mode_count < 2)
    return;
  size_t shown = s->value_count < MODE_COLUMNS ? s->value_count : MODE_COLUMNS;
  size_t rows =
      screen->all || s->mode_count < MODES_SHOWN ? s->mode_count : MODES_SHOWN;
  tm_table table = {.columns = 3 + shown};
  tm_screen_heading(out, "Modes", screen);
  tm_table_cell(&table, "mode");
  tm_table_cell(&table, "weight");
  tm_table_cell(&table, "se");
  for (size_t j = 0; j < shown; j++)
    tm_table_cell(&table, s->values[j].name);
  for (size_t i = 0; i < rows; i++) {
    char number[24];
    snprintf(number, sizeof number, "%zu", i + 1);
    tm_table_cell(&table, number);
    tm_table_probability(&table, s->modes[i].weight);
    tm_table_probability(&table, s->modes[i].se);
    for (size_t j = 0; j < shown; j++)
      tm_table_short(&table, s->modes[i].mean[j]);
  }
  tm_table_print(&table, screen->colour, out);
  if (rows < s->mode_count)
    tm_text_printf(out, "  ... and %zu of less weight\n", s->mode_count - rows);
  add_labels(out, s);
}

/* Words broken into lines at spaces, the later ones indented. */
static void add_wrapped(tm_text *out, const char *first, const char *text) {
  size_t column = strlen(first);
  tm_text_add(out, first);
  while (*text) {
    size_t word = strcspn(text, " ");
    if (column + word > WRAP) {
      tm_text_trim(out);
      tm_text_add(out, "\n    ");
      column = 4;
    }
    tm_text_add_bytes(out, text, word);
    column += word;
    text += word;
    if (*text == ' ') {
      tm_text_add(out, " ");
      column++;
      text++;
    }
  }
  tm_text_add(out, "\n");
}

static void add_estimates(tm_text *out, const tempera_summary *s,
                          const tm_screen *screen) {
  static const char *const names[] = {"estimator", "log Z", "se",
                                      "lower",     "upper", ""};
  tm_table table = {.columns = sizeof names / sizeof *names};
  titles(&table, names);
  for (size_t i = 0; i < s->estimate_count; i++) {
    const tempera_estimate *e = &s->estimates[i];
    int decimals = tm_decimals(e->se);
    bool headline = s->estimator && strcmp(s->estimator, e->name) == 0;
    tm_table_cell(&table, e->name);
    tm_table_number(&table, e->log_z, decimals);
    tm_table_number(&table, e->se, decimals);
    tm_table_number(&table, e->lower, decimals);
    tm_table_number(&table, e->upper, decimals);
    tm_table_cell(&table, headline ? "headline" : "");
  }
  tm_table_print(&table, screen->colour, out);
  for (size_t i = 0; i < s->estimate_count; i++)
    if (s->estimates[i].warning) {
      char first[32];
      snprintf(first, sizeof first, "  %s: ", s->estimates[i].name);
      add_wrapped(out, first, s->estimates[i].warning);
    }
}

/* What else the path says. At b = 0 the fractional evidence is the evidence. */
static void add_path_answers(tm_text *out, const tempera_summary *s) {
  if (s->loo_why[0])
    add_wrapped(out, "  ", s->loo_why);
  if (s->fractional_why[0])
    add_wrapped(out, "  no fractional evidence: ", s->fractional_why);
  if (s->fractional.se > 0 && s->fractional.tau > 0) {
    int decimals = tm_decimals(s->fractional.se);
    tm_text_printf(out,
                   "  fractional evidence log z(1) - log z(b) = %.*f, se %.*f "
                   "(b = %.4g)\n",
                   decimals, s->fractional.value, decimals, s->fractional.se,
                   s->fractional.tau);
  }
  if (s->wbic.se > 0) {
    int decimals = tm_decimals(s->wbic.se);
    tm_text_printf(out, "  WBIC = %.*f, se %.*f (tau = %.3g = 1/log %zu)\n",
                   decimals, s->wbic.value, decimals, s->wbic.se, s->wbic.tau,
                   s->observations);
  }
}

static void add_evidence(tm_text *out, const tempera_summary *s,
                         const tm_screen *screen) {
  tm_screen_heading(out, "Evidence", screen);
  if (isnan(s->log_z)) {
    tm_text_add(out, "  none");
    tm_text_add(out, s->estimator ? ": not enough draws\n"
                                  : ": no estimator applies (see below)\n");
  } else {
    int decimals = tm_decimals(s->se);
    tm_text_printf(out, "  log Z = %.*f, se %.*f (%s)\n", decimals, s->log_z,
                   decimals, s->se, s->estimator ? s->estimator : "?");
  }
  if (s->estimate_count)
    add_estimates(out, s, screen);
  add_path_answers(out, s);
  if (s->zero_likelihood > 0)
    tm_text_printf(out, "  prior mass with zero likelihood: %.4g\n",
                   s->zero_likelihood);
}

static void pair(tm_table *table, const char *name, double value,
                 int decimals) {
  tm_table_cell(table, name);
  tm_table_number(table, value, decimals);
}

static void add_reference(tm_table *table, const tempera_reference *r) {
  pair(table, "reference leg: barrier", r->barrier, 3);
  pair(table, "reference leg: round trips", (double)r->round_trips, 0);
  pair(table, "reference leg: exchange acceptance", r->swap_acceptance, 3);
  pair(table, "reference leg: Pareto k", r->pareto_k, 2);
  if (!r->starts)
    return;
  pair(table, "states annealed from the prior", (double)r->starts, 0);
  pair(table, "of which absorbed", (double)r->absorbed, 0);
  pair(table, "draws far from its density", (double)r->far, 0);
  pair(table, "of which absorbed", (double)r->far_absorbed, 0);
}

static void add_tempering(tm_text *out, const tempera_summary *s,
                          const tm_screen *screen) {
  tm_table table = {.columns = 2};
  bool tempered = s->tau_bin_count > 0;
  tm_screen_heading(out, tempered ? "Tempering" : "Cost", screen);
  tm_table_cell(&table, "quantity");
  tm_table_cell(&table, "value");
  if (tempered) {
    pair(&table, "communication barrier", s->barrier, 3);
    pair(&table, "restarts", (double)s->restarts, 0);
    pair(&table, "round trips", (double)s->round_trips, 0);
    pair(&table, "exchange acceptance", s->swap_acceptance, 3);
    pair(&table, "tau move acceptance", s->tau_acceptance, 3);
  }
  if (s->reference)
    add_reference(&table, s->reference);
  if (tempered || s->ridge_knots) {
    pair(&table, "ridge knots", (double)s->ridge_knots, 0);
    pair(&table, "ridge gap (nats, given global optima)", s->ridge_gap, 5);
    pair(&table, "draws above the ridge", (double)s->ridge_beaten, 0);
  }
  pair(&table, "likelihood evaluations", (double)s->likelihood_evaluations, 0);
  if (s->gradient_evaluations)
    pair(&table, "gradient evaluations", (double)s->gradient_evaluations, 0);
  pair(&table, "seconds", s->seconds, 2);
  tm_table_print(&table, screen->colour, out);
}

static void add_levels(tm_text *out, const tempera_summary *s,
                       const tm_screen *screen) {
  static const char *const names[] = {"tau",       "E[log L]", "log z",
                                      "rejection", "barrier",  NULL};
  tm_table table = {.columns = 5};
  if (s->level_count == 0)
    return;
  tm_screen_heading(out, "Levels", screen);
  titles(&table, names);
  for (size_t i = 0; i < s->level_count; i++) {
    const tempera_level *level = &s->levels[i];
    tm_table_short(&table, level->tau);
    tm_table_number(&table, level->mean_log_likelihood, 2);
    tm_table_number(&table, level->log_z, 3);
    tm_table_number(&table, level->rejection, 3);
    tm_table_number(&table, level->barrier, 3);
  }
  tm_table_print(&table, screen->colour, out);
}

/* Warnings are findings in words; files of before have the words alone. */
static bool is_grave(const tempera_summary *s, size_t i) {
  return i < s->finding_count && s->findings[i].severity >= TEMPERA_UNRELIABLE;
}

static void add_verdict(tm_text *out, const tempera_summary *s,
                        const tm_screen *screen) {
  const char *paint = !screen->colour ? ""
                      : s->reliable   ? "\033[1;32m"
                                      : "\033[1;33m";
  tm_screen_heading(out, "Verdict", screen);
  tm_text_add(out, paint);
  add_wrapped(out, "  ", s->verdict ? s->verdict : "none");
  if (s->decision) {
    tm_text line = {0};
    tm_text_printf(&line, "Length chosen automatically: %s.", s->decision);
    add_wrapped(out, "  ", line.failed ? "" : line.data);
    tm_text_clear(&line);
  }
  tm_text_add(out, tm_plain(screen->colour));
  for (size_t i = 0; i < s->warning_count; i++)
    add_wrapped(out, is_grave(s, i) ? "  ! " : "  - ", s->warnings[i]);
}

/* What is at the top of a long screen has scrolled away. */
static void add_last_line(tm_text *out, const tempera_summary *s) {
  int decimals = tm_decimals(s->se);
  if (s->reliable && !isnan(s->log_z))
    tm_text_printf(out, "\nReliable: log Z = %.*f +- %.*f\n", decimals,
                   s->log_z, decimals, s->se);
  else
    tm_text_printf(out, "\n%s: the verdict is at the top\n",
                   s->reliable ? "Reliable" : "Not reliable");
}

static tempera_status write_screen(const tempera_summary *s,
                                   const tm_screen *screen, char **text,
                                   tempera_error *error) {
  tm_text out = {0};
  add_head(&out, s);
  add_verdict(&out, s, screen);
  add_evidence(&out, s, screen);
  tm_screen_values(&out, s, screen);
  tm_screen_powers(&out, s, screen);
  add_sensitivities(&out, s, screen);
  tm_screen_wider(&out, s, screen);
  add_modes(&out, s, screen);
  add_levels(&out, s, screen);
  add_tempering(&out, s, screen);
  add_last_line(&out, s);
  if (out.failed) {
    tm_text_clear(&out);
    return tm_fail_memory(error);
  }
  *text = out.data;
  return TEMPERA_OK;
}

tempera_status tempera_summary_text(const tempera_summary *summary, bool colour,
                                    char **text, tempera_error *error) {
  const tm_screen screen = {.colour = colour};
  return write_screen(summary, &screen, text, error);
}

tempera_status tempera_summary_text_all(const tempera_summary *summary,
                                        bool colour, char **text,
                                        tempera_error *error) {
  const tm_screen screen = {.colour = colour, .all = true};
  return write_screen(summary, &screen, text, error);
}
