/* function_arguments.h - where tests look at the built-in functions: arguments
 * for each of them, and the types that signatures stand for. */
#include "language/check/types.h"

#include "cmocka_all.h"

#include <stdio.h>
#include <string.h>

/* Arguments by name, where those of their types (DEFAULTS) will not do: values
 * in brackets, one by one, under the beginning of "name signature"; s before a
 * symmetric matrix, whose elements move in pairs; d before data, which has no
 * gradient. The longest beginning counts. "-": the function has no gradient to
 * be tested. */
typedef struct choice {
  const char *name, *arguments;
} choice;

#define SPD "s[[2,.3,.1],[.3,1.5,.2],[.1,.2,1.1]]"
#define LOWER "[[1.4,0,0],[.3,1.2,0],[.1,.2,1.1]]"
#define MATRIX "[[.5,.3,-.1],[.7,1.5,.2],[.1,-.6,1.1]]"

#define POINTS "[[.1,.2],[.5,-.3],[1.2,.4]]"
#define TWO_SETS "[[.1,.2],[.5,-.3]] [[1,.4],[.3,.8],[2,1]]"

/* of complex numbers: the last brackets hold their parts */
#define COMPLEX_MATRIX                                                         \
  "[[[.5,.2],[.3,-.7],[-.1,.4]],[[.7,.1],[1.5,-.3],[.2,.9]],"                  \
  "[[.1,-.5],[-.6,.8],[1.1,.6]]]"
#define COMPLEX_TALL                                                           \
  "[[[.5,.2],[.3,-.7]],[[.7,.1],[1.5,-.3]],[[.1,-.5],[-.6,.8]]]"
#define COMPLEX_WIDE "[[[.5,.2],[.3,-.7],[.2,.4]],[[.7,.1],[1.5,-.3],[.9,-1]]]"
#define COMPLEX_SIX "[[1,.5],[2,-1],[3,.2],[4,.1],[5,-.6],[6,.3]]"

static const choice DEFAULTS[] = {
    {"i", "2"},
    {"r", "0.6"},
    {"v", "[0.4,0.9,1.7]"},
    {"w", "[0.5,1.1,0.3]"},
    {"m", MATRIX},
    {"[i", "[1,2,1]"},
    {"[[i", "[[1,2],[3,1]]"},
    {"[r", "[0.7,1.2,0.2]"},
    {"[[r", "[[.5,.3],[.7,1.5],[.1,-.6]]"},
    {"[[[r", "[[[.5,.3],[.7,1.5]]]"},
    {"[[[[r", "[[[[.5,.3],[.7,1.5]]]]"},
    {"[[[[[r", "[[[[[.5,.3],[.7,1.5]]]]]"},
    {"[[[[[[r", "[[[[[[.5,.3],[.7,1.5]]]]]]"},
    {"[[[[[[[r", "[[[[[[[.5,.3],[.7,1.5]]]]]]]"},
    {"[[[[[[[[r", "[[[[[[[[.5,.3],[.7,1.5]]]]]]]]"},
    {"[v", "[[.5,.3,.1],[.7,1.5,.2]]"},
    {"[w", "[[.5,.3,.1],[.7,1.5,.2]]"},
    {"[m", "[[[.5,.3,-.1],[.7,1.5,.2],[.1,-.6,1.1]]]"},
    {"R", "0.6"},
    {"RR", "0.6 1.3"},
    {"c", "[0.6,0.4]"},
    {"p", "[[.4,-.3],[.9,.7],[1.7,.2]]"},
    {"q", "[[.5,.6],[1.1,-.8],[.3,.2]]"},
    {"o", COMPLEX_MATRIX},
    {"[c", "[[.7,.1],[1.2,-.4],[.2,.9]]"},
    {"[[c", "[[[.5,.1],[.3,.7]],[[.7,-.2],[1.5,.4]]]"},
    {"[[[c", "[[[[.5,.1],[.3,.7]],[[.7,-.2],[1.5,.4]]]]"},
    {"[[[[c", "[[[[[.5,.1],[.3,.7]],[[.7,-.2],[1.5,.4]]]]]"},
    {"[[[[[c", "[[[[[[.5,.1],[.3,.7]]]]]]"},
    {"[[[[[[c", "[[[[[[[.5,.1],[.3,.7]]]]]]]"},
    {"[[[[[[[c", "[[[[[[[[.5,.1],[.3,.7]]]]]]]]"},
    {"[q", "[[[.5,.1],[.3,.7]],[[.7,-.2],[1.5,.4]]]"},
};

