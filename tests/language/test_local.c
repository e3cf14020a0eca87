/* Functions that are one node of the tape (emit/local.h) have the values and
 * slopes that they have as they are written: random functions, each once more
 * with a loop in it that does nothing, which keeps it from being one node. And
 * what is lent to functions without a copy is what it was when they were
 * called. */
#include "base/text.h"
#include "language/program.h"
#include "model/model.h"

#include "model_answer.h"
#include "quick_compiler.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FUNCTIONS = 40, POINTS = 6, LENGTH = 4 };

static tempera_random stream;

static int below(int n) {
  return (int)(tempera_random_uniform(&stream) * n) % n;
}

/* ---- random expressions ------------------------------------------------- */

typedef struct scope {
  int scalars, vectors; /* r1, r2 .. and w1, w2 .. so far */
} scope;

static void add_vector(tm_text *out, scope s, int depth);

static void add_scalar_name(tm_text *out, scope s) {
  static const char *const arguments[] = {"x",    "d",       "v[2]",
                                          "v[n]", "m[2, n]", "1.5"};
  int k = below(6 + s.scalars);
  if (k < 6)
    tm_text_add(out, arguments[k]);
  else
    tm_text_printf(out, "r%d", k - 5);
}

static void add_scalar(tm_text *out, scope s, int depth) {
  static const char *const unary[] = {"sin(", "inv_logit(", "-(", "atan(",
                                      "log1p_exp("};
  static const char *const binary[] = {" + ", " - ", " * ", " / 2.5 + "};
  static const char *const of_vector[] = {"sum(", "log_sum_exp(",
                                          "dot_product(v, "};
  int way = depth ? below(9) : 0;
  if (way < 2) {
    add_scalar_name(out, s);
  } else if (way == 2) {
    tm_text_add(out, unary[below(5)]);
    add_scalar(out, s, depth - 1);
    tm_text_add(out, ")");
  } else if (way < 5) {
    tm_text_add(out, "(");
    add_scalar(out, s, depth - 1);
    tm_text_add(out, binary[below(4)]);
    add_scalar(out, s, depth - 1);
    tm_text_add(out, ")");
  } else if (way == 5) {
    tm_text_add(out, "normal_lpdf(");
    add_scalar(out, s, depth - 1);
    tm_text_add(out, " | x, 1 + d * d)");
  } else if (way == 6) {
    tm_text_add(out, "categorical_logit_lpmf(n | ");
    add_vector(out, s, depth - 1);
    tm_text_add(out, ")");
  } else if (way == 7) {
    tm_text_add(out, "categorical_lpmf(n + 1 | softmax(");
    add_vector(out, s, depth - 1);
    tm_text_add(out, "))");
  } else {
    tm_text_add(out, of_vector[below(3)]);
    add_vector(out, s, depth - 1);
    tm_text_add(out, ")");
  }
}

static void add_vector_name(tm_text *out, scope s) {
  static const char *const arguments[] = {"v", "v", "m[n]'", "y",
                                          "rep_vector(0, 4)"};
  int k = below(5 + s.vectors);
  if (k < 5)
    tm_text_add(out, arguments[k]);
  else
    tm_text_printf(out, "w%d", k - 4);
}

/* Always of LENGTH elements. */
static void add_vector(tm_text *out, scope s, int depth) {
  static const char *const unary[] = {
      "softmax(",  "log_softmax(", "cumulative_sum(",        "tanh(",
      "-(",        "square(",      "append_row(x, segment(", "exp(-1 - ",
      "to_vector("};
  static const char *const binary[] = {" + ", " - ", " .* "};
  int way = depth ? below(8) : 0, k = below(9);
  if (way < 2) {
    add_vector_name(out, s);
  } else if (way < 4) {
    tm_text_add(out, unary[k]);
    add_vector(out, s, depth - 1);
    tm_text_add(out, k == 6 ? ", 2, 3))" : ")");
  } else if (way == 4) {
    tm_text_add(out, "(");
    add_vector(out, s, depth - 1);
    tm_text_add(out, binary[below(3)]);
    add_vector(out, s, depth - 1);
    tm_text_add(out, ")");
  } else if (way == 5) {
    tm_text_add(out, "(");
    add_scalar(out, s, depth - 1);
    tm_text_add(out, " * ");
    add_vector(out, s, depth - 1);
    tm_text_add(out, ")");
  } else if (way == 6) {
    tm_text_add(out, "append_row(tail(");
    add_vector(out, s, depth - 1);
    tm_text_add(out, ", n), head(v, 4 - n))");
  } else {
    tm_text_add(out, "[x, d, v[n], ");
    add_scalar(out, s, depth - 1);
    tm_text_add(out, "]'");
  }
}

/* ---- random functions --------------------------------------------------- */

