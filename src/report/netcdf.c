/* netcdf.c - a run as ArviZ InferenceData: NetCDF4 with the groups posterior,
 * posterior_predictive (quantities drawn by _rng functions; without any, data
 * drawn by the statements), prior, prior_predictive, sample_stats,
 * log_likelihood (term by term), log_prior, observed_data (the outcomes of the likelihood),
 * constant_data (all other data) and, beyond ArviZ's own, tempered: the draws
 * over all tau, with the columns of the CSV files that end in __.
 *
 * Draws have the dimensions chain and draw first; the others of x are
 * x_dim_0, x_dim_1, ... Every dimension has a coordinate, counted from 0 as
 * ArviZ does. */
#include "base/file.h"
#include "model/data.h"
#include "model/model.h"
#include "report/netcdf_predictions.h"
#include "run/quantities.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct job {
  tm_netcdf_writer w;
  const tempera_sampler *sampler;
  const tempera_draws *draws;
  const tempera_summary *summary; /* may be NULL */
} job;

/* A group whose variables begin with the dimensions chain and draw. */
typedef struct draws_group {
  int id, dims[2];
  tempera_role role;
  size_t rows; /* draws of a chain */
} draws_group;

static draws_group begin(job *j, const char *name, tempera_role role) {
  draws_group g = {.id = tm_netcdf_group(&j->w, name),
                   .role = role,
                   .rows = tm_draws_rows(j->draws, role)};
  g.dims[0] = tm_netcdf_dimension(&j->w, g.id, "chain", j->draws->chains);
  g.dims[1] = tm_netcdf_dimension(&j->w, g.id, "draw", g.rows);
  return g;
}

/* ---- draws -------------------------------------------------------------- */

/* Columns of numbers, [chain * width + value][row]. */
typedef struct source {
  double *const *columns;
  size_t width;
} source;

static source draws_of(const job *j, tempera_role role) {
  size_t width = j->draws->size + TM_COLUMNS;
  return (source){j->draws->columns + (size_t)role * j->draws->chains * width,
                  width};
}

static void put_array(job *j, const draws_group *g, const tm_named_array *a,
                      nc_type type, const source *from) {
  tm_netcdf_writer *w = &j->w;
  size_t rows = g->rows;
  size_t start[2 + TM_ARRAY_RANK] = {0}, count[2 + TM_ARRAY_RANK] = {1, rows};
  int variable = tm_netcdf_define(w, g->id, a, type, g->dims, 2);
  double *numbers = tm_netcdf_room(w, rows * a->count, sizeof *numbers);
  for (size_t k = 0; k < a->rank; k++)
    count[2 + k] = a->dims[k];
  for (size_t c = 0; c < j->draws->chains && tm_netcdf_fine(w); c++) {
    for (size_t i = 0; i < a->count; i++) {
      const double *column = from->columns[c * from->width + a->first + i];
      for (size_t row = 0; row < rows; row++)
        numbers[row * a->count + a->place[i]] = column[row];
    }
    start[0] = c;
    /* Numbers are turned into the integers that the file holds. */
    tm_netcdf_note(
        w, w->nc.put_vara_double(g->id, variable, start, count, numbers),
        a->name);
  }
}

static void put_column(job *j, const draws_group *g, const char *name,
                       size_t column, const source *from) {
  static const size_t place[1] = {0};
  const tm_named_array a = {
      .name = name, .first = column, .count = 1, .place = place};
  put_array(j, g, &a, NC_DOUBLE, from);
}

static nc_type type_of(const job *j, const tm_named_array *a) {
  for (size_t i = 0; i < a->count; i++)
    if (!j->draws->integer || !j->draws->integer[a->first + i])
      return NC_DOUBLE;
  return NC_INT64;
}

static void put_parameters(job *j, const draws_group *g) {
  tm_named_array *arrays = NULL;
  size_t count = 0;
  source from = draws_of(j, g->role);
  if (tm_netcdf_fine(&j->w))
    j->w.status = tm_named_arrays(j->draws->names, j->draws->size, j->w.arena,
                                  &arrays, &count, j->w.error);
  for (size_t i = 0; i < count; i++)
    put_array(j, g, &arrays[i], type_of(j, &arrays[i]), &from);
}

