/* sir_study.c - the plague of Eyam: alpha, beta and the integer I(0), whose
 * values are the modes. */
#include "reproduce/sir_study.h"

#include "reproduce/draw_set.h"

#include <math.h>
#include <stdio.h>

enum { MOST_REPLICATES = 20 };

/* What is measured on every run. */
enum {
  ALPHA,
  BETA,
  I0,
  P3,
  P4,
  P5,
  P6,
  LAG1,
  MEDIAN_TAU,
  HOT, /* P(tau > 1/2) of the tempered chain */
  QUANTITIES
};

static const struct {
  const char *label, *truth, *remark;
} quantities[QUANTITIES] = {
    {"E alpha", "sir/alpha/mean", ""},
    {"E beta", "sir/beta/mean", ""},
    {"E I(0)", "sir/I0_mean", ""},
    {"P(I(0) = 3)", "sir/P_I0/3", ""},
    {"P(I(0) = 4)", "sir/P_I0/4", ""},
    {"P(I(0) = 5)", "sir/P_I0/5", ""},
    {"P(I(0) = 6)", "sir/P_I0/6", ""},
    {"lag-1 autocorrelation of alpha", "", "published: 0.97"},
    {"median tau, tempered chain", "", "exact under profile: 2.7e-4"},
    {"P(tau > 1/2), tempered chain", "", "exact under profile: 3.2e-4"}};

typedef struct measured {
  double value[QUANTITIES], mcse[QUANTITIES];
} measured;

/* P(I(0) = k), its indicator left in `scratch`. */
static bool measure_mode(const tm_draw_set *set, int k, double *scratch,
                         measured *m) {
  tm_part_mean mean;
  for (size_t i = 0; i < set->count; i++)
    scratch[i] = set->value[TM_SIR_I0][i] == k;
  bool done = tm_draw_set_mean(set, scratch, NULL, &mean);
  m->value[P3 + k - 3] = mean.mean;
  m->mcse[P3 + k - 3] = mean.mcse;
  return done;
}

static bool measure_target(const tm_draw_set *set, measured *m) {
  double *scratch = set->log_likelihood; /* not needed here */
  bool done = true;
  for (int i = 0; i < TM_SIR_VALUES && done; i++) {
    tm_part_mean mean = {0};
    done = tm_draw_set_mean(set, set->value[i], NULL, &mean);
    m->value[ALPHA + i] = mean.mean;
    m->mcse[ALPHA + i] = mean.mcse;
  }
  for (int k = 3; k <= 6 && done; k++)
    done = measure_mode(set, k, scratch, m);
  m->value[LAG1] = tm_draw_set_lag1(set, set->value[TM_SIR_ALPHA]);
  return done;
}

static void measure_tempered(const tm_draw_set *set, measured *m) {
  double hot = 0;
  for (size_t i = 0; i < set->count; i++)
    hot += set->tau[i] > 0.5;
  m->value[MEDIAN_TAU] = tm_draw_set_quantile(set, set->tau, 0.5);
  m->value[HOT] = hot / (double)set->count;
}

static tempera_status inspect(const tempera_sampler *sampler, size_t replicate,
                              void *context, tempera_error *error) {
  measured *m = (measured *)context + replicate;
  tm_draw_set target = {0}, tempered = {0};
  bool pair = tempera_sampler_options(sampler)->method == TEMPERA_PT_STWNC;
  for (int i = 0; i < QUANTITIES; i++)
    m->value[i] = m->mcse[i] = NAN;
  TM_TRY(
      tm_draw_set_copy(sampler, TEMPERA_TARGET, TM_SIR_VALUES, &target, error));
  bool done = measure_target(&target, m);
  tm_draw_set_free(&target);
  if (!done)
    return tm_fail_memory(error);
  if (!pair)
    return TEMPERA_OK;
  TM_TRY(tm_draw_set_copy(sampler, TEMPERA_TEMPERED, 0, &tempered, error));
  measure_tempered(&tempered, m);
  tm_draw_set_free(&tempered);
  return TEMPERA_OK;
}

