/* compile.c - runs the system's C compiler on a program's translation, and
 * keeps the result under a name that is a hash of everything it was made of:
 * text, flags, compiler with its version, processor.
 *
 * The compiler is started with an argument vector, never through a shell, and
 * sees nothing of the program but a file of C that we wrote. */
#include "language/load/compile.h"

#include "base/file.h"
#include "base/hash.h"
#include "language/emit/emit.h"
#include "language/load/cache.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static const char *const FLAGS[] = {
    "-std=gnu11",      "-O2",   "-ftree-vectorize", "-march=native",
    "-fno-math-errno", "-fPIC", "-shared",          "-w"};
enum { FLAG_COUNT = sizeof FLAGS / sizeof *FLAGS };

/* ---- translation -------------------------------------------------------- */

/* Is there anything of prelude_vector.h in it? Most programs need not have it
 * compiled. */
static bool has_vectors(const char *program) {
  static const char *const names[] = {"tm_room_left", "tm_cut(", "tm_range(",
                                      "tm_line_of(", "tm_column_of("};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strstr(program, names[i]))
      return true;
  return false;
}

static tempera_status translate(const tempera_program *program, tm_way way,
                                tm_text *text, tempera_error *error) {
  tm_text own = {0};
  tempera_status status = tm_emit_program(program, way, &own, error);
  tm_text_printf(text, "/* translated from %s */\n",
                 "a program in the Stan language");
  tm_text_add(text, tm_prelude_text);
  tm_text_add(text, tm_prelude_scalar_text);
  tm_text_add(text, tm_prelude_tensor_text);
  if (status == TEMPERA_OK && has_vectors(own.data))
    tm_text_add(text, tm_prelude_vector_text);
  if (status == TEMPERA_OK)
    tm_text_add_bytes(text, own.data, own.length);
  tm_text_clear(&own);
  return status == TEMPERA_OK && text->failed ? tm_fail_memory(error) : status;
}

/* Where this library lies when it is a shared one; else false, and programs
 * that need it cannot be linked. */
static bool find_library(char path[PATH_MAX]) {
  Dl_info self;
  if (!dladdr(tm_prelude_text, &self) || !realpath(self.dli_fname, path))
    return false;
  const char *slash = strrchr(path, '/');
  return slash && !strncmp(slash, "/libtempera.so", 14);
}

tempera_status tempera_program_translate(const tempera_program *program,
                                         char **text, tempera_error *error) {
  tm_text out = {0};
  tempera_status status = translate(program, TM_EITHER, &out, error);
  if (status != TEMPERA_OK) {
    tm_text_clear(&out);
    return status;
  }
  *text = out.data;
  return TEMPERA_OK;
}

/* ---- the name ----------------------------------------------------------- */

/* The processor, because of -march=native: caches may be shared by machines. */
static uint64_t hash_processor(uint64_t hash) {
  FILE *file = fopen("/proc/cpuinfo", "r");
  char line[4096];
  while (file && fgets(line, sizeof line, file))
    if (!strncmp(line, "flags", 5) || !strncmp(line, "model name", 10)) {
      hash = tm_hash_bytes(hash, line, strlen(line));
      if (line[0] == 'f')
        break;
    }
  if (file)
    fclose(file);
  return hash;
}

/* The first cc on the PATH, as posix_spawnp finds it; false: none. */
static bool find_compiler(char path[PATH_MAX], struct stat *status) {
  const char *folders = getenv("PATH");
  for (const char *at = folders ? folders : ""; *at;) {
    size_t length = strcspn(at, ":");
    char name[PATH_MAX];
    snprintf(name, sizeof name, "%.*s/cc", (int)length, at);
    if (access(name, X_OK) == 0 && realpath(name, path) &&
        stat(path, status) == 0)
      return true;
    at += length + (at[length] == ':');
  }
  return false;
}

/* The compiler and its version: its real path (gcc-12), size and date, which
 * an upgrade changes; asking it would take longer than loading a program. */
static uint64_t hash_compiler(uint64_t hash) {
  char path[PATH_MAX];
  struct stat status;
  if (!find_compiler(path, &status))
    return hash;
  const int64_t facts[] = {status.st_size, status.st_mtim.tv_sec,
                           status.st_mtim.tv_nsec};
  hash = tm_hash_bytes(hash, path, strlen(path));
  return tm_hash_bytes(hash, facts, sizeof facts);
}

static void name_of(const tm_text *text, char out[40]) {
  uint64_t a = hash_compiler(hash_processor(TM_HASH_START));
  for (size_t i = 0; i < FLAG_COUNT; i++)
    a = tm_hash_bytes(a, FLAGS[i], strlen(FLAGS[i]) + 1);
  uint64_t b = a ^ 0x9e3779b97f4a7c15ull;
  a = tm_hash_bytes(a, text->data, text->length);
  for (size_t i = text->length; i-- > 0;)
    b = (b ^ (unsigned char)text->data[i]) * 0x100000001b3ull;
  snprintf(out, 40, "%016llx%016llx", (unsigned long long)a,
           (unsigned long long)b);
}

/* ---- running the compiler ----------------------------------------------- */

/* The first lines of what the compiler wrote. */
static void read_log(const char *path, char *out, size_t size) {
  FILE *file = fopen(path, "r");
  size_t n = file ? fread(out, 1, size - 1, file) : 0;
  out[n] = '\0';
  if (file)
    fclose(file);
}

