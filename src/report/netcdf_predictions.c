/* netcdf_predictions.c - see netcdf_predictions.h. */
#include "report/netcdf_predictions.h"

#include <math.h>
#include <string.h>

enum { MOST_NUMBERS = 1 << 23 };

/* Rows of numbers, chain by chain, in the order of the draws. */
typedef struct rows {
  size_t chains, each, width; /* width: numbers of a row */
  const double *values;
} rows;

static void begin(tm_netcdf_writer *w, const char *name, const rows *r, int *id,
                  int dims[2]) {
  *id = tm_netcdf_group(w, name);
  dims[0] = tm_netcdf_dimension(w, *id, "chain", r->chains);
  dims[1] = tm_netcdf_dimension(w, *id, "draw", r->each);
}

/* One variable, its numbers `first` and on of every row. */
static void put(tm_netcdf_writer *w, int group, const int dims[2],
                const tm_named_array *a, nc_type type, const rows *r) {
  size_t start[2 + TM_ARRAY_RANK] = {0};
  size_t count[2 + TM_ARRAY_RANK] = {1, r->each};
  int variable = tm_netcdf_define(w, group, a, type, dims, 2);
  double *numbers = tm_netcdf_room(w, r->each * a->count + 1, sizeof *numbers);
  for (size_t k = 0; k < a->rank; k++)
    count[2 + k] = a->dims[k];
  for (size_t c = 0; c < r->chains && tm_netcdf_fine(w); c++) {
    for (size_t i = 0; i < r->each; i++) {
      const double *from = r->values + (c * r->each + i) * r->width + a->first;
      for (size_t k = 0; k < a->count; k++)
        numbers[i * a->count + (a->place ? a->place[k] : k)] = from[k];
    }
    start[0] = c;
    tm_netcdf_note(
        w, w->nc.put_vara_double(group, variable, start, count, numbers),
        a->name);
  }
}

/* Data as they were observed, in name and shape. */
static void put_data(tm_netcdf_writer *w, const char *group,
                     const tempera_predictions *p, const rows *r, bool whole) {
  int id, dims[2];
  begin(w, group, r, &id, dims);
  for (size_t v = 0; v < p->replicas.count; v++) {
    const tm_replica *one = &p->replicas.each[v];
    tm_named_array a = {.name = one->name,
                        .first = one->first,
                        .count = one->count,
                        .rank = (size_t)one->rank};
    for (int k = 0; k < one->rank; k++)
      a.dims[k] = (size_t)one->dim[k];
    put(w, id, dims, &a, whole && one->whole ? NC_INT64 : NC_DOUBLE, r);
  }
}

static void put_prior(tm_netcdf_writer *w, const tempera_sampler *sampler,
                      const tempera_predictions *p) {
  const tempera_model *model = sampler->model;
  const rows r = {1, p->prior_rows, model->size, p->prior_theta};
  tm_named_array *arrays = NULL;
  size_t count = 0;
  int id, dims[2];
  begin(w, "prior", &r, &id, dims);
  if (tm_netcdf_fine(w))
    w->status = tm_named_arrays((const char *const *)model->names, model->size,
                                w->arena, &arrays, &count, w->error);
  for (size_t i = 0; i < count; i++) {
    bool whole = true;
    for (size_t k = 0; k < arrays[i].count; k++)
      whole =
          whole && sampler->integer && sampler->integer[arrays[i].first + k];
    put(w, id, dims, &arrays[i], whole ? NC_INT64 : NC_DOUBLE, &r);
  }
}

/* Data could not be drawn at every draw from the prior: NaN there. */
static void put_prior_data(tm_netcdf_writer *w, const tempera_predictions *p) {
  bool all = true;
  double *values =
      tm_netcdf_room(w, p->prior_rows * p->size + 1, sizeof *values);
  for (size_t i = 0; i < p->prior_rows && values; i++) {
    all = all && p->prior_drawn[i];
    for (size_t k = 0; k < p->size; k++)
      values[i * p->size + k] =
          p->prior_drawn[i] ? p->prior_values[i * p->size + k] : NAN;
  }
  if (values)
    put_data(w, "prior_predictive", p,
             &(rows){1, p->prior_rows, p->size, values}, all);
}

void tm_netcdf_predictions(tm_netcdf_writer *w, const tempera_sampler *sampler,
                           const tempera_predictions *predictions,
                           bool program_predicts) {
  const tempera_predictions *p = predictions;
  if (!p)
    return;
  bool whole = !p->place; /* groups have the shape of the data */
  if (p->rows && p->size && whole && !program_predicts)
    put_data(w, "posterior_predictive", p,
             &(rows){p->chains, p->rows_each, p->size, p->values}, true);
  if (p->prior_rows)
    put_prior(w, sampler, p);
  if (p->prior_rows && p->size && whole)
    put_prior_data(w, p);
}

/* ---- terms of the likelihood -------------------------------------------- */

static bool fill_terms(const tempera_sampler *s, tm_evaluator *e, double *theta,
                       double *line, size_t terms, double **columns) {
  for (size_t c = 0; c < s->draws->chains; c++)
    for (size_t row = 0; row < s->draws->count; row++) {
      tm_points_wanted wanted = {.room = terms, .values = line};
      tm_draws_take(s->draws, TEMPERA_TARGET, c, row, s->model->size, theta);
      if (!tm_points_at(e, theta, &wanted) || wanted.count != terms)
        return false;
      for (size_t i = 0; i < terms; i++)
        columns[c * terms + i][row] = line[i];
    }
  return true;
}

double **tm_netcdf_terms(tm_netcdf_writer *w, const tempera_sampler *sampler,
                         size_t *terms) {
  const tempera_sampler *s = sampler;
  size_t n = s->draws->chains * s->draws->count;
  *terms = n ? tempera_model_terms(s->model) : 0;
  if (!*terms || *terms > MOST_NUMBERS / n)
    return NULL;
  tm_evaluator e = {0};
  double *numbers = tm_netcdf_room(w, n * *terms, sizeof *numbers);
  double **columns =
      tm_netcdf_room(w, s->draws->chains * *terms, sizeof *columns);
  double *theta = tm_netcdf_room(w, s->model->size + 1, sizeof *theta);
  double *line = tm_netcdf_room(w, *terms, sizeof *line);
  if (!line || tm_evaluator_create(s->model, w->arena, &e, NULL) != TEMPERA_OK)
    return NULL;
  for (size_t k = 0; k < s->draws->chains * *terms; k++)
    columns[k] = numbers + k * s->draws->count;
  bool fine = fill_terms(s, &e, theta, line, *terms, columns);
  tm_evaluator_release(&e);
  return fine ? columns : NULL;
}
