/* reference.h - the reference leg's path (method 5.2) as a model.
 *
 * With f = L pi |J| over unconstrained u and q a normalised density fitted to
 * target draws, the law q e^{tau D}, D = log f - log q, is a tempered
 * posterior: of a model whose prior is q and whose log likelihood is D. Here
 * is that model, so that kernels, tau moves, learning and estimates serve both
 * legs alike. Its reals are v, u = centre + W v, in which the draws that q was
 * fitted to have mean 0 and covariance 1: q's metric is about the identity. */
#ifndef TM_TEMPERING_REFERENCE_H
#define TM_TEMPERING_REFERENCE_H

#include "model/labels.h"
#include "tempering/reference_density.h"

typedef struct tm_reference tm_reference;

/* So many reals are many: products with d x d matrices are then what costs. */
enum { TM_REFERENCE_MANY = 40 };

/* q is not there yet: see tm_reference_fit. The model must outlive it. */
TEMPERA_CHECKED tempera_status tm_reference_create(const tempera_model *model,
                                                   tm_reference **reference,
                                                   tempera_error *error);
void tm_reference_free(tm_reference *reference);
/* Gradients of log f at some of the draws: count x dimension each. */
typedef struct tm_slopes_at {
  size_t count;
  const double *u, *gradient;
} tm_slopes_at;
/* From the next fit on: interchangeable labels (or NULL), which outlive it. The
 * path is then about points with their labels in order, of which each stands
 * for K!: f is K! times as high there and zero elsewhere, so that its integral
 * is the same; q need not know of the copies. Points that enter are put in
 * order, those that leave get a labelling at random. */
void tm_reference_use_labels(tm_reference *reference, const tm_labels *labels);
/* Fit q to draws: rows of u, labels in order; where there are gradients, by
 * them too. Points on the leg must then be settled anew; no other thread may
 * use the reference meanwhile. */
TEMPERA_CHECKED tempera_status tm_reference_fit(tm_reference *reference,
                                                const tm_points *u,
                                                const tm_slopes_at *slopes,
                                                tempera_random *random,
                                                tempera_error *error);
bool tm_reference_fitted(const tm_reference *reference);
/* The model with prior q and log likelihood D. */
const tempera_model *tm_reference_model(const tm_reference *reference);
/* The model whose posterior it is about. */
const tempera_model *tm_reference_original(const tm_reference *reference);
/* log |W|: a log density over u is that over v less this. */
double tm_reference_log_volume(const tm_reference *reference);

/* A chain's way to q: its evaluator of tm_reference_model, whose own calls of
 * the original model are counted by `inner`. */
typedef struct tm_reference_chain {
  tm_evaluator evaluator;
  tm_evaluator *inner;
  const tm_reference *reference;
  void *own;
} tm_reference_chain;

TEMPERA_CHECKED tempera_status
tm_reference_chain_create(const tm_reference *reference, tm_arena *arena,
                          tm_reference_chain *chain, tempera_error *error);
void tm_reference_chain_release(tm_reference_chain *chain);

/* A point of the original model, evaluated, becomes one of the leg; no
 * likelihood call is made. */
void tm_reference_enter(tm_reference_chain *chain, const tm_point *from,
                        tm_point *to);
/* And back, with one call of the prior; relabelled by `random`. */
void tm_reference_leave(tm_reference_chain *chain, tempera_random *random,
                        const tm_point *from, tm_point *to);
/* See tm_reference_density_excess; of a point of the leg. */
double tm_reference_excess(tm_reference_chain *chain, const tm_point *point);
/* Natural-scale theta of a point of the leg. */
void tm_reference_theta(tm_reference_chain *chain, const tm_point *from,
                        double *theta);

#endif
