/* reading.c - what is in a run's folder, as R's lists and arrays. */
#include "glue.h"

#include <math.h>
#include <string.h>

void stop_with(const tempera_error *error) {
  if (error->line)
    Rf_error("line %d, column %d: %s", error->line, error->column,
             error->message);
  Rf_error("%s", error->message);
}

/* An array [draw, chain, value] with the values' names, and for tempered draws
 * tau__, log_likelihood__ and log_prior__ behind them. */
SEXP r_draws(SEXP folder, SEXP tempered) {
  tempera_draws *draws = NULL;
  tempera_error error = {0};
  if (tempera_draws_read(CHAR(STRING_ELT(folder, 0)), &draws, &error))
    stop_with(&error);
  tempera_role role = Rf_asLogical(tempered) ? TEMPERA_TEMPERED : TEMPERA_TARGET;
  size_t size = tempera_draws_size(draws), chains = tempera_draws_chains(draws),
         rows = tempera_draws_rows(draws, role), more = 3;
  static const char *const extra[] = {"tau__", "log_likelihood__",
                                      "log_prior__"};
  SEXP found = PROTECT(
      Rf_alloc3DArray(REALSXP, (int)rows, (int)chains, (int)(size + more)));
  SEXP names = PROTECT(Rf_allocVector(STRSXP, (R_xlen_t)(size + more)));
  for (size_t v = 0; v < size + more; v++) {
    SET_STRING_ELT(names, (R_xlen_t)v,
                   Rf_mkChar(v < size ? tempera_draws_name(draws, v)
                                      : extra[v - size]));
    for (size_t c = 0; c < chains && rows; c++) {
      const double *column =
          v < size        ? tempera_draws_values(draws, role, c, v)
          : v == size     ? tempera_draws_tau(draws, role, c)
          : v == size + 1 ? tempera_draws_log_likelihood(draws, role, c)
                          : tempera_draws_log_prior(draws, role, c);
      memcpy(REAL(found) + (v * chains + c) * rows, column,
             rows * sizeof(double));
    }
  }
  SEXP dimnames = PROTECT(Rf_allocVector(VECSXP, 3));
  SET_VECTOR_ELT(dimnames, 2, names);
  Rf_setAttrib(found, R_DimNamesSymbol, dimnames);
  tempera_draws_free(draws);
  UNPROTECT(3);
  return found;
}

SEXP named(SEXP list, const char *const *names, int count) {
  SEXP words = PROTECT(Rf_allocVector(STRSXP, count));
  for (int i = 0; i < count; i++)
    SET_STRING_ELT(words, i, Rf_mkChar(names[i]));
  Rf_setAttrib(list, R_NamesSymbol, words);
  UNPROTECT(1);
  return list;
}

/* NaN is what is absent. */
double known(double x) { return isnan(x) ? NA_REAL : x; }

static SEXP value_table(const tempera_summary *s) {
  static const char *const columns[] = {"variable", "mean",     "sd",
                                        "mcse",     "q5",       "q50",
                                        "q95",      "ess_bulk", "ess_tail",
                                        "rhat"};
  R_xlen_t count = (R_xlen_t)(s->value_count + s->quantity_count);
  SEXP table = PROTECT(Rf_allocVector(VECSXP, 10));
  SET_VECTOR_ELT(table, 0, Rf_allocVector(STRSXP, count));
  for (int c = 1; c < 10; c++)
    SET_VECTOR_ELT(table, c, Rf_allocVector(REALSXP, count));
  for (R_xlen_t i = 0; i < count; i++) {
    size_t k = (size_t)i;
    const tempera_value_summary *v =
        k < s->value_count ? &s->values[k] : &s->quantities[k - s->value_count];
    const double numbers[] = {v->mean, v->sd,       v->mcse,     v->q5,  v->q50,
                              v->q95,  v->ess_bulk, v->ess_tail, v->rhat};
    SET_STRING_ELT(VECTOR_ELT(table, 0), i, Rf_mkChar(v->name));
    for (int c = 1; c < 10; c++)
      REAL(VECTOR_ELT(table, c))[i] = known(numbers[c - 1]);
  }
  named(table, columns, 10);
  UNPROTECT(1);
  return table;
}

static SEXP estimate_table(const tempera_summary *s) {
  static const char *const columns[] = {"name", "log_z", "se", "lower", "upper"};
  R_xlen_t count = (R_xlen_t)s->estimate_count;
  SEXP table = PROTECT(Rf_allocVector(VECSXP, 5));
  SET_VECTOR_ELT(table, 0, Rf_allocVector(STRSXP, count));
  for (int c = 1; c < 5; c++)
    SET_VECTOR_ELT(table, c, Rf_allocVector(REALSXP, count));
  for (R_xlen_t i = 0; i < count; i++) {
    const tempera_estimate *e = &s->estimates[i];
    const double numbers[] = {e->log_z, e->se, e->lower, e->upper};
    SET_STRING_ELT(VECTOR_ELT(table, 0), i, Rf_mkChar(e->name));
    for (int c = 1; c < 5; c++)
      REAL(VECTOR_ELT(table, c))[i] = known(numbers[c - 1]);
  }
  named(table, columns, 5);
  UNPROTECT(1);
  return table;
}

