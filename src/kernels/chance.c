/* chance.c - see chance.h. */
#include "kernels/chance.h"

#include <math.h>

/* All but the last so many proposals are forgotten, since the chain is still
 * on its way. */
static const double MEMORY = 200;

/* An independent proposal that is accepted with probability a is worth
 * a / (2 - a) independent draws for its one evaluation, .18 at FAIR and .43 at
 * EXCELLENT: more than walks make of one. From there on it is the USUAL move;
 * the others keep a fifth of the sweeps, for tails that it does not reach.
 * Measured: half the gradients for the same error (docs/benchmarks.md). */
static const double FAIR = 0.3, EXCELLENT = 0.6, USUAL = 0.8;

static double between(double x, double from, double to) {
  return fmax(0, fmin(1, (x - from) / (to - from)));
}

static void set_share(tm_chance *chance, size_t node) {
  const tm_chance_rule *rule = chance->rule;
  double mean = chance->mean[node];
  double share = rule->most * between(mean, rule->poor, rule->good) +
                 (USUAL - rule->most) * between(mean, FAIR, EXCELLENT);
  chance->share[node] = fmax(rule->seldom, share);
}

void tm_chance_start(tm_chance *chance, const tm_chance_rule *rule) {
  *chance = (tm_chance){.rule = rule};
  for (size_t i = 0; i < TM_TAU_NODES; i++) {
    chance->mean[i] = 1; /* try, until measured */
    set_share(chance, i);
  }
}

double tm_chance_at(const tm_chance *chance, tm_tau_place place,
                    bool learning) {
  const double *at = chance->share + place.node;
  double share = at[0] + place.weight * (at[1] - at[0]);
  return learning ? fmax(share, chance->rule->curious) : share;
}

static void learn_node(tm_chance *chance, size_t node, double weight,
                       double acceptance) {
  if (weight <= 0)
    return;
  double count = fmin(chance->count[node] + weight, MEMORY);
  chance->count[node] = count;
  chance->mean[node] +=
      fmin(1, weight / count) * (acceptance - chance->mean[node]);
  set_share(chance, node);
}

void tm_chance_learn(tm_chance *chance, tm_tau_place place, double acceptance) {
  learn_node(chance, place.node, 1 - place.weight, acceptance);
  learn_node(chance, place.node + 1, place.weight, acceptance);
}

void tm_chance_freeze(tm_chance *chance) {
  for (size_t i = 0; i < TM_TAU_NODES; i++)
    for (size_t k = 1; k < TM_TAU_NODES && chance->count[i] <= 0; k++) {
      if (i >= k && chance->count[i - k] > 0)
        chance->mean[i] = chance->mean[i - k];
      else if (i + k < TM_TAU_NODES && chance->count[i + k] > 0)
        chance->mean[i] = chance->mean[i + k];
      else
        continue;
      set_share(chance, i);
      break;
    }
}

void tm_chance_archive(tm_chance *chance, tm_archive *archive) {
  tm_archive_doubles(archive, chance->mean, TM_TAU_NODES);
  tm_archive_doubles(archive, chance->count, TM_TAU_NODES);
  tm_archive_doubles(archive, chance->share, TM_TAU_NODES);
}
