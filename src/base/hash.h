/* hash.h - FNV-1a, 64 bits: names a model file or a set of observations. */
#ifndef TM_BASE_HASH_H
#define TM_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define TM_HASH_START 0xcbf29ce484222325ull

/* Continue `hash` (TM_HASH_START at first) over these bytes. */
static inline uint64_t tm_hash_bytes(uint64_t hash, const void *bytes,
                                     size_t length) {
  const unsigned char *byte = bytes;
  for (size_t i = 0; i < length; i++)
    hash = (hash ^ byte[i]) * 0x100000001b3ull;
  return hash;
}

#endif
