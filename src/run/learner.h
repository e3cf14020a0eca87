/* learner.h - the inside of tm_learner, shared by learning.c (the beginning)
 * and refining.c (the rounds). */
#ifndef TM_RUN_LEARNER_H
#define TM_RUN_LEARNER_H

#include "run/learning.h"

enum { TM_KNOTS = 128 };

/* Of steps, the k-th goes from knot k to knot k + 1. */
struct tm_learner {
  tm_arena *arena;
  double tau_min;
  size_t count; /* of knots */
  double tau[TM_KNOTS], log_z[TM_KNOTS], log_w[TM_KNOTS];
  double known[TM_KNOTS];   /* by step: batches of draws that it rests on */
  double lambda[TM_KNOTS];  /* by step: its part of the barrier */
  bool supported[TM_KNOTS]; /* by step: have draws of any round refined it? */
  double laplace_rise;      /* of log z by the Laplace ridge it began from */
};

/* w at the knots: the density of a coordinate made of the barrier's share and,
 * a little, of tau and log tau. */
void tm_learner_weigh(tm_learner *learner);

/* Make y convex in increasing x: adjacent slopes that fall are pooled; steps of
 * more weight (count - 1 of them; NULL: all alike) move less. `work` has room
 * for 3 * count numbers. y[0] stays. */
void tm_make_convex(const double *x, size_t count, const double *weight,
                    double *y, double *work);

#endif
