/* check_tuple.c - tuples. A declared tuple is a name for its items, each a
 * variable of its own, and an array of tuples is a tuple of arrays: so names,
 * indices and projections of them become those of the items here, and an
 * assignment becomes one for each item. What is left are the values that
 * functions take and return. */
#include "language/check/check.h"

#include <stdio.h>
#include <string.h>

static tm_expression *new_expression(tm_checker *c, tm_expression_kind kind,
                                     const tm_token *token, size_t parts) {
  tm_expression *e = TM_NEW(c->arena, tm_expression, 1);
  tm_expression **list = TM_NEW(c->arena, tm_expression *, parts + 1);
  if (!e || !list)
    return NULL;
  *e = (tm_expression){.kind = kind,
                       .token = token,
                       .text = token->text,
                       .parts = list,
                       .part_count = parts};
  return e;
}

/* Item k of a checked tuple: the part itself where it can be seen. */
tm_expression *tm_item_of(tm_checker *c, tm_expression *tuple, size_t k) {
  if (tuple->kind == TM_E_TUPLE)
    return tuple->parts[k];
  tm_expression *e = new_expression(c, TM_E_PROJECT, tuple->token, 1);
  if (e) {
    e->parts[0] = tuple;
    e->whole = (int64_t)k + 1;
  }
  return e;
}

tempera_status tm_check_tuple(tm_checker *c, tm_expression *e) {
  if (e->type.tuple)
    return TEMPERA_OK; /* it was looked at before */
  tm_tuple *tuple = TM_NEW(c->arena, tm_tuple, 1);
  tm_type *items = TM_NEW(c->arena, tm_type, e->part_count);
  if (!tuple || !items)
    return tm_fail_memory(c->source->error);
  *tuple = (tm_tuple){e->part_count, items};
  for (size_t i = 0; i < e->part_count; i++)
    items[i] = e->parts[i]->type;
  e->type = (tm_type){.base = TM_TUPLE, .tuple = tuple};
  return TEMPERA_OK;
}

tempera_status tm_check_items(tm_checker *c, tm_expression *e,
                              const tm_variable *v) {
  size_t count = v->type.tuple->count;
  tm_expression *made = new_expression(c, TM_E_TUPLE, e->token, count);
  if (!made)
    return tm_fail_memory(c->source->error);
  for (size_t i = 0; i < count; i++) {
    made->parts[i] = new_expression(c, TM_E_NAME, e->token, 0);
    if (!made->parts[i])
      return tm_fail_memory(c->source->error);
    made->parts[i]->text = v->items[i]->name;
  }
  *e = *made;
  for (size_t i = 0; i < count; i++) {
    TM_TRY(tm_check_expression(c, e->parts[i]));
    e->level = e->parts[i]->level;
  }
  e->type = v->type;
  return TEMPERA_OK;
}

tempera_status tm_check_project(tm_checker *c, tm_expression *e) {
  tm_type type = e->parts[0]->type;
  char name[TM_TYPE_NAME];
  if (type.base != TM_TUPLE)
    return tm_complain(
        c->source, e->token, ".%lld picks an item of a tuple, this is %s",
        (long long)e->whole, tm_type_name(type, name, sizeof name));
  if (e->whole < 1 || (size_t)e->whole > type.tuple->count)
    return tm_complain(c->source, e->token,
                       "this tuple has items 1 to %zu, not %lld",
                       type.tuple->count, (long long)e->whole);
  size_t k = (size_t)e->whole - 1;
  if (e->parts[0]->kind == TM_E_TUPLE) {
    *e = *e->parts[0]->parts[k];
    return TEMPERA_OK;
  }
  tm_type item = type.tuple->items[k];
  e->type = tm_type_at(item, item.depth + type.depth);
  return TEMPERA_OK;
}

