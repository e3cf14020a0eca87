/* unsummarised.c - a run that was killed, or whose model crashed, before its
 * first summary: what its config.json and CSV files tell. Values, how they mixed,
 * and the evidence as far as it can be had without knowing by which P(tau) tau
 * moved (ti; all of pt's). It is never called reliable. */
#include "report/unsummarised.h"

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "draws/draws.h"
#include "estimate/estimate.h"
#include "model/data.h"
#include "report/run_files.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CHAINS = 100000, FEWEST = 4 /* draws */ };

static size_t count_of(const json_t *config, const char *name) {
  json_int_t value = json_integer_value(json_object_get(config, name));
  return value > 0 ? (size_t)value : 0;
}

static bool copy_word(const json_t *config, const char *name, char **out) {
  const char *word = json_string_value(json_object_get(config, name));
  if (!word)
    return true;
  *out = tm_heap_text(word);
  if (*out)
    tm_text_plain(*out);
  return *out != NULL;
}

static tempera_status take_config(const char *folder, tempera_summary *s,
                                  tempera_error *error) {
  json_t *config = NULL;
  tempera_status status = tm_json_load(folder, "config.json", &config, error);
  s->chains = count_of(config, "chains");
  s->warmup = count_of(config, "warmup");
  s->thin = count_of(config, "thin");
  s->seed = count_of(config, "seed");
  if (status == TEMPERA_OK && (s->chains == 0 || s->chains > MOST_CHAINS))
    status = tm_fail(error, TEMPERA_ERROR_INPUT,
                     "%s/summary.json is not there, and config.json cannot be "
                     "used: this is no run's folder, or a damaged one",
                     folder);
  else if (status == TEMPERA_OK && !(copy_word(config, "version", &s->version) &&
                                     copy_word(config, "model", &s->model) &&
                                     copy_word(config, "method", &s->method)))
    status = tm_fail_memory(error);
  json_decref(config);
  return status;
}

/* Which data, as a summary says it: from their file, where that is still the
 * same. */
static tempera_status take_data(const tm_run_files *files, tempera_summary *s,
                                tempera_error *error) {
  const char *path =
      json_string_value(json_object_get(files->config, "data_path"));
  const char *hash =
      json_string_value(json_object_get(files->config, "data_hash"));
  tempera_data *data = NULL;
  tempera_status status = TEMPERA_OK;
  s->data_hash = hash ? strtoull(hash, NULL, 16) : 0;
  if (!path || tempera_data_read(path, &data, NULL) != TEMPERA_OK)
    return TEMPERA_OK;
  if (tempera_data_hash(data) == s->data_hash)
    status = tm_data_marks(data, &s->data, &s->data_count, error);
  tempera_data_free(data);
  return status;
}

/* x.1.3 of Stan CSV is x[1,3]. */
static char *name_of(const char *csv) {
  char *name = tm_heap_alloc(strlen(csv) + 2, 1), *to = name;
  bool indexed = false;
  for (; name && *csv; csv++) {
    *to++ = *csv != '.' ? *csv : indexed ? ',' : '[';
    indexed = indexed || *csv == '.';
  }
  if (name && indexed)
    *to = ']';
  if (name)
    tm_text_plain(name);
  return name;
}

/* What the sampler itself adds ends in two underscores. */
static bool is_value(const char *column) {
  size_t length = strlen(column);
  return length > 0 &&
         !(length > 2 && strcmp(column + length - 2, "__") == 0);
}

static bool has_name(const tempera_value_summary *values, size_t count,
                     const char *name) {
  for (size_t i = 0; i < count; i++)
    if (strcmp(values[i].name, name) == 0)
      return true;
  return false;
}

/* Columns of a header that are values and not among `known`. */
static tempera_status name_values(char *header, const tempera_summary *known,
                                  tempera_value_summary **values,
                                  size_t *count, tempera_error *error) {
  size_t columns = 1;
  for (const char *c = header; *c; c++)
    columns += *c == ',';
  *values = tm_heap_alloc(columns, sizeof **values);
  if (!*values)
    return tm_fail_memory(error);
  for (char *rest = header, *column; (column = strsep(&rest, ","));) {
    char *name = is_value(column) ? name_of(column) : NULL;
    if (!is_value(column))
      continue;
    if (!name)
      return tm_fail_memory(error);
    if (known && has_name(known->values, known->value_count, name))
      tm_heap_free(name);
    else
      (*values)[(*count)++].name = name;
  }
  return TEMPERA_OK;
}