static const choice CHOICES[] = {
    /* no gradient: values of data, or what must sum to one (hmm_marginal is in
     * the random programs) */
    {"linspaced", "-"},
    {"one_hot", "-"},
    {"uniform_simplex", "-"},
    {"quantile", "-"},
    /* of values that keep a constraint: in run/constrained.stan */
    {"simplex_unconstrain", "-"},
    {"sum_to_zero_unconstrain", "-"},
    {"cholesky_factor_corr_unconstrain", "-"},
    {"cholesky_factor_cov_unconstrain", "-"},
    {"corr_matrix_unconstrain", "-"},
    {"cov_matrix_unconstrain", "-"},
    {"stochastic", "-"},
    {"stochastic_column_constrain *m", MATRIX},
    {"stochastic_row_constrain *m", MATRIX},
    {"stochastic_row_log_jacobian *m", MATRIX},
    {"stochastic_column_log_jacobian *m", MATRIX},
    {"hmm_", "-"},
    {"laplace_marginal_poisson_log", "[3,0,5] [1,2,2] [.1,-.4] [1] "
                                     "s[[1.5,.4],[.4,1.1]]"},
    {"laplace_marginal_bernoulli_logit", "[1,0,1] [1,2,2] [.1,-.4] [1] "
                                         "s[[1.5,.4],[.4,1.1]]"},
    {"laplace_marginal_neg_binomial_2_log", "[3,0,5] [1,2,2] .7 [.1,-.4] [1] "
                                            "s[[1.5,.4],[.4,1.1]]"},
    {"laplace_marginal_tol", "-"}, /* the same with options */
    /* sizes that have to fit */
    {"to_matrix v,i", "[1,2,3,4,5,6] 2 3"},
    {"to_matrix w,i", "[1,2,3,4,5,6] 2 3"},
    {"to_matrix [r,i", "[1,2,3,4,5,6] 2 3"},
    {"to_matrix m,i", MATRIX " 1 9"},
    {"to_matrix v,i,i,i", "[1,2,3,4,5,6] 2 3 0"},
    {"to_matrix w,i,i,i", "[1,2,3,4,5,6] 2 3 0"},
    {"to_matrix [r,i,i,i", "[1,2,3,4,5,6] 2 3 1"},
    {"to_matrix m,i,i,i", MATRIX " 1 9 0"},
    {"to_matrix p,i", COMPLEX_SIX " 2 3"},
    {"to_matrix q,i", COMPLEX_SIX " 2 3"},
    {"to_matrix [c,i", COMPLEX_SIX " 2 3"},
    {"to_matrix o,i", COMPLEX_MATRIX " 1 9"},
    {"to_matrix p,i,i,i", COMPLEX_SIX " 2 3 0"},
    {"to_matrix q,i,i,i", COMPLEX_SIX " 2 3 0"},
    {"to_matrix [c,i,i,i", COMPLEX_SIX " 2 3 1"},
    {"to_matrix o,i,i,i", COMPLEX_MATRIX " 1 9 0"},
    {"eigenvalues_sym o", COMPLEX_MATRIX},
    {"eigenvectors_sym o", COMPLEX_MATRIX},
    {"singular_values o", COMPLEX_TALL},
    {"svd_U o", COMPLEX_TALL},
    {"svd_V o", COMPLEX_WIDE},
    {"log_mix S,[", "[.2,.5,.3] [[.5,.3,.1],[.7,1.5,.2]]"},
    {"log_mix S,S", "[.2,.5,.3] [.5,.3,.1]"},
    {"csr_to_dense", "2 3 [.4,.9,1.7] [1,3,2] [1,3,4]"},
    {"csr_matrix_times_vector", "2 3 [.4,.9,1.7] [1,3,2] [1,3,4] [1,2,3]"},
    {"gp_dot_prod_cov X,X", "[[.1,.2],[.5,-.3]] [[1,.4],[.3,.8],[2,1]] .8"},
    {"gp_exponential_cov X,X,r,r", TWO_SETS " .8 1.3"},
    {"gp_matern32_cov X,X,r,r", TWO_SETS " .8 1.3"},
    {"gp_matern52_cov X,X,r,r", TWO_SETS " .8 1.3"},
    {"gp_periodic_cov X,X", TWO_SETS " .8 1.3 2.1"},
    {"gp_exp_quad_cov X,X,r,r", TWO_SETS " .8 1.3"},
    {"cov_exp_quad X,X,r,r", TWO_SETS " .8 1.3"},
    {"gp_exponential_cov X,r,[r", POINTS " .8 [1.3,.7]"},
    {"gp_matern32_cov X,r,[r", POINTS " .8 [1.3,.7]"},
    {"gp_matern52_cov X,r,[r", POINTS " .8 [1.3,.7]"},
    {"gp_exp_quad_cov X,r,[r", POINTS " .8 [1.3,.7]"},
    {"gp_exponential_cov X,X,r,[r", TWO_SETS " .8 [1.3,.7]"},
    {"gp_matern32_cov X,X,r,[r", TWO_SETS " .8 [1.3,.7]"},
    {"gp_matern52_cov X,X,r,[r", TWO_SETS " .8 [1.3,.7]"},
    {"gp_exp_quad_cov X,X,r,[r", TWO_SETS " .8 [1.3,.7]"},
    {"gp_exponential_cov", POINTS " .8 1.3"},
    /* tall, wide and deficient matrices */
    {"qr_", "[[.5,.3],[.7,1.5],[-.2,.4],[.9,.1]]"},
    {"generalized_inverse", "[[.5,.3],[.7,1.5],[-.2,.4]]"},
    {"singular_values", "[[.5,.3],[.7,1.5],[-.2,.4]]"},
    {"svd_U", "[[.5,.3],[.7,1.5],[-.2,.4]]"},
    {"svd_V", "[[.5,.3,.2],[.7,1.5,-.4]]"},
    {"matrix_power", MATRIX " 5"},
    /* symmetric ones */
    {"cholesky_decompose", SPD},
    {"eigenvalues_sym", SPD},
    {"eigenvectors_sym", SPD},
    {"inverse_spd", SPD},
    {"log_determinant_spd", SPD},
    {"quad_form_sym m,v", SPD " [.4,.9,1.7]"},
    {"quad_form_sym m,m", SPD " " MATRIX},
    {"mdivide_left_spd m,v", SPD " [.4,.9,1.7]"},
    {"mdivide_left_spd m,m", SPD " " MATRIX},
    {"mdivide_right_spd w,m", "[.4,.9,1.7] " SPD},
    {"mdivide_right_spd m,m", MATRIX " " SPD},
    {"lkj_corr_lpdf", "sh[[1,.3,.1],[.3,1,-.2],[.1,-.2,1]] 1.4"},
    {"lkj_cov_lpdf", SPD " [.1,.3,-.2] [.6,.9,1.2] 1.4"},
    {"wishart_lpdf", SPD " 4.5 " SPD},
    {"inv_wishart_lpdf", SPD " 4.5 " SPD},
    {"wishart_cholesky_lpdf", LOWER " 4.5 " LOWER},
    {"inv_wishart_cholesky_lpdf", LOWER " 4.5 " LOWER},
    {"multi_normal_lpdf", "[[.4,.9,1.7],[.3,.1,.2]] [.1,.3,.2] " SPD},
    {"multi_normal_prec_lpdf", "[[.4,.9,1.7],[.3,.1,.2]] [.1,.3,.2] " SPD},
    {"multi_normal_cholesky_lpdf",
     "[[.4,.9,1.7],[.3,.1,.2]] [[.1,.3,.2],[1,2,3]] " LOWER},
    {"multi_student_t_lpdf", "[[.4,.9,1.7],[.3,.1,.2]] 3.5 [.1,.3,.2] " SPD},
    {"multi_student_t_cholesky_lpdf",
     "[.1,.3,.2] 3.5 [[.4,.9,1.7],[.3,.1,.2]] " LOWER},
    {"multi_gp_lpdf", "[[.4,.9,1.7],[.3,.1,.2]] " SPD " [1.2,.7]"},
    {"multi_gp_cholesky_lpdf", "[[.4,.9,1.7],[.3,.1,.2]] " LOWER " [1.2,.7]"},
    {"gaussian_dlm_obs",
     "[[.4,.9,1.7],[.3,.1,.2]] [[.7,.2],[-.3,1.1],[.4,.3]] " MATRIX
     " s[[1.3,.2],[.2,.9]] " SPD " [.1,.2,.3] " SPD},
    /* laws */
    {"lkj_corr_cholesky_lpdf", "l" LOWER " 1.4"},
    {"categorical_lpmf", "[1,3,2,3] n[.2,.5,.3]"},
    {"multinomial_lpmf", "[2,0,3] n[.2,.5,.3]"},
    {"dirichlet_lpdf", "n[[.2,.5,.3],[.1,.6,.3]] [[1.2,.8,2],[.7,1.5,.4]]"},
    {"dirichlet_multinomial", "[2,0,3] [1.2,.8,2]"},
    {"multinomial_logit", "[2,0,3] [.2,-.8,.3]"},
    {"bernoulli_logit_glm", "[1,0,1] " MATRIX " [.1,-.4,.3] [.4,.9,-.7]"},
    {"poisson_log_glm", "[1,0,4] " MATRIX " [.1,-.4,.3] [.4,.9,-.7]"},
    {"neg_binomial_2_log_glm",
     "[1,0,4] " MATRIX " [.1,-.4,.3] [.4,.9,-.7] [1.3,.8,2]"},
    {"binomial_logit_glm",
     "[1,0,4] [3,2,4] " MATRIX " [.1,-.4,.3] [.4,.9,-.7]"},
    {"normal_id_glm", "[1,.3,.4] " MATRIX " [.1,-.4,.3] [.4,.9,-.7] 1.3"},
    {"ordered_logistic_glm", "[1,3,2] " MATRIX " [.1,-.4,.3] [-.5,1.2]"},
    {"categorical_logit_glm", "[1,3,2] " MATRIX " [.1,-.4,.3] " MATRIX},
    {"ordered_logistic_lpmf", "[1,3,2] [.3,-.4,.7] [-.5,1.2]"},
    {"ordered_logistic_lpmf I,P,[v", "[1,3] [.3,-.4] [[-.5,1.2],[0,1]]"},
    {"ordered_probit_lpmf", "[1,3,2] [.3,-.4,.7] [-.5,1.2]"},
    {"ordered_probit_lpmf I,P,[v", "[1,3] [.3,-.4] [[-.5,1.2],[0,1]]"},
    {"wiener_lpdf R,R,R,R,R:", "[.9,1.4] 1.3 .3 .4 [.5,-.7]"},
    {"wiener_lpdf R,R,R,R,R,R:", "[.9,1.4] 1.3 .3 .4 [.5,-.7] .6"},
    {"wiener_lpdf R,R,R,R,R,R,r", ".9 1.3 .3 .4 .5 .6 d1e-4"},
    {"wiener_lpdf R,R,R,R,R,R,R,R", ".9 1.3 .3 .4 .5 .6 .2 .15"},
    {"wiener_lpdf R,R,R,R,R,R,R,R,r", ".9 1.3 .3 .4 .5 .6 .2 .15 d1e-4"},
    {"wiener_lcdf_unnorm R,R,R,R,R:", ".9 1.3 .3 .4 .5"},
    {"wiener_lccdf_unnorm R,R,R,R,R:", ".9 1.3 .3 .4 .5"},
    {"wiener_lcdf_unnorm R,R,R,R,R,r", ".9 1.3 .3 .4 .5 d1e-4"},
    {"wiener_lccdf_unnorm R,R,R,R,R,r", ".9 1.3 .3 .4 .5 d1e-4"},
    {"wiener_lcdf_unnorm R,R,R,R,R,R", "-"},
    {"wiener_lccdf_unnorm R,R,R,R,R,R", "-"},
    /* constraining maps */
    {"lower_bound_unconstrain", "[1.4,.7,.9] .3"},
    {"upper_bound_unconstrain", "[.4,.7,.9] [1.3,2.4,1.2]"},
    {"lower_upper_bound_constrain", "[.4,.7,.9] -1.3 [1.3,2.4,1.2]"},
    {"lower_upper_bound_unconstrain", MATRIX " -2 3"},
    {"lower_upper_bound_log_jacobian", "[.4,.7,.9] [-1,-2,-3] [1.3,2.4,1.2]"},
    {"offset_multiplier_constrain", "[.4,.7,.9] 1.3 [-1,-2,-3]"},
    {"offset_multiplier_log_jacobian", "[.4,.7,.9] [-1,-2,-3] 1.3"},
    {"fma k,k,k", "[.4,.7,.9] 1.3 [-1,-2,-3]"},
    {"student_t_qf r", ".3 2.4 .6 1.3"},
    {"student_t_qf R", "[.3,.8] 2.4 [.6,.1] 1.3"},
    {"cholesky_factor_corr_log_jacobian *v", "[.1,-.4,.7] 3"},
    {"cholesky_factor_cov_log_jacobian *v",
     "[.1,-.4,.7,.2,.3,.5,.6,.1,.9] 4 3"},
    {"corr_matrix_log_jacobian *v", "[.1,-.4,.7] 3"},
    {"cov_matrix_log_jacobian *v", "[.1,-.4,.7] 2"},
    {"ordered_unconstrain *v", "[.1,.4,1.7]"},
    {"positive_ordered_unconstrain *v", "[.1,.4,1.7]"},
    {"cholesky_factor_corr_constrain *v", "[.1,-.4,.7] 3"},
    {"cholesky_factor_cov_constrain *v", "[.1,-.4,.7,.2,.3,.5,.6,.1,.9] 4 3"},
    {"corr_matrix_constrain *v", "[.1,-.4,.7] 3"},
    {"cov_matrix_constrain *v", "[.1,-.4,.7] 2"},
    /* special functions; orders are whole */
    {"std_normal_qf", "[.4,.03]"},
    {"lambert_wm1", "-.2"},
    {"std_normal_log_qf", "-1.3"},
    {"bessel", "d2 1.4"},
    {"modified_bessel", "d2 1.4"},
    {"lmgamma", "d3 2.4"},
    {"ldexp", ".7 d3"},
    {"binary_log_loss", "d1 .4"},
    {"inc_beta", "1.4 2.2 .3"},
    {"inv_inc_beta", "1.4 2.2 .3"},
    {"hypergeometric_2F1", ".4 1.3 2.1 -.6"},
    {"hypergeometric_3F2", "[.4,1.3,.7] [2.1,1.6] .6"},
    {"hypergeometric_pFq", "[.4,1.3] [2.1,1.6] 1.6"},
};

