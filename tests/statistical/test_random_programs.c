/* Generated programs: random expressions of every shape, assignments, loops
 * and densities, whose gradients must equal differences. Seeds are fixed; a
 * program holds many pieces, because building it is what takes time. */
#include "base/text.h"
#include "model/model.h"

#include "cmocka_all.h"

#include "table_calls.h"

#include <math.h>
#include <stdio.h>

enum { PROGRAMS = 12, COMPLEX_PROGRAMS = 2, PIECES = 25, DEPTH = 3 };

typedef struct writer {
  tempera_random random;
  tm_text text;
  int depth;
} writer;

/* A template: R, V, W and M stand for a random real, vector, row vector and
 * matrix, C, Z and Y for a complex number, vector and matrix, I for an index,
 * S for a positive real, T for a call of any function of the table. */
static const char *const REALS[] = {
    "a",
    "b",
    "x",
    "0.7",
    "v[I]",
    "w[I]",
    "d[I]",
    "A[I, I]",
    "(R + R)",
    "(R - R)",
    "(R * R)",
    "(R / S)",
    "(-R)",
    "(S ^ 1.5)",
    "tanh(R)",
    "sin(R)",
    "cos(R)",
    "atan(R)",
    "inv_logit(R)",
    "log1p_exp(R)",
    "log(S)",
    "sqrt(S)",
    "inv(S)",
    "erf(R)",
    "Phi(tanh(R))",
    "lgamma(S)",
    "digamma(S)",
    "lbeta(S, S)",
    "square(R)",
    "exp(-square(R))",
    "log_sum_exp(R, R)",
    "log_mix(inv_logit(R), R, R)",
    "fma(R, R, R)",
    "(x > 0 ? R : R)",
    "atan2(S, R)",
    "V[I]",
    "(M)[I, I]",
    "sum(V)",
    "mean(V)",
    "dot_product(V, V)",
    "dot_self(V)",
    "(W * V)",
    "log_sum_exp(V)",
    "norm2(V + 3)",
    "distance(V, V + 2)",
    "sd(V)",
    "variance(V)",
    "prod(V)",
    "trace(M)",
    "sum(M)",
    "quad_form(M, V)",
    "log_determinant(add_diag(tanh(M), 4))",
    "bend(R, V)",
    "normal_lpdf(R | R, S)",
    "student_t_lpdf(R | S + 1, R, S)",
    "cauchy_lpdf(V | R, S)",
    "normal_lpdf(V | V, S)",
    "gamma_lpdf(S | S, S)",
    "inv_gamma_lpdf(S | S, S)",
    "beta_lpdf(inv_logit(R) | S, S)",
    "weibull_lpdf(S | S, S)",
    "lognormal_lpdf(S | R, S)",
    "skew_normal_lpdf(tanh(R) | 0, S, tanh(R))",
    "logistic_lpdf(R | V, S)",
    "exponential_lpdf(exp(tanh(V)) | S)",
    "poisson_log_lpmf(k | tanh(V))",
    "bernoulli_logit_lpmf(1 | R)",
    "binomial_logit_lpmf(2 | 5, tanh(R))",
    "neg_binomial_2_lpmf(3 | S, S)",
    "categorical_logit_lpmf(2 | V)",
    "normal_lcdf(tanh(R) | 0, S)",
    "multi_normal_lpdf(V | V, add_diag(tcrossprod(tanh(M)), 2))",
    "dirichlet_lpdf(softmax(tanh(V)) | exp(tanh(V)))",
    "categorical_lpmf(2 | softmax(tanh(V)))",
    "multinomial_lpmf(k | softmax(tanh(V)))",
    "trigamma(S)",
    "owens_t(tanh(R), R)",
    "gamma_p(S, S)",
    "gamma_q(S, S)",
    "bessel_first_kind(1, S)",
    "bessel_second_kind(1, S)",
    "modified_bessel_first_kind(2, tanh(R))",
    "modified_bessel_second_kind(1, S)",
    "log_modified_bessel_first_kind(S, S)",
    "lambert_w0(S)",
    "inv_erfc(0.2 + S / 3)",
    "std_normal_qf(inv_logit(tanh(R)))",
    "std_normal_log_qf(-S)",
    "inc_beta(S, S, inv_logit(tanh(R)))",
    "hypergeometric_2F1(S, S, S + 1, 0.5 * tanh(R))",
    "lmgamma(2, S + 1)",
    "norm1(tanh(V) + 5)",
    "trace_dot(M, M)",
    "trace_quad_form(tanh(M), V)",
    "log_mix(softmax(V), {tanh(V), tanh(V)})",
    "sum(singular_values(add_diag(tanh(M), [5.0, 7.0, 9.0]')))",
    "bernoulli_logit_glm_lpmf({1, 0, 1} | tanh(M), tanh(R), tanh(V))",
    "poisson_log_glm_lpmf(k | tanh(M), tanh(V), tanh(V))",
    "neg_binomial_2_log_glm_lpmf(k | tanh(M), tanh(R), tanh(V), S)",
    "binomial_logit_glm_lpmf(k | {3, 2, 4}, tanh(M), tanh(R), tanh(V))",
    "normal_id_glm_lpdf(tanh(V) | tanh(M), tanh(R), tanh(V), S)",
    "categorical_logit_glm_lpmf(2 | tanh(W), tanh(V), tanh(M))",
    "ordered_logistic_glm_lpmf({1, 3, 2} | tanh(M), tanh(V), [-1.0, 0.5]')",
    "ordered_probit_lpmf(2 | tanh(R), [-1.0, 1.0]')",
    "multi_normal_prec_lpdf(V | V, add_diag(tcrossprod(tanh(M)), 2))",
    "multi_student_t_lpdf(V | S, V, add_diag(tcrossprod(tanh(M)), 2))",
    "multi_gp_lpdf(tanh(M) | add_diag(tcrossprod(tanh(M)), 2), exp(tanh(V)))",
    "wishart_lpdf(add_diag(tcrossprod(tanh(M)), 2) | S + 3, "
    "add_diag(tcrossprod(tanh(M)), 2))",
    "multinomial_logit_lpmf(k | tanh(V))",
    "dirichlet_multinomial_lpmf(k | exp(tanh(V)))",
    "beta_neg_binomial_lpmf(3 | S, S, S)",
    "yule_simon_lpmf(3 | S)",
    "wiener_lpdf(S + 0.5 | S + 0.3, 0.2, inv_logit(tanh(R)), tanh(R))",
    "hmm_marginal(tanh(M), [softmax(V)', softmax(V)', softmax(V)'], "
    "softmax(V))",
    "gaussian_dlm_obs_lpdf(tanh(M) | tanh(M), tanh(M), exp(tanh(V)), "
    "add_diag(tcrossprod(tanh(M)), 1), V, add_diag(tcrossprod(tanh(M)), 1))",
    "sum(solve_newton(bent, tanh(V), V, S))",
    "integrate_1d_double_exponential(hump, 0, 1, tanh(R), S)"};
