/* draws_read.c - a run's draws back from its folder, as a sampler has them. */
#include "draws/draws.h"
#include "report/run_files.h"

#include <math.h>
#include <string.h>

static const char *name_of(const tempera_summary *s, size_t i) {
  return i < s->value_count ? s->values[i].name
                            : s->quantities[i - s->value_count].name;
}

/* The CSV column of column c of the draws; NULL: not in the files. */
static const char *source_of(const tempera_draws *draws, size_t c) {
  if (c < draws->size)
    return draws->names[c];
  switch (c - draws->size) {
  case TM_TAU:
    return "tau__";
  case TM_LOG_LIKELIHOOD:
    return "log_likelihood__";
  case TM_LOG_PRIOR:
    return "log_prior__";
  case TM_ACCEPT:
    return "accept_stat__";
  default:
    return NULL;
  }
}

/* Quantities below tau = 1 are in the files when asked for; else they are
 * unknown. */
static tempera_status fill_role(const tm_run_draws *from, tempera_role role,
                                size_t parameters, tempera_draws *draws,
                                tempera_error *error) {
  size_t needed = role == TEMPERA_TARGET ? draws->size : parameters;
  size_t rows = tm_draws_rows(draws, role);
  for (size_t k = 0; k < draws->size + TM_COLUMNS; k++) {
    const char *name = source_of(draws, k);
    long column = name ? tm_run_column(from, name) : -1;
    if (k < needed && column < 0)
      return tm_fail(error, TEMPERA_ERROR_INPUT,
                     "the CSV files lack a column for %s", name);
    for (size_t c = 0; c < draws->chains; c++) {
      double *to = tm_draws_column(draws, role, c, k);
      if (column >= 0)
        memcpy(to, from->values[c * from->width + (size_t)column],
               rows * sizeof(double));
      /* Who is who through exchanges is not known: a walker stays. */
      bool walker = k == draws->size + TM_WALKER;
      size_t width = role == TEMPERA_TEMPERED ? draws->width : 1;
      for (size_t i = 0; column < 0 && i < rows; i++)
        to[i] = walker ? (double)(i % width) : NAN;
    }
  }
  return TEMPERA_OK;
}

/* As many sweeps as both roles have rows for. */
static void count_sweeps(const tm_run_files *files, tempera_draws *draws,
                         size_t *sweeps) {
  const tm_run_draws *target = &files->draws[TEMPERA_TARGET];
  const tm_run_draws *tempered = &files->draws[TEMPERA_TEMPERED];
  *sweeps = target->chains ? target->rows : tempered->rows;
  if (target->chains && tempered->chains && target->rows)
    draws->width = tempered->rows / target->rows;
  draws->width = draws->width ? draws->width : 1;
  if (tempered->chains && tempered->rows / draws->width < *sweeps)
    *sweeps = tempered->rows / draws->width;
}

/* The law of the tempered rows, as far as the summary tells. */
static tempera_status fill_law(const tempera_summary *s, tempera_draws *draws,
                               tempera_error *error) {
  size_t n = s->tau_prior_count;
  draws->likelihood = true;
  if (n < 2)
    return TEMPERA_OK;
  double *tau = TM_NEW(draws->arena, double, n);
  double *log_prior = TM_NEW(draws->arena, double, n);
  if (!tau || !log_prior)
    return tm_fail_memory(error);
  for (size_t k = 0; k < n; k++) {
    tau[k] = s->tau_prior[k].tau;
    log_prior[k] = s->tau_prior[k].log_prior;
    if (!isfinite(tau[k]) || !isfinite(log_prior[k]) ||
        (k > 0 && !(tau[k] > tau[k - 1])))
      return tm_fail(error, TEMPERA_ERROR_INPUT,
                     "summary.json: the knots of tau_prior make no sense");
  }
  draws->tau_min = tau[0];
  draws->evidence = tau[0] == 0;
  const tm_draws_prior prior = {.knots = n,
                                .tau = tau,
                                .log_prior = log_prior,
                                .log_atom = s->tau_prior_atom,
                                .steps = s->tau_prior_steps};
  return tm_draws_set_prior(draws, &prior, error);
}

static tempera_status make_draws(const tm_run_files *files,
                                 tempera_draws *draws, tempera_error *error) {
  const tempera_summary *s = files->summary;
  const char **names = TM_NEW(files->arena, const char *, draws->size + 1);
  if (!names)
    return tm_fail_memory(error);
  for (size_t i = 0; i < draws->size; i++)
    names[i] = name_of(s, i);
  size_t sweeps = 0;
  TM_TRY(tm_draws_keep_names(draws, names, error));
  count_sweeps(files, draws, &sweeps);
  TM_TRY(tm_draws_reserve(draws, sweeps, error));
  TM_TRY(fill_law(s, draws, error));
  draws->count = sweeps;
  for (size_t role = 0; role < 2; role++)
    if (draws->has_role[role])
      TM_TRY(fill_role(&files->draws[role], (tempera_role)role, s->value_count,
                       draws, error));
  return TEMPERA_OK;
}

tempera_status tm_run_files_draws(const tm_run_files *files,
                                  const char *folder, tempera_draws **draws,
                                  tempera_error *error) {
  tempera_draws *made = NULL;
  const tm_run_draws *role = files->draws;
  size_t chains = role[0].chains ? role[0].chains : role[1].chains;
  tempera_status status =
      chains == 0 || (role[1].chains && role[1].chains != chains)
          ? tm_fail(error, TEMPERA_ERROR_INPUT,
                    "%s lacks the CSV files of some chains", folder)
          : tm_draws_create(chains,
                            files->summary->value_count +
                                files->summary->quantity_count,
                            NULL, NULL, role[0].chains > 0, role[1].chains > 0,
                            &made, error);
  if (status == TEMPERA_OK)
    status = make_draws(files, made, error);
  if (status == TEMPERA_OK)
    *draws = made;
  else
    tm_draws_free(made);
  return status;
}

tempera_status tempera_draws_read(const char *folder, tempera_draws **draws,
                                  tempera_error *error) {
  tm_run_files files;
  TM_TRY(tm_run_files_read_all(folder, &files, error));
  tempera_status status = tm_run_files_draws(&files, folder, draws, error);
  tm_run_files_clear(&files);
  return status;
}