/* The first line that is no comment, or NULL; free it with free(). */
static char *header_of(const char *folder, const char *name) {
  char *line = NULL, *path = tm_path_join(folder, name);
  size_t room = 0;
  bool some = false;
  FILE *file = path ? fopen(path, "rb") : NULL;
  tm_heap_free(path);
  while (file && !some && getline(&line, &room, file) > 0)
    some = *line != '#' && strchr(line, '\n');
  if (file)
    fclose(file);
  if (some)
    line[strcspn(line, "\r\n")] = '\0';
  else
    free(line);
  return some ? line : NULL;
}

/* Tempered files have parameters, target files quantities as well. */
static tempera_status read_headers(const char *folder, tempera_summary *s,
                                   tempera_error *error) {
  char *tempered = header_of(folder, "tempered-1.csv");
  char *target = header_of(folder, "target-1.csv");
  tempera_status status = TEMPERA_OK;
  if (tempered || target)
    status = name_values(tempered ? tempered : target, NULL, &s->values,
                         &s->value_count, error);
  else
    status = tm_fail(error, TEMPERA_ERROR_INPUT,
                     "%s holds no draws yet: the run is going on, or it was "
                     "killed before the first; then `tempera resume %s` goes "
                     "on with it",
                     folder, folder);
  if (status == TEMPERA_OK && tempered && target)
    status = name_values(target, s, &s->quantities, &s->quantity_count, error);
  free(tempered);
  free(target);
  return status;
}

/* ---- draws --------------------------------------------------------------- */

/* Rows of a chain at tau = 1, where there are no files of them alone. */
static bool is_target(const tempera_draws *from, size_t chain, size_t row) {
  return tm_draws_column(from, TEMPERA_TEMPERED, chain,
                         from->size + TM_TAU)[row] == 1;
}

static size_t count_targets(const tempera_draws *from) {
  size_t rows = tm_draws_rows(from, TEMPERA_TEMPERED), fewest = rows;
  for (size_t c = 0; c < from->chains; c++) {
    size_t count = 0;
    for (size_t i = 0; i < rows; i++)
      count += is_target(from, c, i);
    fewest = count < fewest ? count : fewest;
  }
  return fewest;
}

static tempera_status take_targets(const tempera_draws *from,
                                   tempera_draws **made,
                                   tempera_error *error) {
  TM_TRY(tm_draws_create(from->chains, from->size, from->names, NULL, true,
                         false, made, error));
  size_t count = count_targets(from);
  TM_TRY(tm_draws_reserve(*made, count, error));
  (*made)->count = count;
  for (size_t c = 0; c < from->chains; c++)
    for (size_t k = 0; k < from->size + TM_COLUMNS; k++) {
      const double *column = tm_draws_column(from, TEMPERA_TEMPERED, c, k);
      double *to = tm_draws_column(*made, TEMPERA_TARGET, c, k);
      for (size_t i = 0, n = 0; n < count; i++)
        if (is_target(from, c, i))
          to[n++] = column[i];
    }
  return TEMPERA_OK;
}

/* pt's levels are those of its first sweep. */
static tempera_status set_levels(tempera_draws *draws, tempera_error *error) {
  const double *tau = tm_draws_column(draws, TEMPERA_TEMPERED, 0,
                                      draws->size + TM_TAU);
  return tm_draws_set_levels(
      draws, &(tm_draws_levels){.count = draws->width, .tau = tau}, error);
}

