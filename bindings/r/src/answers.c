/* answers.c - what can be asked besides a run: comparisons, hypotheses, fits made
 * elsewhere, calibration, and programs by themselves. */
#include "glue.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *word(SEXP text) {
  return Rf_isString(text) && Rf_length(text) == 1 ? CHAR(STRING_ELT(text, 0))
                                                   : NULL;
}

/* The texts of a vector, for as long as R has it. */
static const char **words_of(SEXP texts) {
  size_t count = (size_t)Rf_length(texts);
  const char **words = (const char **)R_alloc(count + 1, sizeof *words);
  for (size_t i = 0; i < count; i++)
    words[i] = CHAR(STRING_ELT(texts, (R_xlen_t)i));
  return words;
}

/* ---- comparing --------------------------------------------------------------- */

static SEXP comparison_list(const tempera_comparison *c, const char *text) {
  static const char *const names[] = {"log_z", "se", "probability",
                                      "log_bayes_factors", "text"};
  int n = (int)c->count;
  SEXP list = PROTECT(Rf_allocVector(VECSXP, 5));
  const double *const vectors[] = {c->log_z, c->se, c->probability};
  for (int k = 0; k < 3; k++) {
    SET_VECTOR_ELT(list, k, Rf_allocVector(REALSXP, n));
    memcpy(REAL(VECTOR_ELT(list, k)), vectors[k], c->count * sizeof(double));
  }
  SET_VECTOR_ELT(list, 3, Rf_allocMatrix(REALSXP, n, n));
  for (int i = 0; i < n; i++)
    for (int k = 0; k < n; k++)
      REAL(VECTOR_ELT(list, 3))[k * n + i] = c->log_bayes_factors[i * n + k];
  SET_VECTOR_ELT(list, 4, Rf_mkString(text));
  named(list, names, 5);
  UNPROTECT(1);
  return list;
}

typedef struct comparing {
  size_t count;
  const char **folders, **names;
  const double *odds;
  tempera_factor kind;
  double fraction;
  const char *html;
  tempera_summary **summaries;
} comparing;

static tempera_status compare_all(comparing *w, tempera_comparison **found,
                                  char **text, tempera_error *error) {
  tempera_status status = TEMPERA_OK;
  const tempera_summary *const *summaries =
      (const tempera_summary *const *)w->summaries;
  for (size_t i = 0; i < w->count && status == TEMPERA_OK; i++) {
    status = tempera_summary_read(w->folders[i], &w->summaries[i], error);
    if (status == TEMPERA_OK)
      status = tempera_run_check(w->folders[i], error);
  }
  if (status == TEMPERA_OK && w->kind == TEMPERA_FACTOR_FRACTIONAL)
    status = tempera_runs_fractional(w->folders, w->summaries, w->count,
                                     w->fraction, error);
  if (status == TEMPERA_OK)
    status = tempera_compare_by(w->kind, summaries, w->names, w->count, w->odds,
                                found, error);
  if (status == TEMPERA_OK && w->html)
    status = tempera_comparison_page(*found, summaries, w->folders, w->html,
                                     error);
  if (status == TEMPERA_OK)
    status = tempera_comparison_text(*found, false, text, error);
  return status;
}

SEXP r_compare(SEXP folders, SEXP names, SEXP odds, SEXP by, SEXP fraction,
               SEXP html) {
  comparing w = {.count = (size_t)Rf_length(folders),
                 .folders = words_of(folders),
                 .names = words_of(names),
                 .odds = Rf_isReal(odds) ? REAL(odds) : NULL,
                 .kind = (tempera_factor)Rf_asInteger(by),
                 .fraction = Rf_asReal(fraction),
                 .html = word(html)};
  tempera_error error = {0};
  tempera_comparison *c = NULL;
  char *text = NULL;
  w.summaries = (tempera_summary **)R_alloc(w.count, sizeof *w.summaries);
  memset(w.summaries, 0, w.count * sizeof *w.summaries);
  tempera_status status = compare_all(&w, &c, &text, &error);
  for (size_t i = 0; i < w.count; i++)
    tempera_summary_free(w.summaries[i]);
  if (status != TEMPERA_OK) {
    tempera_comparison_free(c);
    stop_with(&error);
  }
  SEXP list = PROTECT(comparison_list(c, text));
  tempera_text_free(text);
  tempera_comparison_free(c);
  UNPROTECT(1);
  return list;
}