static const char *const VECTORS[] = {
    "v",
    "d",
    "(V + V)",
    "(V - R)",
    "(R * V)",
    "(V .* V)",
    "(V ./ S)",
    "(M * V)",
    "W'",
    "tanh(V)",
    "sin(V)",
    "softmax(V)",
    "log_softmax(V)",
    "cumulative_sum(V)",
    "reverse(V)",
    "V[{3, 1, 1}]",
    "append_row(R, V[2:3])",
    "append_row(head(V, 2), R)",
    "col(M, I)",
    "(M)[, I]",
    "rep_vector(R, 3)",
    "[R, R, R]'",
    "diagonal(M)",
    "rows_dot_product(M, M)",
    "mdivide_left(add_diag(tanh(M), 4), V)",
    "(add_diag(tanh(M), 4) \\ V)",
    "(cholesky_decompose(add_diag(tcrossprod(tanh(M)), 2)) * V)",
    "to_vector({R, R, R})",
    "simplex_constrain(tanh(V)[1:2])",
    "ordered_constrain(tanh(V))",
    "unit_vector_constrain(tanh(V) + 3)",
    "rows_dot_self(tanh(M))",
    "csr_matrix_times_vector(3, 3, V, {1, 3, 2}, {1, 2, 3, 4}, V)",
    "(matrix_exp(tanh(M)) * V)",
    "solve_powell(bent, [0.1, 0.2, 0.3]', V, S)"};
