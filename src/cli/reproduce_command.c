/* reproduce_command.c - `tempera reproduce`: starts the program that runs the
 * paper's studies, tempera-reproduce, which lies beside this one. */
#include "cli/cli.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char PROGRAM[] = "tempera-reproduce";

/* Its path, when it lies in this program's folder. */
static bool beside_us(char path[PATH_MAX]) {
  ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
  if (length <= 0)
    return false;
  path[length] = '\0';
  char *name = strrchr(path, '/');
  if (!name || name + 1 + sizeof PROGRAM > path + PATH_MAX)
    return false;
  memcpy(name + 1, PROGRAM, sizeof PROGRAM);
  return access(path, X_OK) == 0;
}

int cli_reproduce(int argc, char **argv) {
  char path[PATH_MAX];
  (void)argc;
  if (beside_us(path))
    execv(path, argv);
  else
    execvp(PROGRAM, argv);
  fprintf(stderr,
          "tempera: cannot start %s: %s; it is installed beside tempera\n",
          PROGRAM, strerror(errno));
  return EXIT_BAD_INPUT;
}