/* ---- hypotheses --------------------------------------------------------------- */

static SEXP hypothesis_list(const tempera_hypothesis *h, const char *text) {
  static const char *const names[] = {
      "null", "kind",     "log_bf",   "se",      "posterior", "posterior_se",
      "prior", "prior_se", "pareto_k", "warning", "text"};
  const double numbers[] = {h->log_bf,       h->se,    h->posterior,
                            h->posterior_se, h->prior, h->prior_se,
                            h->pareto_k};
  SEXP list = PROTECT(Rf_allocVector(VECSXP, 11));
  SET_VECTOR_ELT(list, 0, Rf_mkString(h->words));
  SET_VECTOR_ELT(list, 1, Rf_mkString(h->point ? "savage-dickey" : "odds"));
  for (int i = 0; i < 7; i++)
    SET_VECTOR_ELT(list, 2 + i, Rf_ScalarReal(known(numbers[i])));
  SET_VECTOR_ELT(list, 9, Rf_ScalarString(h->warning ? Rf_mkChar(h->warning)
                                                     : NA_STRING));
  SET_VECTOR_ELT(list, 10, Rf_mkString(text));
  named(list, names, 11);
  UNPROTECT(1);
  return list;
}

static tempera_status test_one(const tempera_model *model,
                               const tempera_draws *draws, const char *null,
                               uint64_t seed, SEXP list, R_xlen_t i,
                               tempera_error *error) {
  tempera_hypothesis *h = NULL;
  char *text = NULL;
  tempera_status status =
      tempera_hypothesis_test(model, draws, null, seed, &h, error);
  if (status == TEMPERA_OK)
    status = tempera_hypothesis_text(h, &text, error);
  if (status == TEMPERA_OK)
    SET_VECTOR_ELT(list, i, hypothesis_list(h, text));
  tempera_text_free(text);
  tempera_hypothesis_free(h);
  return status;
}

SEXP r_test(SEXP arguments, SEXP folder, SEXP nulls, SEXP seed) {
  job j = {.call_densities = element(arguments, "call")};
  tempera_draws *draws = NULL;
  SEXP list = PROTECT(Rf_allocVector(VECSXP, Rf_xlength(nulls)));
  pthread_mutex_init(&j.lock, NULL);
  tempera_status status = open_job(&j, arguments);
  if (status == TEMPERA_OK)
    status = tempera_draws_read(word(folder), &draws, &j.error);
  for (R_xlen_t i = 0; i < Rf_xlength(nulls) && status == TEMPERA_OK; i++)
    status = test_one(j.model, draws, CHAR(STRING_ELT(nulls, i)),
                      (uint64_t)Rf_asReal(seed), list, i, &j.error);
  tempera_error error = j.error;
  tempera_draws_free(draws);
  close_job(&j);
  if (status != TEMPERA_OK)
    stop_with(&error);
  UNPROTECT(1);
  return list;
}

/* ---- fits made elsewhere ------------------------------------------------------- */

static SEXP evidence_list(const tempera_summary *s, const char *text) {
  static const char *const names[] = {"logml",   "se",       "pareto_k",
                                      "weights", "warnings", "text"};
  SEXP list = PROTECT(Rf_allocVector(VECSXP, 6));
  SET_VECTOR_ELT(list, 0, Rf_ScalarReal(known(s->log_z)));
  SET_VECTOR_ELT(list, 1, Rf_ScalarReal(known(s->se)));
  SET_VECTOR_ELT(list, 2, Rf_ScalarReal(
                              s->reference ? known(s->reference->pareto_k)
                                           : NA_REAL));
  SET_VECTOR_ELT(list, 3, Rf_allocVector(REALSXP, (R_xlen_t)s->mode_count));
  for (size_t i = 0; i < s->mode_count; i++)
    REAL(VECTOR_ELT(list, 3))[i] = s->modes[i].weight;
  SET_VECTOR_ELT(list, 4, Rf_allocVector(STRSXP, (R_xlen_t)s->warning_count));
  for (size_t i = 0; i < s->warning_count; i++)
    SET_STRING_ELT(VECTOR_ELT(list, 4), (R_xlen_t)i, Rf_mkChar(s->warnings[i]));
  SET_VECTOR_ELT(list, 5, Rf_mkString(text));
  named(list, names, 6);
  UNPROTECT(1);
  return list;
}

