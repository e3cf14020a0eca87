/* fuzz_summary.c - any bytes as summary.json: read and shown, or refused, never
 * a crash. */
#include "fuzz_folder.h"

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t size);

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t size) {
  make_folder();
  PUT_TEXT("config.json", CONFIG);
  put("summary.json", bytes, size);
  PUT_TEXT("target-1.csv", ROWS);
  PUT_TEXT("target-2.csv", ROWS);
  read_folder();
  return 0;
}
