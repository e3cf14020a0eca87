/* lexer.c - text to tokens: names, numbers, strings, punctuation; comments
 * are dropped except for the marks @prior and @likelihood. */
#include "language/read/source.h"

#include <string.h>

typedef struct lexer {
  tm_source *source;
  const tm_file *file;
  size_t at;
  int line, column;
  size_t projected; /* how many tokens there were after the last .1 */
} lexer;

static tempera_status read_file(tm_source *source, const tm_file *file);

/* Longest first, so that the first match is the right one. */
static const char *const PUNCTUATION[] = {
    "%/%", ".*=", "./=", "<-", "<=", ">=", "==", "!=", "&&", "||", "+=",
    "-=",  "*=",  "/=",  ".*", "./", ".^", "{",  "}",  "(",  ")",  "[",
    "]",   "<",   ">",   ",",  ";",  "=",  "+",  "-",  "*",  "/",  "\\",
    "%",   "^",   "'",   "!",  "?",  ":",  "|",  "~"};

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
static bool is_word(char c) { return is_letter(c) || is_digit(c) || c == '_'; }

static char peek(const lexer *lex, size_t ahead) {
  size_t at = lex->at + ahead;
  return at < lex->file->length ? lex->file->text[at] : '\0';
}

static bool ended(const lexer *lex) { return lex->at >= lex->file->length; }

static void skip(lexer *lex, size_t count) {
  for (; count > 0 && !ended(lex); count--) {
    if (lex->file->text[lex->at++] == '\n') {
      lex->line++;
      lex->column = 1;
    } else {
      lex->column++;
    }
  }
}

/* Room for one more item in an arena array, by doubling. */
static void *grown(tm_arena *arena, void *items, size_t count, size_t *capacity,
                   size_t size) {
  if (count < *capacity)
    return items;
  size_t more = *capacity ? 2 * *capacity : 256;
  void *bigger = tm_arena_alloc(arena, more, size);
  if (bigger && count)
    memcpy(bigger, items, count * size);
  *capacity = more;
  return bigger;
}

static tempera_status add_token(lexer *lex, tm_token_kind kind, size_t length) {
  tm_source *s = lex->source;
  s->tokens = grown(s->arena, s->tokens, s->token_count, &s->token_capacity,
                    sizeof *s->tokens);
  char *text = TM_NEW(s->arena, char, length + 1);
  if (!s->tokens || !text)
    return tm_fail_memory(s->error);
  memcpy(text, lex->file->text + lex->at, length);
  s->tokens[s->token_count++] = (tm_token){.kind = kind,
                                           .file = lex->file,
                                           .line = lex->line,
                                           .column = lex->column,
                                           .offset = lex->at,
                                           .length = length,
                                           .text = text};
  skip(lex, length);
  return TEMPERA_OK;
}

static tempera_status add_annotation(lexer *lex, const char *comment,
                                     size_t length) {
  tm_source *s = lex->source;
  tm_mark mark = TM_MARK_NONE;
  size_t i = 0;
  while (i < length &&
         (comment[i] == '/' || comment[i] == ' ' || comment[i] == '\t'))
    i++;
  static const char prior[] = "@prior", likelihood[] = "@likelihood";
  if (length - i >= sizeof prior - 1 &&
      !memcmp(comment + i, prior, sizeof prior - 1))
    mark = TM_MARK_PRIOR;
  if (length - i >= sizeof likelihood - 1 &&
      !memcmp(comment + i, likelihood, sizeof likelihood - 1))
    mark = TM_MARK_LIKELIHOOD;
  if (mark == TM_MARK_NONE)
    return i < length && comment[i] == '@'
               ? tm_complain_at(s, lex->file, lex->line, lex->column,
                                "unknown mark; wanted // @prior or "
                                "// @likelihood at the end of a statement")
               : TEMPERA_OK;
  s->annotations = grown(s->arena, s->annotations, s->annotation_count,
                         &s->annotation_capacity, sizeof *s->annotations);
  if (!s->annotations)
    return tm_fail_memory(s->error);
  s->annotations[s->annotation_count++] = (tm_annotation){.file = lex->file,
                                                          .line = lex->line,
                                                          .column = lex->column,
                                                          .mark = mark};
  return TEMPERA_OK;
}