static const char *const ROWS[] = {"w",
                                   "V'",
                                   "(W + W)",
                                   "(R * W)",
                                   "row(M, I)",
                                   "(M)[I]",
                                   "(W * M)",
                                   "tanh(W)",
                                   "[R, R, R]",
                                   "(W .* W)",
                                   "rep_row_vector(R, 3)"};
static const char *const MATRICES[] = {
    "A",
    "(M + M)",
    "(M - M)",
    "(R * M)",
    "(M .* M)",
    "M'",
    "tanh(M)",
    "(tanh(M) * tanh(M))",
    "(V * W)",
    "diag_pre_multiply(V, M)",
    "diag_post_multiply(M, V)",
    "diag_matrix(V)",
    "add_diag(M, R)",
    "crossprod(tanh(M))",
    "[W, W, W]",
    "append_col(V, (M)[, 2:3])",
    "inverse(add_diag(tanh(M), 4))",
    "rep_matrix(R, 3, 3)",
    "gp_exp_quad_cov(to_array_1d(V), S, S)",
    "gp_matern32_cov(to_array_1d(V), S, S)",
    "gp_matern52_cov({V, V, V}, S, S)",
    "gp_exp_quad_cov({V, V, V}, S, {S, S, S})",
    "gp_periodic_cov(to_array_1d(V), S, S, S)",
    "gp_dot_prod_cov({V, V, V}, S)",
    "matrix_exp(tanh(M))",
    "matrix_power(tanh(M), 3)",
    "qr_thin_Q(add_diag(tanh(M), 4))",
    "qr_R(add_diag(tanh(M), 4))",
    "generalized_inverse(add_diag(tanh(M), 4))",
    "symmetrize_from_lower_tri(M)",
    "cov_matrix_constrain(append_row(tanh(V), tanh(V)), 3)"};
static const char *const COMPLEX[] = {
    "to_complex(a, x)",
    "(b - 2i)",
    "to_complex(v[I], w[I])",
    "(C + C)",
    "(C - R)",
    "(0.3 * C * C)",
    "(C / (3 + 1i * tanh(R)))",
    "exp(1i * R)",
    "conj(C)",
    "sin(to_complex(tanh(R), tanh(R)))",
    "log(3 + to_complex(tanh(R), R))",
    "sqrt(3 + to_complex(tanh(R), R))",
    "atanh(0.3 * tanh(R) + 0.5i)",
    "(to_complex(S, tanh(R)) ^ to_complex(0.5, tanh(R)))",
    "polar(S, R)",
    "(x > 0 ? C : R)",
    "(Z)[I]",
    "(Y)[I, I]",
    "sum(Z)",
    "dot_product(Z, V)",
    "(Z' * Z)",
    "trace(Y)",
    "sum(exp(0.1i * eigenvalues(diag_matrix([1, 4, 8]') + 0.3 * tanh(M))))"};
static const char *const COMPLEX_VECTORS[] = {
    "to_complex(v, d)", "(v + 1i * w')", "(Z + Z)",
    "(C * Z)",          "(Z .* V)",      "(Z ./ (3 + 1i * tanh(R)))",
    "(0.3 * Y * Z)",    "conj(Z)",       "fft(Z)",
    "inv_fft(Z)",       "(Y)[, I]",      "append_row(C, (Z)[2:3])",
    "[C, R, C]'",       "reverse(Z)",    "cumulative_sum(Z)",
    "diagonal(Y)"};
static const char *const COMPLEX_MATRICES[] = {"to_complex(A, A')",
                                               "(M + 1i * tanh(M))",
                                               "(Y - Y)",
                                               "(C * Y)",
                                               "Y'",
                                               "conj(Y)",
                                               "(0.3 * Z * Z')",
                                               "(0.3 * Y * Y)",
                                               "diag_matrix(Z)",
                                               "diag_pre_multiply(Z, M)",
                                               "add_diag(Y, C)",
                                               "fft2(Y)",
                                               "symmetrize_from_lower_tri(Y)"};
