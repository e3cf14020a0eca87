/* Expressions of scalars that are one node of the tape, and what loops remember
 * instead of computing it again: values and gradients are those of the same
 * sums written in another way. Every line has parameters of its own, so that
 * a slope that is wrong names it. */
#include "base/text.h"
#include "language/program.h"
#include "model/model.h"

#include "model_answer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char FUNCTIONS[] =
    "functions {\n"
    "  real of(vector v) { real u = v[1]; real w = v[2];\n"
    "    return u * w + exp(u); }\n"
    "  real first(vector v) { real u = v[1]; return u; }\n"
    "  void raise_lp(vector v) { real u = v[1]; target += u * u + v[2]; }\n"
    "  real twice(array[] real x) { return x[1] + 2 * x[2]; }\n"
    "  real mixed(real x, vector v, int n) { vector[n] w;\n"
    "    for (i in 1:n) { w[i] = x * v[i] * i + x * x; }\n"
    "    return log_sum_exp(w); }\n"
    "  vector circle(real t, vector y, real w) {\n"
    "    return [w * y[2], -w * y[1]]'; }\n"
    "  vector fall(real t, vector y, real w) { return [-w * y[1]]'; }\n"
    "}\n"
    "data { int N; vector[N] y; }\n";

/* `$` stands for the line's number; twice the same. */
static const char *const LINES[][2] = {
    {"target += (a[$] / (1 + square(b[$])) - -a[$] * b[$]) ^ 2;",
     "{ real e = square(b[$]) + 1; real f = a[$] * inv(e);\n"
     "  real g = a[$] * b[$]; f += g; target += square(f); }"},
    /* the inner expression changes in the loop around */
    {"{ real q = a[$]; for (i in 1:4) { for (j in 1:3) target += exp(q) * j;\n"
     "  q = q * 0.5; } }",
     "for (i in 0:3) target += 6 * exp(a[$] * 0.5 ^ i);"},
    /* the same for every t: a place for each j and k */
    {"for (t in 1:3) for (k in 2:4) for (j in 3:5)\n"
     "  target += exp(m[j, k] * a[$]) * t;",
     "target += 6 * sum(exp(block(m, 3, 2, 3, 3) * a[$]));"},
    {"for (i in 1:2) for (j in 1:3) for (k in 1:2)\n"
     "  target += cos(a[$] * j) * sin(b[$] * i);",
     "target += 2 * sum(cos(a[$] * [1, 2, 3])) * sum(sin(b[$] * [1, 2]));"},
    {"for (i in 1:3) { real q = i * a[$]; for (j in 1:2)\n"
     "  target += normal_lpdf(y[i] | exp(q), b[$]); }",
     "target += 2 * normal_lpdf(head(y, 3) | exp(a[$] * [1, 2, 3]), b[$]);"},
    {"for (i in 1:5) for (k in 1:3) if (i > 9) target += log(y[i + 99] * "
     "a[$]);\n"
     "target += a[$];",
     "target += a[$];"},
    {"{ int i = 1; while (i < 4) { for (k in 1:2) target += exp(a[$] * i);\n"
     "  i += 1; } }",
     "target += 2 * (exp(a[$]) + exp(2 * a[$]) + exp(3 * a[$]));"},
    {"{ int n = 1; for (t in 1:3) { n = t; for (i in n:3)\n"
     "  target += exp(a[$] * i); } }",
     "target += exp(a[$]) + 2 * exp(2 * a[$]) + 3 * exp(3 * a[$]);"},
    /* elements are assigned more than once */
    {"{ vector[3] v = a[$] * [1, 2, 3]';\n"
     "  for (i in 1:3) v[i] = v[i] * v[i] + sin(v[i]); target += sum(v); }",
     "target += 14 * square(a[$]) + sum(sin(a[$] * [1, 2, 3]));"},
    {"{ vector[2] v; v[1] = a[$]; v[2] = b[$]; target += of(v);\n"
     "  v[1] = 3 * a[$]; target += of(v) + first(v); v[1] = 0;\n"
     "  target += of(v); }",
     "target += a[$] * b[$] + exp(a[$]) + 3 * a[$] * b[$] + exp(3 * a[$])\n"
     "  + 3 * a[$] + 1;"},
    {"{ vector[2] v; v[1] = a[$]; v[2] = b[$]; raise_lp(v); v[1] = b[$];\n"
     "  v[2] = 2; raise_lp(v); v[1] = 0; }",
     "target += square(a[$]) + b[$] + square(b[$]) + 2;"},
    {"{ vector[2] v; v[1] = a[$]; for (i in 1:3) { v[2] = v[1];\n"
     "  v[1] = v[2] * v[1] + b[$]; target += normal_lpdf(v[1] | v[2], b[$]); "
     "}\n"
     "}",
     "{ real p = a[$]; for (i in 1:3) { real q = square(p) + b[$];\n"
     "  target += -square((q - p) / b[$]) / 2 - log(b[$])\n"
     "    - 0.5 * log(2 * pi()); p = q; } }"},
    {"target += twice({a[$] * b[$], twice({sin(a[$]), b[$]})});",
     "target += a[$] * b[$] + 2 * (sin(a[$]) + 2 * b[$]);"},
    {"target += a[$] + a[$] * b[$] * 2 + a[$] * b[$] * 3 + a[$] * b[$] * 4\n"
     " + a[$] * b[$] * 5 + a[$] * b[$] * 6 + a[$] * b[$] * 7 + a[$] * b[$] * "
     "8\n"
     " + a[$] * b[$] * 9 + a[$] * b[$] * 10 + sin(a[$] * b[$] * 2\n"
     " + a[$] * b[$] * 3 + a[$] * b[$] * 4 + a[$] * b[$] * 5 + a[$] * b[$] * "
     "6\n"
     " + a[$] * b[$] * 7 + a[$] * b[$] * 8 + a[$] * b[$] * 9);",
     "target += a[$] + 54 * (a[$] * b[$]) + sin(44 * (a[$] * b[$]));"},
    {"target += log_sum_exp({a[$], b[$]}) + log_sum_exp({a[$], b[$], 0.3})\n"
     "  + log_sum_exp({b[$], negative_infinity()})\n"
     "  + log_sum_exp(rep_vector(a[$], 9));",
     "target += log(exp(a[$]) + exp(b[$]))\n"
     "  + log(exp(a[$]) + exp(b[$]) + exp(0.3)) + b[$] + log(9) + a[$];"},
    {"target += sum(rep_matrix([a[$], b[$]], 3) .* [[1, 2], [3, 4], [5, 6]])\n"
     "  + sum(rep_vector(a[$], 3) .* [1, 2, 3]');",
     "target += 9 * a[$] + 12 * b[$] + 6 * a[$];"},
    {"if (N > 99) { for (n in 1:N) y[n + 99] ~ normal(a[$], 1); }\n"
     "else { for (n in 1:N) y[n] ~ normal(a[$] * n, b[$]); }",
     "for (n in 1:N) target += normal_lpdf(y[n] | a[$] * n, b[$]);"},
    {"{ array[3] vector[2] z = ode_rk45_tol(circle, [b[$], a[$]]', 0,\n"
     "    {0.5, 1.0, 1.7}, 1e-10, 1e-10, 100000, a[$]);\n"
     "  target += z[1, 1] + z[2, 2] + z[3, 1] * z[3, 2]; }",
     "{ array[3] vector[2] z; for (i in 1:3) { real t = {0.5, 1, 1.7}[i];\n"
     "    real c = cos(a[$] * t); real s = sin(a[$] * t);\n"
     "    z[i, 1] = b[$] * c + a[$] * s; z[i, 2] = a[$] * c - b[$] * s; }\n"
     "  target += z[1, 1] + z[2, 2] + z[3, 1] * z[3, 2]; }"},
    {"target += ode_bdf_tol(fall, [a[$]]', 0, {2.0}, 1e-11, 1e-11, 100000,\n"
     "  b[$])[1, 1];",
     "target += a[$] * exp(-2 * b[$]);"},
    /* products of what lies in storage that is assigned again */
    {"{ matrix[20, 3] w; vector[40] z; for (i in 1:40) z[i] = b[$] / i;\n"
     "  for (i in 1:20) for (j in 1:3) w[i, j] = a[$] * i + b[$] * j;\n"
     "  real p = dot_product(w[, 2], w[:, 1]) + dot_product(sub_col(w, 2, 3,\n"
     "    15), segment(z, 3, 15)) + tail(z, 20)' * w[1:20, 1];\n"
     "  real q = row(w, 2) * w[3]' + dot_product(w[2:4, 1], w[5, 1:3]')\n"
     "    + z[2:17]' * z[5:20] + z' * z;\n"
     "  w[3, 2] = 9 * p; z[7] = a[$] * q; target += p + q\n"
     "    + dot_product(col(w, 2), head(z, 20)); }",
     "{ matrix[20, 3] w; vector[40] z; for (i in 1:40) z[i] = b[$] / i;\n"
     "  for (i in 1:20) for (j in 1:3) w[i, j] = a[$] * i + b[$] * j;\n"
     "  real p = sum(w[, 2] .* w[:, 1]) + sum(sub_col(w, 2, 3, 15)\n"
     "    .* segment(z, 3, 15)) + sum(tail(z, 20) .* w[1:20, 1]);\n"
     "  real q = sum(row(w, 2) .* w[3]) + sum(w[2:4, 1] .* w[5, 1:3]')\n"
     "    + sum(z[2:17] .* z[5:20]) + sum(z .* z);\n"
     "  w[3, 2] = 9 * p; z[7] = a[$] * q; target += p + q\n"
     "    + sum(col(w, 2) .* head(z, 20)); }"},
    /* terms that are made where they are summed */
    {"{ vector[3] w; for (i in 1:3) w[i] = a[$] * i + b[$] + y[i] + 1;\n"
     "  target += log_sum_exp(w); }",
     "target += log(sum(exp(a[$] * [1, 2, 3]' + b[$] + head(y, 3) + 1)));"},
    {"{ array[2] real w; array[4, 2] real g; g[1] = {a[$], b[$]};\n"
     "  for (t in 2:4) for (k in 1:2) {\n"
     "    for (j in 1:2) w[j] = g[t - 1, j] + log1p(square(m[j, k])) +\n"
     "      normal_lpdf(y[t] | m[k, 3], b[$]) + b[$] * b[$];\n"
     "    g[t, k] = log_sum_exp(w); }\n"
     "  target += log_sum_exp(g[4]); }",
     "{ vector[2] p = [a[$], b[$]]'; for (t in 2:4) { vector[2] q;\n"
     "    for (k in 1:2) q[k] = log_sum_exp(p + log1p(square(m[1:2, k])))\n"
     "      + normal_lpdf(y[t] | m[k, 3], b[$]) + square(b[$]); p = q; }\n"
     "  target += log(exp(p[1]) + exp(p[2])); }"},
    {"{ vector[2] p = [a[$], b[$]]'; real s = 0; for (t in 1:3) {\n"
     "    vector[2] l = p; for (k in 1:2) l[k] += y[t] * k * a[$] + b[$];\n"
     "    s += log_sum_exp(l); } target += s; }",
     "for (t in 1:3) target += log(exp(a[$] + y[t] * a[$] + b[$])\n"
     "  + exp(b[$] + y[t] * 2 * a[$] + b[$]));"},
    {"{ vector[12] w; for (i in 1:12) w[i] = a[$] * sin(i);\n"
     "  real s = 2 * log_sum_exp(w) + b[$]; target += s * b[$]; }",
     "target += b[$] * (b[$] + 2 * log(sum(exp(a[$] * sin(linspaced_vector("
     "12, 1, 12))))));"},
    {"target += mixed(a[$], [b[$], m[1, 1], m[2, 2]]', 3);",
     "target += log(exp(a[$] * b[$]) + exp(2 * a[$] * m[1, 1])\n"
     "  + exp(3 * a[$] * m[2, 2])) + square(a[$]);"},
    /* small vectors: products of two, elements of elements */
    {"{ array[2, 3] vector[2] w; for (i in 1:2) for (j in 1:3) for (k in 1:2)\n"
     "    w[i][j][k] = a[$] * i + b[$] * j * k;\n"
     "  target += b[$] * (w[2][3]' * w[1, 2] + dot_product(w[1][1], y[1:2])\n"
     "    + w[2, 1][2] * w[1][3, 1] + y[2:3]' * y[1:2] * w[2][1, 1]); }",
     "target += b[$] * ((2 * a[$] + 3 * b[$]) * (a[$] + 2 * b[$])\n"
     "  + (2 * a[$] + 6 * b[$]) * (a[$] + 4 * b[$])\n"
     "  + (a[$] + b[$]) * y[1] + (a[$] + 2 * b[$]) * y[2]\n"
     "  + (2 * a[$] + 2 * b[$]) * (a[$] + 3 * b[$])\n"
     "  + (y[2] * y[1] + y[3] * y[2]) * (2 * a[$] + b[$]));"},
    {"{ vector[3] v = [a[$], b[$], 1]'; vector[3] w; w[1] = v' * v;\n"
     "  v[1] = 2; w[2] = w[1] * v[1]; w[3] = v' * w[{1, 1, 2}];\n"
     "  target += w[3]; }",
     "{ real s = square(a[$]) + square(b[$]) + 1;\n"
     "  target += 2 * s + b[$] * s + 2 * s; }"},
    /* such that are read again, filled in part, or assigned in between */
    {"{ vector[2] w; for (i in 1:2) w[i] = a[$] * i;\n"
     "  target += log_sum_exp(w); target += w[1]; }",
     "target += log(exp(a[$]) + exp(2 * a[$])) + a[$];"},
    {"{ vector[3] w = [a[$], b[$], 1]'; for (i in 1:2) w[i] = a[$] * i;\n"
     "  target += log_sum_exp(w); }",
     "target += log(exp(a[$]) + exp(2 * a[$]) + exp(1));"},
    {"{ vector[2] p = [a[$], b[$]]'; vector[2] l = p; p = [1, 1]';\n"
     "  for (k in 1:2) l[k] += k * a[$]; target += log_sum_exp(l) + p[1]; }",
     "target += log(exp(2 * a[$]) + exp(b[$] + 2 * a[$])) + 1;"},
    {"{ vector[2] w; for (i in 1:2) { w[i] = a[$] * i; }\n"
     "  { real s; s = log_sum_exp(w); target += s; } }",
     "target += log(exp(a[$]) + exp(2 * a[$]));"},
    {"{ vector[2] w; real c = b[$]; for (i in 1:2) w[i] = a[$] * i + c;\n"
     "  c = log_sum_exp(w) + c; target += c; }",
     "target += log(exp(a[$]) + exp(2 * a[$])) + 2 * b[$];"},
    {"{ vector[2] w; for (i in 1:2) w[i] = i == 1 ? negative_infinity() :\n"
     "    a[$]; target += log_sum_exp(w) + b[$]; }",
     "target += a[$] + b[$];"},
};
enum { LINE_COUNT = sizeof LINES / sizeof *LINES, POINTS = 6 };

