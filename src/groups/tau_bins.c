/* tau_bins.c - see tau_bins.h. */
#include "groups/tau_bins.h"

#include <math.h>
#include <string.h>

/* Of its upper end, the share of a bin that is the step to the next one. */
static const double STEP = 1e-9;
static const double NARROWEST = 1e-14;

tempera_status tm_tau_bins_create(tm_arena *arena, size_t capacity,
                                  tm_tau_bins *made, tempera_error *error) {
  *made = (tm_tau_bins){.capacity = capacity,
                        .edge = TM_NEW(arena, double, capacity + 1),
                        .log_density = TM_NEW(arena, double, capacity),
                        .knot = TM_NEW(arena, double, 2 * capacity),
                        .value = TM_NEW(arena, double, 2 * capacity)};
  return made->edge && made->log_density && made->knot && made->value
             ? TEMPERA_OK
             : tm_fail_memory(error);
}

void tm_tau_bins_copy(const tm_tau_bins *from, tm_tau_bins *to) {
  to->count = from->count;
  to->log_atom = from->log_atom;
  memcpy(to->edge, from->edge, (from->count + 1) * sizeof(double));
  memcpy(to->log_density, from->log_density, from->count * sizeof(double));
}

size_t tm_tau_bins_find(const tm_tau_bins *bins, double tau) {
  size_t low = 0, high = bins->count;
  while (high - low > 1) {
    size_t middle = (low + high) / 2;
    *(bins->edge[middle] <= tau ? &low : &high) = middle;
  }
  return low;
}

bool tm_tau_bins_split(tm_tau_bins *bins, size_t b, double slope) {
  double rise = slope * (bins->edge[b + 1] - bins->edge[b]) / 2;
  double middle = (bins->edge[b] + bins->edge[b + 1]) / 2;
  size_t after = bins->count - b;
  if (bins->count == bins->capacity ||
      bins->edge[b + 1] - bins->edge[b] < NARROWEST)
    return false;
  memmove(bins->edge + b + 2, bins->edge + b + 1, after * sizeof(double));
  memmove(bins->log_density + b + 1, bins->log_density + b,
          after * sizeof(double));
  bins->edge[b + 1] = middle;
  bins->log_density[rise < 0 ? b + 1 : b] += fabs(rise);
  bins->count++;
  return true;
}

void tm_tau_bins_tabulate(tm_tau_bins *bins, tm_tau_prior *prior) {
  for (size_t b = 0; b < bins->count; b++) {
    double low = bins->edge[b], high = bins->edge[b + 1];
    bins->knot[2 * b] = low;
    bins->knot[2 * b + 1] =
        b + 1 < bins->count ? high - STEP * (high - low) : high;
    bins->value[2 * b] = bins->value[2 * b + 1] = bins->log_density[b];
  }
  *prior = (tm_tau_prior){
      .log_prior = {2 * bins->count, bins->knot, bins->value, bins->log_atom},
      .tau_min = bins->edge[0]};
}

void tm_tau_bins_centre(tm_tau_bins *bins) {
  bool atom = bins->log_atom > -INFINITY;
  double sum = atom ? bins->log_atom : 0;
  for (size_t b = 0; b < bins->count; b++)
    sum += bins->log_density[b];
  double mean = sum / (double)(bins->count + atom);
  bins->log_atom -= mean;
  for (size_t b = 0; b < bins->count; b++)
    bins->log_density[b] -= mean;
}

/* The smallest edge above `edge` among all. */
static double next_edge(tm_tau_bins *const *list, size_t count, double edge) {
  double next = 1;
  for (size_t i = 0; i < count; i++)
    for (size_t b = 1; b <= list[i]->count; b++)
      if (list[i]->edge[b] > edge) {
        next = fmin(next, list[i]->edge[b]);
        break;
      }
  return next;
}

static void join_edges(tm_tau_bins *const *list, size_t count,
                       tm_tau_bins *mean) {
  size_t n = 0;
  mean->edge[0] = list[0]->edge[0];
  while (mean->edge[n] < 1 && n < mean->capacity) {
    mean->edge[n + 1] = next_edge(list, count, mean->edge[n]);
    n++;
  }
  mean->count = n;
  if (mean->edge[n] < 1)
    tm_tau_bins_copy(list[0], mean);
}

/* The width and the log density of a prior's bin at tau. */
static double width_at(const tm_tau_bins *bins, double tau, double *density) {
  size_t b = tm_tau_bins_find(bins, tau);
  *density = bins->log_density[b];
  return bins->edge[b + 1] - bins->edge[b];
}

static double centre_of(const tm_tau_bins *bins, size_t b) {
  return (bins->edge[b] + bins->edge[b + 1]) / 2;
}

/* Shift `other` to the level of `first`, by what both resolve alike. */
static void align(const tm_tau_bins *first, tm_tau_bins *other) {
  bool atom = first->log_atom > -INFINITY;
  double sum = atom ? other->log_atom - first->log_atom : 0;
  size_t shared = atom;
  for (size_t b = 0; b < first->count; b++) {
    double here, there, tau = centre_of(first, b);
    if (width_at(first, tau, &here) != width_at(other, tau, &there))
      continue;
    sum += there - here;
    shared++;
  }
  double offset = shared ? sum / (double)shared : 0;
  other->log_atom -= offset;
  for (size_t b = 0; b < other->count; b++)
    other->log_density[b] -= offset;
}

static double finest_mean(tm_tau_bins *const *list, size_t count, double tau) {
  double least = INFINITY, sum = 0, density;
  size_t n = 0;
  for (size_t i = 0; i < count; i++)
    least = fmin(least, width_at(list[i], tau, &density));
  for (size_t i = 0; i < count; i++)
    if (width_at(list[i], tau, &density) == least) {
      sum += density;
      n++;
    }
  return sum / (double)n;
}

void tm_tau_bins_average(tm_tau_bins *const *list, size_t count,
                         tm_tau_bins *mean) {
  join_edges(list, count, mean);
  mean->log_atom = list[0]->log_atom / (double)count;
  for (size_t i = 1; i < count; i++) {
    align(list[0], list[i]);
    mean->log_atom += list[i]->log_atom / (double)count;
  }
  for (size_t b = 0; b < mean->count; b++)
    mean->log_density[b] = finest_mean(list, count, centre_of(mean, b));
  tm_tau_bins_centre(mean);
}

void tm_tau_bins_archive(tm_tau_bins *bins, tm_archive *archive) {
  tm_archive_count(archive, &bins->count, bins->capacity);
  tm_archive_doubles(archive, bins->edge, bins->count + 1);
  tm_archive_doubles(archive, bins->log_density, bins->count);
  tm_archive_double(archive, &bins->log_atom);
}
