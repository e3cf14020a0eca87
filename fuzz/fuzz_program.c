/* fuzz_program.c - any bytes as a program: lexer, parser, types, split and
 * translation must answer or refuse, never crash. CONTRIBUTING.md says how to
 * build and run. */
#include "base/memory.h"
#include "tempera.h"

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t size);

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t size) {
  tempera_program *program = NULL;
  tempera_error error = {0};
  char *text = NULL;
  if (tempera_program_parse("fuzz.stan", (const char *)bytes, size, &program,
                            &error) != TEMPERA_OK)
    return 0;
  if (tempera_program_describe(program, &text, &error) == TEMPERA_OK)
    tm_heap_free(text);
  if (tempera_program_translate(program, &text, &error) == TEMPERA_OK)
    tm_heap_free(text);
  tempera_program_free(program);
  return 0;
}
