/* complex_tables.h - the functions of complex numbers: what the checker knows
 * of them and where the library has them. Names that begin with "operator"
 * stand behind operators and promotions. */
#ifndef TM_LANGUAGE_COMPLEX_TABLES_H
#define TM_LANGUAGE_COMPLEX_TABLES_H

/* Elementwise and analytic: name, value in z, derivative in z and the value y.
 * Those that are not analytic have a slope for each part of them. */
#define TM_COMPLEX_FUNCTIONS(X)                                                \
  X(exp, cexp(z), y)                                                           \
  X(log, clog(z), 1 / z)                                                       \
  X(log10, clog(z) * 0.4342944819032518, 0.4342944819032518 / z)               \
  X(sqrt, csqrt(z), y != 0 ? 0.5 / y : 0)                                      \
  X(sin, csin(z), ccos(z))                                                     \
  X(cos, ccos(z), -csin(z))                                                    \
  X(tan, ctan(z), 1 + y * y)                                                   \
  X(asin, casin(z), 1 / (csqrt(1 - z) * csqrt(1 + z)))                         \
  X(acos, cacos(z), -1 / (csqrt(1 - z) * csqrt(1 + z)))                        \
  X(atan, catan(z), 1 / (1 + z * z))                                           \
  X(sinh, csinh(z), ccosh(z))                                                  \
  X(cosh, ccosh(z), csinh(z))                                                  \
  X(tanh, ctanh(z), 1 - y * y)                                                 \
  X(asinh, casinh(z), 1 / (csqrt(1 + I * z) * csqrt(1 - I * z)))               \
  X(acosh, cacosh(z), 1 / (csqrt(z - 1) * csqrt(z + 1)))                       \
  X(atanh, catanh(z), 1 / (1 - z * z))                                         \
  X(minus, -z, 0 * y - 1)                                                      \
  X(proj, cproj(z), isfinite(cabs(z)) ? 1 : 0)

/* Of two arguments: name, operator, value in a and b, both derivatives. */
#define TM_COMPLEX_BINARY(X)                                                   \
  X(add, "operator+", a + b, 1, 1)                                             \
  X(subtract, "operator-", a - b, 1, -1)                                       \
  X(elt_multiply, "operator.*", a *b, b, a)                                    \
  X(elt_divide, "operator./", a / b, 1 / b, -y / b)                            \
  X(pow, "operator^", tm_complex_power(a, b),                                  \
    b == 0 ? 0 : b * tm_complex_power(a, b - 1), a == 0 ? 0 : y * clog(a))

/* With real values: name, value in the parts x and y, slopes in both. */
#define TM_MODULI(X)                                                           \
  X(abs, hypot(x, y), v > 0 ? x / v : 0, v > 0 ? y / v : 0)                    \
  X(arg, atan2(y, x), -y / (x * x + y * y), x / (x * x + y * y))               \
  X(norm, x *x + y * y, 2 * x, 2 * y)                                          \
  X(get_real, x, 1, 0)                                                         \
  X(get_imag, y, 0, 1)

/* More of one argument, by functions of their own. */
#define TM_COMPLEX_UNARY(X)                                                    \
  X("conj", complex_conj) X("operator-", complex_minus)

/* Complex numbers of their parts. */
#define TM_OF_PARTS(X)                                                         \
  X("to_complex", "R")                                                         \
  X("to_complex", "RR") X("operator=", "R") X("operator=", "RR")

/* Functions of whole shapes: name, signature, function. The first are those of
 * reals applied to both parts, see complex_shape.c. */
