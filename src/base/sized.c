/* sized.c - see sized.h. */
#include "base/sized.h"

#include <string.h>

tempera_status tm_sized_take(void *ours, size_t our_size, const void *given,
                             size_t given_size, tempera_error *error) {
  const unsigned char *bytes = given;
  for (size_t i = our_size; i < given_size; i++)
    if (bytes[i] != 0)
      return tm_fail(error, TEMPERA_ERROR_ARGUMENT,
                     "a setting was given that libtempera %s does not know: it "
                     "is older than the tempera.h this program was built with",
                     TEMPERA_VERSION);
  memcpy(ours, given, given_size < our_size ? given_size : our_size);
  return TEMPERA_OK;
}

void tm_sized_give(void *to, size_t to_size, const void *ours,
                   size_t our_size) {
  size_t known = to_size < our_size ? to_size : our_size;
  memcpy(to, ours, known);
  memset((char *)to + known, 0, to_size - known);
}
