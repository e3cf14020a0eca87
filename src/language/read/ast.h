/* ast.h - a program as a tree. Nodes live in the program's arena, keep the
 * token that complaints point at, and are annotated by the checker (types,
 * resolved names) and by the splitter (prior or likelihood). */
#ifndef TM_LANGUAGE_AST_H
#define TM_LANGUAGE_AST_H

#include "language/read/source.h"

typedef enum tm_base {
  TM_VOID,
  TM_INT,
  TM_REAL,
  TM_VECTOR,
  TM_ROW_VECTOR,
  TM_MATRIX,
  TM_STRING,
  TM_FUNCTION, /* a function's name as an argument (ODE systems) */
  TM_TUPLE,
  TM_COMPLEX, /* from here on, in the order of TM_REAL to TM_MATRIX */
  TM_COMPLEX_VECTOR,
  TM_COMPLEX_ROW_VECTOR,
  TM_COMPLEX_MATRIX
} tm_base;

/* depth arrays of base: array[,] vector is {TM_VECTOR, 2}. An array of tuples
 * is held as a tuple of arrays. */
typedef struct tm_type {
  tm_base base;
  int depth;
  const struct tm_tuple *tuple; /* TUPLE: what it is made of */
} tm_type;

typedef struct tm_tuple {
  size_t count;
  tm_type *items;
} tm_tuple;

/* From where a value may come: the least level at which it is known. */
typedef enum tm_level {
  TM_LEVEL_CONSTANT, /* literals */
  TM_LEVEL_DATA,     /* data and transformed data */
  TM_LEVEL_PARAMETER /* anything that may depend on parameters */
} tm_level;

typedef enum tm_expression_kind {
  TM_E_INT,
  TM_E_REAL,
  TM_E_STRING,
  TM_E_NAME,
  TM_E_CALL,
  TM_E_UNARY,
  TM_E_BINARY,
  TM_E_TRANSPOSE,
  TM_E_CONDITIONAL,
  TM_E_INDEX,
  TM_E_ARRAY,      /* {a, b} */
  TM_E_ROW_VECTOR, /* [a, b] */
  TM_E_TUPLE,      /* (a, b) */
  TM_E_PROJECT     /* a.1; `whole` is the number */
} tm_expression_kind;

/* Of the target: a set of these. */
typedef enum tm_part {
  TM_PART_NONE = 0,
  TM_PART_PRIOR = 1,
  TM_PART_LIKELIHOOD = 2,
  TM_PART_BOTH = TM_PART_PRIOR | TM_PART_LIKELIHOOD
} tm_part;

typedef struct tm_expression tm_expression;
typedef struct tm_statement tm_statement;
typedef struct tm_variable tm_variable;
typedef struct tm_function tm_function;

typedef enum tm_index_kind {
  TM_INDEX_ONE,  /* an int, or an array of ints */
  TM_INDEX_ALL,  /* empty or : */
  TM_INDEX_RANGE /* from:to, either may be absent */
} tm_index_kind;

typedef struct tm_index {
  tm_index_kind kind;
  tm_expression *from, *to; /* ONE uses `from` */
} tm_index;

struct tm_expression {
  tm_expression_kind kind;
  const tm_token *token;
  const char *text;      /* name, operator, function's name, string */
  tm_expression **parts; /* operands, arguments, elements; INDEX: [0] */
  size_t part_count;
  tm_index *indices; /* INDEX */
  size_t index_count;
  int64_t whole; /* INT */
  double number; /* REAL */
  bool bar;      /* CALL: the first comma is a | */
  /* by the checker */
  tm_type type;
  tm_level level;
  tm_variable *variable; /* NAME */
  tm_function *function; /* CALL of a user's function */
  tm_function *system;   /* CALL of an ODE solver: its first argument */
  const struct tm_builtin *builtin; /* CALL of ours */
  int kept;            /* from 1: computed when the data are read; 0: not */
  unsigned kept_terms; /* of a density: only terms of these arguments are */
  /* by the splitter: of a term of the target, the parts it belongs to; NONE:
   * those of what it stands in */
  tm_part part;
  bool sliced;              /* CALL: written reduce_sum(..); with this grain: */
  tm_expression *grain;     /* a number, or a name of data; or NULL */
  struct tm_powers *powers; /* CALL: its argument's loop (emit/powers.h) */
};

typedef enum tm_constraint {
  TM_FREE,
  TM_BOUNDED, /* lower and/or upper */
  TM_OFFSET,  /* offset and/or multiplier */
  TM_SIMPLEX,
  TM_UNIT_VECTOR,
  TM_ORDERED,
  TM_POSITIVE_ORDERED,
  TM_SUM_TO_ZERO,
  TM_CHOLESKY_CORR,
  TM_CHOLESKY_COV,
  TM_CORRELATION,
  TM_COVARIANCE,
  TM_ROW_STOCHASTIC, /* from here on: promises of rows and columns */
  TM_COLUMN_STOCHASTIC,
  TM_SUM_TO_ZERO_MATRIX
} tm_constraint;

typedef enum tm_block_kind {
  TM_BLOCK_FUNCTIONS,
  TM_BLOCK_DATA,
  TM_BLOCK_TRANSFORMED_DATA,
  TM_BLOCK_PARAMETERS,
  TM_BLOCK_TRANSFORMED_PARAMETERS,
  TM_BLOCK_MODEL,
  TM_BLOCK_GENERATED_QUANTITIES,
  TM_BLOCK_COUNT
} tm_block_kind;

enum { TM_MAX_RANK = 8 }; /* array dimensions; matrices add two */