/* clang-format off */
#define TM_COMPLEX_LINEAR(X)                                                   \
  X("sum", "[c:c", sum)                                                        \
  X("sum", "p:c", sum)                                                         \
  X("sum", "q:c", sum)                                                         \
  X("sum", "o:c", sum)                                                         \
  X("cumulative_sum", "[c:[c", cumulative_sum)                                 \
  X("cumulative_sum", "p:p", cumulative_sum)                                   \
  X("cumulative_sum", "q:q", cumulative_sum)                                   \
  X("rep_vector", "c,i:p", rep)                                                \
  X("rep_row_vector", "c,i:q", rep)                                            \
  X("rep_matrix", "c,i,i:o", rep)                                              \
  X("rep_matrix", "p,i:o", rep_columns)                                        \
  X("rep_matrix", "q,i:o", rep)                                                \
  X("to_vector", "p:p", flatten)                                               \
  X("to_vector", "q:p", flatten)                                               \
  X("to_vector", "o:p", flatten_columns)                                       \
  X("to_vector", "[c:p", flatten)                                              \
  X("to_row_vector", "p:q", flatten)                                           \
  X("to_row_vector", "q:q", flatten)                                           \
  X("to_row_vector", "o:q", flatten_columns)                                   \
  X("to_row_vector", "[c:q", flatten)                                          \
  X("to_array_1d", "p:[c", flatten)                                            \
  X("to_array_1d", "q:[c", flatten)                                            \
  X("to_array_1d", "o:[c", flatten_columns)                                    \
  X("to_array_1d", "[c:[c", flatten)                                           \
  X("to_array_1d", "[[c:[c", flatten)                                          \
  X("to_array_1d", "[[[c:[c", flatten)                                         \
  X("to_array_1d", "[[[[c:[c", flatten)                                        \
  X("to_array_1d", "[[[[[c:[c", flatten)                                       \
  X("to_array_1d", "[[[[[[c:[c", flatten)                                      \
  X("to_array_1d", "[[[[[[[c:[c", flatten)                                     \
  X("to_array_2d", "o:[[c", to_matrix)                                         \
  X("to_matrix", "o:o", to_matrix)                                             \
  X("to_matrix", "p:o", column_matrix)                                         \
  X("to_matrix", "q:o", row_matrix)                                            \
  X("to_matrix", "[[c:o", to_matrix)                                           \
  X("to_matrix", "[q:o", to_matrix)                                            \
  X("to_matrix", "p,i,i:o", fill_matrix)                                       \
  X("to_matrix", "q,i,i:o", fill_matrix)                                       \
  X("to_matrix", "[c,i,i:o", fill_matrix)                                      \
  X("to_matrix", "o,i,i:o", fill_matrix)                                       \
  X("to_matrix", "p,i,i,i:o", fill_matrix_as)                                  \
  X("to_matrix", "q,i,i,i:o", fill_matrix_as)                                  \
  X("to_matrix", "[c,i,i,i:o", fill_matrix_as)                                 \
  X("to_matrix", "o,i,i,i:o", fill_matrix_as)                                  \
  X("head", "p,i:p", head)                                                     \
  X("head", "q,i:q", head)                                                     \
  X("tail", "p,i:p", tail)                                                     \
  X("tail", "q,i:q", tail)                                                     \
  X("segment", "p,i,i:p", segment)                                             \
  X("segment", "q,i,i:q", segment)                                             \
  X("reverse", "p:p", reverse)                                                 \
  X("reverse", "q:q", reverse)                                                 \
  X("append_row", "p,p:p", append)                                             \
  X("append_row", "c,p:p", append)                                             \
  X("append_row", "p,c:p", append)                                             \
  X("append_row", "o,o:o", append)                                             \
  X("append_row", "o,q:o", append)                                             \
  X("append_row", "q,o:o", append)                                             \
  X("append_row", "q,q:o", append_rows)                                        \
  X("append_row", "c,c:p", append)                                             \
  X("append_col", "q,q:q", append)                                             \
  X("append_col", "c,q:q", append)                                             \
  X("append_col", "q,c:q", append)                                             \
  X("append_col", "c,c:q", append)                                             \
  X("append_col", "o,o:o", append_columns)                                     \
  X("append_col", "o,p:o", append_columns)                                     \
  X("append_col", "p,o:o", append_columns)                                     \
  X("append_col", "p,p:o", append_columns)                                     \
  X("col", "o,i:p", col)                                                       \
  X("row", "o,i:q", row)                                                       \
  X("block", "o,i,i,i,i:o", block)                                             \
  X("sub_col", "o,i,i,i:p", sub_col)                                           \
  X("sub_row", "o,i,i,i:q", sub_row)                                           \
  X("transpose", "p:q", flatten)                                               \
  X("transpose", "q:p", flatten)                                               \
  X("transpose", "o:o", transpose)                                             \
  X("operator'", "p:q", flatten)                                               \
  X("operator'", "q:p", flatten)                                               \
  X("operator'", "o:o", transpose)                                             \
  X("diag_matrix", "p:o", diag_matrix)                                         \
  X("diagonal", "o:p", diagonal)                                               \
  X("add_diag", "o,c:o", add_diag)                                             \
  X("add_diag", "o,p:o", add_diag)                                             \
  X("add_diag", "o,q:o", add_diag)                                             \
  X("trace", "o:c", trace)

