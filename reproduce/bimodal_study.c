/* bimodal_study.c - Tables 1 and 2 and Figures 1 and 2 of the paper: the model
 * with two modes that |mu| makes.
 *
 * Tables use the data of seed 2555, figures those of seed 1555, as published.
 */
#include "reproduce/bimodal_study.h"

#include "base/memory.h"
#include "estimate/evidence/evidence.h"

#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_REPLICATES = 20 };

/* ------------------------------------------------------------------------
 * Table 1: posterior means by mode
 */

typedef struct mode_means {
  tm_part_mean positive, negative, sigma2;
} mode_means;

static tempera_status means_by_mode(const tempera_sampler *sampler,
                                    size_t replicate, void *context,
                                    tempera_error *error) {
  mode_means *means = context;
  tm_draw_set set = {0};
  (void)replicate;
  TM_TRY(tm_draw_set_copy(sampler, TEMPERA_TARGET, 2, &set, error));
  double *sign = set.log_likelihood; /* not needed here */
  for (size_t i = 0; i < set.count; i++)
    sign[i] = set.value[0][i] > 0;
  bool done = tm_draw_set_mean(&set, set.value[0], sign, &means->positive);
  for (size_t i = 0; i < set.count; i++)
    sign[i] = set.value[0][i] < 0;
  done = done && tm_draw_set_mean(&set, set.value[0], sign, &means->negative) &&
         tm_draw_set_mean(&set, set.value[1], NULL, &means->sigma2);
  tm_draw_set_free(&set);
  return done ? TEMPERA_OK : tm_fail_memory(error);
}

typedef struct table1_row {
  const char *label, *estimate, *theory; /* paths in published.json */
  size_t part;                           /* offset in mode_means */
  double sign;                           /* of the exact value */
  const char *remark;
} table1_row;

static void add_table1_row(const tm_paper *paper, json_t *sheet,
                           const table1_row *r, double exact,
                           const mode_means *printed,
                           const mode_means *automatic) {
  const tm_part_mean *a = (const void *)((const char *)printed + r->part);
  const tm_part_mean *b = (const void *)((const char *)automatic + r->part);
  json_t *row = tm_sheet_row(sheet, r->label);
  char path[64];
  snprintf(path, sizeof path, "%s/0", r->estimate);
  tm_sheet_number(row, tm_paper_number(paper->published, path));
  snprintf(path, sizeof path, "%s/1", r->estimate);
  tm_sheet_number(row, tm_paper_number(paper->published, path));
  tm_sheet_number(row, tm_paper_number(paper->published, r->theory));
  tm_sheet_number(row, exact);
  tm_sheet_number(row, a->mean);
  tm_sheet_number(row, a->mcse);
  tm_sheet_number(row, b->mean);
  tm_sheet_number(row, b->mcse);
  tm_sheet_words(row, r->remark);
}

static json_t *table1_sheet(void) {
  json_t *sheet = tm_sheet_create(
      "table1", "Table 1. Posterior means of the two-parameter model, by mode");
  tm_sheet_column(sheet, "parameter", "parameter", TM_SHEET_TEXT);
  tm_sheet_column(sheet, "published", "published", 3);
  tm_sheet_column(sheet, "published_mcse", "(MC error)", 4);
  tm_sheet_column(sheet, "published_theory", "published theory", 3);
  tm_sheet_column(sheet, "exact", "exact", 4);
  tm_sheet_column(sheet, "paper_mean", "as printed", 4);
  tm_sheet_column(sheet, "paper_mcse", "(MC error)", 4);
  tm_sheet_column(sheet, "default_mean", "defaults", 4);
  tm_sheet_column(sheet, "default_mcse", "(MC error)", 4);
  tm_sheet_column(sheet, "remark", "remark", TM_SHEET_TEXT);
  return sheet;
}

