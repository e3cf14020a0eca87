/* fuzz_fit.c - any bytes as the CSV file of a fit made elsewhere: read or
 * refused, never a crash. */
#include "fuzz_folder.h"

#include "folder/fit_read.h"

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t size);

static int flat(const double *theta, double *value, void *user) {
  (void)theta;
  (void)user;
  *value = 0;
  return 0;
}

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t size) {
  static tempera_model *model;
  static const tempera_parameter x[2] = {
      {"x", TEMPERA_REAL, 2, -INFINITY, INFINITY, TEMPERA_BOUNDS},
      {"s", TEMPERA_REAL, 0, 0, INFINITY, TEMPERA_BOUNDS}};
  const tempera_model_spec spec = {.name = "fuzz",
                                   .parameters = x,
                                   .parameter_count = 2,
                                   .log_likelihood = flat,
                                   .log_prior = flat};
  tempera_error error = {0};
  tempera_draws *draws = NULL;
  char path[256];
  if (!model && tempera_model_create(&spec, &model, &error) != TEMPERA_OK)
    abort();
  make_folder();
  put("fit.csv", bytes, size);
  snprintf(path, sizeof path, "%s/fit.csv", folder);
  const char *const paths[] = {path, path};
  if (tm_fit_read(model, paths, 2, &draws, &error) == TEMPERA_OK)
    tm_draws_free(draws);
  return 0;
}
