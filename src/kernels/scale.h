/* scale.h - a proposal's scale as a function of tau, learned in warmup. */
#ifndef TM_KERNELS_SCALE_H
#define TM_KERNELS_SCALE_H

#include "base/archive.h"

/* Nodes of the grid: tau = 0, then 4^-20, 4^-19, ..., 1. */
enum { TM_TAU_NODES = 22 };

/* Where a tau lies: between `node` and node + 1, `weight` of the way. */
typedef struct tm_tau_place {
  size_t node;
  double weight;
} tm_tau_place;

tm_tau_place tm_tau_locate(double tau);

typedef struct tm_scale {
  double log_scale[TM_TAU_NODES];
  double count[TM_TAU_NODES]; /* updates, split between neighbours */
  double target;              /* acceptance to reach */
  double lowest, highest;     /* limits of the log scale */
} tm_scale;

void tm_scale_start(tm_scale *scale, double initial, double target);
/* The scale at a place. While learning, nodes that have hardly been visited
 * first borrow from the nearest one that has. */
double tm_scale_at(tm_scale *scale, tm_tau_place place, bool learning);
/* One Robbins-Monro step towards the target acceptance. */
void tm_scale_update(tm_scale *scale, tm_tau_place place, double acceptance);
/* Have both nodes around the place learned something of their own? */
bool tm_scale_learnt(const tm_scale *scale, tm_tau_place place);
/* Unvisited nodes borrow for good; nothing changes afterwards. */
void tm_scale_freeze(tm_scale *scales, size_t count);
void tm_scale_archive(tm_scale *scales, size_t count, tm_archive *archive);

#endif
