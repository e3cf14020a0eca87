/* compile.h - from a program's C text to a shared library, cached. */
#ifndef TM_LANGUAGE_COMPILE_H
#define TM_LANGUAGE_COMPILE_H

#include "language/program.h"

/* runtime/prelude.h and the like, each NUL-terminated. */
extern const char tm_prelude_text[], tm_prelude_scalar_text[],
    tm_prelude_tensor_text[], tm_bridgestan_text[], tm_bridgestan_stubs_text[];

#endif