static tempera_status line_comment(lexer *lex) {
  size_t length = 0;
  while (lex->at + length < lex->file->length && peek(lex, length) != '\n')
    length++;
  if (peek(lex, 0) == '/')
    TM_TRY(add_annotation(lex, lex->file->text + lex->at, length));
  skip(lex, length);
  return TEMPERA_OK;
}

static tempera_status block_comment(lexer *lex) {
  int line = lex->line, column = lex->column;
  skip(lex, 2);
  while (!ended(lex) && !(peek(lex, 0) == '*' && peek(lex, 1) == '/'))
    skip(lex, 1);
  if (ended(lex))
    return tm_complain_at(lex->source, lex->file, line, column,
                          "this comment is never closed; expected */");
  skip(lex, 2);
  return TEMPERA_OK;
}

/* #include NAME, "NAME" or <NAME>: the tokens of that file stand here. */
static tempera_status include(lexer *lex) {
  int line = lex->line, column = lex->column;
  size_t from = strlen("#include"), to;
  while (peek(lex, from) == ' ' || peek(lex, from) == '\t')
    from++;
  char open = peek(lex, from);
  char close = open == '"' ? '"' : open == '<' ? '>' : '\0';
  from += close != '\0';
  for (to = from; peek(lex, to) != '\0' && peek(lex, to) != '\n' &&
                  peek(lex, to) != '\r' &&
                  (close ? peek(lex, to) != close : peek(lex, to) != ' ');)
    to++;
  char *name = TM_NEW(lex->source->arena, char, to - from + 1);
  if (!name)
    return tm_fail_memory(lex->source->error);
  memcpy(name, lex->file->text + lex->at + from, to - from);
  tm_file *file;
  TM_TRY(tm_include(lex->source, lex->file, line, column, name, &file));
  TM_TRY(read_file(lex->source, file));
  skip(lex, to);
  while (!ended(lex) && peek(lex, 0) != '\n')
    skip(lex, 1);
  return TEMPERA_OK;
}

/* White space, comments and included files. */
static tempera_status skip_blanks(lexer *lex) {
  for (;;) {
    char c = peek(lex, 0);
    if (ended(lex))
      return TEMPERA_OK;
    if (c == ' ' || c == '\t' || c == '\r' || c == '\n')
      skip(lex, 1);
    else if (c == '/' && peek(lex, 1) == '/')
      TM_TRY(line_comment(lex));
    else if (c == '/' && peek(lex, 1) == '*')
      TM_TRY(block_comment(lex));
    else if (c == '#' && !strncmp(lex->file->text + lex->at, "#include", 8))
      TM_TRY(include(lex));
    else if (c == '#')
      TM_TRY(line_comment(lex)); /* comments of old Stan */
    else
      return TEMPERA_OK;
  }
}

static size_t digits(const lexer *lex, size_t n) {
  while (is_digit(peek(lex, n)) ||
         (peek(lex, n) == '_' && n > 0 && is_digit(peek(lex, n - 1)) &&
          is_digit(peek(lex, n + 1))))
    n++;
  return n;
}

/* 12, 1_000, 1.5, .5, 2., 1e-3, and 2i. */
static tempera_status number(lexer *lex) {
  size_t n = digits(lex, 0);
  tm_token_kind kind = TM_TOKEN_INT;
  /* "1.*x" is 1 .* x, as in Stan. */
  if (peek(lex, n) == '.' && peek(lex, n + 1) != '*' &&
      peek(lex, n + 1) != '/' && peek(lex, n + 1) != '^') {
    kind = TM_TOKEN_REAL;
    n = digits(lex, n + 1);
  }
  if (peek(lex, n) == 'e' || peek(lex, n) == 'E') {
    size_t m = n + 1;
    if (peek(lex, m) == '+' || peek(lex, m) == '-')
      m++;
    if (!is_digit(peek(lex, m)))
      return tm_complain_at(lex->source, lex->file, lex->line, lex->column,
                            "this number's exponent has no digits");
    kind = TM_TOKEN_REAL;
    n = digits(lex, m);
  }
  if (peek(lex, n) == 'i' && !is_word(peek(lex, n + 1)))
    return add_token(lex, TM_TOKEN_IMAGINARY, n + 1);
  if (is_word(peek(lex, n)))
    return tm_complain_at(lex->source, lex->file, lex->line, lex->column,
                          "a name cannot begin with a digit");
  return add_token(lex, kind, n);
}

