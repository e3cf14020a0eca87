/* netcdf_library.c - see netcdf_library.h. */
#include "report/netcdf_library.h"

#include <dlfcn.h>

tempera_status tm_netcdf_load(tm_netcdf *library, tempera_error *error) {
  void *handle = dlopen(TM_NETCDF_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    return tm_fail(error, TEMPERA_ERROR_IO,
                   "cannot load the NetCDF library: %.300s", dlerror());
  const struct {
    const char *name;
    void *function; /* where its address goes */
  } functions[] = {{"nc_create_mem", &library->create_mem},
                   {"nc_close_memio", &library->close_memio},
                   {"nc_abort", &library->abort},
                   {"nc_def_grp", &library->def_grp},
                   {"nc_def_dim", &library->def_dim},
                   {"nc_def_var", &library->def_var},
                   {"nc_put_att_text", &library->put_att_text},
                   {"nc_put_att_double", &library->put_att_double},
                   {"nc_put_att_ulonglong", &library->put_att_ulonglong},
                   {"nc_put_var_double", &library->put_var_double},
                   {"nc_put_var_longlong", &library->put_var_longlong},
                   {"nc_put_vara_double", &library->put_vara_double},
                   {"nc_strerror", &library->strerror}};
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
    void *address = dlsym(handle, functions[i].name);
    if (!address)
      return tm_fail(error, TEMPERA_ERROR_IO,
                     "the NetCDF library " TM_NETCDF_LIBRARY " lacks %s",
                     functions[i].name);
    *(void **)functions[i].function = address;
  }
  return TEMPERA_OK;
}
