/* tables.h - the built-in functions: name, signature, the C function behind.
 * The checker types calls by these lines and the runtime finds its functions
 * in them, so what is documented, typed and implemented cannot differ.
 * Signatures are explained in language/types.h. */
#ifndef TM_LANGUAGE_TABLES_H
#define TM_LANGUAGE_TABLES_H

/* Univariate distributions: name and argument letters, outcome first. */
#define TM_DENSITIES(X)                                                        \
  X(normal, "RRR")                                                             \
  X(std_normal, "R")                                                           \
  X(student_t, "RRRR")                                                         \
  X(cauchy, "RRR")                                                             \
  X(double_exponential, "RRR")                                                 \
  X(logistic, "RRR")                                                           \
  X(gumbel, "RRR")                                                             \
  X(skew_normal, "RRRR")                                                       \
  X(exp_mod_normal, "RRRR")                                                    \
  X(lognormal, "RRR")                                                          \
  X(chi_square, "RR")                                                          \
  X(inv_chi_square, "RR")                                                      \
  X(scaled_inv_chi_square, "RRR")                                              \
  X(exponential, "RR")                                                         \
  X(gamma, "RRR")                                                              \
  X(inv_gamma, "RRR")                                                          \
  X(weibull, "RRR")                                                            \
  X(frechet, "RRR")                                                            \
  X(rayleigh, "RR")                                                            \
  X(loglogistic, "RRR")                                                        \
  X(pareto, "RRR")                                                             \
  X(pareto_type_2, "RRRR")                                                     \
  X(beta, "RRR")                                                               \
  X(beta_proportion, "RRR")                                                    \
  X(von_mises, "RRR")                                                          \
  X(uniform, "RRR")                                                            \
  X(bernoulli, "IR")                                                           \
  X(bernoulli_logit, "IR")                                                     \
  X(binomial, "IIR")                                                           \
  X(binomial_logit, "IIR")                                                     \
  X(beta_binomial, "IIRR")                                                     \
  X(hypergeometric, "IIII")                                                    \
  X(discrete_range, "III")                                                     \
  X(poisson, "IR")                                                             \
  X(poisson_log, "IR")                                                         \
  X(neg_binomial, "IRR")                                                       \
  X(neg_binomial_2, "IRR")                                                     \
  X(neg_binomial_2_log, "IRR")                                                 \
  X(skew_double_exponential, "RRRR")                                           \
  X(beta_neg_binomial, "IRRR")                                                 \
  X(yule_simon, "IR")

/* Those with distribution functions (cdf, lcdf, lccdf). */
#define TM_CDFS(X)                                                             \
  X(normal, "RRR")                                                             \
  X(std_normal, "R")                                                           \
  X(student_t, "RRRR")                                                         \
  X(cauchy, "RRR")                                                             \
  X(double_exponential, "RRR")                                                 \
  X(logistic, "RRR")                                                           \
  X(gumbel, "RRR")                                                             \
  X(lognormal, "RRR")                                                          \
  X(chi_square, "RR")                                                          \
  X(exponential, "RR")                                                         \
  X(gamma, "RRR")                                                              \
  X(inv_gamma, "RRR")                                                          \
  X(weibull, "RRR")                                                            \
  X(frechet, "RRR")                                                            \
  X(rayleigh, "RR")                                                            \
  X(pareto, "RRR")                                                             \
  X(beta, "RRR")                                                               \
  X(uniform, "RRR")                                                            \
  X(bernoulli, "IR")                                                           \
  X(binomial, "IIR")                                                           \
  X(poisson, "IR")                                                             \
  X(neg_binomial, "IRR")                                                       \
  X(neg_binomial_2, "IRR")                                                     \
  X(skew_normal, "RRRR")                                                       \
  X(exp_mod_normal, "RRRR")                                                    \
  X(inv_chi_square, "RR")                                                      \
  X(scaled_inv_chi_square, "RRR")                                              \
  X(loglogistic, "RRR")                                                        \
  X(pareto_type_2, "RRRR")                                                     \
  X(beta_proportion, "RRR")                                                    \
  X(von_mises, "RRR")                                                          \
  X(bernoulli_logit, "IR")                                                     \
  X(binomial_logit, "IIR")                                                     \
  X(beta_binomial, "IIRR")                                                     \
  X(hypergeometric, "IIII")                                                    \
  X(discrete_range, "III")                                                     \
  X(poisson_log, "IR")                                                         \
  X(neg_binomial_2_log, "IRR")                                                 \
  X(skew_double_exponential, "RRRR")                                           \
  X(beta_neg_binomial, "IRRR")                                                 \
  X(yule_simon, "IR")

/* Those with random numbers: letters of the arguments after the outcome, and
 * whether the outcome is whole. */