struct tm_variable {
  const char *name;
  const tm_token *token;
  tm_type type;
  tm_constraint constraint;
  tm_expression *lower, *upper;          /* or offset and multiplier */
  tm_expression *sizes[TM_MAX_RANK + 2]; /* array sizes, then rows, cols */
  size_t size_count;
  tm_expression *initial; /* or NULL */
  tm_block_kind block;
  bool global;             /* declared at the top of its block */
  bool loop;               /* a loop's variable: not assignable */
  const tm_expression *of; /* a loop's variable over tuples: of[at], ... */
  const char *at;    /* ... a name or its items, not checked, and a name */
  bool argument;     /* of a user's function: not assignable */
  bool data_only;    /* an argument marked `data` */
  bool held;         /* a call's value, kept before its statement (unfold.c) */
  bool reads_target; /* a local that holds the target's value: for printing */
  /* A tuple that is declared is a name for variables, one for each item;
   * arguments and temporaries are values. */
  tm_variable **items;
  const char *shown; /* an item's name outside: "t:1"; NULL: `name` */
  int index;         /* running number, for lookups and mangling */
};

typedef enum tm_statement_kind {
  TM_S_EMPTY,
  TM_S_BLOCK, /* { ... } or profile */
  TM_S_DECLARE,
  TM_S_ASSIGN, /* target op= value */
  TM_S_TILDE,  /* left ~ distribution(arguments) T[lower, upper] */
  TM_S_TARGET, /* target += value */
  TM_S_IF,
  TM_S_WHILE,
  TM_S_FOR,     /* over from:to */
  TM_S_FOREACH, /* over a container */
  TM_S_BREAK,
  TM_S_CONTINUE,
  TM_S_RETURN,
  TM_S_PRINT,
  TM_S_REJECT,
  TM_S_CALL /* a void function */
} tm_statement_kind;

/* A term of what a statement adds to the target, now or by a variable. */
typedef struct tm_term {
  tm_expression *value;
  bool minus;
  tm_part part;
  const char *reason;
} tm_term;

struct tm_statement {
  tm_statement_kind kind;
  const tm_token *token, *last; /* the first and the last token */
  tm_expression *left;          /* ASSIGN, TILDE */
  tm_expression *value;         /* ASSIGN, TARGET, RETURN, conditions, CALL */
  const char *op;               /* ASSIGN: "=", "+", ".*" ... */
  const char *distribution;     /* TILDE */
  tm_expression *density;       /* TILDE: the call name_lpdf(left | ...) */
  tm_expression **arguments;    /* TILDE, PRINT, REJECT */
  size_t argument_count;
  bool truncated;
  bool cut;                     /* TILDE: by bounds that data give */
  bool fatal;                   /* REJECT: the run ends */
  tm_expression *lower, *upper; /* truncation; loop range */
  /* TILDE: checked truncation terms, above and below; where both are there,
   * also as masses beyond: of upper and lower bound */
  tm_expression *cdf[4];
  tm_variable *variable; /* DECLARE, loops */
  tm_statement **body;   /* BLOCK, loop and if bodies */
  size_t body_count;
  tm_statement *otherwise; /* IF: else */
  tm_mark mark;
  bool jacobian; /* TARGET: written jacobian += */
  bool raises;   /* calls a function that raises the target for its value */
  tm_part part;  /* by the splitter, for what raises the target */
  const char *reason;
  tm_statement *shadow;  /* stands behind it; */
  tm_statement *instead; /* is emitted in its place (patch.c) */
  tm_term *terms;        /* of what it adds, when that is a sum */
  size_t term_count;
  bool summed; /* makes the terms of a log_sum_exp, which does so itself */
  struct tm_row_statement
      *rows;            /* it does the same to all rows (find_rows.c) */
  const char *unturned; /* why it is not done so, or NULL; and what it is about,
                           or NULL */
  const tm_token *unturned_at;
};

typedef struct tm_argument {
  tm_variable *variable;
} tm_argument;

struct tm_function {
  const char *name;
  const tm_token *token;
  tm_type result;
  tm_variable **arguments;
  size_t argument_count;
  tm_statement *body;      /* NULL: declared only */
  tm_function *definition; /* of a forward declaration */
  bool uses_target;        /* _lp and _jacobian */
  bool jacobian;           /* _jacobian: all that it adds is prior */
  bool reads_target;       /* calls target() */
  bool one_node;           /* its value is a node of its own (emit/local.h) */
  bool looked_into;        /* the splitter is following a call of it */
  int index;
};

/* A growing list in an arena. */
typedef struct tm_list {
  void **items;
  size_t count, capacity;
} tm_list;

typedef struct tm_block_node {
  const tm_token *token; /* NULL: absent */
  tm_statement **statements;
  size_t count;
} tm_block_node;

typedef struct tm_program {
  tm_source source;
  tm_function **functions;
  size_t function_count;
  tm_block_node blocks[TM_BLOCK_COUNT];
  tm_variable **globals; /* all variables at the top of blocks, in order */
  size_t global_count;
  tm_variable **tuples; /* the names of those that are items */
  size_t tuple_count;
  int variable_count;
  tm_expression **kept; /* by tm_hoist; number k is at k - 1 */
  size_t kept_count;
  tm_list rows;     /* by tm_rows_find: statements over rows */
  tm_list warnings; /* by the checker: "LINE:COLUMN: what" */
} tm_program;

bool tm_list_add(tm_arena *arena, tm_list *list, void *item);

/* The variable below indices and projections. */
const tm_expression *tm_root(const tm_expression *e);
/* Its name in files and messages. */
const char *tm_shown_name(const tm_variable *v);

extern const char *const tm_block_names[TM_BLOCK_COUNT];

/* Parse the tokens of program->source. */
TEMPERA_CHECKED tempera_status tm_parse(tm_program *program);

#endif
