/* fuzz_csv.c - any bytes as a CSV file of draws, of a run with a summary and of
 * one that has left none: read or refused, never a crash. */
#include "fuzz_folder.h"

#include <unistd.h>

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t size);

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t size) {
  char path[256];
  make_folder();
  PUT_TEXT("config.json", CONFIG);
  put("target-1.csv", bytes, size);
  put("target-2.csv", bytes, size);
  put("tempered-1.csv", bytes, size);
  put("tempered-2.csv", bytes, size);
  snprintf(path, sizeof path, "%s/summary.json", folder);
  unlink(path);
  read_folder();
  PUT_TEXT("summary.json", SUMMARY);
  read_folder();
  return 0;
}