static const char *const COMPLEX_STATEMENTS[] = {
    "  target += sin(0.1 * get_real(C)) + tanh(0.1 * get_imag(C)); // "
    "@likelihood\n",
    "  target += cos(abs(2 + tanh(R) + 1i * tanh(R))); // @likelihood\n",
    "  target += tanh(0.01 * norm(C)) + sin(0.01 * sum(norm(Z))); // "
    "@likelihood\n",
    "  { complex_vector[3] u = Z;\n"
    "    for (i in 1:3) { u[i] = 0.3 * u[i] + C; if (i > 1) u[i] += "
    "tanh(get_real(u[i - 1])); }\n"
    "    target += sin(0.1 * get_imag(sum(u))); // @likelihood\n  }\n",
    "  { complex_matrix[3, 3] Q = 0.2 * Y; Q[2] = Z'; Q[, 1] = V;\n"
    "    Q[3, 2] *= C; Q[1:2, 2:3] = Q[2:3, 1:2];\n"
    "    target += sin(0.1 * get_real(sum(Q))); // @likelihood\n  }\n",
    "  { complex s = 0; for (e in Z) s += exp(0.1i * get_real(e)) * R;\n"
    "    target += cos(0.1 * get_real(s)); // @likelihood\n  }\n"};

/* Statements; each ends by raising the target with something bounded. */
static const char *const STATEMENTS[] = {
    "  target += sin(R); // @likelihood\n",
    "  target += tanh(R) + cos(R); // @likelihood\n",
    "  { vector[3] u = V;\n"
    "    for (i in 1:3) { u[i] = tanh(u[i]) + R; if (i > 1) u[i] += sin(u[i - "
    "1]); }\n"
    "    target += sin(sum(u)); // @likelihood\n  }\n",
    "  { array[2] vector[3] q = {V, V};\n"
    "    q[1][2:3] = tanh(q[2][1:2]); q[2] = q[1] + V;\n"
    "    target += tanh(dot_product(q[1], tanh(q[2]))); // @likelihood\n  }\n",
    "  { matrix[3, 3] Q = tanh(M); Q[2] = W; Q[, 1] = V; Q[3, 2] *= R;\n"
    "    Q[1:2, 2:3] = Q[2:3, 1:2]; target += sin(sum(Q)); // @likelihood\n  "
    "}\n",
    "  { real s = R; int n = 0; while (n < 3) { n += 1; s = tanh(s + v[n]) * "
    "R; "
    "if (n == 2) continue; s -= w[n]; }\n    target += sin(s); // "
    "@likelihood\n  }\n",
    "  { real s = 0; for (e in V) { if (s > 100) break; s += sin(e) * R; }\n"
    "    target += cos(s); // @likelihood\n  }\n",
    "  target += tanh(0.1 * (R)); // @likelihood\n",
    "  target += tanh(0.1 * all_of(T)) * cos(R); // @likelihood\n",
    "  target += sin(0.1 * all_of(T)) + cos(0.1 * all_of(T)); // "
    "@likelihood\n"};

#define PICK(table)                                                            \
  table[tempera_random_below(&w->random, sizeof table / sizeof *table)]

static void expand(writer *w, const char *template);

/* The first `plain` entries of a table end the recursion. */
static void write_of(writer *w, const char *const *table, size_t count,
                     size_t plain) {
  size_t most = w->depth >= DEPTH ? plain : count;
  w->depth++;
  expand(w, table[tempera_random_below(&w->random, most)]);
  w->depth--;
}
#define WRITE(table, plain)                                                    \
  write_of(w, table, sizeof table / sizeof *table, plain)

static bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         (c >= '0' && c <= '9');
}

static void write_real(void *of) {
  writer *w = of;
  int depth = w->depth;
  w->depth = DEPTH;
  WRITE(REALS, 7);
  w->depth = depth;
}

/* A function of the table by chance; wiener's masses are integrals, which take
 * milliseconds. */
static void write_any_call(writer *w) {
  const call_writer call = {&w->text, &w->random, write_real, w};
  const tm_builtin *b;
  do
    b = tm_builtin_at(tempera_random_below(&w->random, tm_builtin_count()));
  while (!of_reals(b) || !strncmp(b->name, "wiener_lc", 9));
  write_table_call(&call, b);
}

