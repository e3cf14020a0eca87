/* depend.c - what values depend on: data (by value or only by index) and
 * parameters, followed through locals, transformed data and transformed
 * parameters to a fixed point. */
#include "language/check/split.h"

#include <string.h>

static void join(tm_dependence *a, const tm_dependence *b) {
  if (b->data > a->data)
    a->data = b->data;
  a->parameters = a->parameters || b->parameters;
  a->mixed = a->mixed || b->mixed;
  for (int i = 0; i < TM_MASK_WORDS; i++)
    a->mask[i] |= b->mask[i];
}

static void join_part(const tm_split *split, tm_dependence *d,
                      const tm_expression *e) {
  tm_dependence more = tm_depends(split, e);
  join(d, &more);
}

/* Data in an index choose an element; they are not a value. */
static void join_index(const tm_split *split, tm_dependence *d,
                       const tm_expression *e) {
  if (!e)
    return;
  tm_dependence more = tm_depends(split, e);
  if (more.data == TM_DATA_VALUE)
    more.data = TM_DATA_INDEX;
  join(d, &more);
}

static bool is_size_function(const char *name) {
  static const char *const names[] = {"rows", "cols", "size", "num_elements",
                                      "dims"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (!strcmp(names[i], name))
      return true;
  return false;
}

static tm_dependence call_depends(const tm_split *split,
                                  const tm_expression *e) {
  tm_dependence d = {0};
  if (is_size_function(e->text))
    return d;
  for (size_t i = 0; i < e->part_count; i++) {
    const tm_expression *part = e->parts[i];
    bool size = part->type.base == TM_INT && part->type.depth == 0;
    bool ours = e->builtin && e->builtin->kind == TM_B_FIXED && i > 0 &&
                !strstr(e->text, "_lp");
    if (size && ours)
      join_index(split, &d, part); /* sizes and positions */
    else
      join_part(split, &d, part);
  }
  return d;
}

/* Does e only pick, stack or turn values? */
static bool copies(const tm_expression *e) {
  switch (e->kind) {
  case TM_E_INDEX:
  case TM_E_TRANSPOSE:
  case TM_E_ARRAY:
  case TM_E_ROW_VECTOR:
    return true;
  case TM_E_CALL:
    return !strncmp(e->text, "append_", 7) || !strncmp(e->text, "to_", 3);
  default:
    return false;
  }
}

static tm_dependence parts_depend(const tm_split *split,
                                  const tm_expression *e);

tm_dependence tm_depends(const tm_split *split, const tm_expression *e) {
  tm_dependence d = parts_depend(split, e);
  if (e->kind != TM_E_NAME && d.parameters && !copies(e))
    d.mixed = true;
  return d;
}

static tm_dependence parts_depend(const tm_split *split,
                                  const tm_expression *e) {
  tm_dependence d = {0};
  if (e->kind == TM_E_NAME)
    return split->variables[e->variable->index];
  if (e->kind == TM_E_CALL)
    return call_depends(split, e);
  for (size_t i = 0; i < e->part_count; i++)
    join_part(split, &d, e->parts[i]);
  for (size_t i = 0; i < e->index_count; i++) {
    join_index(split, &d, e->indices[i].from);
    join_index(split, &d, e->indices[i].to);
  }
  return d;
}
