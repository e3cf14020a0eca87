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
    {NULL, NULL, NULL}};
