/* netcdf_writer.c - see netcdf_writer.h. */
#include "report/netcdf_writer.h"

#include <stdio.h>
#include <string.h>

bool tm_netcdf_fine(const tm_netcdf_writer *w) {
  return w->code == NC_NOERR && w->status == TEMPERA_OK;
}

void tm_netcdf_note(tm_netcdf_writer *w, int code, const char *what) {
  if (code == NC_NOERR || !tm_netcdf_fine(w))
    return;
  w->code = code;
  snprintf(w->what, sizeof w->what, "%s", what);
}

void *tm_netcdf_room(tm_netcdf_writer *w, size_t count, size_t size) {
  void *memory =
      tm_netcdf_fine(w) ? tm_arena_alloc(w->arena, count, size) : NULL;
  if (!memory && tm_netcdf_fine(w))
    w->status = tm_fail_memory(w->error);
  return memory;
}

void tm_netcdf_attribute(tm_netcdf_writer *w, int group, const char *name,
                         const char *text) {
  if (tm_netcdf_fine(w))
    tm_netcdf_note(
        w, w->nc.put_att_text(group, NC_GLOBAL, name, strlen(text), text),
        name);
}

void tm_netcdf_number(tm_netcdf_writer *w, int group, const char *name,
                      double value) {
  if (tm_netcdf_fine(w))
    tm_netcdf_note(
        w, w->nc.put_att_double(group, NC_GLOBAL, name, NC_DOUBLE, 1, &value),
        name);
}

void tm_netcdf_sign(tm_netcdf_writer *w, int group) {
  tm_netcdf_attribute(w, group, "created_at", w->now);
  tm_netcdf_attribute(w, group, "creation_library", "tempera");
  tm_netcdf_attribute(w, group, "creation_library_version", TEMPERA_VERSION);
  tm_netcdf_attribute(w, group, "creation_library_language", "C");
  tm_netcdf_attribute(w, group, "inference_library", "tempera");
  tm_netcdf_attribute(w, group, "inference_library_version", TEMPERA_VERSION);
}

int tm_netcdf_group(tm_netcdf_writer *w, const char *name) {
  int group = 0;
  if (tm_netcdf_fine(w))
    tm_netcdf_note(w, w->nc.def_grp(w->file, name, &group), name);
  tm_netcdf_sign(w, group);
  return group;
}

int tm_netcdf_dimension(tm_netcdf_writer *w, int group, const char *name,
                        size_t size) {
  int dim = 0, variable = 0;
  long long *values = tm_netcdf_room(w, size + 1, sizeof *values);
  if (!values)
    return 0;
  for (size_t i = 0; i < size; i++)
    values[i] = (long long)i;
  tm_netcdf_note(w, w->nc.def_dim(group, name, size, &dim), name);
  if (tm_netcdf_fine(w))
    tm_netcdf_note(w, w->nc.def_var(group, name, NC_INT64, 1, &dim, &variable),
                   name);
  if (tm_netcdf_fine(w) && size > 0)
    tm_netcdf_note(w, w->nc.put_var_longlong(group, variable, values), name);
  return dim;
}

int tm_netcdf_define(tm_netcdf_writer *w, int group, const tm_named_array *a,
                     nc_type type, const int *outer, size_t outer_count) {
  int dims[2 + TM_ARRAY_RANK], variable = 0;
  for (size_t k = 0; k < outer_count; k++)
    dims[k] = outer[k];
  for (size_t k = 0; k < a->rank; k++) {
    char name[NC_MAX_NAME + 1];
    snprintf(name, sizeof name, "%.200s_dim_%zu", a->name, k);
    dims[outer_count + k] = tm_netcdf_dimension(w, group, name, a->dims[k]);
  }
  if (tm_netcdf_fine(w))
    tm_netcdf_note(w,
                   w->nc.def_var(group, a->name, type,
                                 (int)(outer_count + a->rank), dims, &variable),
                   a->name);
  return variable;
}

/* The numbers of a variable of either kind and any rank; `integers` or `reals`
 * stays NULL. Single numbers need a place of their own. */
typedef struct numbers {
  const int64_t *integers;
  const double *reals;
  size_t count;
  int64_t integer;
  double real;
} numbers;

static tempera_status read_numbers(const tempera_data *data, const char *name,
                                   size_t rank, numbers *n,
                                   tempera_error *error) {
  if (rank > 0)
    return tempera_data_integers(data, name, &n->integers, &n->count, NULL) ==
                   TEMPERA_OK
               ? TEMPERA_OK
               : tempera_data_reals(data, name, &n->reals, &n->count, error);
  n->count = 1;
  if (tempera_data_integer(data, name, &n->integer, NULL) == TEMPERA_OK) {
    n->integers = &n->integer;
    return TEMPERA_OK;
  }
  n->reals = &n->real;
  return tempera_data_real(data, name, &n->real, error);
}

void tm_netcdf_data(tm_netcdf_writer *w, int group, const tempera_data *data,
                    const char *name) {
  tm_named_array a = {.name = name};
  numbers n = {0};
  if (!tm_netcdf_fine(w))
    return;
  w->status = tempera_data_dimensions(data, name, a.dims, TM_ARRAY_RANK,
                                      &a.rank, w->error);
  if (a.rank > TM_ARRAY_RANK)
    tm_netcdf_note(w, NC_EMAXDIMS, name);
  if (tm_netcdf_fine(w))
    w->status = read_numbers(data, name, a.rank, &n, w->error);
  if (!tm_netcdf_fine(w))
    return;
  nc_type type = n.integers ? NC_INT64 : NC_DOUBLE;
  int variable = tm_netcdf_define(w, group, &a, type, NULL, 0);
  if (!tm_netcdf_fine(w) || n.count == 0)
    return;
  tm_netcdf_note(w,
                 n.integers ? w->nc.put_var_longlong(
                                  group, variable,
                                  (const long long *)(const void *)n.integers)
                            : w->nc.put_var_double(group, variable, n.reals),
                 name);
}
