/* fixed.c - the table of functions with fixed signatures. */
#include "language/runtime/fixed.h"

#define ENTRY(name, signature, function) {#name, signature, tm_f_##function},
const tm_function_entry tm_fixed_functions[] = {
    TM_FIXED(ENTRY) /* and the operators on matrices */
    {"operator*", "wv", tm_f_dot_product},
    {"operator*", "vw", tm_f_matmul},
    {"operator*", "mv", tm_f_matmul},
    {"operator*", "wm", tm_f_matmul},
    {"operator*", "mm", tm_f_matmul},
    {"operator/", "wm", tm_f_solve_right},
    {"operator/", "mm", tm_f_solve_right},
    {"operator|", "mv", tm_f_solve},
    {"operator|", "mm", tm_f_solve},
    {"dirichlet_fill", "v", tm_f_dirichlet_fill}, /* and prior draws */
    {"ordered_fill", "v", tm_f_ordered_fill},
    {"component_fill", "v", tm_f_component_fill},
    {"whole_fill", "v", tm_f_whole_fill},
    {"bernoulli_logit_glm_fill", "g", tm_f_bernoulli_logit_glm_fill},
    {"poisson_log_glm_fill", "g", tm_f_poisson_log_glm_fill},
    {"normal_id_glm_fill", "g", tm_f_normal_id_glm_fill},
    {"neg_binomial_2_log_glm_fill", "g", tm_f_neg_binomial_2_log_glm_fill},
    {"binomial_logit_glm_fill", "g", tm_f_binomial_logit_glm_fill},
    {NULL, NULL, NULL}};
