/* program.h - a program read, checked and split. */
#ifndef TM_LANGUAGE_PROGRAM_H
#define TM_LANGUAGE_PROGRAM_H

#include "language/check/split.h"

struct tempera_program {
  tm_arena *arena;
  tm_program tree;
  tm_split split;
  char *name; /* the file's name without folder and .stan */
};

#endif
