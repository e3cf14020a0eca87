/* chance.c - see chance.h. */
#include "kernels/chance.h"

#include <math.h>

/* All but the last so many proposals are forgotten, since the chain is still
 * on its way. */
static const double MEMORY = 200;

void tm_chance_start(tm_chance *chance) {
  *chance = (tm_chance){0};
  for (size_t i = 0; i < TM_TAU_NODES; i++)
    chance->mean[i] = 1; /* try, until measured */
}

double tm_chance_at(const tm_chance *chance, const tm_chance_rule *rule,
                    tm_tau_place place, bool learning) {
  const double *mean = chance->mean + place.node;
  double acceptance = mean[0] + place.weight * (mean[1] - mean[0]);
  double share =
      rule->most * (acceptance - rule->poor) / (rule->good - rule->poor);
  double least = learning ? rule->curious : rule->seldom;
  share = share > least ? share : least;
  return share < rule->most ? share : rule->most;
}

static void learn_node(tm_chance *chance, size_t node, double weight,
                       double acceptance) {
  if (weight <= 0)
    return;
  double count = fmin(chance->count[node] + weight, MEMORY);
  chance->count[node] = count;
  chance->mean[node] +=
      fmin(1, weight / count) * (acceptance - chance->mean[node]);
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
      break;
    }
}
