/* table_calls.h - calls of the built-in functions as text in the language, with
 * the arguments of function_arguments.h, in one of their shapes by chance and
 * each moved a little by an expression that the caller writes. */
#include "base/random.h"
#include "base/text.h"

#include "function_arguments.h"

typedef struct call_writer {
  tm_text *text;
  tempera_random *random;
  void (*real)(void *of); /* writes a real expression */
  void *of;
} call_writer;

/* Where the defaults of univariate laws (0.6, 1.3, ...; counts of 1 of 3) are
 * out of their support: arguments of "name", one after the other. */
static const choice LAWS[] = {{"pareto", ".9 .4 1.3"},
                              {"pareto_type_2", ".9 .4 1.3 .8"},
                              {"uniform", ".6 .2 1.4"},
                              {"beta", ".4 .8 1.3"},
                              {"beta_proportion", ".4 .3 1.3"},
                              {"skew_double_exponential", ".6 .4 1.3 .3"},
                              {"bernoulli", "0 .4"},
                              {"bernoulli_logit", "0 .4"},
                              {"binomial", "1 3 .4"},
                              {"acosh", "1.6"},
                              {"atanh", ".4"},
                              {"acos", ".4"},
                              {"asin", ".4"},
                              {"lambert_wm1", "-.2"},
                              {"std_normal_log_qf", "-.7"},
                              {"log1m", ".4"},
                              {"log1m_exp", "-.4"},
                              {"logit", ".4"},
                              {"inv_Phi", ".4"},
                              {"std_normal_qf", ".4"},
                              {"log_diff_exp", "1.3 .6"},
                              {"log_inv_logit_diff", "1.3 .6"},
                              {"lmgamma", "d2 1.3"},
                              {"log1m_inv_logit", ".4"}};

static const char *law_of(const char *name) {
  static const char *const endings[] = {"_lpdf", "_lcdf", "_lccdf", "_cdf", ""};
  for (size_t i = 0; i < sizeof LAWS / sizeof *LAWS; i++)
    for (size_t k = 0; k < sizeof endings / sizeof *endings; k++) {
      size_t n = strlen(LAWS[i].name);
      if (!strncmp(LAWS[i].name, name, n) && !strcmp(name + n, endings[k]))
        return LAWS[i].arguments;
    }
  return NULL;
}

static void write_moved(const call_writer *w, bool moved) {
  if (!moved)
    return;
  tm_text_add(w->text, " + 0.03 * tanh(");
  w->real(w->of);
  tm_text_add(w->text, ")");
}

static const char *skip_list(const char *at) {
  int depth = 0;
  do {
    depth += (*at == '[') - (*at == ']');
    at++;
  } while (depth);
  return at;
}

/* A list of numbers as it stands, in brackets or, outermost ones, in braces. */
static void write_list(const call_writer *w, const char **at, int braces,
                       const char *base, bool moved);

static void write_one(const call_writer *w, const char **at, const char *base,
                      bool moved) {
  const char *end = **at == '[' ? skip_list(*at) : *at + strcspn(*at, " ,]");
  tm_text_add(w->text, "(");
  tm_text_add_bytes(w->text, *at, (size_t)(end - *at));
  tm_text_add(w->text, *base == 'v' ? "'" : "");
  write_moved(w, moved && *base != 'i');
  tm_text_add(w->text, ")");
  *at = end;
}

static void write_list(const call_writer *w, const char **at, int braces,
                       const char *base, bool moved) {
  if (!braces) {
    write_one(w, at, base, moved);
    return;
  }
  tm_text_add(w->text, "{");
  for (++*at; **at != ']';) {
    if (**at == ',')
      tm_text_add_bytes(w->text, (*at)++, 1);
    write_list(w, at, braces - 1, base, moved);
  }
  ++*at;
  tm_text_add(w->text, "}");
}

/* The type of given numbers where a class of types may stand. */
static const char *type_of_given(char letter, const char *at) {
  int rank = (int)strspn(at + strspn(at, "sdnhl"), "[");
  static const char *const classes = "RILVSDMPQXnk";
  static const char *const types[][3] = {
      {"r", "v", "m"}, {"i", "[i", ""},   {"", "v", "[v"}, {"", "v", "[v"},
      {"", "v", ""},   {"", "v", "m"},    {"", "w", "m"},  {"r", "v", "m"},
      {"r", "v", "m"}, {"r", "[r", "[v"}, {"r", "v", "m"}, {"r", "v", "m"}};
  const char *found = strchr(classes, letter);
  return found && rank < 3 ? types[found - classes][rank] : NULL;
}