/* The summary of draws whose law is known, as far as it is. */
static tempera_status estimate(const tempera_draws *all, tempera_summary *s,
                               tempera_error *error) {
  tempera_draws *targets = NULL;
  static const char *const ANY_TAU[] = {"pt-stwnc", "stwnc", "pawl"};
  bool whole = all->levels.count || !all->has_role[TEMPERA_TEMPERED];
  for (size_t i = 0; i < sizeof ANY_TAU / sizeof *ANY_TAU; i++)
    whole = whole || (s->method && strcmp(s->method, ANY_TAU[i]) == 0);
  if (whole)
    return tm_estimate_summary(all, 1, s, error);
  tempera_status status = take_targets(all, &targets, error);
  if (status == TEMPERA_OK && targets->count < FEWEST)
    status = tm_fail(error, TEMPERA_ERROR_INPUT,
                     "there are %zu draws at tau = 1 in every chain: too few "
                     "to tell of",
                     targets->count);
  if (status == TEMPERA_OK)
    status = tm_estimate_summary(targets, 1, s, error);
  tm_draws_free(targets);
  return status;
}

static tempera_status say(const char *folder, tempera_summary *s,
                          tempera_error *error) {
  char words[512];
  snprintf(words, sizeof words,
           "Unfinished: the run ended without a summary. This is what its CSV "
           "files tell, of %zu iterations of each chain, unchecked. `tempera "
           "resume %.200s` goes on with it.",
           s->iterations, folder);
  s->verdict = tm_heap_text(words);
  return s->verdict ? TEMPERA_OK : tm_fail_memory(error);
}

/* The first estimate that stands is quoted: nothing chose among them. */
static tempera_status quote(tempera_summary *s, tempera_error *error) {
  static const char *const ORDER[] = {"ti", "ss"};
  for (size_t k = 0; k < 2; k++)
    for (size_t i = 0; i < s->estimate_count && !s->estimator; i++) {
      const tempera_estimate *e = &s->estimates[i];
      if (strcmp(e->name, ORDER[k]) != 0 || !isfinite(e->log_z) ||
          !isfinite(e->se))
        continue;
      s->log_z = e->log_z;
      s->se = e->se;
      s->lower = e->lower;
      s->upper = e->upper;
      s->estimator = tm_heap_text(e->name);
      if (!s->estimator)
        return tm_fail_memory(error);
    }
  return TEMPERA_OK;
}

static tempera_status tell(const char *folder, const tm_run_files *files,
                           tempera_summary *s, tempera_error *error) {
  tempera_draws *draws = NULL;
  const json_t *least = json_object_get(files->config, "tau_min");
  TM_TRY(tm_run_files_draws(files, folder, &draws, error));
  tempera_status status = TEMPERA_OK;
  draws->tau_min = json_number_value(least);
  draws->evidence = !(draws->tau_min > 0);
  if (draws->count < FEWEST)
    status = tm_fail(error, TEMPERA_ERROR_INPUT,
                     "%s holds %zu draws of every chain: too few to tell of",
                     folder, draws->count);
  if (status == TEMPERA_OK && draws->width > 1 && s->method &&
      strcmp(s->method, "pt") == 0)
    status = set_levels(draws, error);
  if (status == TEMPERA_OK)
    status = estimate(draws, s, error);
  if (status == TEMPERA_OK)
    status = quote(s, error);
  if (status == TEMPERA_OK)
    status = take_data(files, s, error);
  s->iterations = draws->count * (s->thin ? s->thin : 1);
  if (status == TEMPERA_OK)
    status = say(folder, s, error);
  tm_draws_free(draws);
  return status;
}

tempera_status tm_summary_from_draws(const char *folder,
                                     tempera_summary **summary,
                                     tempera_error *error) {
  tempera_summary *names = tm_heap_alloc(1, sizeof *names);
  tempera_summary *made = tm_heap_alloc(1, sizeof *made);
  tm_run_files files = {0};
  tempera_status status =
      names && made ? TEMPERA_OK : tm_fail_memory(error);
  if (status == TEMPERA_OK)
    status = take_config(folder, names, error);
  if (status == TEMPERA_OK)
    status = take_config(folder, made, error);
  if (status == TEMPERA_OK)
    status = read_headers(folder, names, error);
  if (status != TEMPERA_OK) {
    tempera_summary_free(names);
    goto done;
  }
  TM_TRY_DONE(tm_run_files_read_as(folder, names, &files, error));
  status = tell(folder, &files, made, error);
  tm_run_files_clear(&files);
done:
  if (status != TEMPERA_OK)
    tempera_summary_free(made);
  else
    *summary = made;
  return status;
}