static void add_line(tm_text *text, int line, int way) {
  for (const char *c = LINES[line][way]; *c; c++)
    if (*c == '$')
      tm_text_printf(text, "%d", line + 1);
    else
      tm_text_add_bytes(text, c, 1);
  tm_text_add(text, "\n");
}

static tempera_model *load(int way) {
  static const char DATA[] = "{\"N\": 5, \"y\": [0.3, -1, 2, 0.5, 1.25]}";
  tm_text text = {0};
  tempera_error error = {0};
  tempera_data *data = NULL;
  tempera_program *program = NULL;
  tempera_model *model = NULL;
  tm_text_add(&text, FUNCTIONS);
  tm_text_printf(&text,
                 "parameters { vector[%d] a; vector<lower=0>[%d] b;\n"
                 "  matrix[5, 4] m; }\n"
                 "model {\n  a ~ std_normal(); b ~ std_normal();\n"
                 "  to_vector(m) ~ std_normal();\n",
                 LINE_COUNT, LINE_COUNT);
  for (int i = 0; i < LINE_COUNT; i++)
    add_line(&text, i, way);
  tm_text_add(&text, "}\n");
  assert_int_equal(tempera_data_parse(DATA, strlen(DATA), &data, &error), 0);
  if (tempera_program_parse("fused.stan", text.data, text.length, &program,
                            &error) ||
      tempera_program_load(program, data, &model, &error))
    fail_msg("%s\n%s", error.message, text.data);
  tempera_program_free(program);
  tempera_data_free(data);
  tm_text_clear(&text);
  return model;
}