static void fill_table1(tm_paper *paper, const tm_theory *theory,
                        const mode_means *printed,
                        const mode_means *automatic) {
  static const table1_row rows[] = {
      {"mu > 0", "table1/mu/0", "table1/mu_theory/0",
       offsetof(mode_means, positive), 1, ""},
      {"mu < 0", "table1/mu/1", "table1/mu_theory/1",
       offsetof(mode_means, negative), -1, ""},
      {"sigma^2", "table1/sigma2", "table1/sigma2_theory",
       offsetof(mode_means, sigma2), 0,
       "the published theory is a conditional mean"}};
  json_t *sheet = table1_sheet();
  for (size_t i = 0; i < 3; i++) {
    double exact = rows[i].sign != 0 ? rows[i].sign * tm_theory_mu_mean(theory)
                                     : tm_theory_sigma2_mean(theory);
    add_table1_row(paper, sheet, &rows[i], exact, printed, automatic);
  }
  tm_sheet_note(
      sheet,
      "The published \"theoretical\" means of mu belong to the one-parameter "
      "model, and 1.148 is a mean of sigma^2 given mu; with mu integrated out "
      "it is %.4f. The published estimate 1.026 fits neither: "
      "its log-normal walk had the Hastings correction with the wrong sign. "
      "\"As printed\" is the paper's algorithm with the correction right.",
      tm_theory_sigma2_mean(theory));
  tm_document_sheet(paper, sheet);
}

static tempera_status table1(tm_paper *paper, const tm_theory *theory,
                             const tempera_model *model, tempera_error *error) {
  mode_means printed, automatic;
  tempera_summary *summary = NULL;
  tm_batch batch = {.what = "bimodal: Table 1, as printed",
                    .model = model,
                    .count = 1,
                    .inspect = means_by_mode,
                    .context = &printed};
  TM_TRY(tm_batch_options(paper, TM_LENGTH_LONG, tm_as_printed, &batch, error));
  TM_TRY(tm_batch_run(paper, &batch, &summary, error));
  tm_batch_free(&summary, 1);
  batch.what = "bimodal: Table 1, defaults";
  batch.context = &automatic;
  TM_TRY(tm_batch_options(paper, TM_LENGTH_AUTOMATIC, tm_by_default, &batch,
                          error));
  TM_TRY(tm_batch_run(paper, &batch, &summary, error));
  tm_batch_free(&summary, 1);
  fill_table1(paper, theory, &printed, &automatic);
  return TEMPERA_OK;
}

/* ------------------------------------------------------------------------
 * Table 2: log Z of the one-parameter model
 */

/* Draws of the tempered chains of all replicates. */
typedef struct pool {
  tm_draw_set sets[MOST_REPLICATES];
  size_t count;
} pool;

static tempera_status keep_tempered(const tempera_sampler *sampler,
                                    size_t replicate, void *context,
                                    tempera_error *error) {
  pool *p = context;
  return tm_draw_set_copy(sampler, TEMPERA_TEMPERED, 0, &p->sets[replicate],
                          error);
}

/* The printed estimator on all draws of all replicates together. */
static double pooled_estimate(const pool *p) {
  size_t count = 0, at = 0;
  for (size_t i = 0; i < p->count; i++)
    count += p->sets[i].count;
  double *tau = tm_heap_alloc(2 * count, sizeof(double)), *l = tau + count;
  size_t *order = tm_heap_alloc(count, sizeof(size_t));
  double result = NAN, variance;
  if (tau && order) {
    for (size_t i = 0; i < p->count; i++) {
      const tm_draw_set *set = &p->sets[i];
      memcpy(tau + at, set->tau, set->count * sizeof(double));
      memcpy(l + at, set->log_likelihood, set->count * sizeof(double));
      at += set->count;
    }
    gsl_sort_index(order, tau, 1, count);
    result = tm_evidence_left_sum(tau, l, order, count, &variance);
  }
  tm_heap_free(tau);
  tm_heap_free(order);
  return result;
}

