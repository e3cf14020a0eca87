/* parser.h - what the parser's files share. Every function is named after the
 * grammar symbol it reads, gives NULL after a complaint, and leaves `at` on
 * the first token it did not use. */
#ifndef TM_LANGUAGE_PARSER_H
#define TM_LANGUAGE_PARSER_H

#include "language/read/ast.h"

typedef struct tm_parser {
  tm_program *program;
  tm_source *source;
  tm_arena *arena;
  size_t at;
  int depth; /* of nested expressions and statements */
  tm_block_kind block;
} tm_parser;

enum { TM_DEEPEST = 200 }; /* nesting beyond this is refused */

const tm_token *tm_peek(const tm_parser *p);
bool tm_is(const tm_parser *p, const char *text);
bool tm_is_ahead(const tm_parser *p, size_t ahead, const char *text);
bool tm_accept(tm_parser *p, const char *text);
/* Use up `text`, or complain: "expected 'text' <after what>". */
bool tm_expect(tm_parser *p, const char *text, const char *after);
/* Complain about the token at hand; false. */
bool tm_unexpected(tm_parser *p, const char *wanted);
bool tm_deeper(tm_parser *p); /* pair with p->depth-- */
void *tm_parser_alloc(tm_parser *p, size_t size);

tm_expression *tm_expression_new(tm_parser *p, tm_expression_kind kind,
                                 const tm_token *token);
tm_expression *tm_parse_expression(tm_parser *p);
/* No comparisons: what may stand between < and > in a type. */
tm_expression *tm_parse_addition(tm_parser *p);
/* ( a, b | c ... ): reads the list after "(" up to and with ")". */
bool tm_parse_arguments(tm_parser *p, tm_expression ***items, size_t *count,
                        bool *bar);

/* A sized declaration's type, or a name that begins one. */
bool tm_begins_type(const tm_parser *p);
bool tm_reserved(const char *name);
/* `type name [= value] {, name ...} ;` - appends DECLARE statements. */
bool tm_parse_declaration(tm_parser *p, tm_list *statements, bool global);
tm_function *tm_parse_function(tm_parser *p);
bool tm_parse_name(tm_parser *p, const tm_token **token, const char *what);

/* Appends what it reads (a declaration may be several statements). */
bool tm_parse_statement(tm_parser *p, tm_list *statements);
tm_statement *tm_statement_new(tm_parser *p, tm_statement_kind kind,
                               const tm_token *token);

#endif