static const char *chosen(const char *name, const char *signature) {
  const char *found = NULL;
  size_t longest = 0;
  char key[120];
  snprintf(key, sizeof key, "%s %s", name, signature);
  for (size_t i = 0; i < sizeof CHOICES / sizeof *CHOICES; i++) {
    size_t n = strlen(CHOICES[i].name);
    if (n > longest && !strncmp(CHOICES[i].name, key, n)) {
      longest = n;
      found = CHOICES[i].arguments;
    }
  }
  return found;
}

/* ---- signatures, with each of the types that capitals stand for ---------- */

static const char *types_of(char letter) {
  static const char letters[] = "RILVSDMPQXZnk";
  static const char *const types[] = {
      "r,v,w,[r", "i,[i", "v,w",      "v,w,[v,[w",  "[r,v,w",   "v,w,m", "m,w",
      "r,v",      "m,v",  "[r,[v,[w", "c,p,q,o,[c", "v,m,[r,r", "r"};
  const char *found = strchr(letters, letter);
  return found ? types[found - letters] : NULL;
}

/* The last type of each class that the row of arguments has room for: the
 * plain one when `turn` is 0. */
static const char *type_at(const char **at, int turn, char *out) {
  if (**at == '*' && ++*at && turn % 2) /* an array, or not */
    *out++ = '[';
  const char *types = types_of(**at);
  if (!types) {
    size_t n = strspn(*at, "[") + 1;
    memcpy(out, *at, n);
    out[n] = '\0';
    *at += n;
    return out;
  }
  ++*at;
  int count = 1;
  for (const char *c = types; *c; c++)
    count += *c == ',';
  for (int skip = turn % count; skip > 0; skip--)
    types = strchr(types, ',') + 1;
  size_t n = strcspn(types, ",");
  memcpy(out, types, n);
  out[n] = '\0';
  return out;
}

static const char *default_of(const char *type) {
  for (size_t i = 0; i < sizeof DEFAULTS / sizeof *DEFAULTS; i++)
    if (!strcmp(DEFAULTS[i].name, type))
      return DEFAULTS[i].arguments;
  fail_msg("no default for %s", type);
  return NULL;
}

/* Functions of reals whose result is real. */
static bool has_gradient(const tm_builtin *b) {
  const char *own = chosen(b->name, b->signature),
             *colon = strchr(b->signature, ':');
  if ((own && own[0] == '-') || strstr(b->name, "_rng") || !colon)
    return false;
  return !strchr("ij", colon[strspn(colon, ":[")]) &&
         !strchr(b->signature, 'x');
}