#define TM_RNGS(X)                                                             \
  X(normal, "RR", 0)                                                           \
  X(std_normal, "", 0)                                                         \
  X(student_t, "RRR", 0)                                                       \
  X(cauchy, "RR", 0)                                                           \
  X(double_exponential, "RR", 0)                                               \
  X(logistic, "RR", 0)                                                         \
  X(gumbel, "RR", 0)                                                           \
  X(skew_normal, "RRR", 0)                                                     \
  X(lognormal, "RR", 0)                                                        \
  X(chi_square, "R", 0)                                                        \
  X(inv_chi_square, "R", 0)                                                    \
  X(scaled_inv_chi_square, "RR", 0)                                            \
  X(exponential, "R", 0)                                                       \
  X(gamma, "RR", 0)                                                            \
  X(inv_gamma, "RR", 0)                                                        \
  X(weibull, "RR", 0)                                                          \
  X(frechet, "RR", 0)                                                          \
  X(rayleigh, "R", 0)                                                          \
  X(pareto, "RR", 0)                                                           \
  X(beta, "RR", 0)                                                             \
  X(uniform, "RR", 0)                                                          \
  X(bernoulli, "R", 1)                                                         \
  X(bernoulli_logit, "R", 1)                                                   \
  X(binomial, "IR", 1)                                                         \
  X(beta_binomial, "IRR", 1)                                                   \
  X(discrete_range, "II", 1)                                                   \
  X(poisson, "R", 1)                                                           \
  X(poisson_log, "R", 1)                                                       \
  X(neg_binomial, "RR", 1)                                                     \
  X(neg_binomial_2, "RR", 1)                                                   \
  X(neg_binomial_2_log, "RR", 1)                                               \
  X(exp_mod_normal, "RRR", 0)                                                  \
  X(loglogistic, "RR", 0)                                                      \
  X(pareto_type_2, "RRR", 0)                                                   \
  X(beta_proportion, "RR", 0)                                                  \
  X(von_mises, "RR", 0)                                                        \
  X(binomial_logit, "IR", 1)                                                   \
  X(hypergeometric, "III", 1)                                                  \
  X(skew_double_exponential, "RRR", 0)                                         \
  X(beta_neg_binomial, "RRR", 1)                                               \
  X(yule_simon, "R", 1)

/* Elementwise functions that live in the library (special.h), so that programs
 * need not hold them: of one and of two arguments. */
#define TM_MAP1(X)                                                             \
  X(trigamma)                                                                  \
  X(inv_erfc)                                                                  \
  X(lambert_w0)                                                                \
  X(lambert_wm1)                                                               \
  X(std_normal_qf)                                                             \
  X(std_normal_log_qf)
#define TM_MAP2(X)                                                             \
  X(falling_factorial)                                                         \
  X(rising_factorial)                                                          \
  X(lmgamma)                                                                   \
  X(gamma_p)                                                                   \
  X(gamma_q)                                                                   \
  X(owens_t)                                                                   \
  X(bessel_first_kind)                                                         \
  X(bessel_second_kind)                                                        \
  X(modified_bessel_first_kind)                                                \
  X(modified_bessel_second_kind)                                               \
  X(log_modified_bessel_first_kind)                                            \
  X(ldexp)                                                                     \
  X(binary_log_loss)