static void add_body(tm_text *out, int number) {
  scope s = {0, 0};
  for (int i = 0; i < 3; i++) {
    tm_text_printf(out, "    vector[size(v)] w%d = ", i + 1);
    add_vector(out, s, 3);
    s.vectors++;
    tm_text_printf(out, ";\n    real r%d; r%d = ", i + 1, i + 1);
    add_scalar(out, s, 3);
    s.scalars++;
    tm_text_add(out, ";\n");
    if (i == 1 && number % 3 == 0)
      tm_text_add(out, "    if (r1 > x) { r2 = r2 * w1[n]; w2 = w1 + w2; }\n"
                       "    else if (n > 1) return r1 - w2[3] * x;\n");
  }
  tm_text_add(out, "    return ");
  add_scalar(out, s, 3);
  tm_text_add(out, ";\n  }\n");
}

/* f: one node; g: not, for its loop. */
static void add_functions(tm_text *out) {
  tm_text_add(out, "functions {\n");
  for (int i = 0; i < FUNCTIONS; i++) {
    tm_text body = {0};
    add_body(&body, i);
    for (int way = 0; way < 2; way++)
      tm_text_printf(out,
                     "  real %c%d(real x, real d, vector v, matrix m, int n,"
                     " data vector y) {\n%s%s",
                     way ? 'g' : 'f', i, way ? "    for (i in 1:1) { }\n" : "",
                     body.data);
    tm_text_clear(&body);
  }
  /* functions in functions, and integers for reals */
  for (int way = 0; way < 2; way++)
    tm_text_printf(out,
                   "  real h%d(real x, vector v, matrix m, data vector y) {\n"
                   "    %s return f%d(sum(v), 1, v * x, m, 2, y) * x; }\n",
                   way, way ? "for (i in 1:1) { }" : "", 1);
  tm_text_add(
      out,
      "  real piece(vector a, int n, real r) { vector[3] b = a * r;\n"
      "    return b[n] + sum(head(b, n)) * r; }\n"
      "  real whole(vector a) { int k = rows(a) - 3; vector[3] c;\n"
      "    c = a[k : k + 2]; return piece(c, k, 2) + piece(a[2:], 2, c[1])\n"
      "      + piece(exp(c), 3, piece(c, 1, 1)); }\n"
      "  real rest(vector a) { for (i in 1:1) { }\n"
      "    return sum(a .* a); }\n"
      "}\n");
}

static void add_model(tm_text *out, char letter) {
  tm_text_printf(out,
                 "data { vector[4] y; }\n"
                 "parameters { vector[%d] a; vector[6] b;\n"
                 "  matrix[3, 4] m; array[2] vector[7] q; }\n"
                 "model { vector[5] u = tail(b, 5) * 2; real s = 0;\n"
                 "  a ~ std_normal(); b ~ std_normal();\n"
                 "  to_vector(m) ~ std_normal();\n"
                 "  q[1] ~ std_normal(); q[2] ~ std_normal();\n",
                 FUNCTIONS);
  for (int i = 0; i < FUNCTIONS; i++) {
    tm_text_printf(out,
                   "  target += %c%d(a[%d], b[2], u[1:4], m, %d, y) * "
                   "normal_lpdf(y[1] | 0, 1);\n",
                   letter, i, i + 1, 1 + i % 3);
    if (i % 7 == 0) /* what was lent is assigned afterwards */
      tm_text_printf(out, "  u[%d] = u[%d] * a[%d] - 0.5;\n", 1 + i % 4,
                     2 + i % 4, i + 1);
  }
  tm_text_printf(out, "  s = h%d(b[1], b[2:5], m, y); target += s;\n",
                 letter == 'f' ? 0 : 1);
  tm_text_add(
      out, letter == 'f'
               ? "  target += whole(b[1:4]) + rest(q[2, 3:5]) + rest(q[1][:2])"
                 " + sum(segment(q[2], 2, 3)) * rest(tail(q[1], 3));\n}\n"
               : "  { vector[3] c = b[1:3]; vector[3] k = b[2:4];\n"
                 "    real p = c[1] + c[1];\n"
                 "    target += 2 * c[1] + 2 * 2 * c[1];\n"
                 "    target += k[2] * c[1] + (k[1] + k[2]) * square(c[1]);"
                 "\n"
                 "    target += exp(c[3]) * p + (exp(c[1]) + exp(c[2]) +\n"
                 "      exp(c[3])) * square(p); }\n"
                 "  for (i in 3:5) target += square(q[2, i]);\n"
                 "  for (i in 1:2) target += square(q[1, i]);\n"
                 "  target += (q[2, 2] + q[2, 3] + q[2, 4]) * (q[1, 5] ^ 2\n"
                 "    + q[1, 6] ^ 2 + q[1, 7] ^ 2);\n}\n");
}

/* ---- comparing ---------------------------------------------------------- */

static tempera_program *parse(const tm_text *text) {
  tempera_error error = {0};
  tempera_program *program = NULL;
  if (tempera_program_parse("local.stan", text->data, text->length, &program,
                            &error))
    fail_msg("%s\n%s", error.message, text->data);
  return program;
}

