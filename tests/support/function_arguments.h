/* function_arguments.h - where test_functions.c looks at the built-in
 * functions. */

#define SPD "s[[2,.3,.1],[.3,1.5,.2],[.1,.2,1.1]]"
#define LOWER "[[1.4,0,0],[.3,1.2,0],[.1,.2,1.1]]"
#define MATRIX "[[.5,.3,-.1],[.7,1.5,.2],[.1,-.6,1.1]]"

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
    {"[v", "[[.5,.3,.1],[.7,1.5,.2]]"},
    {"[w", "[[.5,.3,.1],[.7,1.5,.2]]"},
    {"[m", "[[[.5,.3,-.1],[.7,1.5,.2],[.1,-.6,1.1]]]"},
    {"R", "0.6"},
    {"RR", "0.6 1.3"},
};

static const choice CHOICES[] = {
    {"linspaced", "-"},
    {"lkj_corr_lpdf", "s[[1,.3,.1],[.3,1,-.2],[.1,-.2,1]] 1.4"},
    {"wishart_lpdf", SPD " 4.5 " SPD},
    {"inv_wishart_lpdf", SPD " 4.5 " SPD},
    {"multi_student_t_lpdf v", "[.4,.9,1.7] 3.5 [.1,.3,.2] " SPD},
    {"multi_student_t_lpdf [v", "[[.4,.9,1.7],[.3,.1,.2]] 3.5 [.1,.3,.2] " SPD},
    {"cholesky_decompose", SPD},
    {"eigenvalues_sym", SPD},
    {"eigenvectors_sym", SPD},
    {"inverse_spd", SPD},
    {"log_determinant_spd", SPD},
    {"multi_normal_lpdf v,v", "[.4,.9,1.7] [.1,.3,.2] " SPD},
    {"multi_normal_lpdf [v,v", "[[.4,.9,1.7],[.3,.1,.2]] [.1,.3,.2] " SPD},
    {"multi_normal_lpdf v,[v", "[.1,.3,.2] [[.4,.9,1.7],[.3,.1,.2]] " SPD},
    {"multi_normal_lpdf [v,[v",
     "[[.1,.3,.2],[1,2,3]] [[.4,.9,1.7],[.3,.1,.2]] " SPD},
    {"multi_normal_lpdf", "[.4,.9,1.7] [.1,.3,.2] " SPD},
    {"multi_normal_cholesky_lpdf v,v", "[.4,.9,1.7] [.1,.3,.2] " LOWER},
    {"to_matrix v,i", "[1,2,3,4,5,6] 2 3"},
    {"to_matrix w,i", "[1,2,3,4,5,6] 2 3"},
    {"to_matrix [r,i", "[1,2,3,4,5,6] 2 3"},
    {"to_matrix m,i", MATRIX " 1 9"},
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
    {"ordered_probit_lpmf", "[1,3,2] [.3,-.4,.7] [-.5,1.2]"},
};
