/* builtins.c - the table of built-in functions and how calls are matched to
 * their signatures. */
#include "language/check/types.h"

#include "language/runtime/complex_tables.h"
#include "language/runtime/prelude_scalar.h"
#include "language/runtime/tables.h"

#include <stdio.h>
#include <string.h>

#define UNARY(name, value, slope) {#name, "R", TM_B_UNARY},
#define BINARY(name, value, a, b) {#name, "RR", TM_B_BINARY},
#define MAP1(name) {#name, "R", TM_B_MAP1},
#define MAP2(name) {#name, "RR", TM_B_MAP2},
#define FIXED(name, signature, function) {#name, signature, TM_B_FIXED},
#define LPDF(name, letters) {#name "_lpdf", letters, TM_B_DENSITY},
#define CDF(name, letters)                                                     \
  {#name "_cdf", letters, TM_B_CDF}, {#name "_lcdf", letters, TM_B_CDF},       \
      {#name "_lccdf", letters, TM_B_CDF},
#define RNG(name, letters, whole) {#name "_rng", letters, TM_B_RNG},
#define WHOLE(name, letters, whole) {#name, letters, whole},
#define COMPLEX(name, value, slope) {#name, "Z", TM_B_COMPLEX},
#define COMPLEX2(name, operator, value, a, b)                                  \
  {#name, "ZZ", TM_B_COMPLEX2}, {operator, "ZZ", TM_B_COMPLEX2},
#define MODULUS(name, value, x, y) {#name, "Z", TM_B_MODULUS},
#define ALSO(name, function) {name, "Z", TM_B_COMPLEX},
#define PAIR(name, signature) {name, signature, TM_B_PAIR},
#define SHAPE(name, signature, function) {name, signature, TM_B_FIXED},

static const tm_builtin BUILTINS[] = {
    /* fixed before elementwise: sum-like overloads of log_sum_exp */
    TM_FIXED(FIXED) TM_UNARY(UNARY) TM_BINARY(BINARY) TM_MAP1(MAP1)
        TM_MAP2(MAP2) TM_DENSITIES(LPDF) TM_CDFS(CDF) TM_RNGS(RNG)
            TM_COMPLEX_FUNCTIONS(COMPLEX) TM_COMPLEX_UNARY(ALSO)
                TM_COMPLEX_BINARY(COMPLEX2) TM_MODULI(MODULUS)
                    TM_COMPLEX_SHAPES(SHAPE) TM_OF_PARTS(PAIR)};

static const char *const UNSUPPORTED[] = {TM_UNSUPPORTED};

size_t tm_builtin_count(void) { return sizeof BUILTINS / sizeof *BUILTINS; }
const tm_builtin *tm_builtin_at(size_t i) { return &BUILTINS[i]; }

bool tm_builtin_unsupported(const char *name) {
  for (size_t i = 0; i < sizeof UNSUPPORTED / sizeof *UNSUPPORTED; i++)
    if (!strcmp(UNSUPPORTED[i], name))
      return true;
  return false;
}

/* One type of a signature; moves *at past it. x, n and j stand for `bound`,
 * whose array dimensions * stands for. */
static tm_type read_type(const char **at, tm_type bound) {
  int depth = 0;
  for (; **at == '[' || **at == '*'; ++*at)
    depth += **at == '[' ? 1 : bound.depth;
  static const char letters[] = "irvwmcpqo";
  static const tm_base bases[] = {
      TM_INT,           TM_REAL,    TM_VECTOR,         TM_ROW_VECTOR,
      TM_MATRIX,        TM_COMPLEX, TM_COMPLEX_VECTOR, TM_COMPLEX_ROW_VECTOR,
      TM_COMPLEX_MATRIX};
  char letter = *(*at)++;
  if (strchr("xnjk", letter))
    return tm_type_of(bound.base, bound.depth + depth);
  const char *found = strchr(letters, letter);
  return tm_type_of(bases[found - letters], depth);
}

/* What a capital letter of a signature stands for. */
static const struct {
  char letter;
  const char *types, *name;
} CLASSES[] = {{'R', "r,v,w,[r", "reals"},
               {'I', "i,[i", "ints"},
               {'L', "v,w", "vector or row_vector"},
               {'V', "v,w,[v,[w", "vectors"},
               {'S', "[r,v,w", "vector or array[] real"},
               {'D', "v,w,m", "vector or matrix"},
               {'M', "m,w", "matrix or row_vector"},
               {'P', "r,v", "real or vector"},
               {'Q', "m,v", "matrix or vector"},
               {'X', "[r,[v,[w", "points"}};

static const char *class_types(char letter, const char **name) {
  for (size_t i = 0; i < sizeof CLASSES / sizeof *CLASSES; i++)
    if (CLASSES[i].letter == letter) {
      *name = CLASSES[i].name;
      return CLASSES[i].types;
    }
  return NULL;
}

/* The cost of an argument where the signature stands; moves *at past it. */
static int fit_signature(const char **at, tm_type argument, tm_type bound) {
  const char *name, *types = class_types(**at, &name);
  char letter = **at;
  bool scalar = argument.depth == 0 &&
                (letter == 'j' ? argument.base == TM_INT
                               : letter == 'k' && tm_is_scalar(argument));
  if (scalar || letter == 'k') {
    ++*at;
    return scalar ? 0 : tm_promotion(argument, bound);
  }
  if (!types)
    return tm_promotion(argument, read_type(at, bound));
  ++*at;
  int least = -1;
  for (const char *c = types; *c; c += *c == ',') {
    int cost = tm_promotion(argument, read_type(&c, bound));
    if (cost >= 0 && (least < 0 || cost < least))
      least = cost;
  }
  return least;
}

/* What n, k and j are: the largest of these arguments; and * the array
 * dimensions of the first. */
static bool bind_shape(char letter, tm_type argument, tm_type *bound) {
  bool wanted = letter == 'j' ? argument.base == TM_INT
                : letter == '*'
                    ? argument.base >= TM_VECTOR && argument.base <= TM_MATRIX
                    : argument.base >= TM_INT && argument.base <= TM_MATRIX;
  if (!wanted)
    return false;
  if (letter != 'j' && argument.base == TM_INT)
    argument.base = TM_REAL;
  if (bound->base == TM_VOID || tm_rank(argument) > tm_rank(*bound))
    *bound = argument;
  return true;
}

/* The signature's first x decides what x is. */
static bool bind_x(const char *signature, const tm_type *arguments,
                   size_t count, tm_type *bound) {
  *bound = tm_type_of(TM_VOID, 0);
  size_t i = 0;
  int depth = 0;
  for (const char *c = signature; *c != ':'; c++) {
    if (*c == ',') {
      i++;
      depth = 0;
    } else if (*c == '[') {
      depth++;
    } else if (strchr("nkj*", *c)) {
      if (i >= count || !bind_shape(*c, arguments[i], bound))
        return false;
    } else if (*c == 'x') {
      if (i >= count || arguments[i].depth < depth ||
          arguments[i].base == TM_VOID || arguments[i].base == TM_STRING)
        return false;
      tm_type found = tm_type_of(arguments[i].base, arguments[i].depth - depth);
      if (bound->base == TM_VOID || tm_type_promotes(*bound, found))
        *bound = found;
    }
  }
  return true;
}

static int match_fixed(const char *signature, const tm_type *arguments,
                       size_t count, tm_type *result) {
  tm_type bound;
  if (!bind_x(signature, arguments, count, &bound))
    return -1;
  const char *at = signature;
  int cost = 0;
  size_t i = 0;
  for (; *at != ':'; i++) {
    tm_type none = tm_type_of(TM_VOID, 0);
    int more = fit_signature(&at, i < count ? arguments[i] : none, bound);
    if (*at == ',')
      at++;
    if (more < 0)
      return -1;
    cost += more;
  }
  at++;
  *result = read_type(&at, bound);
  return i == count ? cost : -1;
}

static bool numeric(tm_type type) {
  return type.base >= TM_INT && type.base <= TM_MATRIX;
}

/* Elementwise: ints become reals; the shape stays. abs of an int is int. */
static int match_unary(const tm_builtin *b, const tm_type *arguments,
                       size_t count, tm_type *result) {
  if (count != 1 || !numeric(arguments[0]))
    return -1;
  *result = arguments[0];
  if (result->base == TM_INT && strcmp(b->name, "abs"))
    result->base = TM_REAL;
  return 2;
}

static int match_binary(const tm_type *arguments, size_t count,
                        tm_type *result) {
  if (count != 2 || !numeric(arguments[0]) || !numeric(arguments[1]))
    return -1;
  tm_type a = arguments[0], b = arguments[1];
  bool whole = a.base == TM_INT;
  a.base = a.base == TM_INT ? TM_REAL : a.base;
  b.base = b.base == TM_INT ? TM_REAL : b.base;
  if (!tm_is_scalar(a) && !tm_is_scalar(b) && !tm_type_equal(a, b)) {
    /* orders in an array of ints beside a vector or matrix */
    bool mixed =
        (whole || arguments[1].base == TM_INT) && tm_rank(a) == tm_rank(b);
    if (!mixed)
      return -1;
    *result = whole ? b : a;
    return 2;
  }
  *result = tm_is_scalar(a) ? b : a;
  return 2;
}

/* R: real, vector, row_vector or array of reals; I: int or array of them. */
static bool fits_letter(char letter, tm_type type) {
  if (letter == 'I')
    return type.base == TM_INT && type.depth <= 1;
  if (type.base == TM_VECTOR || type.base == TM_ROW_VECTOR)
    return type.depth == 0;
  return (type.base == TM_INT || type.base == TM_REAL) && type.depth <= 1;
}

static int match_letters(const tm_builtin *b, const tm_type *arguments,
                         size_t count, tm_type *result) {
  if (strlen(b->signature) != count)
    return -1;
  bool container = false;
  for (size_t i = 0; i < count; i++) {
    if (!fits_letter(b->signature[i], arguments[i]))
      return -1;
    container = container || !tm_is_scalar(arguments[i]);
  }
  static const struct {
    const char *name, *letters;
    int whole;
  } rngs[] = {TM_RNGS(WHOLE)};
  *result = tm_type_of(TM_REAL, 0);
  if (b->kind != TM_B_RNG)
    return 0;
  size_t stem = strlen(b->name) - strlen("_rng");
  for (size_t i = 0; i < sizeof rngs / sizeof *rngs; i++)
    if (strlen(rngs[i].name) == stem && !memcmp(rngs[i].name, b->name, stem))
      *result = tm_type_of(rngs[i].whole ? TM_INT : TM_REAL, container);
  return 0;
}

/* Real arguments are widened only where no function of reals is there. */
static int match_complex(const tm_builtin *b, const tm_type *arguments,
                         size_t count, tm_type *result) {
  enum { LAST_RESORT = 64 };
  tm_type types[2] = {{0}};
  bool complex = false;
  if (count != strlen(b->signature))
    return -1;
  for (size_t i = 0; i < count; i++) {
    types[i] = tm_real_type(arguments[i]);
    complex = complex || tm_is_complex(arguments[i]);
    if (!numeric(types[i]))
      return -1;
  }
  if (b->kind == TM_B_PAIR && complex)
    return -1;
  if (count == 2 && match_binary(types, count, &types[0]) < 0)
    return -1;
  *result = b->kind == TM_B_MODULUS ? types[0] : tm_complex_type(types[0]);
  if (result->base == TM_INT)
    result->base = TM_REAL;
  return complex || b->kind == TM_B_PAIR ? 0 : LAST_RESORT;
}

static int match(const tm_builtin *b, const tm_type *arguments, size_t count,
                 tm_type *result) {
  switch (b->kind) {
  case TM_B_FIXED:
    return match_fixed(b->signature, arguments, count, result);
  case TM_B_UNARY:
  case TM_B_MAP1:
    return match_unary(b, arguments, count, result);
  case TM_B_BINARY:
  case TM_B_MAP2:
    return match_binary(arguments, count, result);
  case TM_B_COMPLEX:
  case TM_B_MODULUS:
  case TM_B_COMPLEX2:
  case TM_B_PAIR:
    return match_complex(b, arguments, count, result);
  default:
    return match_letters(b, arguments, count, result);
  }
}

/* Masses are found under _lpmf, densities under _lpdf; the table holds all
 * as _lpdf. _lupdf and _lupmf are the same here: constants are kept. */
static bool same_name(const tm_builtin *b, const char *name) {
  if (!strcmp(b->name, name))
    return b->kind != TM_B_DENSITY || b->signature[0] == 'R';
  size_t n = strlen(name), m = strlen(b->name);
  if (b->kind != TM_B_DENSITY || b->signature[0] != 'I' || n != m)
    return false;
  return !memcmp(b->name, name, n - 5) && !strcmp(name + n - 5, "_lpmf");
}

const tm_builtin *tm_builtin_find(const char *name, const tm_type *arguments,
                                  size_t count, tm_type *result, bool *exists) {
  const tm_builtin *best = NULL;
  int least = 0;
  *exists = false;
  for (size_t i = 0; i < tm_builtin_count(); i++) {
    if (!same_name(&BUILTINS[i], name))
      continue;
    *exists = true;
    tm_type type;
    int cost = match(&BUILTINS[i], arguments, count, &type);
    if (cost >= 0 && (!best || cost < least)) {
      best = &BUILTINS[i];
      least = cost;
      *result = type;
    }
  }
  return best;
}

bool tm_builtin_widens(const tm_builtin *b, const tm_type *arguments,
                       size_t count, size_t i) {
  tm_type bound;
  if (b->kind != TM_B_FIXED)
    return b->kind == TM_B_COMPLEX || b->kind == TM_B_MODULUS ||
           b->kind == TM_B_COMPLEX2;
  const char *at = b->signature, *name;
  for (; i > 0; at++)
    i -= *at == ',';
  return !class_types(*at, &name) &&
         bind_x(b->signature, arguments, count, &bound) &&
         tm_is_complex(read_type(&at, bound));
}

static void add(char *buffer, size_t size, const char *text) {
  size_t used = strlen(buffer);
  snprintf(buffer + used, size - used, "%s", text);
}

/* What a shape is called. */
static const char *shape_name(const char **at) {
  static const struct {
    const char *text, *name;
  } names[] = {{"n", "T"},
               {"k", "T or real"},
               {"j", "int or arrays"},
               {"*v", "vectors"},
               {"*m", "matrices"}};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    size_t n = strlen(names[i].text);
    if (strncmp(*at, names[i].text, n))
      continue;
    *at += n;
    return names[i].name;
  }
  return NULL;
}

static void add_signature(const tm_builtin *b, char *buffer, size_t size) {
  char name[TM_TYPE_NAME];
  add(buffer, size, "(");
  if (b->kind == TM_B_FIXED) {
    const char *at = b->signature;
    while (*at != ':') {
      const char *class = shape_name(&at);
      if (!class && class_types(*at, &class))
        at++;
      else if (!class)
        class = tm_type_name(read_type(&at, tm_type_of(TM_REAL, 0)), name,
                             sizeof name);
      add(buffer, size, class);
      if (*at == ',') {
        at++;
        add(buffer, size, ", ");
      }
    }
  } else {
    for (const char *c = b->signature; *c; c++) {
      add(buffer, size,
          *c == 'I'   ? "ints"
          : *c == 'Z' ? "complex numbers"
                      : "reals");
      if (c[1])
        add(buffer, size, ", ");
    }
  }
  add(buffer, size, ")");
}

void tm_builtin_signatures(const char *name, char *buffer, size_t size) {
  buffer[0] = '\0';
  int shown = 0;
  for (size_t i = 0; i < tm_builtin_count(); i++) {
    if (!same_name(&BUILTINS[i], name))
      continue;
    if (shown++)
      add(buffer, size, " or ");
    add_signature(&BUILTINS[i], buffer, size);
    if (shown == 4) {
      add(buffer, size, " ...");
      return;
    }
  }
}
