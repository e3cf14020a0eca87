/* program.c - from a file to a checked program: the public door of the
 * language's front end. */
#include "language/program.h"

#include "base/file.h"
#include "language/check/check.h"
#include "language/emit/emit.h"
#include "language/emit/find_rows.h"
#include "language/emit/hoist.h"
#include "language/emit/powers.h"
#include "language/read/own_functions.h"

#include <string.h>

static tempera_status front_end(tempera_program *p, const char *text,
                                size_t length) {
  TM_TRY(tm_add_own_functions(p->arena, &text, &length, p->tree.source.error));
  TM_TRY(tm_source_read(&p->tree.source, text, length));
  TM_TRY(tm_parse(&p->tree));
  TM_TRY(tm_check(&p->tree));
  TM_TRY(tm_split_program(&p->tree, &p->split));
  TM_TRY(tm_hoist(&p->tree));
  TM_TRY(tm_powers_find(&p->tree));
  return tm_rows_find(&p->tree);
}

static char *model_name(tm_arena *arena, const char *path) {
  const char *slash = strrchr(path, '/');
  char *name = tm_arena_text(arena, slash ? slash + 1 : path);
  char *dot = name ? strrchr(name, '.') : NULL;
  if (dot)
    *dot = '\0';
  return name;
}

static tempera_status parse(const char *name, const char *include_path,
                            const char *text, size_t length,
                            tempera_program **program, tempera_error *error) {
  tm_arena *arena;
  tempera_program *p = TM_BEGIN(&arena, tempera_program);
  if (!p)
    return tm_fail_memory(error);
  p->arena = arena;
  p->tree.source.arena = arena;
  tempera_error ignored;
  p->tree.source.error = error ? error : &ignored;
  p->tree.source.name = tm_arena_text(arena, name);
  p->tree.source.include_path = include_path;
  p->name = model_name(arena, name);
  tempera_status status = p->name && p->tree.source.name
                              ? front_end(p, text, length)
                              : tm_fail_memory(error);
  p->tree.source.error = NULL; /* the caller's; not ours to keep */
  p->tree.source.include_path = NULL;
  if (status != TEMPERA_OK)
    tm_arena_free(arena);
  else
    *program = p;
  return status;
}

tempera_status tempera_program_parse(const char *name, const char *text,
                                     size_t length, tempera_program **program,
                                     tempera_error *error) {
  return parse(name, NULL, text, length, program, error);
}

tempera_status tempera_program_read(const char *path, tempera_program **program,
                                    tempera_error *error) {
  return tempera_program_read_including(path, NULL, program, error);
}

tempera_status tempera_program_read_including(const char *path,
                                              const char *include_path,
                                              tempera_program **program,
                                              tempera_error *error) {
  char *text = NULL;
  size_t length = 0;
  TM_TRY(tm_file_read(path, &text, &length, error));
  tempera_status status =
      parse(path, include_path, text, length, program, error);
  tm_heap_free(text);
  return status;
}

void tempera_program_free(tempera_program *program) {
  if (program)
    tm_arena_free(program->arena);
}

tempera_status tempera_program_describe(const tempera_program *program,
                                        char **text, tempera_error *error) {
  tm_text out = {0};
  tm_describe(&program->split, &out);
  tm_describe_predictive(program, &out);
  return tm_text_give(&out, text, error);
}

const char *tempera_program_warning(const tempera_program *program,
                                    size_t index) {
  return index < program->tree.warnings.count
             ? program->tree.warnings.items[index]
             : NULL;
}

bool tempera_program_proper(const tempera_program *program) {
  return program->split.proper;
}