/* search: the folder of a tempered run, or NULL. */
SEXP r_evidence(SEXP arguments, SEXP paths, SEXP seed, SEXP search) {
  job j = {.call_densities = R_NilValue};
  tempera_summary *fit = NULL, *found = NULL;
  char *text = NULL;
  pthread_mutex_init(&j.lock, NULL);
  tempera_status status = open_job(&j, arguments);
  if (status == TEMPERA_OK)
    status = tempera_fit_evidence(j.model, words_of(paths),
                                  (size_t)Rf_length(paths),
                                  (uint64_t)Rf_asReal(seed), &fit, &j.error);
  if (status == TEMPERA_OK && word(search))
    status = tempera_summary_read(word(search), &found, &j.error);
  if (status == TEMPERA_OK)
    status = tempera_fit_text(fit, found, &text, &j.error);
  SEXP list = PROTECT(status == TEMPERA_OK ? evidence_list(fit, text)
                                           : R_NilValue);
  tempera_error error = j.error;
  tempera_text_free(text);
  tempera_summary_free(fit);
  tempera_summary_free(found);
  close_job(&j);
  if (status != TEMPERA_OK)
    stop_with(&error);
  UNPROTECT(1);
  return list;
}

/* ---- calibration ---------------------------------------------------------------- */

typedef struct calibration {
  job j; /* its data and options */
  tempera_program **programs;
  tempera_program *simulator;
  size_t count, shown;
  int show;
} calibration;

static int hear(size_t done, size_t runs, void *user) {
  calibration *c = user;
  if (c->show && done != c->shown)
    REprintf("\r%lu of %lu runs ", (unsigned long)done, (unsigned long)runs);
  c->shown = done;
  return interrupted();
}

static tempera_status read_programs(calibration *c, SEXP arguments) {
  SEXP codes = element(arguments, "codes"), simulate = element(arguments,
                                                               "simulate");
  tempera_status status = TEMPERA_OK;
  for (size_t i = 0; i < c->count && status == TEMPERA_OK; i++)
    status = read_program(CHAR(STRING_ELT(codes, (R_xlen_t)i)), NULL, NULL,
                          &c->programs[i], &c->j.error);
  if (status == TEMPERA_OK && word(simulate))
    status = read_program(word(simulate), NULL, NULL, &c->simulator,
                          &c->j.error);
  return status;
}

static tempera_status calibrate(calibration *c, SEXP arguments) {
  const char *data = text_of(arguments, "data");
  const double seed = Rf_asReal(element(arguments, "seed"));
  tempera_calibration what = {
      .programs = (const tempera_program *const *)c->programs,
      .count = c->count,
      .simulator = c->simulator,
      .folder = text_of(arguments, "folder"),
      .runs = (size_t)Rf_asReal(element(arguments, "runs")),
      .threads = (size_t)Rf_asReal(element(arguments, "threads")),
      .seeded = seed >= 0,
      .seed = seed >= 0 ? (uint64_t)seed : 0};
  tempera_status status =
      tempera_data_parse(data, strlen(data), &c->j.data, &c->j.error);
  if (status == TEMPERA_OK)
    status = set_options(&c->j, arguments);
  what.data = c->j.data;
  if (status == TEMPERA_OK)
    status = tempera_calibrate(&what, &c->j.options, hear, c, &c->j.error);
  return status;
}

