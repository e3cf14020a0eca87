/* stepsize.c - see stepsize.h. An update counts for the two nodes around tau by
 * their distances. */
#include "kernels/stepsize.h"

#include <math.h>

static const double GAMMA = 0.05, T0 = 10, KAPPA = 0.75;
static const double AMBITION = 10; /* long steps are tried first */

void tm_stepsize_start(tm_stepsize *step, double guess, double target) {
  *step = (tm_stepsize){
      .started = true, .target = target, .centre = log(AMBITION * guess)};
  for (size_t i = 0; i < TM_TAU_NODES; i++)
    step->latest[i] = step->mean[i] = log(guess);
}

static size_t nearest_visited(const tm_stepsize *step, size_t node) {
  for (size_t k = 0; k < TM_TAU_NODES; k++) {
    if (node >= k && step->count[node - k] > 0)
      return node - k;
    if (node + k < TM_TAU_NODES && step->count[node + k] > 0)
      return node + k;
  }
  return node;
}

double tm_stepsize_at(const tm_stepsize *step, tm_tau_place place,
                      bool learning) {
  const double *value = learning ? step->latest : step->mean;
  double low = value[nearest_visited(step, place.node)];
  double high = value[nearest_visited(step, place.node + 1)];
  return exp(low + place.weight * (high - low));
}

/* A node's first visit begins where its nearest neighbour stands. */
static void inherit(tm_stepsize *step, size_t node) {
  size_t from = nearest_visited(step, node);
  step->count[node] = fmin(step->count[from], T0);
  step->surplus[node] = step->surplus[from];
  step->latest[node] = step->latest[from];
  step->mean[node] = step->mean[from];
}

static void update_node(tm_stepsize *step, size_t node, double weight,
                        double shortfall) {
  if (weight <= 0)
    return;
  if (step->count[node] <= 0)
    inherit(step, node);
  double t = step->count[node] += weight;
  double eta = fmin(1, weight / (t + T0));
  step->surplus[node] += eta * (shortfall - step->surplus[node]);
  step->latest[node] = step->centre - sqrt(t) / GAMMA * step->surplus[node];
  double share = fmin(1, weight * pow(fmax(t, 1), -KAPPA));
  step->mean[node] += share * (step->latest[node] - step->mean[node]);
}

void tm_stepsize_update(tm_stepsize *step, tm_tau_place place,
                        double acceptance) {
  double shortfall = step->target - acceptance;
  update_node(step, place.node, 1 - place.weight, shortfall);
  update_node(step, place.node + 1, place.weight, shortfall);
}

void tm_stepsize_archive(tm_stepsize *step, tm_archive *archive) {
  tm_archive_bool(archive, &step->started);
  tm_archive_double(archive, &step->target);
  tm_archive_double(archive, &step->centre);
  tm_archive_doubles(archive, step->count, TM_TAU_NODES);
  tm_archive_doubles(archive, step->surplus, TM_TAU_NODES);
  tm_archive_doubles(archive, step->latest, TM_TAU_NODES);
  tm_archive_doubles(archive, step->mean, TM_TAU_NODES);
}