tempera_status tm_check_tuple_index(tm_checker *c, tm_expression *e) {
  tm_expression *base = e->parts[0];
  tm_type type = base->type;
  if (e->index_count > (size_t)type.depth)
    return tm_complain(c->source, e->token,
                       "this array of tuples takes %d indices, not %zu; an "
                       "item is picked by .1",
                       type.depth, e->index_count);
  tm_expression *made =
      new_expression(c, TM_E_TUPLE, e->token, type.tuple->count);
  if (!made)
    return tm_fail_memory(c->source->error);
  for (size_t i = 0; i < type.tuple->count; i++) {
    tm_expression *part = new_expression(c, TM_E_INDEX, e->token, 1);
    tm_expression *item = tm_item_of(c, base, i);
    if (!part || !item)
      return tm_fail_memory(c->source->error);
    part->parts[0] = item;
    part->indices = e->indices;
    part->index_count = e->index_count;
    made->parts[i] = part;
  }
  *e = *made;
  int depth = type.depth;
  for (size_t i = 0; i < e->part_count; i++) {
    TM_TRY(tm_check_expression(c, e->parts[i]));
    if (e->parts[i]->level > e->level)
      e->level = e->parts[i]->level;
    depth = e->parts[i]->type.depth - type.tuple->items[i].depth;
  }
  e->type = tm_type_at(type, depth);
  return TEMPERA_OK;
}

/* {(a, b), (c, d)} is ({a, c}, {b, d}). */
tempera_status tm_check_tuple_array(tm_checker *c, tm_expression *e,
                                    tm_type each) {
  tm_expression *made =
      new_expression(c, TM_E_TUPLE, e->token, each.tuple->count);
  if (!made)
    return tm_fail_memory(c->source->error);
  for (size_t k = 0; k < made->part_count; k++) {
    tm_expression *array =
        new_expression(c, TM_E_ARRAY, e->token, e->part_count);
    if (!array)
      return tm_fail_memory(c->source->error);
    for (size_t i = 0; i < e->part_count; i++)
      if (!(array->parts[i] = tm_item_of(c, e->parts[i], k)))
        return tm_fail_memory(c->source->error);
    made->parts[k] = array;
    TM_TRY(tm_check_expression(c, array));
  }
  made->level = e->level;
  made->type = tm_type_at(each, each.depth + 1);
  *e = *made;
  return TEMPERA_OK;
}

/* ---- functions that return tuples --------------------------------------- */

static const char *const RETURNING[][4] = {
    {"eigendecompose_sym", "eigenvectors_sym", "eigenvalues_sym"},
    {"eigendecompose", "eigenvectors", "eigenvalues"},
    {"complex_schur_decompose", "complex_schur_decompose_u",
     "complex_schur_decompose_t"},
    {"qr", "qr_Q", "qr_R"},
    {"qr_thin", "qr_thin_Q", "qr_thin_R"},
    {"svd", "svd_U", "singular_values", "svd_V"},
    {"csr_extract", "csr_extract_w", "csr_extract_v", "csr_extract_u"}};

/* Each item has a function of its own. */
tempera_status tm_check_returning(tm_checker *c, tm_expression *e,
                                  bool *found) {
  *found = false;
  for (size_t i = 0; i < sizeof RETURNING / sizeof *RETURNING; i++) {
    if (strcmp(RETURNING[i][0], e->text))
      continue;
    size_t count = RETURNING[i][3] ? 3 : 2;
    tm_expression *made = new_expression(c, TM_E_TUPLE, e->token, count);
    if (!made)
      return tm_fail_memory(c->source->error);
    for (size_t k = 0; k < count; k++) {
      tm_expression *call = new_expression(c, TM_E_CALL, e->token, 0);
      if (!call)
        return tm_fail_memory(c->source->error);
      call->text = RETURNING[i][k + 1];
      call->parts = e->parts;
      call->part_count = e->part_count;
      made->parts[k] = call;
    }
    *e = *made;
    *found = true;
    return tm_check_expression(c, e);
  }
  return TEMPERA_OK;
}