/* c(text, json) */
SEXP r_calibrate(SEXP arguments) {
  calibration c = {.count = (size_t)Rf_length(element(arguments, "codes")),
                   .show = flag_of(arguments, "progress")};
  char *text = NULL, *json = NULL;
  pthread_mutex_init(&c.j.lock, NULL);
  c.programs = (tempera_program **)R_alloc(c.count, sizeof *c.programs);
  memset(c.programs, 0, c.count * sizeof *c.programs);
  tempera_status status = read_programs(&c, arguments);
  if (status == TEMPERA_OK)
    status = calibrate(&c, arguments);
  if (status == TEMPERA_OK)
    status = tempera_calibration_report(
        text_of(arguments, "folder"),
        (size_t)Rf_asReal(element(arguments, "runs")), false, &text, &json,
        &c.j.error);
  if (c.show && c.shown)
    REprintf("\n");
  SEXP result = PROTECT(Rf_allocVector(STRSXP, 2));
  if (status == TEMPERA_OK) {
    SET_STRING_ELT(result, 0, Rf_mkChar(text));
    SET_STRING_ELT(result, 1, Rf_mkChar(json));
  }
  tempera_error error = c.j.error;
  for (size_t i = 0; i < c.count; i++)
    tempera_program_free(c.programs[i]);
  tempera_program_free(c.simulator);
  tempera_text_free(text);
  tempera_text_free(json);
  close_job(&c.j);
  if (status != TEMPERA_OK)
    stop_with(&error);
  UNPROTECT(1);
  return result;
}

/* ---- programs ---------------------------------------------------------------------- */

/* Its description, or (with `output`, "" for the cache) the path of the library
 * that was built. */
SEXP r_program(SEXP code, SEXP path, SEXP include_path, SEXP output) {
  tempera_program *program = NULL;
  tempera_error error = {0};
  char *text = NULL;
  const char *place = word(output);
  tempera_status status = read_program(word(code), word(path),
                                       word(include_path), &program, &error);
  if (status == TEMPERA_OK)
    status = place ? tempera_program_compile(program, *place ? place : NULL,
                                             &text, &error)
                   : tempera_program_describe(program, &text, &error);
  tempera_program_free(program);
  if (status != TEMPERA_OK)
    stop_with(&error);
  SEXP found = PROTECT(Rf_mkString(text));
  tempera_text_free(text);
  UNPROTECT(1);
  return found;
}

/* What its statements cost with the job's data. */
static tempera_status cost_text(job *j, SEXP arguments, char **text) {
  tempera_program *program = NULL;
  tempera_status status =
      read_program(text_of(arguments, "code"), text_of(arguments, "path"),
                   text_of(arguments, "include_path"), &program, &j->error);
  if (status == TEMPERA_OK)
    status = tempera_program_cost(program, j->data, text, &j->error);
  tempera_program_free(program);
  return status;
}

/* Texts about a model with its data, as `tempera check` has them, and was all as
 * it should be: list(texts, sound). */
SEXP r_check(SEXP arguments, SEXP of_program, SEXP gradient, SEXP cost) {
  static const char *const names[] = {"texts", "sound"};
  job j = {.call_densities = R_NilValue};
  char *texts[4] = {0};
  bool found = true, agree = true;
  pthread_mutex_init(&j.lock, NULL);
  tempera_status status = open_job(&j, arguments);
  if (status == TEMPERA_OK)
    status = tempera_model_describe(j.model, Rf_asLogical(of_program) == 1,
                                    &texts[0], &j.error);
  if (status == TEMPERA_OK)
    status = tempera_model_check_points(j.model, &texts[1], &found, &j.error);
  if (status == TEMPERA_OK && Rf_asLogical(gradient) == 1)
    status =
        tempera_model_check_gradient(j.model, &texts[2], &agree, &j.error);
  if (status == TEMPERA_OK && Rf_asLogical(cost) == 1)
    status = cost_text(&j, arguments, &texts[3]);
  SEXP list = PROTECT(Rf_allocVector(VECSXP, 2));
  SET_VECTOR_ELT(list, 0, Rf_allocVector(STRSXP, 4));
  SET_VECTOR_ELT(list, 1, Rf_ScalarLogical(found && agree));
  for (int i = 0; i < 4; i++) {
    SET_STRING_ELT(VECTOR_ELT(list, 0), i, Rf_mkChar(texts[i] ? texts[i] : ""));
    tempera_text_free(texts[i]);
  }
  named(list, names, 2);
  tempera_error error = j.error;
  close_job(&j);
  if (status != TEMPERA_OK)
    stop_with(&error);
  UNPROTECT(1);
  return list;
}
