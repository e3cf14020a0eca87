/* common.c - messages, and loading a model with its data. */
#include "cli/cli.h"
#include "tempera_mpi.h"

#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <getopt.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

/* BLAS starts its threads when it is loaded. Where address space is limited
 * (ulimit -v) one that cannot map its memory tries for ever and is waited for
 * at exit: then this program is started again, and told to have none. */
static void limit_blas(char **argv) {
  struct rlimit space;
  if (getenv("OPENBLAS_NUM_THREADS") || getrlimit(RLIMIT_AS, &space) != 0 ||
      space.rlim_cur == RLIM_INFINITY)
    return;
  setenv("OPENBLAS_NUM_THREADS", "1", 1);
  execv("/proc/self/exe", argv);
}

/* With an arena for each thread, as glibc has it, memory grows by what threads
 * leave in each other's: a run's must not depend on its length. Sweeps allocate
 * nothing, so one arena costs them no time. */
static void limit_arenas(void) {
#ifdef M_ARENA_MAX
  mallopt(M_ARENA_MAX, 1);
#endif
}

/* The threads that it has started wait for work in a busy loop at first, some
 * 30 ms each: they are ended, as it ends them itself before a fork. Without
 * that function in the library all is as it was. */
static void end_blas_threads(void) {
  int (*end)(void) = NULL;
  *(void **)&end = dlsym(RTLD_DEFAULT, "blas_thread_shutdown_");
  if (end)
    end();
}

void cli_start(char **argv) {
  limit_blas(argv);
  limit_arenas();
  const tempera_context_settings settings = {.blas_threads = 1};
  tempera_context *context = NULL; /* the process's, to its end */
  if (tempera_context_create(&settings, &context, NULL) == TEMPERA_OK)
    tempera_context_use(context);
  end_blas_threads();
}

/* A message may quote a file or its name: nothing of it is to steer the
 * terminal. C1 controls are two bytes of UTF-8. */
static void put_plain(const char *text) {
  for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
    bool c1 = *c == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0;
    bool steers = c1 || (*c < ' ' && *c != '\n') || *c == 0x7f;
    fputc(steers ? '?' : *c, stderr);
    c += c1;
  }
}

int cli_fail(const char *file, const tempera_error *error) {
  bool placed = file && error->line > 0;
  bool named = placed || (file && !strstr(error->message, file));
  put_plain(named ? file : "tempera");
  if (placed)
    fprintf(stderr, ":%d:%d", error->line, error->column);
  fputs(": ", stderr);
  put_plain(error->message);
  fputc('\n', stderr);
  return EXIT_BAD_INPUT;
}

int cli_usage(const char *command, const char *format, ...) {
  va_list arguments;
  char words[1024];
  va_start(arguments, format);
  vsnprintf(words, sizeof words, format, arguments);
  va_end(arguments);
  fprintf(stderr, "tempera%s%s: ", *command ? " " : "", command);
  put_plain(words);
  fprintf(stderr, "\ntry: tempera %s%s--help\n", command, *command ? " " : "");
  return EXIT_USAGE;
}

/* ---- suggestions -------------------------------------------------------- */

enum { LONGEST = 32 };

/* Edits (insert, delete, replace) from a to b; LONGEST when either is longer
 * than that. */
static size_t distance(const char *a, const char *b) {
  size_t row[LONGEST + 1], n = strlen(b);
  if (strlen(a) > LONGEST || n > LONGEST)
    return LONGEST;
  for (size_t j = 0; j <= n; j++)
    row[j] = j;
  for (size_t i = 1; a[i - 1]; i++) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= n; j++) {
      size_t best = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      if (row[j] + 1 < best)
        best = row[j] + 1;
      if (row[j - 1] + 1 < best)
        best = row[j - 1] + 1;
      row[j] = best;
    }
  }
  return row[n];
}

const char *cli_nearest(const char *name, const char *const *names) {
  const char *best = NULL;
  size_t least = strlen(name) / 3 + 2; /* worse is no likeness */
  for (; *names; names++) {
    size_t d = distance(name, *names);
    if (d < least) {
      least = d;
      best = *names;
    }
  }
  return best;
}

int cli_bad_option(const char *command, int code, char **argv,
                   const struct option *options) {
  const char *names[64] = {0};
  char word[64];
  const char *given = argv[optind - 1];
  for (size_t i = 0; i < 63 && options[i].name; i++)
    names[i] = options[i].name;
  if (code == ':')
    return cli_usage(command, "option %s needs a value", given);
  if (strncmp(given, "--", 2) != 0)
    return optopt > 0 && optopt < 256
               ? cli_usage(command, "unknown option -%c", optopt)
               : cli_usage(command, "unknown option %s", given);
  snprintf(word, sizeof word, "%.*s", (int)strcspn(given + 2, "="), given + 2);
  const char *near = cli_nearest(word, names);
  if (near && strcmp(near, word) == 0)
    return cli_usage(command, "option --%s takes no value", word);
  return near ? cli_usage(command, "unknown option --%s; did you mean --%s?",
                          word, near)
              : cli_usage(command, "unknown option --%s", word);
}

