/* depend.c - what values depend on: data (by value or only by index) and
 * parameters, followed through locals, transformed data and transformed
 * parameters to a fixed point. A value also depends on the parameters in the
 * conditions and loops under which it is assigned, and in the indices that say
 * where: counts of latent labels depend on the labels. */
#include "language/check/split.h"
#include "language/check/term.h"

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

bool tm_chooses_by_data(const tm_split *split, const tm_expression *e) {
  const tm_expression *root = tm_root(e);
  const tm_variable *v = root->kind == TM_E_NAME ? root->variable : NULL;
  bool chosen = v && v->block == TM_BLOCK_PARAMETERS &&
                v->constraint == TM_SIMPLEX && e->kind == TM_E_INDEX &&
                tm_is_scalar(e->type) && e->index_count > 0;
  const tm_expression *last =
      chosen ? e->indices[e->index_count - 1].from : NULL;
  return last && tm_depends(split, last).data == TM_DATA_VALUE;
}

static tm_dependence call_depends(const tm_split *split,
                                  const tm_expression *e) {
  tm_dependence d = {0};
  if (is_size_function(e->text))
    return d;
  /* log(p[y]) is categorical(y | p): what was chosen is an outcome. */
  if (!strcmp(e->text, "log") && e->builtin &&
      tm_chooses_by_data(split, e->parts[0]))
    d.data = TM_DATA_VALUE;
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

/* ---- through statements ------------------------------------------------- */

/* Under which conditions a statement stands. */
typedef struct circumstances {
  bool data; /* a condition on data's values */
  tm_dependence control;
} circumstances;

typedef struct follower {
  tm_split *split;
  bool changed;
} follower;

static void follow(follower *f, tm_statement *st, circumstances c);

static void follow_all(follower *f, tm_statement *const *body, size_t count,
                       circumstances c) {
  for (size_t i = 0; i < count; i++)
    follow(f, body[i], c);
}

/* Only parameters are passed on by conditions; data are by `data`. */
static void join_control(tm_dependence *d, const tm_dependence *control) {
  tm_dependence parameters = *control;
  if (!parameters.parameters)
    return;
  parameters.data = TM_NO_DATA;
  parameters.mixed = true;
  join(d, &parameters);
}

static void raise_variable(follower *f, const tm_variable *v,
                           tm_dependence more, const circumstances *c) {
  tm_dependence *d = &f->split->variables[v->index], before = *d;
  if (c->data)
    more.data = TM_DATA_VALUE;
  join_control(&more, &c->control);
  join(d, &more);
  f->changed = f->changed || memcmp(&before, d, sizeof before) != 0;
}

/* left[i] = value: where it goes depends on i. */
static tm_dependence place_depends(const tm_split *split,
                                   const tm_expression *left) {
  tm_dependence d = {0};
  for (; left->kind == TM_E_INDEX || left->kind == TM_E_PROJECT;
       left = left->parts[0])
    for (size_t i = 0; i < left->index_count; i++) {
      join_index(split, &d, left->indices[i].from);
      join_index(split, &d, left->indices[i].to);
    }
  d.mixed = d.parameters;
  return d;
}

static void follow_assignment(follower *f, const tm_statement *st,
                              const circumstances *c) {
  tm_dependence d = tm_depends(f->split, st->value);
  tm_dependence place = place_depends(f->split, st->left);
  join(&d, &place);
  raise_variable(f, tm_root(st->left)->variable, d, c);
}

static void follow_condition(follower *f, const tm_statement *st,
                             circumstances c) {
  tm_dependence d = tm_depends(f->split, st->value);
  c.data = c.data || d.data == TM_DATA_VALUE;
  join_control(&c.control, &d);
  follow_all(f, st->body, st->body_count, c);
  if (st->otherwise)
    follow(f, st->otherwise, c);
}

static void follow_for(follower *f, const tm_statement *st, circumstances c) {
  tm_dependence bounds = {0}, parameters = {0};
  join_index(f->split, &bounds, st->lower);
  join_index(f->split, &bounds, st->upper);
  join_control(&parameters, &bounds);
  raise_variable(f, st->variable, parameters, &(circumstances){0});
  join_control(&c.control, &bounds);
  follow_all(f, st->body, st->body_count, c);
}

static void follow(follower *f, tm_statement *st, circumstances c) {
  switch (st->kind) {
  case TM_S_BLOCK:
    follow_all(f, st->body, st->body_count, c);
    break;
  case TM_S_FOR:
    follow_for(f, st, c);
    break;
  case TM_S_FOREACH:
    raise_variable(f, st->variable, tm_depends(f->split, st->lower),
                   &(circumstances){0});
    follow_all(f, st->body, st->body_count, c);
    break;
  case TM_S_DECLARE:
    if (st->variable->initial)
      raise_variable(f, st->variable,
                     tm_depends(f->split, st->variable->initial), &c);
    break;
  case TM_S_ASSIGN:
    follow_assignment(f, st, &c);
    break;
  case TM_S_IF:
  case TM_S_WHILE:
    follow_condition(f, st, c);
    break;
  default:
    break;
  }
}

bool tm_follow(tm_split *split, tm_statement *const *body, size_t count) {
  follower f = {.split = split};
  follow_all(&f, body, count, (circumstances){0});
  return f.changed;
}