static void expand(writer *w, const char *template) {
  for (const char *c = template; *c; c++) {
    bool alone = (c == template || !is_word(c[-1])) && !is_word(c[1]);
    if (alone && *c == 'T') {
      write_any_call(w);
    } else if (alone && *c == 'R') {
      WRITE(REALS, 7);
    } else if (alone && *c == 'S') {
      tm_text_add(&w->text, "exp(tanh(");
      WRITE(REALS, 7);
      tm_text_add(&w->text, "))");
    } else if (alone && *c == 'V') {
      WRITE(VECTORS, 2);
    } else if (alone && *c == 'W') {
      WRITE(ROWS, 2);
    } else if (alone && *c == 'M') {
      WRITE(MATRICES, 1);
    } else if (alone && *c == 'C') {
      WRITE(COMPLEX, 3);
    } else if (alone && *c == 'Z') {
      WRITE(COMPLEX_VECTORS, 2);
    } else if (alone && *c == 'Y') {
      WRITE(COMPLEX_MATRICES, 1);
    } else if (alone && *c == 'I') {
      tm_text_printf(&w->text, "%d",
                     1 + (int)tempera_random_below(&w->random, 3));
    } else {
      tm_text_add_bytes(&w->text, c, 1);
    }
  }
}

static void write_head(writer *w) {
  static const char *const shapes[] = {"vector",
                                       "row_vector",
                                       "matrix",
                                       "array[] real",
                                       "array[,] real",
                                       "array[] vector",
                                       "array[] row_vector",
                                       "array[] matrix"};
  tm_text_add(&w->text, "functions {\n  real all_of(real x) { return x; }\n");
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
    tm_text_printf(&w->text, "  real all_of(%s x) { %s }\n", shapes[i],
                   i < 4 ? "return sum(x);"
                         : "real s = 0; for (i in 1:size(x)) s += sum(x[i]); "
                           "return s;");
  tm_text_add(
      &w->text,
      "  real bend(real s, vector u) {\n"
      "    if (s > 0.3) return sin(s) * u[1];\n"
      "    return u[2] - 0.5 * s * u[3];\n  }\n"
      "  vector bent(vector y, vector u, real s) {\n"
      "    return y + 0.3 * s * tanh(y) - tanh(u);\n  }\n"
      "  real hump(real x, real xc, real a, real s) {\n"
      "    return exp(-s * square(x - a));\n  }\n}\n"
      "data { real x; vector[3] d; array[3] int k; }\n"
      "parameters { real a; real<lower=0> b; vector[3] v; "
      "row_vector[3] w; matrix[3, 3] A; }\n"
      "model {\n  a ~ normal(0, 1); b ~ gamma(2, 1); v ~ normal(a, b);\n"
      "  w ~ student_t(4, 0, b); to_vector(A) ~ normal(0, 1);\n");
}

static void write_program(writer *w, bool complex) {
  write_head(w);
  for (int i = 0; i < PIECES; i++)
    expand(w, complex ? PICK(COMPLEX_STATEMENTS) : PICK(STATEMENTS));
  tm_text_add(&w->text, "}\n");
}

static tempera_model *build(const writer *w) {
  static const char json[] = "{\"x\": 0.4, \"d\": [0.2, -0.6, 1.1], "
                             "\"k\": [0, 2, 1]}";
  tempera_program *program = NULL;
  tempera_data *data = NULL;
  tempera_model *model = NULL;
  tempera_error error = {0};
  if (tempera_program_parse("random", w->text.data, w->text.length, &program,
                            &error) ||
      tempera_data_parse(json, sizeof json - 1, &data, &error) ||
      tempera_program_load(program, data, &model, &error))
    fail_msg("%d:%d: %s\n%s", error.line, error.column, error.message,
             w->text.data);
  tempera_program_free(program);
  tempera_data_free(data);
  return model;
}

/* Sixth order, the best of several steps: sines of large arguments need the
 * smallest, whose rounding (1e-15 / 1e-5) is still far below the bound. */