static tempera_status printed_rows(tm_paper *paper, const tempera_model *model,
                                   const tm_reference *exact, json_t *sheet,
                                   tempera_error *error) {
  pool p = {.count = paper->lengths.bimodal_replicates};
  tempera_summary *summaries[MOST_REPLICATES] = {0};
  tm_reference published = *exact;
  published.published = tm_paper_number(paper->published, "table2/pt_stwnc/0");
  published.published_sd =
      tm_paper_number(paper->published, "table2/pt_stwnc/1");
  tm_batch batch = {.what = "bimodal: Table 2, PT-STWNC as printed",
                    .model = model,
                    .count = p.count,
                    .inspect = keep_tempered,
                    .context = &p};
  TM_TRY(
      tm_batch_options(paper, TM_LENGTH_SHORT, tm_as_printed, &batch, error));
  tempera_status status = tm_batch_run(paper, &batch, summaries, error);
  if (status == TEMPERA_OK) {
    tm_replicated biased =
        tm_replicated_estimate(summaries, p.count, "ti-paper");
    tm_replicated ti = tm_replicated_estimate(summaries, p.count, "ti");
    tm_replicated rb = tm_replicated_estimate(summaries, p.count, "rb");
    tm_replicated together = {
        .count = 1, .mean = pooled_estimate(&p), .sd = NAN, .se = biased.se};
    tm_evidence_row(sheet, "PT-STWNC (ti-paper)", &published, &biased,
                    "biased: holds are not counted");
    tm_evidence_row(sheet, "ti-paper, replicates pooled", exact, &together,
                    "the bias stays");
    tm_evidence_row(sheet, "the same draws (ti)", exact, &ti, "");
    tm_evidence_row(sheet, "the same draws (rb)", exact, &rb, "");
  }
  tm_batch_free(summaries, p.count);
  for (size_t i = 0; i < p.count; i++)
    tm_draw_set_free(&p.sets[i]);
  return status;
}

/* One estimator of one PT run, with where to find what was printed and what
 * the trapezoid gives without Monte Carlo error. */
static void pt_row(const tm_paper *paper, const char *kind, const char *name,
                   const char *levels, const tm_reference *exact,
                   tempera_summary *const *summaries, size_t count,
                   json_t *sheet) {
  char path[96], label[64];
  tm_reference r = *exact;
  snprintf(path, sizeof path, "table2/%s/%s/0", kind, levels);
  r.published = tm_paper_number(paper->published, path);
  snprintf(path, sizeof path, "table2/%s/%s/1", kind, levels);
  r.published_sd = tm_paper_number(paper->published, path);
  bool trapezoid = strcmp(name, "ti-pt-nb") == 0;
  if (trapezoid) {
    snprintf(path, sizeof path,
             "bimodal/data_2555/one_parameter/trapezoid_exact/T%s", levels);
    r.exact = tm_paper_number(paper->truth, path);
  }
  snprintf(label, sizeof label, "TI-PT-%s, T = %s", trapezoid ? "NB" : "B",
           levels);
  tm_replicated spread = tm_replicated_estimate(summaries, count, name);
  tm_evidence_row(sheet, label, &r, &spread,
                  trapezoid ? "exact: of the trapezoid rule" : "");
}

static tempera_status pt_rows(tm_paper *paper, const tempera_model *model,
                              const char *levels, const tm_reference *exact,
                              json_t *sheet, tempera_error *error) {
  char what[64];
  tempera_summary *summaries[MOST_REPLICATES] = {0};
  const char *const words[] = {"method", "pt",   "levels", levels,
                               "paper",  "true", NULL};
  snprintf(what, sizeof what, "bimodal: Table 2, PT with %s chains", levels);
  tm_batch batch = {
      .what = what, .model = model, .count = paper->lengths.bimodal_replicates};
  TM_TRY(tm_batch_options(paper, TM_LENGTH_SHORT, words, &batch, error));
  TM_TRY(tm_batch_run(paper, &batch, summaries, error));
  pt_row(paper, "ti_pt_b", "ti-pt-b", levels, exact, summaries, batch.count,
         sheet);
  pt_row(paper, "ti_pt_nb", "ti-pt-nb", levels, exact, summaries, batch.count,
         sheet);
  tm_batch_free(summaries, batch.count);
  return TEMPERA_OK;
}

