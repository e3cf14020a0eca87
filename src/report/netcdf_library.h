/* netcdf_library.h - libnetcdf, loaded when a file is to be written and not
 * before: it brings some forty libraries along, among them an HDF5 that might
 * clash with the one of a program that uses ours. */
#ifndef TM_REPORT_NETCDF_LIBRARY_H
#define TM_REPORT_NETCDF_LIBRARY_H

#include "base/status.h"

#include <netcdf.h>
#include <netcdf_mem.h>

typedef struct tm_netcdf {
  __typeof__(nc_create_mem) *create_mem;
  __typeof__(nc_close_memio) *close_memio;
  __typeof__(nc_abort) *abort;
  __typeof__(nc_def_grp) *def_grp;
  __typeof__(nc_def_dim) *def_dim;
  __typeof__(nc_def_var) *def_var;
  __typeof__(nc_put_att_text) *put_att_text;
  __typeof__(nc_put_att_double) *put_att_double;
  __typeof__(nc_put_att_ulonglong) *put_att_ulonglong;
  __typeof__(nc_put_var_double) *put_var_double;
  __typeof__(nc_put_var_longlong) *put_var_longlong;
  __typeof__(nc_put_vara_double) *put_vara_double;
  __typeof__(nc_strerror) *strerror;
} tm_netcdf;

/* Stays loaded. */
TEMPERA_CHECKED tempera_status tm_netcdf_load(tm_netcdf *library,
                                              tempera_error *error);

#endif