/* How many functions of gradients are a node of their own? */
static int count_nodes(const tempera_program *program) {
  tempera_error error = {0};
  char *c = NULL;
  int count = 0;
  assert_int_equal(tempera_program_translate(program, &c, &error), 0);
  for (const char *at = c; (at = strstr(at, "tm_slope *s_ = p_")); at++)
    count++;
  free(c);
  return count;
}

static tempera_model *load(const tm_text *functions, char letter) {
  static const char DATA[] = "{\"y\": [0.3, -0.7, 1.1, 0.4]}";
  tm_text text = {0};
  tempera_error error = {0};
  tempera_data *data = NULL;
  tempera_model *model = NULL;
  tm_text_add(&text, functions->data);
  add_model(&text, letter);
  tempera_program *program = parse(&text);
  assert_true(count_nodes(program) > FUNCTIONS * 3 / 4);
  assert_int_equal(tempera_data_parse(DATA, strlen(DATA), &data, &error), 0);
  if (tempera_program_load(program, data, &model, &error))
    fail_msg("%s\n%s", error.message, text.data);
  tempera_program_free(program);
  tempera_data_free(data);
  tm_text_clear(&text);
  return model;
}

static void near(double got, double wanted, const char *what, size_t k) {
  if (!(fabs(got - wanted) <= 1e-10 * fmax(1, fabs(wanted))))
    fail_msg("%s %zu: %.17g, as it is written %.17g", what, k, got, wanted);
}

static void compare(answer *one, answer *other, size_t n) {
  evaluate(one, n);
  evaluate(other, n);
  double value = one->point.log_likelihood + one->point.log_prior;
  assert_true(isfinite(value));
  near(value, other->point.log_likelihood + other->point.log_prior, "value", 0);
  for (size_t k = 0; k < n; k++)
    near(one->slopes[k] + one->slopes[n + k],
         other->slopes[k] + other->slopes[n + k], "slope", k);
  tm_evaluate(&one->evaluator, &one->point);
  near(one->point.log_likelihood + one->point.log_prior, value, "alone", 0);
}

static void functions_that_are_one_node_are_what_is_written(void **state) {
  (void)state;
  tm_text functions = {0};
  stream = tm_random(5, 0, TM_PURPOSE_TEST);
  add_functions(&functions);
  tempera_model *model[2] = {load(&functions, 'f'), load(&functions, 'g')};
  answer a, b;
  open_answer(&a, model[0]);
  open_answer(&b, model[1]);
  size_t n = model[0]->dimension;
  assert_int_equal(n, FUNCTIONS + 6 + 12 + 14);
  for (int i = 0; i < POINTS; i++) {
    for (size_t k = 0; k < n; k++)
      a.point.u[k] = b.point.u[k] = tempera_random_uniform(&stream) - 0.5;
    compare(&a, &b, n);
  }
  close_answer(&a);
  close_answer(&b);
  for (int i = 0; i < 2; i++)
    tempera_model_free(model[i]);
  tm_text_clear(&functions);
}

/* ---- which are ---------------------------------------------------------- */

static int nodes_in(const char *function) {
  tm_text text = {0};
  tm_text_printf(&text,
                 "functions { %s }\n"
                 "data { real y; } parameters { vector[3] a; }\n"
                 "model { a ~ std_normal(); y ~ normal(f(a), 1); }\n",
                 function);
  tempera_program *program = parse(&text);
  int count = count_nodes(program);
  tempera_program_free(program);
  tm_text_clear(&text);
  return count;
}

static void bodies_without_loops_are_one_node(void **state) {
  (void)state;
  assert_int_equal(nodes_in("real f(vector a) { return sum(a) * a[1]; }"), 1);
  assert_int_equal(nodes_in("real f(vector a) { if (a[1] > 0) return a[1];\n"
                            "  return a[2]; }"),
                   2);
  assert_int_equal(nodes_in("real f(vector a) { vector[3] b = a;\n"
                            "  if (a[1] > 9) reject(\"no\", a);\n"
                            "  return b[3]; }"),
                   1);
  static const char *const not [] = {
      "real f(vector a) { real s = 0; for (i in 1:3) s += a[i]; return s; }",
      "real f(vector a) { vector[3] b = a; b[2] = 1; return sum(b); }",
      "real f(vector a) { return determinant(diag_matrix(a)); }",
      "real f(vector a) { return a[1] > 0 ? a[1] : a[2]; }",
      "real f(vector a) { return a[1] < 9 ? a[1] : f(a * 2); }"};
  for (size_t i = 0; i < sizeof not / sizeof *not ; i++)
    assert_int_equal(nodes_in(not [i]), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bodies_without_loops_are_one_node),
      cmocka_unit_test(functions_that_are_one_node_are_what_is_written),
  };
  return cmocka_run_group_tests(tests, compiling_quickly, NULL);
}
