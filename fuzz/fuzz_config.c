/* fuzz_config.c - any bytes as config.json of a run that has left no summary,
 * so that all is read by it: read or refused, never a crash. */
#include "fuzz_folder.h"

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t size);

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t size) {
  make_folder();
  put("config.json", bytes, size);
  PUT_TEXT("target-1.csv", ROWS);
  PUT_TEXT("target-2.csv", ROWS);
  PUT_TEXT("tempered-1.csv", ROWS);
  PUT_TEXT("tempered-2.csv", ROWS);
  read_folder();
  return 0;
}