/* The same of products: linear in each of two arguments. */
#define TM_COMPLEX_PRODUCTS(X)                                                 \
  X("diag_pre_multiply", "p,o:o", diag_pre_multiply)                           \
  X("diag_pre_multiply", "q,o:o", diag_pre_multiply)                           \
  X("diag_post_multiply", "o,p:o", diag_post_multiply)                         \
  X("diag_post_multiply", "o,q:o", diag_post_multiply)                         \
  X("columns_dot_product", "o,o:q", columns_dot_product)                       \
  X("rows_dot_product", "o,o:p", rows_dot_product)                             \
  X("columns_dot_product", "p,p:q", line_dot)                                  \
  X("columns_dot_product", "q,q:q", line_product)                              \
  X("rows_dot_product", "q,q:p", line_dot)                                     \
  X("rows_dot_product", "p,p:p", line_product)                                 \
  X("operator*", "p,q:o", matmul)                                              \
  X("operator*", "o,p:p", matmul)                                              \
  X("operator*", "q,o:q", matmul)                                              \
  X("operator*", "o,o:o", matmul)

/* And those with a function of their own. */
#define TM_COMPLEX_OTHERS(X)                                                   \
  X("to_complex", ":c", complex_zero)                                          \
  X("polar", "r,r:c", polar)                                                   \
  X("operator==", "c,c:i", complex_equal)                                      \
  X("operator!=", "c,c:i", complex_unequal)                                    \
  X("prod", "[c:c", complex_prod)                                              \
  X("prod", "p:c", complex_prod)                                               \
  X("prod", "q:c", complex_prod)                                               \
  X("prod", "o:c", complex_prod)                                               \
  X("dot_product", "p,p:c", complex_dot_product)                               \
  X("dot_product", "p,q:c", complex_dot_product)                               \
  X("dot_product", "q,p:c", complex_dot_product)                               \
  X("dot_product", "q,q:c", complex_dot_product)                               \
  X("dot_product", "[c,[c:c", complex_dot_product)                             \
  X("operator*", "q,p:c", complex_dot_product)                                 \
  X("dot_self", "p:c", complex_dot_self)                                       \
  X("dot_self", "q:c", complex_dot_self)                                       \
  X("columns_dot_self", "o:q", complex_columns_dot_self)                       \
  X("columns_dot_self", "p:q", complex_line_dot_self)                          \
  X("columns_dot_self", "q:q", complex_line_self)                              \
  X("rows_dot_self", "o:p", complex_rows_dot_self)                             \
  X("rows_dot_self", "q:p", complex_line_dot_self)                             \
  X("rows_dot_self", "p:p", complex_line_self)                                 \
  X("symmetrize_from_lower_tri", "o:o", complex_symmetrize)                    \
  X("operator/", "q,o:q", complex_solve_right)                                 \
  X("operator/", "o,o:o", complex_solve_right)                                 \
  X("fft", "p:p", fft)                                                         \
  X("fft2", "o:o", fft)                                                        \
  X("inv_fft", "p:p", inv_fft)                                                 \
  X("inv_fft2", "o:o", inv_fft)                                                \
  X("eigenvalues", "o:p", complex_eigenvalues)                                 \
  X("eigenvectors", "o:o", complex_eigenvectors)                               \
  X("eigenvalues_sym", "o:p", hermitian_values)                                \
  X("eigenvectors_sym", "o:o", hermitian_vectors)                              \
  X("complex_schur_decompose_t", "o:o", schur_t)                               \
  X("complex_schur_decompose_u", "o:o", schur_u)                               \
  X("singular_values", "o:v", complex_singular_values)                         \
  X("svd_U", "o:o", complex_svd_u)                                             \
  X("svd_V", "o:o", complex_svd_v)
/* clang-format on */

#define TM_COMPLEX_SHAPES(X)                                                   \
  TM_COMPLEX_LINEAR(X) TM_COMPLEX_PRODUCTS(X) TM_COMPLEX_OTHERS(X)

#endif