SEXP r_summary(SEXP folder) {
  static const char *const names[] = {
      "logml",    "se",      "reliable", "complete", "model", "method",
      "verdict",  "warnings", "values",  "estimates", "text",  "chains",
      "iterations", "seed"};
  tempera_summary *s = NULL;
  tempera_error error = {0};
  char *text = NULL;
  if (tempera_summary_read(CHAR(STRING_ELT(folder, 0)), &s, &error) ||
      tempera_summary_text(s, false, &text, &error)) {
    tempera_summary_free(s);
    stop_with(&error);
  }
  SEXP list = PROTECT(Rf_allocVector(VECSXP, 14));
  SET_VECTOR_ELT(list, 0, Rf_ScalarReal(known(s->log_z)));
  SET_VECTOR_ELT(list, 1, Rf_ScalarReal(known(s->se)));
  SET_VECTOR_ELT(list, 2, Rf_ScalarLogical(s->reliable));
  SET_VECTOR_ELT(list, 3, Rf_ScalarLogical(s->complete));
  SET_VECTOR_ELT(list, 4, Rf_mkString(s->model));
  SET_VECTOR_ELT(list, 5, Rf_mkString(s->method));
  SET_VECTOR_ELT(list, 6, Rf_mkString(s->verdict ? s->verdict : ""));
  SET_VECTOR_ELT(list, 7, Rf_allocVector(STRSXP, (R_xlen_t)s->warning_count));
  for (size_t i = 0; i < s->warning_count; i++)
    SET_STRING_ELT(VECTOR_ELT(list, 7), (R_xlen_t)i, Rf_mkChar(s->warnings[i]));
  SET_VECTOR_ELT(list, 8, value_table(s));
  SET_VECTOR_ELT(list, 9, estimate_table(s));
  SET_VECTOR_ELT(list, 10, Rf_mkString(text));
  SET_VECTOR_ELT(list, 11, Rf_ScalarReal((double)s->chains));
  SET_VECTOR_ELT(list, 12, Rf_ScalarReal((double)s->iterations));
  SET_VECTOR_ELT(list, 13, Rf_ScalarReal((double)s->seed));
  named(list, names, 14);
  tempera_text_free(text);
  tempera_summary_free(s);
  UNPROTECT(1);
  return list;
}

/* c(model, data): the files that a run was made with; "" where it has none. */
SEXP r_paths(SEXP folder) {
  char *model = NULL, *data = NULL;
  tempera_error error = {0};
  if (tempera_run_paths(CHAR(STRING_ELT(folder, 0)), &model, &data, &error))
    stop_with(&error);
  SEXP paths = PROTECT(Rf_allocVector(STRSXP, 2));
  SET_STRING_ELT(paths, 0, Rf_mkChar(model ? model : ""));
  SET_STRING_ELT(paths, 1, Rf_mkChar(data ? data : ""));
  tempera_text_free(model);
  tempera_text_free(data);
  UNPROTECT(1);
  return paths;
}

/* list(command, parameters, batch, prior_normalised, prior_improper): of a
 * program as the model; the first is "" where the run has none. */
SEXP r_program_of(SEXP folder) {
  static const char *const names[] = {"command", "parameters", "batch",
                                      "prior_normalised", "prior_improper"};
  char *command = NULL, *parameters = NULL;
  bool flags[3] = {0};
  tempera_error error = {0};
  if (tempera_run_program(CHAR(STRING_ELT(folder, 0)), &command, &parameters,
                          &flags[0], &flags[1], &flags[2], &error))
    stop_with(&error);
  SEXP list = PROTECT(Rf_allocVector(VECSXP, 5));
  SET_VECTOR_ELT(list, 0, Rf_mkString(command ? command : ""));
  SET_VECTOR_ELT(list, 1, Rf_mkString(parameters ? parameters : ""));
  for (int i = 0; i < 3; i++)
    SET_VECTOR_ELT(list, 2 + i, Rf_ScalarLogical(flags[i]));
  named(list, names, 5);
  tempera_text_free(command);
  tempera_text_free(parameters);
  UNPROTECT(1);
  return list;
}

SEXP r_report(SEXP folder, SEXP path) {
  tempera_error error = {0};
  if (tempera_run_report(CHAR(STRING_ELT(folder, 0)), CHAR(STRING_ELT(path, 0)),
                         &error))
    stop_with(&error);
  return path;
}
