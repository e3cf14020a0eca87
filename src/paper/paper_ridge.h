/* paper_ridge.h - the paper's two ways to its tau prior (method 2), beside the
 * knots of tempering/ridge.h that both begin from: splines through 301 optima,
 * and an optimisation at every proposal. Neither has a certificate. */
#ifndef TM_PAPER_RIDGE_H
#define TM_PAPER_RIDGE_H

#include "tempering/ridge.h"

/* After the ridge was made or improved: the table of this kind, which for
 * `spline` replaces that of the knots. */
TEMPERA_CHECKED tempera_status tm_paper_ridge(tm_ridge *ridge,
                                              tempera_ridge kind,
                                              tempera_error *error);

/* The exact ridge: s(tau) by optimising from the stored optimum whose tau is
 * nearest; each chain has its own memory of optima, so that results do not
 * depend on threads. The model's `optimum` callback is used when it has one.
 * Allocates only in create; the memory keeps at most `capacity` optima and
 * then replaces none. */
typedef struct tm_ridge_memory tm_ridge_memory;
TEMPERA_CHECKED tempera_status tm_ridge_memory_create(const tm_ridge *ridge,
                                                      tm_arena *arena,
                                                      size_t capacity,
                                                      tm_ridge_memory **memory,
                                                      tempera_error *error);
double tm_ridge_exact(tm_ridge_memory *memory, tm_evaluator *evaluator,
                      double tau);
void tm_ridge_memory_archive(tm_ridge_memory *memory, tm_archive *archive);

#endif
