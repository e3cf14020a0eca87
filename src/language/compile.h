/* compile.h - from a program's C text to a shared library, cached. */
#ifndef TM_LANGUAGE_COMPILE_H
#define TM_LANGUAGE_COMPILE_H

#include "language/program.h"

extern const char tm_prelude_text[]; /* runtime/prelude.h, NUL-terminated */

#endif
