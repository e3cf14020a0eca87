/* netcdf_writer.h - the steps of writing a NetCDF file. The first failure
 * sticks and later steps do nothing, so only the end needs a check. */
#ifndef TM_REPORT_NETCDF_WRITER_H
#define TM_REPORT_NETCDF_WRITER_H

#include "base/memory.h"
#include "draws/named_array.h"
#include "report/netcdf_library.h"

typedef struct tm_netcdf_writer {
  tm_netcdf nc;
  int file;
  int code;       /* of NetCDF, NC_NOERR while all is well */
  char what[128]; /* what it was about */
  tempera_status status;
  tempera_error *error;
  tm_arena *arena;
  char now[32]; /* ISO 8601 */
} tm_netcdf_writer;

bool tm_netcdf_fine(const tm_netcdf_writer *w);
void tm_netcdf_note(tm_netcdf_writer *w, int code, const char *what);
/* Memory of the writer's arena; NULL after a failure too. */
void *tm_netcdf_room(tm_netcdf_writer *w, size_t count, size_t size);

void tm_netcdf_attribute(tm_netcdf_writer *w, int group, const char *name,
                         const char *text);
void tm_netcdf_number(tm_netcdf_writer *w, int group, const char *name,
                      double value);
/* Who made it and when, in the words of ArviZ. */
void tm_netcdf_sign(tm_netcdf_writer *w, int group);
/* A signed group. */
int tm_netcdf_group(tm_netcdf_writer *w, const char *name);
/* A dimension with its coordinate 0 .. size-1. */
int tm_netcdf_dimension(tm_netcdf_writer *w, int group, const char *name,
                        size_t size);
/* A variable whose own dimensions follow `outer` others. */
int tm_netcdf_define(tm_netcdf_writer *w, int group, const tm_named_array *a,
                     nc_type type, const int *outer, size_t outer_count);
/* An array of the data. */
void tm_netcdf_data(tm_netcdf_writer *w, int group, const tempera_data *data,
                    const char *name);

#endif