/* Room for the rows of `width` values in every chain. */
static double **new_columns(job *j, size_t width, size_t rows) {
  size_t n = j->draws->chains * width;
  double *numbers = tm_netcdf_room(&j->w, n * rows, sizeof *numbers);
  double **columns = tm_netcdf_room(&j->w, n, sizeof *columns);
  for (size_t k = 0; k < n && columns; k++)
    columns[k] = numbers + k * rows;
  return columns;
}

static void put_log_density(job *j, const draws_group *g, const char *name) {
  double **columns = new_columns(j, 1, g->rows);
  for (size_t c = 0; c < j->draws->chains && columns; c++)
    for (size_t row = 0; row < g->rows; row++)
      columns[c][row] = tm_draws_log_density(j->draws, g->role, c, row);
  if (columns)
    put_column(j, g, name, 0, &(source){columns, 1});
}

/* ---- what is computed from draws ---------------------------------------- */

/* Numbers held at once; more quantities are computed in several passes. */
enum { MOST_NUMBERS = 1 << 23 };

/* How many of the arrays to compute together. */
static size_t batch(const job *j, const tm_named_array *arrays, size_t count) {
  size_t rows = j->draws->chains * j->draws->count, n = 1;
  size_t values = arrays[0].count;
  while (n < count && (values += arrays[n].count) * rows <= MOST_NUMBERS)
    n++;
  return n;
}

static bool is_pointwise(const tm_named_array *a) {
  return strcmp(a->name, "log_lik") == 0;
}

/* Where quantities go. */
typedef struct places {
  draws_group posterior, likelihood, predictive;
  bool *random; /* of each: is it drawn, given the parameters? */
  bool predicts;
} places;

static draws_group *place_of(job *j, places *p, const tm_named_array *a,
                             size_t first) {
  bool drawn = false;
  for (size_t i = 0; p->random && i < a->count; i++)
    drawn = drawn || p->random[first + i];
  if (is_pointwise(a))
    return &p->likelihood;
  if (!drawn)
    return &p->posterior;
  if (!p->predicts)
    p->predictive = begin(j, "posterior_predictive", TEMPERA_TARGET);
  p->predicts = true;
  return &p->predictive;
}

static void put_batch(job *j, const tm_named_array *arrays, size_t count,
                      places *to) {
  size_t first = arrays[0].first;
  size_t width = arrays[count - 1].first + arrays[count - 1].count - first;
  double **columns = new_columns(j, width, to->posterior.rows);
  if (columns)
    j->w.status = tm_quantities_columns(j->sampler, TEMPERA_TARGET, first,
                                        width, columns, j->w.error);
  for (size_t i = 0; i < count && tm_netcdf_fine(&j->w); i++) {
    tm_named_array a = arrays[i];
    a.first -= first;
    put_array(j, place_of(j, to, &a, a.first + first), &a, NC_DOUBLE,
              &(source){columns, width});
  }
}

/* Quantities at tau = 1 into the posterior or, where they are drawn, the
 * predictive; but log_lik, where the model has it, into the log likelihood.
 * Returns whether it has. */
static bool put_quantities(job *j, places *to) {
  const tempera_model_spec *spec =
      tempera_model_spec_of(tempera_sampler_model(j->sampler));
  tm_arena *whole = j->w.arena;
  tm_named_array *arrays = NULL;
  size_t count = 0;
  bool pointwise = false;
  if (tm_netcdf_fine(&j->w))
    j->w.status = tm_named_arrays(spec->quantity_names, spec->quantity_count,
                                  whole, &arrays, &count, j->w.error);
  to->random =
      count ? tm_netcdf_room(&j->w, spec->quantity_count, sizeof *to->random)
            : NULL;
  if (to->random)
    j->w.status = tm_quantities_random(j->sampler, to->random, j->w.error);
  for (size_t i = 0, n; i < count && tm_netcdf_fine(&j->w); i += n) {
    n = batch(j, arrays + i, count - i);
    j->w.arena = tm_arena_create(); /* of this batch */
    if (j->w.arena)
      put_batch(j, arrays + i, n, to);
    else
      j->w.status = tm_fail_memory(j->w.error);
    tm_arena_free(j->w.arena);
  }
  j->w.arena = whole;
  for (size_t i = 0; i < count; i++)
    pointwise = pointwise || is_pointwise(&arrays[i]);
  return pointwise;
}