int cli_take_timeout(const char *command, double *seconds) {
  char *end;
  *seconds = strtod(optarg, &end);
  return *optarg && !*end && *seconds > 0 && *seconds < 1e9
             ? EXIT_DONE
             : cli_usage(command, "--eval-timeout: %s is no number of seconds",
                         optarg);
}

/* ---- output ------------------------------------------------------------- */

bool cli_terminal(int descriptor) {
  const char *term = getenv("TERM");
  return isatty(descriptor) && term && strcmp(term, "dumb") != 0;
}

size_t cli_columns(int descriptor) {
  struct winsize size = {0};
  return ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0
             ? size.ws_col
             : 80;
}

bool cli_utf8(void) {
  static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const char *locale = getenv(names[i]);
    if (locale && *locale)
      return strcasestr(locale, "UTF-8") || strcasestr(locale, "utf8");
  }
  return false;
}

bool cli_colour(void) {
  const char *none = getenv("NO_COLOR");
  return cli_terminal(STDOUT_FILENO) && !(none && *none);
}

int cli_end(int code) {
  bool before = ferror(stdout); /* then the words were said, or errno is gone */
  if (fflush(stdout) == 0 && !before)
    return code;
  if (code == EXIT_DONE)
    fprintf(stderr, "tempera: cannot write to standard output: %s\n",
            strerror(errno));
  return code == EXIT_DONE ? EXIT_BAD_INPUT : code;
}

int cli_print(char *text) {
  size_t length = strlen(text);
  fputs(text, stdout);
  if (length == 0 || text[length - 1] != '\n')
    fputc('\n', stdout);
  tempera_text_free(text);
  return cli_end(EXIT_DONE);
}

/* ---- ranks --------------------------------------------------------------- */

int cli_ranks_begin(void) {
  static const char *const sizes[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE",
                                      "TEMPERA_RANKS"};
  tempera_error error = {0};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    const char *size = getenv(sizes[i]);
    if (size && atoi(size) > 1)
      return tempera_mpi_begin(&error) == TEMPERA_OK ? EXIT_DONE
                                                     : cli_fail(NULL, &error);
  }
  return EXIT_DONE;
}

/* ---- loading ------------------------------------------------------------ */

static int load_data(cli_input *input) {
  tempera_error error = {0};
  tempera_status status =
      input->data_path
          ? tempera_data_read(input->data_path, &input->data, &error)
          : tempera_data_parse("{}", 2, &input->data, &error);
  return status == TEMPERA_OK ? EXIT_DONE : cli_fail(input->data_path, &error);
}

bool cli_is_program(const char *path) {
  const char *extension = strrchr(path, '.');
  return extension && strcmp(extension, ".stan") == 0;
}

static void show_warnings(const char *path, const tempera_program *program) {
  const char *text;
  for (size_t i = 0; (text = tempera_program_warning(program, i)); i++)
    fprintf(stderr, "%s:%s\n", path, text);
}

/* A place in an error of the model's is a place in the data, once a program
 * has been read. */
static int load_model(cli_input *input) {
  tempera_error error = {0};
  tempera_program *program = NULL;
  bool is_program = cli_is_program(input->model_path);
  if (is_program &&
      tempera_program_read_including(input->model_path, input->include_path,
                                     &program, &error))
    return cli_fail(input->model_path, &error);
  if (is_program && !input->quiet)
    show_warnings(input->model_path, program);
  tempera_status status =
      is_program
          ? tempera_program_load(program, input->data, &input->model, &error)
          : tempera_model_load(input->model_path, input->data, &input->model,
                               &error);
  tempera_program_free(program);
  if (status == TEMPERA_OK)
    return EXIT_DONE;
  bool in_data = error.line > 0 || strstr(error.message, "the data lack");
  cli_fail(in_data && input->data_path ? input->data_path : input->model_path,
           &error);
  if (in_data && !input->data_path)
    fputs("give the data with -d FILE.json\n", stderr);
  return EXIT_BAD_INPUT;
}

int cli_load(cli_input *input) {
  tempera_error error = {0};
  if (input->command.command) {
    int taken = load_data(input);
    return taken == EXIT_DONE ? cli_load_command(input) : taken;
  }
  if (access(input->model_path, R_OK) != 0) {
    snprintf(error.message, sizeof error.message, "cannot open the model: %s",
             strerror(errno));
    return cli_fail(input->model_path, &error);
  }
  int code = load_data(input);
  return code == EXIT_DONE ? load_model(input) : code;
}

void cli_unload(cli_input *input) {
  tempera_model_free(input->model);
  tempera_data_free(input->data);
}

int cli_take_arguments(const cli_arguments *how, int argc, char **argv,
                       void *request) {
  int code;
  opterr = 0;
  while ((code = getopt_long(argc, argv, ":d:h", how->options, NULL)) != -1) {
    if (code == 'h')
      return fputs(how->help, stdout), CLI_HELP_SHOWN;
    int taken = how->take(request, code, argv);
    if (taken != EXIT_DONE)
      return taken;
  }
  return EXIT_DONE;
}

int cli_take_seed(const char *command, uint64_t *seed) {
  char *end = NULL;
  errno = 0;
  *seed = strtoull(optarg, &end, 10);
  bool fine = isdigit((unsigned char)*optarg) && !*end && !errno;
  return fine ? EXIT_DONE
              : cli_usage(command, "--seed %s is no number", optarg);
}