static void compare(answer *one, answer *other, size_t n) {
  evaluate(one, n);
  evaluate(other, n);
  double value = one->point.log_likelihood + one->point.log_prior;
  double expected = other->point.log_likelihood + other->point.log_prior;
  assert_true(isfinite(value));
  if (fabs(value - expected) > 1e-8 * fmax(1, fabs(expected)))
    fail_msg("%.17g, written in another way %.17g", value, expected);
  for (size_t k = 0; k < n; k++) {
    double got = one->slopes[k] + one->slopes[n + k];
    double wanted = other->slopes[k] + other->slopes[n + k];
    if (!(fabs(got - wanted) <= 1e-7 * fmax(1, fabs(wanted))))
      fail_msg("slope %.17g, written in another way %.17g\n%s", got, wanted,
               k < 2 * LINE_COUNT ? LINES[k % LINE_COUNT][0] : "m");
  }
  tm_evaluate(&one->evaluator, &one->point);
  assert_true(fabs(one->point.log_likelihood + one->point.log_prior - value) <=
              1e-9 * fmax(1, fabs(value)));
}

static void what_is_fused_or_remembered_is_what_is_written(void **state) {
  (void)state;
  tempera_model *model[2] = {load(0), load(1)};
  answer a, b;
  open_answer(&a, model[0]);
  open_answer(&b, model[1]);
  tempera_random random = tm_random(11, 0, TM_PURPOSE_TEST);
  size_t n = model[0]->dimension;
  assert_int_equal(n, 2 * LINE_COUNT + 20);
  for (int i = 0; i < POINTS; i++) {
    for (size_t k = 0; k < n; k++)
      a.point.u[k] = b.point.u[k] = tempera_random_uniform(&random) - 0.5;
    compare(&a, &b, n);
  }
  close_answer(&a);
  close_answer(&b);
  for (int i = 0; i < 2; i++)
    tempera_model_free(model[i]);
}