/* ---- groups ------------------------------------------------------------- */

/* The likelihood term by term, as the statements have it; else the total. */
static void put_terms(job *j, const draws_group *g) {
  size_t terms = 0;
  source total = draws_of(j, TEMPERA_TARGET);
  double **columns = tm_netcdf_fine(&j->w)
                         ? tm_netcdf_terms(&j->w, j->sampler, &terms)
                         : NULL;
  size_t *place =
      columns ? tm_netcdf_room(&j->w, terms, sizeof *place) : NULL;
  for (size_t i = 0; i < terms && place; i++)
    place[i] = i;
  const tm_named_array a = {.name = "log_lik",
                            .count = terms,
                            .rank = 1,
                            .dims = {terms},
                            .place = place};
  if (place)
    put_array(j, g, &a, NC_DOUBLE, &(source){columns, terms});
  else
    put_column(j, g, "log_likelihood", j->draws->size + TM_LOG_LIKELIHOOD,
               &total);
}

static void write_target(job *j) {
  source from = draws_of(j, TEMPERA_TARGET);
  size_t size = j->draws->size;
  places to = {.posterior = begin(j, "posterior", TEMPERA_TARGET)};
  if (j->summary) {
    tm_netcdf_number(&j->w, to.posterior.id, "sampling_time",
                     j->summary->seconds);
    tm_netcdf_number(&j->w, to.posterior.id, "tuning_steps",
                     (double)j->summary->warmup);
  }
  put_parameters(j, &to.posterior);
  to.likelihood = begin(j, "log_likelihood", TEMPERA_TARGET);
  if (!put_quantities(j, &to))
    put_terms(j, &to.likelihood);
  if (j->summary)
    tm_netcdf_predictions(&j->w, j->sampler, j->summary->predictions,
                          to.predicts);
  draws_group prior = begin(j, "log_prior", TEMPERA_TARGET);
  put_column(j, &prior, "log_prior", size + TM_LOG_PRIOR, &from);
  draws_group stats = begin(j, "sample_stats", TEMPERA_TARGET);
  put_log_density(j, &stats, "lp");
  put_column(j, &stats, "acceptance_rate", size + TM_ACCEPT, &from);
}

static void write_tempered(job *j) {
  source from = draws_of(j, TEMPERA_TEMPERED);
  size_t size = j->draws->size;
  draws_group g = begin(j, "tempered", TEMPERA_TEMPERED);
  put_parameters(j, &g);
  put_log_density(j, &g, "lp__");
  put_column(j, &g, "accept_stat__", size + TM_ACCEPT, &from);
  put_column(j, &g, "tau__", size + TM_TAU, &from);
  put_column(j, &g, "log_likelihood__", size + TM_LOG_LIKELIHOOD, &from);
  put_column(j, &g, "log_prior__", size + TM_LOG_PRIOR, &from);
}

/* The reference leg: its tempered draws, D and log q. */
static void write_reference(job *j) {
  const tempera_draws *kept = j->draws;
  j->draws = tempera_sampler_reference(j->sampler);
  if (j->draws && j->draws->count) {
    source from = draws_of(j, TEMPERA_TEMPERED);
    size_t size = j->draws->size;
    draws_group g = begin(j, "reference", TEMPERA_TEMPERED);
    put_parameters(j, &g);
    put_column(j, &g, "accept_stat__", size + TM_ACCEPT, &from);
    put_column(j, &g, "tau__", size + TM_TAU, &from);
    put_column(j, &g, "log_ratio__", size + TM_LOG_LIKELIHOOD, &from);
    put_column(j, &g, "log_reference__", size + TM_LOG_PRIOR, &from);
  }
  j->draws = kept;
}

/* The outcomes of the likelihood; where the model does not say which they are,
 * arrays were observed and single numbers (sizes, hyperparameters) are
 * constants. */