static tempera_status string(lexer *lex) {
  size_t n = 1;
  while (lex->at + n < lex->file->length && peek(lex, n) != '"' &&
         peek(lex, n) != '\n')
    n++;
  if (peek(lex, n) != '"')
    return tm_complain_at(lex->source, lex->file, lex->line, lex->column,
                          "this string is never closed; expected \"");
  return add_token(lex, TM_TOKEN_STRING, n + 1);
}

static tempera_status name(lexer *lex) {
  size_t n = 1;
  while (is_word(peek(lex, n)))
    n++;
  if (n > 200)
    return tm_complain_at(lex->source, lex->file, lex->line, lex->column,
                          "this name is longer than 200 characters");
  return add_token(lex, TM_TOKEN_NAME, n);
}

static tempera_status punctuation(lexer *lex) {
  const char *at = lex->file->text + lex->at;
  size_t left = lex->file->length - lex->at;
  for (size_t i = 0; i < sizeof PUNCTUATION / sizeof *PUNCTUATION; i++) {
    size_t n = strlen(PUNCTUATION[i]);
    if (n <= left && !memcmp(at, PUNCTUATION[i], n))
      return add_token(lex, TM_TOKEN_PUNCTUATION, n);
  }
  unsigned char c = (unsigned char)*at;
  if (c >= 32 && c < 127)
    return tm_complain_at(lex->source, lex->file, lex->line, lex->column,
                          "'%c' has no meaning in Stan", c);
  return tm_complain_at(lex->source, lex->file, lex->line, lex->column,
                        "byte 0x%02x has no meaning in Stan outside of "
                        "comments and strings",
                        c);
}

/* Is this the .1 of t.1, f(x).1 or t.1.2? */
static bool is_projection(const lexer *lex) {
  const tm_source *s = lex->source;
  if (peek(lex, 0) != '.' || !is_digit(peek(lex, 1)) || s->token_count == 0)
    return false;
  const tm_token *last = &s->tokens[s->token_count - 1];
  bool ends = last->kind == TM_TOKEN_NAME || !strcmp(last->text, ")") ||
              !strcmp(last->text, "]") || lex->projected == s->token_count;
  return ends && last->file == lex->file &&
         last->offset + last->length == lex->at;
}

static tempera_status projection(lexer *lex) {
  TM_TRY(add_token(lex, TM_TOKEN_PUNCTUATION, 1));
  TM_TRY(add_token(lex, TM_TOKEN_INT, digits(lex, 0)));
  lex->projected = lex->source->token_count;
  return TEMPERA_OK;
}

static tempera_status one_token(lexer *lex) {
  char c = peek(lex, 0);
  if (is_projection(lex))
    return projection(lex);
  if (is_letter(c))
    return name(lex);
  if (is_digit(c) || (c == '.' && is_digit(peek(lex, 1))))
    return number(lex);
  if (c == '"')
    return string(lex);
  return punctuation(lex);
}

static tempera_status read_file(tm_source *source, const tm_file *file) {
  lexer lex = {.source = source, .file = file, .line = 1, .column = 1};
  if (file->length >= 3 && !memcmp(file->text, "\xef\xbb\xbf", 3))
    lex.at = 3; /* a byte order mark, as some editors write it */
  for (;;) {
    TM_TRY(skip_blanks(&lex));
    if (ended(&lex))
      return file->from ? TEMPERA_OK : add_token(&lex, TM_TOKEN_END, 0);
    TM_TRY(one_token(&lex));
  }
}

tempera_status tm_source_read(tm_source *source, const char *text,
                              size_t length) {
  char *copy = TM_NEW(source->arena, char, length + 1);
  tm_file *file = TM_NEW(source->arena, tm_file, 1);
  if (!copy || !file)
    return tm_fail_memory(source->error);
  memcpy(copy, text, length);
  *file = (tm_file){.path = source->name,
                    .name = source->name,
                    .text = copy,
                    .length = length};
  return read_file(source, file);
}