/* Are the terms of this statement made where they are summed? */
static bool sums(const char *statement) {
  tm_text text = {0};
  tempera_error error = {0};
  tempera_program *program = NULL;
  char *c = NULL;
  tm_text_printf(&text,
                 "data { int N; vector[N] y; } parameters { vector[3] a; }\n"
                 "model { vector[3] w; int n = 3; a ~ std_normal();\n"
                 "  y ~ normal(a[1], 1); %s }\n",
                 statement);
  if (tempera_program_parse("sums.stan", text.data, text.length, &program,
                            &error) ||
      tempera_program_translate(program, &c, &error))
    fail_msg("%s\n%s", error.message, text.data);
  bool found = strstr(c, "runtime->powers(") != NULL;
  free(c);
  tempera_program_free(program);
  tm_text_clear(&text);
  return found;
}

static void terms_are_made_where_they_are_summed(void **state) {
  (void)state;
  static const char *const made[] = {
      "for (t in 1:2) { for (i in 1:3) w[i] = a[i] * t; y[1] ~ normal(0, 1);\n"
      "  for (i in 1:3) w[i] = w[1] * a[i]; target += w[3]; }",
      "for (t in 1:2) { for (i in 1:2) w[i] = a[i] * t;\n"
      "  target += log_sum_exp(w); }",
      "for (t in 1:2) { for (i in 1:n) w[i] = a[i] * t;\n"
      "  target += log_sum_exp(w); }",
      "for (t in 1:2) { for (i in 1:3) w[i] = a[i] * t;\n"
      "  target += log_sum_exp(w) + w[2]; }"};
  assert_true(sums("{ real s = 0; for (t in 1:2) { for (i in 1:3)\n"
                   "  w[i] = a[i] * t; s = s + log_sum_exp(w); }\n"
                   "  target += s; }"));
  for (size_t i = 0; i < sizeof made / sizeof *made; i++)
    assert_false(sums(made[i]));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(terms_are_made_where_they_are_summed),
      cmocka_unit_test(what_is_fused_or_remembered_is_what_is_written),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