/* Everything else. */
/* clang-format off: one line per entry */
#define TM_FIXED(X)                                                            \
  X(sum, "[i:i", sum_int)                                                      \
  X(sum, "[r:r", sum)                                                          \
  X(sum, "v:r", sum)                                                           \
  X(sum, "w:r", sum)                                                           \
  X(sum, "m:r", sum)                                                           \
  X(prod, "[i:i", prod_int)                                                    \
  X(prod, "[r:r", prod)                                                        \
  X(prod, "v:r", prod)                                                         \
  X(prod, "w:r", prod)                                                         \
  X(prod, "m:r", prod)                                                         \
  X(min, "[i:i", min_int)                                                      \
  X(min, "[r:r", min)                                                          \
  X(min, "v:r", min)                                                           \
  X(min, "w:r", min)                                                           \
  X(min, "m:r", min)                                                           \
  X(min, "i,i:i", min2)                                                        \
  X(max, "[i:i", max_int)                                                      \
  X(max, "[r:r", max)                                                          \
  X(max, "v:r", max)                                                           \
  X(max, "w:r", max)                                                           \
  X(max, "m:r", max)                                                           \
  X(max, "i,i:i", max2)                                                        \
  X(softmax, "v:v", softmax)                                                   \
  X(log_softmax, "v:v", log_softmax)                                           \
  X(cumulative_sum, "v:v", cumulative_sum)                                     \
  X(cumulative_sum, "w:w", cumulative_sum)                                     \
  X(cumulative_sum, "[r:[r", cumulative_sum)                                   \
  X(rows, "v:i", rows)                                                         \
  X(rows, "w:i", one)                                                          \
  X(rows, "m:i", rows)                                                         \
  X(cols, "v:i", one)                                                          \
  X(cols, "w:i", rows)                                                         \
  X(cols, "m:i", cols)                                                         \
  X(size, "i:i", one)                                                          \
  X(size, "r:i", one)                                                          \
  X(size, "[x:i", rows)                                                        \
  X(size, "v:i", rows)                                                         \
  X(size, "w:i", rows)                                                         \
  X(size, "m:i", num_elements)                                                 \
  X(num_elements, "[x:i", num_elements)                                        \
  X(num_elements, "v:i", num_elements)                                         \
  X(num_elements, "w:i", num_elements)                                         \
  X(num_elements, "m:i", num_elements)                                         \
  X(dims, "x:[i", dims)                                                        \
  X(rep_vector, "r,i:v", rep)                                                  \
  X(rep_row_vector, "r,i:w", rep)                                              \
  X(rep_matrix, "r,i,i:m", rep)                                                \
  X(rep_matrix, "v,i:m", rep_columns)                                          \
  X(rep_matrix, "w,i:m", rep)                                                  \
  X(rep_array, "x,i:[x", rep)                                                  \
  X(rep_array, "x,i,i:[[x", rep)                                               \
  X(rep_array, "x,i,i,i:[[[x", rep)                                            \
  X(to_vector, "v:v", flatten)                                                 \
  X(to_vector, "w:v", flatten)                                                 \
  X(to_vector, "m:v", flatten_columns)                                         \
  X(to_vector, "[r:v", flatten)                                                \
  X(to_row_vector, "v:w", flatten)                                             \
  X(to_row_vector, "w:w", flatten)                                             \
  X(to_row_vector, "m:w", flatten_columns)                                     \
  X(to_row_vector, "[r:w", flatten)                                            \
  X(to_array_1d, "v:[r", flatten)                                              \
  X(to_array_1d, "w:[r", flatten)                                              \
  X(to_array_1d, "m:[r", flatten_columns)                                      \
  X(to_array_1d, "[i:[i", flatten)                                             \
  X(to_array_1d, "[[i:[i", flatten)                                            \
  X(to_array_1d, "[r:[r", flatten)                                             \
  X(to_array_1d, "[[r:[r", flatten)                                            \
  X(to_array_1d, "[[[r:[r", flatten)                                           \
  X(to_array_2d, "m:[[r", to_matrix)                                           \
  X(to_matrix, "m:m", to_matrix)                                               \
  X(to_matrix, "v:m", column_matrix)                                           \
  X(to_matrix, "w:m", row_matrix)                                              \
  X(to_matrix, "[[r:m", to_matrix)                                             \
  X(to_matrix, "[w:m", to_matrix)                                              \
  X(to_matrix, "v,i,i:m", fill_matrix)                                         \
  X(to_matrix, "w,i,i:m", fill_matrix)                                         \
  X(to_matrix, "[r,i,i:m", fill_matrix)                                        \
  X(to_matrix, "m,i,i:m", fill_matrix)                                         \
  X(head, "v,i:v", head)                                                       \
  X(head, "w,i:w", head)                                                       \
  X(head, "[x,i:[x", head)                                                     \
  X(tail, "v,i:v", tail)                                                       \
  X(tail, "w,i:w", tail)                                                       \
  X(tail, "[x,i:[x", tail)                                                     \
  X(segment, "v,i,i:v", segment)                                               \
  X(segment, "w,i,i:w", segment)                                               \
  X(segment, "[x,i,i:[x", segment)                                             \
  X(reverse, "v:v", reverse)                                                   \
  X(reverse, "w:w", reverse)                                                   \
  X(reverse, "[x:[x", reverse)                                                 \
  X(append_array, "[x,[x:[x", append)                                          \
  X(append_row, "v,v:v", append)                                               \
  X(append_row, "r,v:v", append)                                               \
  X(append_row, "v,r:v", append)                                               \
  X(append_row, "m,m:m", append)                                               \
  X(append_row, "m,w:m", append)                                               \
  X(append_row, "w,m:m", append)                                               \
  X(append_row, "w,w:m", append_rows)                                          \
  X(append_row, "r,r:v", append)                                               \
  X(append_col, "w,w:w", append)                                               \
  X(append_col, "r,w:w", append)                                               \
  X(append_col, "w,r:w", append)                                               \
  X(append_col, "r,r:w", append)                                               \
  X(append_col, "m,m:m", append_columns)                                       \
  X(append_col, "m,v:m", append_columns)                                       \
  X(append_col, "v,m:m", append_columns)                                       \
  X(append_col, "v,v:m", append_columns)                                       \
  X(col, "m,i:v", col)                                                         \
  X(row, "m,i:w", row)                                                         \
  X(block, "m,i,i,i,i:m", block)                                               \
  X(sub_col, "m,i,i,i:v", sub_col)                                             \
  X(sub_row, "m,i,i,i:w", sub_row)                                             \
  X(transpose, "v:w", flatten)                                                 \
  X(transpose, "w:v", flatten)                                                 \
  X(transpose, "m:m", transpose)                                               \
  X(diag_matrix, "v:m", diag_matrix)                                           \
  X(diagonal, "m:v", diagonal)                                                 \
  X(add_diag, "m,r:m", add_diag)                                               \
  X(add_diag, "m,v:m", add_diag)                                               \
  X(add_diag, "m,w:m", add_diag)                                               \
  X(diag_pre_multiply, "v,m:m", diag_pre_multiply)                             \
  X(diag_pre_multiply, "w,m:m", diag_pre_multiply)                             \
  X(diag_post_multiply, "m,v:m", diag_post_multiply)                           \
  X(diag_post_multiply, "m,w:m", diag_post_multiply)                           \
  X(quad_form_diag, "m,v:m", quad_form_diag)                                   \
  X(quad_form_diag, "m,w:m", quad_form_diag)                                   \
  X(quad_form, "m,v:r", quad_form)                                             \
  X(quad_form_sym, "m,v:r", quad_form_sym)                                     \
  X(quad_form, "m,m:m", quad_form_matrix)                                      \
  X(quad_form_sym, "m,m:m", quad_form_sym_matrix)                              \
  X(crossprod, "m:m", crossprod)                                               \
  X(tcrossprod, "m:m", tcrossprod)                                             \
  X(multiply_lower_tri_self_transpose, "m:m", multiply_lower)                  \
  X(columns_dot_product, "m,m:w", columns_dot_product)                         \
  X(rows_dot_product, "m,m:v", rows_dot_product)                               \
  X(columns_dot_self, "m:w", columns_dot_self)                                 \
  X(rows_dot_self, "m:v", rows_dot_self)                                       \
  X(trace, "m:r", trace)                                                       \
  X(cholesky_decompose, "m:m", cholesky)                                       \
  X(mdivide_left_tri_low, "m,v:v", solve_lower)                                \
  X(mdivide_left_tri_low, "m,m:m", solve_lower)                                \
  X(mdivide_left, "m,v:v", solve)                                              \
  X(mdivide_left, "m,m:m", solve)                                              \
  X(mdivide_left_spd, "m,v:v", solve_spd)                                      \
  X(mdivide_left_spd, "m,m:m", solve_spd)                                      \
  X(mdivide_right, "w,m:w", solve_right)                                       \
  X(mdivide_right, "m,m:m", solve_right)                                       \
  X(mdivide_right_tri_low, "w,m:w", solve_lower_right)                         \
  X(mdivide_right_tri_low, "m,m:m", solve_lower_right)                         \
  X(inverse, "m:m", inverse)                                                   \
  X(inverse_spd, "m:m", inverse_spd)                                           \
  X(log_determinant, "m:r", log_determinant)                                   \
  X(log_determinant_spd, "m:r", log_determinant_spd)                           \
  X(eigenvalues_sym, "m:v", eigenvalues)                                       \
  X(eigenvectors_sym, "m:m", eigenvectors)                                     \
  X(determinant, "m:r", determinant)                                           \
  X(linspaced_vector, "i,r,r:v", linspaced)                                    \
  X(linspaced_array, "i,r,r:[r", linspaced)                                    \
  X(ones_vector, "i:v", ones)                                                  \
  X(ones_row_vector, "i:w", ones)                                              \
  X(ones_array, "i:[r", ones)                                                  \
  X(zeros_vector, "i:v", zeros)                                                \
  X(zeros_row_vector, "i:w", zeros)                                            \
  X(zeros_array, "i:[r", zeros)                                                \
  X(zeros_matrix, "i,i:m", zeros)                                              \
  X(zeros_int_array, "i:[i", zeros)                                            \
  X(ones_int_array, "i:[i", ones)                                              \
  X(identity_matrix, "i:m", identity)                                          \
  X(one_hot_vector, "i,i:v", one_hot)                                          \
  X(linspaced_int_array, "i,i,i:[i", linspaced_int)                            \
  X(sort_asc, "[i:[i", sort_asc)                                               \
  X(sort_asc, "[r:[r", sort_asc)                                               \
  X(sort_asc, "v:v", sort_asc)                                                 \
  X(sort_asc, "w:w", sort_asc)                                                 \
  X(sort_desc, "[i:[i", sort_desc)                                             \
  X(sort_desc, "[r:[r", sort_desc)                                             \
  X(sort_desc, "v:v", sort_desc)                                               \
  X(sort_desc, "w:w", sort_desc)                                               \
  X(int_step, "i:i", int_step)                                                 \
  X(int_step, "r:i", int_step)                                                 \
  X(is_nan, "r:i", is_nan)                                                     \
  X(is_inf, "r:i", is_inf)                                                     \
  X(logical_negation, "r:i", is_zero)                                          \
  X(to_int, "i:i", to_int)                                                     \
  X(to_int, "r:i", to_int)                                                     \
  X(to_int, "[r:[i", to_int_each)                                              \
  X(to_int, "[[r:[[i", to_int_each)                                            \
  X(to_int, "[[[r:[[[i", to_int_each)                                          \
  X(to_int, "[[[[r:[[[[i", to_int_each)                                        \
  X(to_int, "[[[[[r:[[[[[i", to_int_each)                                      \
  X(to_int, "[[[[[[r:[[[[[[i", to_int_each)                                    \
  X(to_int, "[[[[[[[r:[[[[[[[i", to_int_each)                                  \
  X(if_else, "i,r,r:r", if_else)                                               \
  X(fma, "r,r,r:r", fma)                                                       \
  X(fma, "k,k,k:n", fma_each)                                                  \
  X(student_t_qf, "r,r,r,r:r", student_t_qf)                                   \
  X(student_t_qf, "R,R,R,R:v", student_t_qf)                                   \
  X(choose, "i,i:i", choose)                                                   \
  X(multinomial_lpmf, "[i,v:r", multinomial)                                   \
  X(lkj_corr_cholesky_lpdf, "m,r:r", lkj_corr_cholesky)                        \
  X(lkj_corr_lpdf, "m,r:r", lkj_corr)                                          \
  X(lkj_cov_lpdf, "m,v,v,r:r", lkj_cov)                                        \
  X(bernoulli_logit_glm_lpmf, "I,M,P,v:r", bernoulli_logit_glm)                \
  X(poisson_log_glm_lpmf, "I,M,P,v:r", poisson_log_glm)                        \
  X(neg_binomial_2_log_glm_lpmf, "I,M,P,v,P:r", neg_binomial_2_log_glm)        \
  X(binomial_logit_glm_lpmf, "I,I,M,P,v:r", binomial_logit_glm)                \
  X(normal_id_glm_lpdf, "P,M,P,v,P:r", normal_id_glm)                          \
  X(ordered_logistic_glm_lpmf, "I,M,v,v:r", ordered_logistic_glm)              \
  X(categorical_logit_glm_lpmf, "I,M,v,m:r", categorical_logit_glm)            \
  X(bernoulli_logit_glm_rng, "M,v,v:[i", bernoulli_logit_glm_rng)              \
  X(ordered_logistic_lpmf, "I,P,v:r", ordered_logistic)                        \
  X(ordered_logistic_lpmf, "I,P,[v:r", ordered_logistic)                       \
  X(ordered_probit_lpmf, "I,P,v:r", ordered_probit)                            \
  X(ordered_probit_lpmf, "I,P,[v:r", ordered_probit)                           \
  X(ordered_probit_rng, "r,v:i", ordered_probit_rng)                           \
  X(categorical_rng, "v:i", categorical_rng)                                   \
  X(categorical_logit_rng, "v:i", categorical_logit_rng)                       \
  X(ordered_logistic_rng, "r,v:i", ordered_logistic_rng)                       \
  X(dirichlet_rng, "v:v", dirichlet_rng)                                       \
  X(wishart_lpdf, "m,r,m:r", wishart)                                          \
  X(inv_wishart_lpdf, "m,r,m:r", inv_wishart)                                  \
  X(wishart_rng, "r,m:m", wishart_rng)                                         \
  X(inv_wishart_rng, "r,m:m", inv_wishart_rng)                                 \
  X(lkj_corr_rng, "i,r:m", lkj_corr_rng)                                       \
  X(lkj_corr_cholesky_rng, "i,r:m", lkj_corr_cholesky_rng)                     \
  X(mean, "S:r", mean)                                                         \
  X(mean, "m:r", mean)                                                         \
  X(variance, "S:r", variance)                                                 \
  X(variance, "m:r", variance)                                                 \
  X(sd, "S:r", sd)                                                             \
  X(sd, "m:r", sd)                                                             \
  X(log_sum_exp, "S:r", log_sum_exp)                                           \
  X(log_sum_exp, "m:r", log_sum_exp)                                           \
  X(dot_self, "S:r", dot_self)                                                 \
  X(norm2, "S:r", norm2)                                                       \
  X(norm1, "S:r", norm1)                                                       \
  X(dot_product, "L,L:r", dot_product)                                         \
  X(dot_product, "[r,[r:r", dot_product)                                       \
  X(distance, "L,L:r", distance)                                               \
  X(squared_distance, "L,L:r", squared_distance)                               \
  X(squared_distance, "r,r:r", squared_difference)                             \
  X(quantile, "S,r:r", quantile)                                               \
  X(quantile, "S,[r:[r", quantile)                                             \
  X(softmax, "w:w", softmax)                                                   \
  X(softmax, "[v:[v", softmax_each)                                            \
  X(softmax, "[w:[w", softmax_each)                                            \
  X(log_softmax, "w:w", log_softmax)                                           \
  X(log_softmax, "[v:[v", log_softmax_each)                                    \
  X(log_softmax, "[w:[w", log_softmax_each)                                    \
  X(cumulative_sum, "[i:[i", cumulative_sum_int)                               \
  X(log_mix, "r,r,r:r", log_mix)                                               \
  X(log_mix, "S,S:r", log_mix_vector)                                          \
  X(log_mix, "S,[v:r", log_mix_array)                                          \
  X(log_mix, "S,[w:r", log_mix_array)                                          \
  X(log_mix, "S,[[r:r", log_mix_array)                                         \
  X(to_vector, "[i:v", flatten)                                                \
  X(to_row_vector, "[i:w", flatten)                                            \
  X(to_array_1d, "[[[i:[i", flatten)                                           \
  X(to_array_1d, "[[[[i:[i", flatten)                                          \
  X(to_array_1d, "[[[[[i:[i", flatten)                                         \
  X(to_array_1d, "[[[[[[i:[i", flatten)                                        \
  X(to_array_1d, "[[[[[[[i:[i", flatten)                                       \
  X(to_array_1d, "[[[[[[[[i:[i", flatten)                                      \
  X(to_array_1d, "[[[[r:[r", flatten)                                          \
  X(to_array_1d, "[[[[[r:[r", flatten)                                         \
  X(to_array_1d, "[[[[[[r:[r", flatten)                                        \
  X(to_array_1d, "[[[[[[[r:[r", flatten)                                       \
  X(to_array_1d, "[[[[[[[[r:[r", flatten)                                      \
  X(to_matrix, "v,i,i,i:m", fill_matrix_as)                                    \
  X(to_matrix, "w,i,i,i:m", fill_matrix_as)                                    \
  X(to_matrix, "[r,i,i,i:m", fill_matrix_as)                                   \
  X(to_matrix, "m,i,i,i:m", fill_matrix_as)                                    \
  X(columns_dot_product, "v,v:w", line_dot)                                    \
  X(columns_dot_product, "w,w:w", line_product)                                \
  X(rows_dot_product, "w,w:v", line_dot)                                       \
  X(rows_dot_product, "v,v:v", line_product)                                   \
  X(columns_dot_self, "v:w", line_dot)                                         \
  X(columns_dot_self, "w:w", line_product)                                     \
  X(rows_dot_self, "w:v", line_dot)                                            \
  X(rows_dot_self, "v:v", line_product)                                        \
  X(trace_dot, "m,m:r", trace_dot)                                             \
  X(trace_quad_form, "m,m:r", trace_quad_form)                                 \
  X(trace_quad_form, "m,v:r", quad_form)                                       \
  X(trace_gen_quad_form, "m,m,m:r", trace_gen_quad_form)                       \
  X(chol2inv, "m:m", chol2inv)                                                 \
  X(symmetrize_from_lower_tri, "m:m", symmetrize)                              \
  X(mdivide_right_spd, "w,m:w", solve_right_spd)                               \
  X(mdivide_right_spd, "m,m:m", solve_right_spd)                               \
  X(qr_Q, "m:m", qr_q)                                                         \
  X(qr_R, "m:m", qr_r)                                                         \
  X(qr_thin_Q, "m:m", qr_thin_q)                                               \
  X(qr_thin_R, "m:m", qr_thin_r)                                               \
  X(singular_values, "m:v", singular_values)                                   \
  X(svd_U, "m:m", svd_u)                                                       \
  X(svd_V, "m:m", svd_v)                                                       \
  X(generalized_inverse, "m:m", generalized_inverse)                           \
  X(matrix_exp, "m:m", matrix_exp)                                             \
  X(matrix_exp_multiply, "m,m:m", matrix_exp_multiply)                         \
  X(scale_matrix_exp_multiply, "r,m,m:m", scale_matrix_exp_multiply)           \
  X(matrix_power, "m,i:m", matrix_power)                                       \
  X(csr_extract_w, "m:v", csr_extract_w)                                       \
  X(csr_extract_v, "m:[i", csr_extract_v)                                      \
  X(csr_extract_u, "m:[i", csr_extract_u)                                      \
  X(csr_to_dense_matrix, "i,i,v,[i,[i:m", csr_to_dense)                        \
  X(csr_matrix_times_vector, "i,i,v,[i,[i,v:v", csr_times_vector)              \
  X(linspaced_row_vector, "i,r,r:w", linspaced)                                \
  X(one_hot_row_vector, "i,i:w", one_hot)                                      \
  X(one_hot_array, "i,i:[r", one_hot)                                          \
  X(one_hot_int_array, "i,i:[i", one_hot)                                      \
  X(uniform_simplex, "i:v", uniform_simplex)                                   \
  X(sort_indices_asc, "[i:[i", order_asc)                                      \
  X(sort_indices_asc, "S:[i", order_asc)                                       \
  X(sort_indices_desc, "[i:[i", order_desc)                                    \
  X(sort_indices_desc, "S:[i", order_desc)                                     \
  X(rank, "S,i:i", rank_of)                                                    \
  X(rank, "[i,i:i", rank_of)                                                   \
  X(falling_factorial, "i,i:i", falling_factorial_int)                         \
  X(falling_factorial, "j,j:j", falling_factorial_each)                        \
  X(rising_factorial, "i,i:i", rising_factorial_int)                           \
  X(rising_factorial, "j,j:j", rising_factorial_each)                          \
  X(choose, "j,j:j", choose_each)                                              \
  X(gp_exponential_cov, "X,r,r:m", gp_exponential)                             \
  X(gp_exponential_cov, "X,X,r,r:m", gp_exponential_cross)                     \
  X(gp_exponential_cov, "X,r,[r:m", gp_exponential)                            \
  X(gp_exponential_cov, "X,X,r,[r:m", gp_exponential_cross)                    \
  X(gp_matern32_cov, "X,r,r:m", gp_matern32)                                   \
  X(gp_matern32_cov, "X,X,r,r:m", gp_matern32_cross)                           \
  X(gp_matern32_cov, "X,r,[r:m", gp_matern32)                                  \
  X(gp_matern32_cov, "X,X,r,[r:m", gp_matern32_cross)                          \
  X(gp_matern52_cov, "X,r,r:m", gp_matern52)                                   \
  X(gp_matern52_cov, "X,X,r,r:m", gp_matern52_cross)                           \
  X(gp_matern52_cov, "X,r,[r:m", gp_matern52)                                  \
  X(gp_matern52_cov, "X,X,r,[r:m", gp_matern52_cross)                          \
  X(gp_periodic_cov, "X,r,r,r:m", gp_periodic)                                 \
  X(gp_periodic_cov, "X,X,r,r,r:m", gp_periodic_cross)                         \
  X(gp_dot_prod_cov, "X,r:m", gp_dot_prod)                                     \
  X(gp_dot_prod_cov, "X,X,r:m", gp_dot_prod_cross)                             \
  X(gp_exp_quad_cov, "X,r,[r:m", gp_exp_quad_each)                             \
  X(gp_exp_quad_cov, "X,X,r,[r:m", gp_exp_quad_each_cross)                     \
  X(gp_exp_quad_cov, "X,r,r:m", gp_exp_quad)                                   \
  X(gp_exp_quad_cov, "X,X,r,r:m", gp_exp_quad_cross)                           \
  X(cov_exp_quad, "X,r,r:m", gp_exp_quad)                                      \
  X(cov_exp_quad, "X,X,r,r:m", gp_exp_quad_cross)                              \
  X(categorical_lpmf, "I,v:r", categorical)                                    \
  X(categorical_logit_lpmf, "I,v:r", categorical_logit)                        \
  X(dirichlet_lpdf, "V,V:r", dirichlet)                                        \
  X(multi_normal_lpdf, "V,V,m:r", multi_normal)                                \
  X(multi_normal_cholesky_lpdf, "V,V,m:r", multi_normal_cholesky)              \
  X(multi_normal_prec_lpdf, "V,V,m:r", multi_normal_prec)                      \
  X(multi_student_t_lpdf, "V,r,V,m:r", multi_student_t)                        \
  X(multi_student_t_cholesky_lpdf, "V,r,V,m:r", multi_student_t_cholesky)      \
  X(multi_gp_lpdf, "m,m,v:r", multi_gp)                                        \
  X(multi_gp_cholesky_lpdf, "m,m,v:r", multi_gp_cholesky)                      \
  X(gaussian_dlm_obs_lpdf, "m,m,m,Q,m,v,m:r", gaussian_dlm_obs)                \
  X(multinomial_logit_lpmf, "[i,v:r", multinomial_logit)                       \
  X(dirichlet_multinomial_lpmf, "[i,v:r", dirichlet_multinomial)               \
  X(wishart_cholesky_lpdf, "m,r,m:r", wishart_cholesky)                        \
  X(inv_wishart_cholesky_lpdf, "m,r,m:r", inv_wishart_cholesky)                \
  X(wiener_lpdf, "R,R,R,R,R:r", wiener)                                        \
  X(wiener_lpdf, "R,R,R,R,R,R:r", wiener)                                      \
  X(wiener_lpdf, "R,R,R,R,R,R,r:r", wiener)                                    \
  X(wiener_lpdf, "R,R,R,R,R,R,R,R:r", wiener)                                  \
  X(wiener_lpdf, "R,R,R,R,R,R,R,R,r:r", wiener)                                \
  X(wiener_lcdf_unnorm, "R,R,R,R,R:r", wiener_before)                          \
  X(wiener_lcdf_unnorm, "R,R,R,R,R,r:r", wiener_before)                        \
  X(wiener_lcdf_unnorm, "R,R,R,R,R,R,R,R,r:r", wiener_before)                \
  X(wiener_lcdf_unnorm, "R,R,R,R,R,R,R,R:r", wiener_before)                    \
  X(wiener_lccdf_unnorm, "R,R,R,R,R:r", wiener_after)                          \
  X(wiener_lccdf_unnorm, "R,R,R,R,R,r:r", wiener_after)                        \
  X(wiener_lccdf_unnorm, "R,R,R,R,R,R,R,R,r:r", wiener_after)                \
  X(wiener_lccdf_unnorm, "R,R,R,R,R,R,R,R:r", wiener_after)                    \
  X(hmm_marginal, "m,m,v:r", hmm_marginal)                                     \
  X(hmm_hidden_state_prob, "m,m,v:m", hmm_hidden_state_prob)                   \
  X(hmm_latent_rng, "m,m,v:[i", hmm_latent_rng)                                \
  X(laplace_marginal_poisson_log_lpmf, "[i,[i,P,i,m:r", laplace_marginal_poisson_log)\
  X(laplace_latent_poisson_log_rng, "[i,[i,P,i,m:v", laplace_latent_poisson_log)\
  X(laplace_marginal_tol_poisson_log_lpmf, "[i,[i,P,i,m,v,r,i,i,i,i:r", laplace_marginal_poisson_log)\
  X(laplace_latent_tol_poisson_log_rng, "[i,[i,P,i,m,v,r,i,i,i,i:v", laplace_latent_poisson_log)\
  X(laplace_marginal_bernoulli_logit_lpmf, "[i,[i,P,i,m:r", laplace_marginal_bernoulli_logit)\
  X(laplace_latent_bernoulli_logit_rng, "[i,[i,P,i,m:v", laplace_latent_bernoulli_logit)\
  X(laplace_marginal_tol_bernoulli_logit_lpmf, "[i,[i,P,i,m,v,r,i,i,i,i:r", laplace_marginal_bernoulli_logit)\
  X(laplace_latent_tol_bernoulli_logit_rng, "[i,[i,P,i,m,v,r,i,i,i,i:v", laplace_latent_bernoulli_logit)\
  X(laplace_marginal_neg_binomial_2_log_lpmf, "[i,[i,P,P,i,m:r", laplace_marginal_neg_binomial_2_log)\
  X(laplace_latent_neg_binomial_2_log_rng, "[i,[i,P,P,i,m:v", laplace_latent_neg_binomial_2_log)\
  X(laplace_marginal_tol_neg_binomial_2_log_lpmf, "[i,[i,P,P,i,m,v,r,i,i,i,i:r", laplace_marginal_neg_binomial_2_log)\
  X(laplace_latent_tol_neg_binomial_2_log_rng, "[i,[i,P,P,i,m,v,r,i,i,i,i:v", laplace_latent_neg_binomial_2_log)\
  X(multinomial_logit_rng, "v,i:[i", multinomial_logit_rng)                    \
  X(dirichlet_multinomial_rng, "v,i:[i", dirichlet_multinomial_rng)            \
  X(wishart_cholesky_rng, "r,m:m", wishart_cholesky_rng)                       \
  X(inv_wishart_cholesky_rng, "r,m:m", inv_wishart_cholesky_rng)               \
  X(inc_beta, "r,r,r:r", inc_beta)                                             \
  X(inv_inc_beta, "r,r,r:r", inv_inc_beta)                                     \
  X(hypergeometric_1F0, "r,r:r", hypergeometric_1f0)                           \
  X(hypergeometric_2F1, "r,r,r,r:r", hypergeometric_2f1)                       \
  X(hypergeometric_3F2, "S,S,r:r", hypergeometric_3f2)                         \
  X(hypergeometric_pFq, "S,S,r:r", hypergeometric_pfq)                         \
  X(multi_normal_rng, "L,m:v", multi_normal_rng)                               \
  X(multi_normal_rng, "[v,m:[v", multi_normal_rng)                             \
  X(multi_normal_rng, "[w,m:[v", multi_normal_rng)                             \
  X(multi_normal_cholesky_rng, "L,m:v", multi_normal_cholesky_rng)             \
  X(multi_normal_cholesky_rng, "[v,m:[v", multi_normal_cholesky_rng)           \
  X(multi_normal_cholesky_rng, "[w,m:[v", multi_normal_cholesky_rng)           \
  X(multi_student_t_rng, "r,L,m:v", multi_student_t_rng)                       \
  X(multi_student_t_rng, "r,[v,m:[v", multi_student_t_rng)                     \
  X(multi_student_t_rng, "r,[w,m:[v", multi_student_t_rng)                     \
  X(multi_student_t_cholesky_rng, "r,L,m:v", multi_student_t_cholesky_rng)     \
  X(multi_student_t_cholesky_rng, "r,[v,m:[v", multi_student_t_cholesky_rng)   \
  X(multi_student_t_cholesky_rng, "r,[w,m:[v", multi_student_t_cholesky_rng)   \
  X(lower_bound_constrain, "n,k:n", lower_bound_constrain)                     \
  X(lower_bound_unconstrain, "n,k:n", lower_bound_unconstrain)                 \
  X(upper_bound_constrain, "n,k:n", upper_bound_constrain)                     \
  X(upper_bound_unconstrain, "n,k:n", upper_bound_unconstrain)                 \
  X(lower_upper_bound_constrain, "n,k,k:n", lower_upper_bound_constrain)       \
  X(lower_upper_bound_unconstrain, "n,k,k:n", lower_upper_bound_unconstrain)   \
  X(offset_multiplier_constrain, "n,k,k:n", offset_multiplier_constrain)       \
  X(offset_multiplier_unconstrain, "n,k,k:n", offset_multiplier_unconstrain)   \
  X(simplex_constrain, "*v:*v", simplex_constrain)                             \
  X(simplex_unconstrain, "*v:*v", simplex_unconstrain)                         \
  X(ordered_constrain, "*v:*v", ordered_constrain)                             \
  X(ordered_unconstrain, "*v:*v", ordered_unconstrain)                         \
  X(positive_ordered_constrain, "*v:*v", positive_ordered_constrain)           \
  X(positive_ordered_unconstrain, "*v:*v", positive_ordered_unconstrain)       \
  X(sum_to_zero_constrain, "*v:*v", sum_to_zero_constrain)                     \
  X(sum_to_zero_unconstrain, "*v:*v", sum_to_zero_unconstrain)                 \
  X(unit_vector_constrain, "*v:*v", unit_vector_constrain)                     \
  X(unit_vector_unconstrain, "*v:*v", unit_vector_unconstrain)                 \
  X(cholesky_factor_corr_constrain, "*v,i:*m", cholesky_factor_corr_constrain) \
  X(cholesky_factor_corr_unconstrain, "*m:*v", cholesky_factor_corr_unconstrain)\
  X(cholesky_factor_cov_constrain, "*v,i,i:*m", cholesky_factor_cov_constrain) \
  X(cholesky_factor_cov_unconstrain, "*m:*v", cholesky_factor_cov_unconstrain) \
  X(corr_matrix_constrain, "*v,i:*m", corr_matrix_constrain)                   \
  X(corr_matrix_unconstrain, "*m:*v", corr_matrix_unconstrain)                 \
  X(cov_matrix_constrain, "*v,i:*m", cov_matrix_constrain)                     \
  X(cov_matrix_unconstrain, "*m:*v", cov_matrix_unconstrain)                   \
  X(stochastic_column_constrain, "*m:*m", stochastic_column_constrain)         \
  X(stochastic_column_unconstrain, "*m:*m", stochastic_column_unconstrain)     \
  X(stochastic_row_constrain, "*m:*m", stochastic_row_constrain)               \
  X(stochastic_row_unconstrain, "*m:*m", stochastic_row_unconstrain)           \
  X(sum_to_zero_constrain, "*m:*m", sum_to_zero_matrix_constrain)              \
  X(sum_to_zero_unconstrain, "*m:*m", sum_to_zero_matrix_unconstrain)          \
  X(lower_bound_log_jacobian, "n,k:r", lower_bound_log_jacobian)               \
  X(upper_bound_log_jacobian, "n,k:r", upper_bound_log_jacobian)               \
  X(lower_upper_bound_log_jacobian, "n,k,k:r", lower_upper_bound_log_jacobian) \
  X(offset_multiplier_log_jacobian, "n,k,k:r", offset_multiplier_log_jacobian) \
  X(simplex_log_jacobian, "*v:r", simplex_log_jacobian)                        \
  X(ordered_log_jacobian, "*v:r", ordered_log_jacobian)                        \
  X(positive_ordered_log_jacobian, "*v:r", positive_ordered_log_jacobian)      \
  X(sum_to_zero_log_jacobian, "*v:r", sum_to_zero_log_jacobian)                \
  X(unit_vector_log_jacobian, "*v:r", unit_vector_log_jacobian)                \
  X(cholesky_factor_corr_log_jacobian, "*v,i:r", cholesky_factor_corr_log_jacobian)\
  X(cholesky_factor_cov_log_jacobian, "*v,i,i:r", cholesky_factor_cov_log_jacobian)\
  X(corr_matrix_log_jacobian, "*v,i:r", corr_matrix_log_jacobian)              \
  X(cov_matrix_log_jacobian, "*v,i:r", cov_matrix_log_jacobian)                \
  X(stochastic_column_log_jacobian, "*m:r", stochastic_column_log_jacobian)    \
  X(stochastic_row_log_jacobian, "*m:r", stochastic_row_log_jacobian)          \
  X(sum_to_zero_log_jacobian, "*m:r", sum_to_zero_matrix_log_jacobian)         \
  X(multinomial_rng, "v,i:[i", multinomial_rng)
/* clang-format on */

/* Known names of Stan that we do not have (yet), to be refused by name; the
 * test of the table of functions says which. */
/* clang-format off */
#define TM_UNSUPPORTED \
  "poisson_binomial_lpmf", \
  "poisson_binomial_rng"
/* clang-format on */

#endif
