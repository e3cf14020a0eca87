/* scale.c - a proposal's scale as a function of tau (method 4.6).
 *
 * The spread of the tempered posterior changes like a power of tau, down to
 * taus near 0, so the grid is uniform in log tau, with one node for tau = 0.
 * log scale is interpolated linearly between nodes and each node follows its
 * own Robbins-Monro recursion
 *   log s <- log s + 2 (1 + n)^-0.6 (acceptance - target). */
#include "kernels/scale.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { LAST = TM_TAU_NODES - 1 };

static const double LEARNT = 4;   /* visits that make a node's own value */
static const double WIDEST = 50;  /* no scale leaves exp(-50) .. exp(50) */
static const double GAIN = 2;     /* from a start off by e^10 in 200 steps */
static const double DECAY = -0.6; /* in (0.5, 1): converges, forgets slowly */

/* log2, linear between powers of 2: a scale as good to interpolate on. */
static double rough_log2(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return (double)(int64_t)bits * 0x1p-52 - 1023;
}

tm_tau_place tm_tau_locate(double tau) {
  if (tau == 1) /* half of all calls */
    return (tm_tau_place){.node = LAST - 1, .weight = 1};
  double smallest = 0x1p-40; /* 4^-20: the first node above 0 */
  double x = tau < smallest ? tau / smallest : LAST + 0.5 * rough_log2(tau);
  x = x > 0 ? x : 0;
  size_t node = x < LAST ? (size_t)x : LAST - 1;
  return (tm_tau_place){.node = node, .weight = x - (double)node};
}

void tm_scale_start(tm_scale *scale, double initial, double target) {
  *scale = (tm_scale){.target = target, .lowest = -WIDEST, .highest = WIDEST};
  for (size_t i = 0; i < TM_TAU_NODES; i++)
    scale->log_scale[i] = log(initial);
}

/* The nearest node with visits of its own; the node itself if there is none. */
static size_t nearest_learnt(const tm_scale *scale, size_t node) {
  for (size_t distance = 0; distance < TM_TAU_NODES; distance++) {
    if (node >= distance && scale->count[node - distance] >= LEARNT)
      return node - distance;
    if (node + distance <= LAST && scale->count[node + distance] >= LEARNT)
      return node + distance;
  }
  return node;
}

static void borrow(tm_scale *scale, size_t node) {
  if (scale->count[node] < LEARNT)
    scale->log_scale[node] = scale->log_scale[nearest_learnt(scale, node)];
}

double tm_scale_at(tm_scale *scale, tm_tau_place place, bool learning) {
  if (learning) {
    borrow(scale, place.node);
    borrow(scale, place.node + 1);
  }
  const double *value = scale->log_scale + place.node;
  return exp(value[0] + place.weight * (value[1] - value[0]));
}

static void update_node(tm_scale *scale, size_t node, double weight,
                        double surplus) {
  if (weight <= 0)
    return;
  double gain = GAIN * pow(1 + scale->count[node], DECAY);
  double moved = scale->log_scale[node] + weight * gain * surplus;
  scale->log_scale[node] = fmax(scale->lowest, fmin(scale->highest, moved));
  scale->count[node] += weight;
}

void tm_scale_update(tm_scale *scale, tm_tau_place place, double acceptance) {
  double surplus = acceptance - scale->target;
  update_node(scale, place.node, 1 - place.weight, surplus);
  update_node(scale, place.node + 1, place.weight, surplus);
}

bool tm_scale_learnt(const tm_scale *scale, tm_tau_place place) {
  return (place.weight >= 1 || scale->count[place.node] >= LEARNT) &&
         (place.weight <= 0 || scale->count[place.node + 1] >= LEARNT);
}

void tm_scale_freeze(tm_scale *scales, size_t count) {
  for (size_t k = 0; k < count; k++)
    for (size_t i = 0; i < TM_TAU_NODES; i++)
      borrow(&scales[k], i);
}

void tm_scale_archive(tm_scale *scales, size_t count, tm_archive *archive) {
  for (size_t i = 0; i < count; i++) {
    tm_archive_doubles(archive, scales[i].log_scale, TM_TAU_NODES);
    tm_archive_doubles(archive, scales[i].count, TM_TAU_NODES);
  }
}