/* ------------------------------------------------------------------------
 * The tables
 */

enum { PRINTED, PT, AUTOMATIC, METHODS };

typedef struct results {
  tm_replicated spread[METHODS][QUANTITIES];
} results;

static void gather(const measured *m, size_t count, tm_replicated *spread) {
  for (int q = 0; q < QUANTITIES; q++) {
    double value[MOST_REPLICATES], mcse[MOST_REPLICATES];
    for (size_t i = 0; i < count; i++) {
      value[i] = m[i].value[q];
      mcse[i] = m[i].mcse[q];
    }
    spread[q] = tm_replicated_of(value, mcse, count);
  }
}

/* A batch; its log Z rows and what was measured. */
typedef struct sir_method {
  const char *what;
  tm_length length;
  const char *const *words;
  size_t count;
  const char *labels[2], *estimators[2]; /* of log Z; NULL: the headline */
  const char *remarks[2];
} sir_method;

static tempera_status run(tm_paper *paper, const sir_method *method,
                          const tempera_model *model, tm_replicated *spread,
                          json_t *evidence, tempera_error *error) {
  measured m[MOST_REPLICATES];
  tempera_summary *summaries[MOST_REPLICATES] = {0};
  tm_reference exact = {.exact = tm_paper_number(paper->truth, "sir/log_z"),
                        .published = NAN,
                        .published_sd = NAN};
  tm_batch batch = {.what = method->what,
                    .model = model,
                    .count = method->count,
                    .inspect = inspect,
                    .context = m};
  TM_TRY(tm_batch_options(paper, method->length, method->words, &batch, error));
  TM_TRY(tm_batch_run(paper, &batch, summaries, error));
  gather(m, batch.count, spread);
  for (int i = 0; i < 2 && method->labels[i]; i++) {
    tm_replicated log_z =
        tm_replicated_estimate(summaries, batch.count, method->estimators[i]);
    tm_evidence_row(evidence, method->labels[i], &exact, &log_z,
                    method->remarks[i]);
  }
  tm_batch_free(summaries, batch.count);
  return TEMPERA_OK;
}

static void posterior_sheet(tm_paper *paper, const results *r) {
  json_t *sheet =
      tm_sheet_create("sir", "SIR: the posterior and the weights of its modes");
  tm_sheet_column(sheet, "quantity", "quantity", TM_SHEET_TEXT);
  tm_sheet_column(sheet, "exact", "exact", TM_SHEET_SIGNIFICANT);
  tm_sheet_column(sheet, "default", "defaults", TM_SHEET_SIGNIFICANT);
  tm_sheet_column(sheet, "default_mcse", "(MC error)", TM_SHEET_SIGNIFICANT);
  tm_sheet_column(sheet, "pt_stwnc", "PT-STWNC as printed",
                  TM_SHEET_SIGNIFICANT);
  tm_sheet_column(sheet, "pt_stwnc_sd", "(sd)", TM_SHEET_SIGNIFICANT);
  tm_sheet_column(sheet, "pt", "PT, 5 chains", TM_SHEET_SIGNIFICANT);
  tm_sheet_column(sheet, "pt_sd", "(sd)", TM_SHEET_SIGNIFICANT);
  tm_sheet_column(sheet, "remark", "remark", TM_SHEET_TEXT);
  for (int q = 0; q < QUANTITIES; q++) {
    json_t *row = tm_sheet_row(sheet, quantities[q].label);
    tm_sheet_number(row,
                    *quantities[q].truth
                        ? tm_paper_number(paper->truth, quantities[q].truth)
                        : NAN);
    tm_sheet_number(row, r->spread[AUTOMATIC][q].mean);
    tm_sheet_number(row, r->spread[AUTOMATIC][q].se);
    tm_sheet_number(row, r->spread[PRINTED][q].mean);
    tm_sheet_number(row, r->spread[PRINTED][q].sd);
    tm_sheet_number(row, r->spread[PT][q].mean);
    tm_sheet_number(row, r->spread[PT][q].sd);
    tm_sheet_words(row, quantities[q].remark);
  }
  tm_sheet_note(sheet,
                "sd: over %zu replicates. The modes are I(0) = 6, 5, 4, 3 from "
                "left to right in (alpha, beta), as published.",
                r->spread[PRINTED][ALPHA].count);
  tm_sheet_note(
      sheet, "Under the profile prior the tempered chain lives near tau = 0: "
             "its median tau is 2.7e-4, and it meets the target chain seldom. "
             "With the learned prior of the defaults tau is spread out.");
  tm_document_sheet(paper, sheet);
}

