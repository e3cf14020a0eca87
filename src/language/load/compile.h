/* compile.h - from a program's C text to a shared library, cached. */
#ifndef TM_LANGUAGE_COMPILE_H
#define TM_LANGUAGE_COMPILE_H

#include "language/emit/emit.h"

/* runtime/prelude.h and the like, each NUL-terminated. */
extern const char tm_prelude_text[], tm_prelude_scalar_text[],
    tm_prelude_tensor_text[], tm_prelude_vector_text[], tm_bridgestan_text[],
    tm_bridgestan_stubs_text[];

/* The cached library of a program, built when it is not there; free its path
 * with tm_heap_free. */
TEMPERA_CHECKED tempera_status tm_compile(const tempera_program *program,
                                          tm_way way, char **path,
                                          tempera_error *error);

#endif