static bool is_observed(const tempera_model *model,
                        const tempera_data_mark *mark) {
  for (size_t i = 0; i < model->observed_count; i++)
    if (strcmp(model->observed[i], mark->name) == 0)
      return true;
  return model->observed_count == 0 && mark->array;
}

static void write_data(job *j, const tempera_data *data) {
  const tempera_model *model = tempera_sampler_model(j->sampler);
  tempera_data_mark *marks = NULL;
  size_t count = 0;
  if (data && tm_netcdf_fine(&j->w))
    j->w.status = tm_data_marks(data, &marks, &count, j->w.error);
  for (int observed = 1; observed >= 0; observed--) {
    int group = -1;
    for (size_t i = 0; i < count; i++) {
      if (is_observed(model, &marks[i]) != observed)
        continue;
      if (group < 0)
        group = tm_netcdf_group(&j->w,
                                observed ? "observed_data" : "constant_data");
      tm_netcdf_data(&j->w, group, data, marks[i].name);
    }
  }
  tm_data_marks_free(marks, count);
}

/* What holds for the whole run stands at the file's root. */
static void write_root(job *j) {
  tm_netcdf_writer *w = &j->w;
  unsigned long long seed = tempera_sampler_options(j->sampler)->seed;
  tm_netcdf_sign(w, w->file);
  tm_netcdf_attribute(w, w->file, "model",
                      tempera_model_name(tempera_sampler_model(j->sampler)));
  if (tm_netcdf_fine(w))
    tm_netcdf_note(w,
                   w->nc.put_att_ulonglong(w->file, NC_GLOBAL, "seed",
                                           NC_UINT64, 1, &seed),
                   "seed");
  if (!j->summary)
    return;
  tm_netcdf_attribute(w, w->file, "method", j->summary->method);
  tm_netcdf_number(w, w->file, "log_z", j->summary->log_z);
  tm_netcdf_number(w, w->file, "log_z_se", j->summary->se);
}

/* ---- the file ----------------------------------------------------------- */

static tempera_status outcome(const tm_netcdf_writer *w, const char *path,
                              tempera_error *error) {
  if (tm_netcdf_fine(w) || w->status != TEMPERA_OK)
    return w->status;
  return tm_fail(error, TEMPERA_ERROR_IO, "cannot make %s: %s: %s", path,
                 w->what, w->nc.strerror(w->code));
}

/* Made in memory and then written by us: HDF5 does not survive a full disk. */
static tempera_status make_file(job *j, const char *path,
                                const tempera_data *data,
                                tempera_error *error) {
  tm_netcdf_writer *w = &j->w;
  NC_memio image = {0};
  tm_netcdf_note(w, w->nc.create_mem(path, NC_NETCDF4, 1 << 16, &w->file),
                 "its beginning");
  if (!tm_netcdf_fine(w))
    return outcome(w, path, error);
  write_root(j);
  if (j->draws->has_role[TEMPERA_TARGET])
    write_target(j);
  if (j->draws->has_role[TEMPERA_TEMPERED])
    write_tempered(j);
  write_reference(j);
  write_data(j, data);
  if (tm_netcdf_fine(w))
    tm_netcdf_note(w, w->nc.close_memio(w->file, &image), "its end");
  else
    w->nc.abort(w->file);
  tempera_status status = outcome(w, path, error);
  if (status == TEMPERA_OK)
    status = tm_file_replace(path, image.memory, image.size, error);
  free(image.memory);
  return status;
}

tempera_status tempera_netcdf_write(const char *path,
                                    const tempera_sampler *sampler,
                                    const tempera_data *data,
                                    const tempera_summary *summary,
                                    tempera_error *error) {
  job j = {.w = {.error = error},
           .sampler = sampler,
           .draws = tempera_sampler_draws(sampler),
           .summary = summary};
  time_t now = time(NULL);
  struct tm utc;
  gmtime_r(&now, &utc);
  strftime(j.w.now, sizeof j.w.now, "%Y-%m-%dT%H:%M:%S+00:00", &utc);
  TM_TRY(tm_netcdf_load(&j.w.nc, error));
  j.w.arena = tm_arena_create();
  if (!j.w.arena)
    return tm_fail_memory(error);
  tempera_status status = make_file(&j, path, data, error);
  tm_arena_free(j.w.arena);
  return status;
}