static double worst_error(tm_evaluator *e, const tm_point *at, tm_point *moved,
                          size_t i, bool prior, double slope) {
  static const double steps[] = {1e-2, 1e-3, 1e-4, 1e-5},
                      weights[] = {-1, 9, -45, 45, -9, 1},
                      where[] = {-3, -2, -1, 1, 2, 3};
  double best = INFINITY;
  for (size_t s = 0; s < 4; s++) {
    double sum = 0;
    memcpy(moved->u, at->u, e->model->dimension * sizeof(double));
    for (int k = 0; k < 6; k++) {
      moved->u[i] = at->u[i] + where[k] * steps[s];
      tm_evaluate(e, moved);
      sum += weights[k] * (prior ? moved->log_prior + moved->log_jacobian
                                 : moved->log_likelihood);
    }
    best = fmin(best, fabs(sum / (60 * steps[s]) - slope));
  }
  return best / fmax(1, fabs(slope));
}

/* At so many points, the slopes of the likelihood, and of the prior where they
 * are not those of every program. */
static void check_program(const writer *w, const char *name, int points,
                          bool prior) {
  tempera_model *m = build(w);
  tm_arena *arena = tm_arena_create();
  tm_evaluator e;
  tm_point at, moved;
  tempera_error error = {0};
  assert_int_equal(tm_evaluator_create(m, arena, &e, &error), 0);
  assert_int_equal(tm_point_create(m, arena, &at, &error), 0);
  assert_int_equal(tm_point_create(m, arena, &moved, &error), 0);
  double *l = TM_NEW(arena, double, m->dimension);
  double *p = TM_NEW(arena, double, m->dimension);
  tempera_random random = tm_random(77, 0, TM_PURPOSE_TEST);
  for (int k = 0; k < points; k++) {
    for (size_t i = 0; i < m->dimension; i++)
      at.u[i] = 2 * tempera_random_uniform(&random) - 1;
    tm_evaluate_gradient(&e, &at, l, p);
    if (!isfinite(at.log_likelihood))
      fail_msg("%s: not finite\n%s", name, w->text.data);
    for (size_t i = 0; i < m->dimension; i++)
      if (!(worst_error(&e, &at, &moved, i, false, l[i]) < 1e-6) ||
          (prior && !(worst_error(&e, &at, &moved, i, true, p[i]) < 1e-6)))
        fail_msg("%s, coordinate %zu: %g, off by %g\n%s", name, i, l[i],
                 worst_error(&e, &at, &moved, i, false, l[i]), w->text.data);
  }
  tm_evaluator_release(&e);
  tempera_model_free(m);
  tm_arena_free(arena);
}

static void check_programs(int count, bool complex) {
  for (int k = 0; k < count; k++) {
    writer w = {.random = tm_random(2026, (uint32_t)k, TM_PURPOSE_TEST)};
    char name[32];
    snprintf(name, sizeof name, "program %d", k);
    write_program(&w, complex);
    assert_false(w.text.failed);
    check_program(&w, name, 2, true);
    tm_text_clear(&w.text);
  }
}

/* Every function of reals stands in a program, from the table itself. */
static void the_whole_table_has_its_gradients(void **state) {
  (void)state;
  enum { CALLS = 40 };
  size_t i = 0, calls = 0;
  for (int k = 0; i < tm_builtin_count(); k++) {
    writer w = {.random = tm_random(2027, (uint32_t)k, TM_PURPOSE_TEST)};
    const call_writer call = {&w.text, &w.random, write_real, &w};
    write_head(&w);
    for (int n = 0; n < CALLS && i < tm_builtin_count(); i++) {
      if (!of_reals(tm_builtin_at(i)))
        continue;
      tm_text_add(&w.text, "  target += all_of(");
      write_table_call(&call, tm_builtin_at(i));
      tm_text_add(&w.text, "); // @likelihood\n");
      n++;
      calls++;
    }
    tm_text_add(&w.text, "}\n");
    assert_false(w.text.failed);
    check_program(&w, "table", 1, false);
    tm_text_clear(&w.text);
  }
  assert_true(calls > 500);
}

static void random_programs_have_their_gradients(void **state) {
  (void)state;
  check_programs(PROGRAMS, false);
}

static void complex_programs_have_their_gradients(void **state) {
  (void)state;
  check_programs(COMPLEX_PROGRAMS, true);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_whole_table_has_its_gradients),
      cmocka_unit_test(random_programs_have_their_gradients),
      cmocka_unit_test(complex_programs_have_their_gradients),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