static tempera_status default_row(tm_paper *paper, const tempera_model *model,
                                  const tm_reference *exact, json_t *sheet,
                                  tempera_error *error) {
  tempera_summary *summaries[MOST_REPLICATES] = {0};
  tm_batch batch = {.what = "bimodal: Table 2, defaults",
                    .model = model,
                    .count = paper->lengths.bimodal_replicates};
  TM_TRY(tm_batch_options(paper, TM_LENGTH_AUTOMATIC, tm_by_default, &batch,
                          error));
  TM_TRY(tm_batch_run(paper, &batch, summaries, error));
  tm_replicated spread = tm_replicated_estimate(summaries, batch.count, NULL);
  tm_evidence_row(sheet, "Tempera's defaults", exact, &spread, "");
  tm_batch_free(summaries, batch.count);
  return TEMPERA_OK;
}

static tempera_status table2(tm_paper *paper, const tm_theory *theory,
                             const tempera_model *model, tempera_error *error) {
  static const char *const levels[] = {"30", "60", "100"};
  tm_reference exact = {.exact = tm_theory_log_z(theory, 1),
                        .published = NAN,
                        .published_sd = NAN};
  tm_reference analytic = exact;
  json_t *sheet = tm_evidence_sheet(
      "table2", "Table 2. log Z of the one-parameter bimodal model");
  analytic.published = tm_paper_number(paper->published, "table2/analytic");
  tm_evidence_published(sheet, "published analytic value", &analytic,
                        "low by log 2 = 0.693");
  tempera_status status = printed_rows(paper, model, &exact, sheet, error);
  for (size_t i = 0; i < 3 && status == TEMPERA_OK; i++)
    status = pt_rows(paper, model, levels[i], &exact, sheet, error);
  if (status == TEMPERA_OK)
    status = default_row(paper, model, &exact, sheet, error);
  if (status != TEMPERA_OK)
    return json_decref(sheet), status;
  tm_sheet_note(sheet,
                "Why the published analytic value is off: the integral in the "
                "appendix carries a factor 1/2 too many, and log 2 = 0.693 is "
                "the whole difference. The parallel-tempering values were "
                "right.");
  tm_sheet_note(
      sheet, "Why the printed estimator is off by 0.49: every distinct tau "
             "gets one vote, however long the chain stayed there. States of "
             "low likelihood stay longer, so they are under-weighted; more "
             "iterations or pooling do not help. Counting every draw (ti) or "
             "averaging the conditional law of tau (rb) gives the exact "
             "value from the very same draws.");
  tm_document_sheet(paper, sheet);
  return TEMPERA_OK;
}

/* ------------------------------------------------------------------------ */

static tempera_status tables(tm_paper *paper, tempera_error *error) {
  tempera_model *one = NULL, *two = NULL;
  tm_theory known, unknown;
  tempera_status status = TEMPERA_OK;
  TM_TRY_DONE(tm_bimodal_theory("bimodal.json", true, &known, error));
  TM_TRY_DONE(tm_bimodal_theory("bimodal.json", false, &unknown, error));
  TM_TRY_DONE(tm_paper_model("bimodal", "bimodal.json", &one, error));
  TM_TRY_DONE(tm_paper_model("bimodal2", "bimodal.json", &two, error));
  TM_TRY_DONE(table1(paper, &unknown, two, error));
  TM_TRY_DONE(table2(paper, &known, one, error));
done:
  tempera_model_free(one);
  tempera_model_free(two);
  return status;
}

tempera_status tm_bimodal_theory(const char *file, bool variance_known,
                                 tm_theory *theory, tempera_error *error) {
  json_t *root = NULL, *value;
  double y[64];
  size_t i;
  TM_TRY(tm_paper_json(file, &root, error));
  json_array_foreach(json_object_get(root, "y"), i, value) y[i] =
      json_number_value(value);
  *theory = tm_theory_of(y, i, variance_known);
  json_decref(root);
  return TEMPERA_OK;
}

tempera_status tm_study_bimodal(tm_paper *paper, tempera_error *error) {
  tm_document_heading(
      paper, "The bimodal model",
      "y_i ~ N(|mu|, sigma^2), i = 1..25; mu ~ N(0, 1); sigma^2 = 1, or "
      "~ inverse Gamma(1, 1). The posterior has two modes of equal weight, and "
      "everything about it can be computed by quadrature.");
  TM_TRY(tables(paper, error));
  return tm_bimodal_figures(paper, error);
}
