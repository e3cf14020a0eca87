/* main.c - the `tempera` command. */
#include "tempera.h"

#include <stdio.h>

int main(void) {
  puts("tempera " TEMPERA_VERSION);
  return 0;
}