/* Arguments for a library that calls ours, found where it lies now or beside
 * the program's; -Xlinker, so that commas in folders do no harm. */
static size_t link_to(const char *ours, char folder[PATH_MAX],
                      const char **arguments) {
  snprintf(folder, PATH_MAX, "%.*s", (int)(strrchr(ours, '/') - ours), ours);
  const char *const list[] = {"-x",     "none",     ours,     "-Xlinker",
                              "-rpath", "-Xlinker", folder,   "-Xlinker",
                              "-rpath", "-Xlinker", "$ORIGIN"};
  size_t count = sizeof list / sizeof *list;
  memcpy(arguments, list, sizeof list);
  return count;
}

/* `ours`: the shared library to link to, or NULL. */
static tempera_status run_compiler(const char *source, const char *library,
                                   const char *log, const char *ours,
                                   tempera_error *error) {
  const char *arguments[FLAG_COUNT + 24] = {"cc"};
  char folder[PATH_MAX];
  size_t n = 1;
  for (size_t i = 0; i < FLAG_COUNT; i++)
    arguments[n++] = FLAGS[i];
  const char *const rest[] = {"-x", "c", source, "-o", library, "-lm"};
  for (size_t i = 0; i < 6; i++)
    arguments[n++] = rest[i];
  if (ours)
    n += link_to(ours, folder, arguments + n);
  posix_spawn_file_actions_t actions;
  if (posix_spawn_file_actions_init(&actions) != 0)
    return tm_fail_memory(error);
  posix_spawn_file_actions_addopen(&actions, 2, log,
                                   O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  pid_t child;
  int failed = posix_spawnp(&child, "cc", &actions, NULL,
                            (char *const *)(uintptr_t)arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed)
    return tm_fail(error, TEMPERA_ERROR_IO,
                   "cannot run the C compiler cc: %s; install gcc",
                   strerror(failed));
  int answer = 0;
  while (waitpid(child, &answer, 0) < 0 && errno == EINTR)
    continue;
  if (WIFEXITED(answer) && WEXITSTATUS(answer) == 0)
    return TEMPERA_OK;
  char words[360];
  read_log(log, words, sizeof words);
  return tm_fail(error, TEMPERA_ERROR_IO,
                 "the C compiler refused the translation (a bug of ours): %s",
                 words);
}

/* Build beside and rename, so that others see all or nothing. */
static tempera_status build(const tm_text *text, const char *stem,
                            const char *library, const char *ours,
                            tempera_error *error) {
  char source[4200], made[4200], log[4200];
  long self = (long)getpid();
  const char *here = stem[0] == '/' ? "" : "./"; /* never seen as an option */
  snprintf(source, sizeof source, "%s%s.%ld.c", here, stem, self);
  snprintf(made, sizeof made, "%s%s.%ld.so", here, stem, self);
  snprintf(log, sizeof log, "%s%s.%ld.log", here, stem, self);
  tempera_status status =
      tm_file_replace(source, text->data, text->length, error);
  if (status == TEMPERA_OK)
    status = run_compiler(source, made, log, ours, error);
  if (status == TEMPERA_OK && !ours)
    status = tm_cache_seal(made, error);
  if (status == TEMPERA_OK && rename(made, library) != 0)
    status = tm_fail(error, TEMPERA_ERROR_IO, "cannot write %s: %s", library,
                     strerror(errno));
  unlink(log);
  unlink(made);
  unlink(source);
  return status;
}

static tempera_status build_cached(const tm_text *text, char **path,
                                   tempera_error *error) {
  char *folder = NULL, name[40], stem[4000], library[4010];
  TM_TRY(tm_cache_folder(&folder, error));
  name_of(text, name);
  snprintf(stem, sizeof stem, "%s/%s", folder, name);
  snprintf(library, sizeof library, "%s.so", stem);
  tm_heap_free(folder);
  if (!tm_cache_sound(library))
    TM_TRY(build(text, stem, library, NULL, error));
  *path = tm_heap_text(library);
  return *path ? TEMPERA_OK : tm_fail_memory(error);
}

tempera_status tm_compile(const tempera_program *program, tm_way way,
                          char **path, tempera_error *error) {
  tm_text text = {0};
  tempera_status status = translate(program, way, &text, error);
  if (status == TEMPERA_OK)
    status = build_cached(&text, path, error);
  tm_text_clear(&text);
  return status;
}

/* A library that stands alone. */
static tempera_status compile_to(const tempera_program *program,
                                 const char *output, char **path,
                                 tempera_error *error) {
  tm_text text = {0};
  char ours[PATH_MAX];
  bool shared = find_library(ours);
  tempera_status status = translate(program, TM_EITHER, &text, error);
  if (status == TEMPERA_OK && shared) { /* its functions call the library */
    tm_text_add(&text, tm_bridgestan_text);
    tm_text_add(&text, tm_bridgestan_stubs_text);
  }
  if (status == TEMPERA_OK)
    status = text.failed
                 ? tm_fail_memory(error)
                 : build(&text, output, output, shared ? ours : NULL, error);
  tm_text_clear(&text);
  char *made = status == TEMPERA_OK ? tm_heap_text(output) : NULL;
  if (status == TEMPERA_OK && !made)
    return tm_fail_memory(error);
  if (made)
    *path = made;
  return status;
}

tempera_status tempera_program_compile(const tempera_program *program,
                                       const char *output, char **path,
                                       tempera_error *error) {
  return output ? compile_to(program, output, path, error)
                : tm_compile(program, TM_EITHER, path, error);
}
