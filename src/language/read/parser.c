/* parser.c - the program's blocks, and the helpers of all parser files. */
#include "language/read/parser.h"

#include <stdio.h>
#include <string.h>

const char *const tm_block_names[TM_BLOCK_COUNT] = {"functions",
                                                    "data",
                                                    "transformed data",
                                                    "parameters",
                                                    "transformed parameters",
                                                    "model",
                                                    "generated quantities"};

bool tm_list_add(tm_arena *arena, tm_list *list, void *item) {
  if (list->count == list->capacity) {
    size_t more = list->capacity ? 2 * list->capacity : 8;
    void **items = TM_NEW(arena, void *, more);
    if (!items)
      return false;
    if (list->count)
      memcpy(items, list->items, list->count * sizeof *items);
    list->items = items;
    list->capacity = more;
  }
  list->items[list->count++] = item;
  return true;
}

const tm_token *tm_peek(const tm_parser *p) {
  return &p->source->tokens[p->at];
}

static bool matches(const tm_token *token, const char *text) {
  return (token->kind == TM_TOKEN_NAME ||
          token->kind == TM_TOKEN_PUNCTUATION) &&
         !strcmp(token->text, text);
}

bool tm_is(const tm_parser *p, const char *text) {
  return matches(tm_peek(p), text);
}

bool tm_is_ahead(const tm_parser *p, size_t ahead, const char *text) {
  size_t at = p->at + ahead;
  return at < p->source->token_count && matches(&p->source->tokens[at], text);
}

bool tm_accept(tm_parser *p, const char *text) {
  if (!tm_is(p, text))
    return false;
  p->at++;
  return true;
}

static const char *shown(const tm_token *token, char *buffer, size_t size) {
  if (token->kind == TM_TOKEN_END)
    return "the end of the file";
  snprintf(buffer, size, "'%s'", token->text);
  return buffer;
}

bool tm_unexpected(tm_parser *p, const char *wanted) {
  char found[64];
  (void)tm_complain(p->source, tm_peek(p), "expected %s, found %s", wanted,
                    shown(tm_peek(p), found, sizeof found));
  return false;
}

bool tm_expect(tm_parser *p, const char *text, const char *after) {
  if (tm_accept(p, text))
    return true;
  char wanted[160];
  snprintf(wanted, sizeof wanted, "'%s' %s", text, after);
  /* A forgotten ; belongs to the end of the line before. */
  if (!strcmp(text, ";") && p->at > 0 &&
      tm_peek(p)->file == p->source->tokens[p->at - 1].file &&
      tm_peek(p)->line > p->source->tokens[p->at - 1].line) {
    const tm_token *before = &p->source->tokens[p->at - 1];
    (void)tm_complain_at(p->source, before->file, before->line,
                         before->column + (int)before->length, "expected %s",
                         wanted);
    return false;
  }
  return tm_unexpected(p, wanted);
}

bool tm_deeper(tm_parser *p) {
  if (++p->depth <= TM_DEEPEST)
    return true;
  (void)tm_complain(p->source, tm_peek(p),
                    "this is nested more than %d levels deep", TM_DEEPEST);
  return false;
}

void *tm_parser_alloc(tm_parser *p, size_t size) {
  void *memory = tm_arena_alloc(p->arena, 1, size);
  if (!memory)
    (void)tm_fail_memory(p->source->error);
  return memory;
}

static bool functions_block(tm_parser *p) {
  tm_list functions = {0};
  while (!tm_is(p, "}")) {
    if (tm_peek(p)->kind == TM_TOKEN_END)
      return tm_unexpected(p, "a function or '}'");
    tm_function *function = tm_parse_function(p);
    if (!function)
      return false;
    function->index = (int)functions.count;
    if (!tm_list_add(p->arena, &functions, function))
      return false;
  }
  p->program->functions = (tm_function **)functions.items;
  p->program->function_count = functions.count;
  return tm_expect(p, "}", "to end the block");
}

static bool may_hold_statements(tm_block_kind block) {
  return block != TM_BLOCK_DATA && block != TM_BLOCK_PARAMETERS;
}

static bool block_body(tm_parser *p, tm_block_node *node) {
  tm_list statements = {0};
  while (!tm_is(p, "}")) {
    bool fine;
    if (tm_begins_type(p))
      fine = tm_parse_declaration(p, &statements, p->block != TM_BLOCK_MODEL);
    else if (!may_hold_statements(p->block))
      fine = tm_accept(p, ";") || tm_unexpected(p, "a declaration or '}'");
    else
      fine = tm_parse_statement(p, &statements);
    if (!fine)
      return false;
  }
  node->statements = (tm_statement **)statements.items;
  node->count = statements.count;
  return tm_expect(p, "}", "to end the block");
}

/* Which block begins here; the count when none does. */
static tm_block_kind block_name(tm_parser *p) {
  for (int b = 0; b < TM_BLOCK_COUNT; b++) {
    char first[32];
    const char *space = strchr(tm_block_names[b], ' ');
    size_t length =
        space ? (size_t)(space - tm_block_names[b]) : strlen(tm_block_names[b]);
    memcpy(first, tm_block_names[b], length);
    first[length] = '\0';
    if (!tm_is(p, first) || (space && !tm_is_ahead(p, 1, space + 1)))
      continue;
    p->at += space ? 2 : 1;
    return (tm_block_kind)b;
  }
  return TM_BLOCK_COUNT;
}

static bool unknown_block(tm_parser *p) {
  tm_suggestion s = {.wanted = tm_peek(p)->text};
  if (tm_peek(p)->kind == TM_TOKEN_NAME)
    for (int b = 0; b < TM_BLOCK_COUNT; b++)
      tm_suggestion_offer(&s, tm_block_names[b]);
  char hint[64], found[64];
  (void)tm_complain(p->source, tm_peek(p),
                    "expected a block (functions, data, transformed data, "
                    "parameters, transformed parameters, model or generated "
                    "quantities), found %s%s",
                    shown(tm_peek(p), found, sizeof found),
                    tm_suggestion_text(&s, hint, sizeof hint));
  return false;
}

static bool block(tm_parser *p) {
  const tm_token *token = tm_peek(p);
  int last = -1;
  for (int b = 0; b < TM_BLOCK_COUNT; b++)
    if (p->program->blocks[b].token)
      last = b;
  tm_block_kind kind = block_name(p);
  if (kind == TM_BLOCK_COUNT)
    return unknown_block(p);
  if ((int)kind <= last) {
    (void)tm_complain(p->source, token,
                      "the %s block must come %s the %s block",
                      tm_block_names[kind],
                      (int)kind == last ? "only once, not after" : "before",
                      tm_block_names[last]);
    return false;
  }
  p->block = kind;
  p->program->blocks[kind].token = token;
  if (!tm_expect(p, "{", "to begin the block"))
    return false;
  return kind == TM_BLOCK_FUNCTIONS ? functions_block(p)
                                    : block_body(p, &p->program->blocks[kind]);
}

tempera_status tm_parse(tm_program *program) {
  tm_parser p = {.program = program,
                 .source = &program->source,
                 .arena = program->source.arena};
  /* A complaint has a line; a failed allocation has none. */
  tempera_error *error = program->source.error;
  error->line = 0;
  while (tm_peek(&p)->kind != TM_TOKEN_END)
    if (!block(&p))
      return error->line ? TEMPERA_ERROR_INPUT : tm_fail_memory(error);
  return TEMPERA_OK;
}