/* size(array of tuples) is that of any item. */
tempera_status tm_check_tuple_sizes(tm_checker *c, tm_expression *e) {
  static const char *const sizes[] = {"size", "num_elements", "dims"};
  for (size_t i = 0; e->part_count == 1 && i < 3; i++)
    if (!strcmp(e->text, sizes[i]) && e->parts[0]->type.base == TM_TUPLE &&
        e->parts[0]->type.depth > 0) {
      tm_expression **parts = TM_NEW(c->arena, tm_expression *, 1);
      tm_expression *item = tm_item_of(c, e->parts[0], 0);
      if (!parts || !item)
        return tm_fail_memory(c->source->error);
      parts[0] = item;
      e->parts = parts;
      return tm_check_expression(c, item);
    }
  return TEMPERA_OK;
}

/* ---- statements ---------------------------------------------------------- */

static tm_variable *temporary(tm_checker *c, const tm_token *token,
                              tm_expression *value) {
  tm_variable *v = TM_NEW(c->arena, tm_variable, 1);
  char *name = TM_NEW(c->arena, char, 24);
  if (!v || !name)
    return NULL;
  int index = c->program->variable_count++;
  snprintf(name, 24, "tuple%d__", index);
  *v = (tm_variable){.name = name,
                     .token = token,
                     .type = value->type,
                     .initial = value,
                     .block = c->block,
                     .index = index};
  return v;
}

static tm_expression *named_item(tm_checker *c, const tm_variable *v,
                                 const tm_token *token, size_t k) {
  tm_expression *name = new_expression(c, TM_E_NAME, token, 0);
  if (!name)
    return NULL;
  name->text = v->name;
  return tm_item_of(c, name, k);
}

/* left = value becomes { tuple = value; left.1 = tuple.1; ... }. */
tempera_status tm_assign_items(tm_checker *c, tm_statement *s) {
  size_t count = s->left->part_count;
  if (s->left->kind != TM_E_TUPLE)
    return tm_complain(c->source, s->token, "this tuple cannot be assigned");
  if (s->value->type.base != TM_TUPLE || s->value->type.tuple->count != count ||
      s->value->type.depth != s->left->type.depth)
    return tm_complain(c->source, s->token,
                       "the left side is a tuple of %zu items, the value is "
                       "not",
                       count);
  tm_statement **body = TM_NEW(c->arena, tm_statement *, count + 1);
  tm_statement *made = TM_NEW(c->arena, tm_statement, count + 1);
  tm_variable *v = temporary(c, s->token, s->value);
  if (!body || !made || !v)
    return tm_fail_memory(c->source->error);
  for (size_t i = 0; i <= count; i++) {
    body[i] = &made[i];
    made[i] = (tm_statement){.token = s->token, .last = s->last};
  }
  made[0].kind = TM_S_DECLARE;
  made[0].variable = v;
  for (size_t i = 0; i < count; i++) {
    made[i + 1].kind = TM_S_ASSIGN;
    made[i + 1].op = "=";
    made[i + 1].left = s->left->parts[i];
    made[i + 1].value = named_item(c, v, s->token, i);
    if (!made[i + 1].value)
      return tm_fail_memory(c->source->error);
  }
  *s = (tm_statement){.kind = TM_S_BLOCK,
                      .token = s->token,
                      .last = s->last,
                      .body = body,
                      .body_count = count + 1};
  return TEMPERA_OK;
}

static tm_expression *text_of(tm_checker *c, const char *quoted) {
  tm_token *token = TM_NEW(c->arena, tm_token, 1);
  if (!token)
    return NULL;
  *token = (tm_token){
      .kind = TM_TOKEN_STRING, .length = strlen(quoted), .text = quoted};
  tm_expression *e = new_expression(c, TM_E_STRING, token, 0);
  if (e)
    e->type = tm_type_of(TM_STRING, 0);
  return e;
}

static tempera_status add_printed(tm_checker *c, tm_expression *e,
                                  tm_list *list) {
  if (e->type.base != TM_TUPLE)
    return tm_list_add(c->arena, list, e) ? TEMPERA_OK
                                          : tm_fail_memory(c->source->error);
  for (size_t i = 0; i < e->type.tuple->count; i++) {
    tm_expression *before = text_of(c, i ? "\",\"" : "\"(\"");
    tm_expression *item = tm_item_of(c, e, i);
    if (!before || !item || !tm_list_add(c->arena, list, before))
      return tm_fail_memory(c->source->error);
    TM_TRY(tm_check_expression(c, item));
    TM_TRY(add_printed(c, item, list));
  }
  tm_expression *after = text_of(c, "\")\"");
  return after && tm_list_add(c->arena, list, after)
             ? TEMPERA_OK
             : tm_fail_memory(c->source->error);
}