static tempera_status tables(tm_paper *paper, const tempera_model *model,
                             tempera_error *error) {
  static const char *const pt[] = {"method", "pt",   "levels", "5",
                                   "paper",  "true", NULL};
  const sir_method methods[METHODS] = {
      [PRINTED] = {"SIR: PT-STWNC as printed",
                   TM_LENGTH_SHORT,
                   tm_as_printed,
                   paper->lengths.sir_replicates,
                   {"PT-STWNC (ti-paper)", "the same draws (rb)"},
                   {"ti-paper", "rb"},
                   {"biased; profile prior", "profile prior"}},
      [PT] = {"SIR: PT with 5 chains",
              TM_LENGTH_SHORT,
              pt,
              paper->lengths.sir_replicates,
              {"TI-PT-B, T = 5", "TI-PT-NB, T = 5"},
              {"ti-pt-b", "ti-pt-nb"},
              {"5 levels are too few for log Z", "trapezoid on 5 levels"}},
      [AUTOMATIC] = {"SIR: defaults",
                     TM_LENGTH_AUTOMATIC,
                     tm_by_default,
                     1,
                     {"Tempera's defaults", NULL},
                     {NULL, NULL},
                     {"", NULL}}};
  results r;
  json_t *evidence = tm_evidence_sheet("sir_evidence", "SIR: log Z");
  tempera_status status = TEMPERA_OK;
  for (int m = 0; m < METHODS && status == TEMPERA_OK; m++)
    status = run(paper, &methods[m], model, r.spread[m], evidence, error);
  if (status != TEMPERA_OK)
    return json_decref(evidence), status;
  posterior_sheet(paper, &r);
  tm_sheet_note(evidence,
                "The paper gives no evidence for this model. With one "
                "Runge-Kutta step per gap of the data, as in its code, the "
                "solution overflows on 97 %% of the prior, and thermodynamic "
                "integration then converges to -340.3; solved accurately it is "
                "-343.989.");
  tm_document_sheet(paper, evidence);
  return TEMPERA_OK;
}

tempera_status tm_study_sir(tm_paper *paper, tempera_error *error) {
  tempera_model *model = NULL;
  tempera_status status = TEMPERA_OK;
  tm_document_heading(
      paper, "SIR: the plague of Eyam",
      "dS/dt = -beta S I, dI/dt = beta S I - alpha I, dR/dt = alpha I, with "
      "S(0) = 261 - I(0) and R(0) = 0. alpha, beta ~ Gamma(1, 1) and the "
      "integer I(0) ~ Binomial(261, 5/261); y_i ~ Binomial(261, R(t_i)/261) on "
      "114 days. Every value of I(0) is a mode of its own.");
  TM_TRY(tm_paper_model("sir", "eyam.json", &model, error));
  TM_TRY_DONE(tables(paper, model, error));
  TM_TRY_DONE(tm_sir_times(paper, model, error));
  TM_TRY_DONE(tm_sir_figures(paper, model, error));
done:
  tempera_model_free(model);
  return status;
}