static void write_argument(const call_writer *w, const char *type,
                           const char **at) {
  bool data = false; /* what is moved is no simplex and no triangle any more */
  for (; **at && strchr("sdnhl", **at); ++*at)
    data = data || **at != 's';
  int arrays = (int)strspn(type, "[");
  write_list(w, at, arrays, type + arrays, !data);
  *at += strspn(*at, " ");
}

static bool takes_bar(const char *name) {
  static const char *const endings[] = {"_lpdf", "_lpmf", "_cdf", "_lcdf",
                                        "_lccdf"};
  size_t n = strlen(name);
  for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
    size_t m = strlen(endings[i]);
    if (n > m && !strcmp(name + n - m, endings[i]))
      return true;
  }
  return false;
}

static bool of_reals(const tm_builtin *b) {
  if (b->kind == TM_B_FIXED)
    return has_gradient(b) && !strpbrk(b->signature, "cpqox") &&
           !strstr(b->name, "laplace") && !strchr(b->name, '=') &&
           strncmp(b->name, "operator", 8) && strcmp(b->name, "to_columns");
  return (b->kind == TM_B_DENSITY || b->kind == TM_B_CDF)
             ? strchr(b->signature, 'R') != NULL
             : b->kind <= TM_B_MAP2;
}

/* Arguments of laws and of elementwise functions: numbers, and some of them in
 * vectors or arrays of three. */
static void write_letters(const call_writer *w, const tm_builtin *b) {
  static const char *const reals[] = {"0.6", "1.3", "0.4", "0.8"},
                           *const counts[] = {"1", "3", "2", "4"};
  const char *given = law_of(b->name);
  bool law = b->kind == TM_B_DENSITY || b->kind == TM_B_CDF;
  bool shaped = !law && tempera_random_below(w->random, 2);
  for (size_t i = 0; b->signature[i]; i++) {
    bool whole = b->signature[i] == 'I';
    const char *at = given ? given : whole ? counts[i] : reals[i];
    size_t form = whole    ? tempera_random_below(w->random, 2) ? 4 : 0
                  : law    ? tempera_random_below(w->random, 4)
                  : shaped ? 1
                           : 0;
    static const char *const before[] = {"", "rep_vector(", "rep_row_vector(",
                                         "rep_array(", "rep_array("},
                             *const after[] = {"", ", 3)", ", 3)", ", 3)",
                                               ", 3)"};
    if (i)
      tm_text_add(w->text, i == 1 && takes_bar(b->name) ? " | " : ", ");
    tm_text_add(w->text, before[form]);
    write_argument(w, whole ? "i" : "r", &at);
    tm_text_add(w->text, after[form]);
    given = given ? at : NULL;
  }
}

static void write_fixed(const call_writer *w, const tm_builtin *b) {
  const char *own = chosen(b->name, b->signature), *at = b->signature;
  int turn = own ? 0 : (int)tempera_random_below(w->random, 4);
  for (int i = 0; *at != ':'; i++) {
    char type[16];
    char letter = *at == '*' ? at[1] : *at;
    type_at(&at, 2 * turn, type);
    at += *at == ',';
    const char *text = own ? own : default_of(type);
    const char *known = own ? type_of_given(letter, text) : NULL;
    if (i)
      tm_text_add(w->text, i == 1 && takes_bar(b->name) ? " | " : ", ");
    write_argument(w, known ? known : type, &text);
    own = own ? text : NULL;
  }
  if (takes_bar(b->name) && !strchr(b->signature, ','))
    tm_text_add(w->text, " | ");
}

/* A call of b, a function of_reals. */
static void write_table_call(const call_writer *w, const tm_builtin *b) {
  bool mass = b->kind == TM_B_DENSITY && b->signature[0] == 'I';
  tm_text_add_bytes(w->text, b->name, strlen(b->name) - (mass ? 5 : 0));
  tm_text_add(w->text, mass ? "_lpmf(" : "(");
  if (b->kind == TM_B_FIXED)
    write_fixed(w, b);
  else
    write_letters(w, b);
  tm_text_add(w->text, ")");
}