tempera_status tm_print_items(tm_checker *c, tm_statement *s) {
  tm_list list = {0};
  for (size_t i = 0; i < s->argument_count; i++)
    TM_TRY(add_printed(c, s->arguments[i], &list));
  s->arguments = (tm_expression **)list.items;
  s->argument_count = list.count;
  return TEMPERA_OK;
}

tm_expression *tm_copy_path(tm_checker *c, const tm_expression *e,
                            const tm_token *token) {
  if (e->kind != TM_E_NAME && e->kind != TM_E_PROJECT)
    return NULL;
  tm_expression *made = new_expression(c, e->kind, token, e->part_count);
  if (!made)
    return NULL;
  made->text = e->text;
  made->whole = e->whole;
  if (e->part_count)
    made->parts[0] = tm_copy_path(c, e->parts[0], token);
  return e->part_count && !made->parts[0] ? NULL : made;
}

/* How many tuples there are: as declared where that is plain to see, so that
 * all of them are seen to be covered; else size(ts). */
static tm_expression *count_tuples(tm_checker *c, const tm_expression *tuples,
                                   const tm_expression *path) {
  const tm_expression *item =
      tuples->kind == TM_E_TUPLE ? tm_root(tuples->parts[0]) : NULL;
  const tm_variable *v = item ? item->variable : NULL;
  tm_expression *made = TM_NEW(c->arena, tm_expression, 1);
  if (!made)
    return NULL;
  if (v && v->size_count && v->sizes[0]->part_count == 0 &&
      item == tuples->parts[0]) {
    *made = *v->sizes[0];
    return made;
  }
  tm_expression *of = tm_copy_path(c, path, tuples->token);
  tm_expression *size =
      of ? tm_call_of(c, tuples->token, "size", of, NULL, 0) : NULL;
  if (size)
    size->bar = false;
  return size;
}

tempera_status tm_loop_over_tuples(tm_checker *c, tm_statement *s,
                                   const tm_expression *path) {
  const tm_token *token = s->lower->token;
  tm_variable *each = s->variable, *at = TM_NEW(c->arena, tm_variable, 1);
  const char *at_name = tm_joined(c, each->name, strlen(each->name), "__at");
  tm_expression *from = TM_NEW(c->arena, tm_expression, 1);
  tm_expression *to = count_tuples(c, s->lower, path);
  if (!at || !at_name || !from || !to)
    return tm_fail_memory(c->source->error);
  *from = (tm_expression){
      .kind = TM_E_INT, .token = token, .text = "1", .whole = 1, .number = 1};
  *at = *each;
  at->name = at_name;
  at->index = c->program->variable_count++;
  each->of = path;
  each->at = at_name;
  s->kind = TM_S_FOR;
  s->variable = at;
  s->lower = from;
  s->upper = to;
  return TEMPERA_OK;
}

tempera_status tm_hold_tuples(tm_checker *c, tm_statement *s) {
  tm_variable *v = temporary(c, s->token, s->lower);
  tm_statement *made = TM_NEW(c->arena, tm_statement, 2);
  tm_statement **body = TM_NEW(c->arena, tm_statement *, 2);
  tm_expression *name = new_expression(c, TM_E_NAME, s->lower->token, 0);
  if (!v || !made || !body || !name)
    return tm_fail_memory(c->source->error);
  name->text = v->name;
  body[0] = &made[0];
  body[1] = &made[1];
  made[0] = (tm_statement){
      .kind = TM_S_DECLARE, .token = s->token, .last = s->token, .variable = v};
  made[1] = *s;
  made[1].lower = name;
  *s = (tm_statement){.kind = TM_S_BLOCK,
                      .token = s->token,
                      .last = s->last,
                      .body = body,
                      .body_count = 2};
  return TEMPERA_OK;
}
