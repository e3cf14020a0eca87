/* fuzz_data.c - any bytes as a data file: they are read or refused, and every
 * question about a variable has an answer, never a crash. CONTRIBUTING.md says
 * how to build and run. */
#include "model/data.h"

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t size);

/* Read all values, so that a sanitizer sees those that are not there. */
static double sum(const tempera_data *data, const char *name) {
  tempera_error error = {0};
  size_t dims[4], rank = 0, count = 0;
  const double *reals = NULL;
  const int64_t *whole = NULL;
  double total = 0, value = 0;
  int64_t integer = 0;
  if (tempera_data_dimensions(data, name, dims, 4, &rank, &error) == TEMPERA_OK)
    total += (double)rank;
  if (tempera_data_real(data, name, &value, &error) == TEMPERA_OK)
    total += value;
  if (tempera_data_integer(data, name, &integer, &error) == TEMPERA_OK)
    total += (double)integer;
  if (tempera_data_reals(data, name, &reals, &count, &error) == TEMPERA_OK)
    for (size_t i = 0; i < count; i++)
      total += reals[i];
  if (tempera_data_integers(data, name, &whole, &count, &error) == TEMPERA_OK)
    for (size_t i = 0; i < count; i++)
      total += (double)whole[i];
  return total;
}

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t size) {
  static const char *const names[] = {"N", "x", "y", "absent"};
  tempera_data *data = NULL;
  tempera_data_mark *marks = NULL;
  tempera_error error = {0};
  size_t count = 0;
  volatile double total = 0;
  if (tempera_data_parse((const char *)bytes, size, &data, &error) !=
      TEMPERA_OK)
    return 0;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    total += sum(data, names[i]);
  if (tm_data_marks(data, &marks, &count, &error) == TEMPERA_OK) {
    for (size_t i = 0; i < count; i++)
      total += sum(data, marks[i].name);
    tm_data_marks_free(marks, count);
  }
  total += (double)(tempera_data_hash(data) & 1);
  tempera_data_free(data);
  return 0;
}
