/* maps_array.c - the map of an array of special types, element by element.
 * Values lie as CmdStan writes them, the first index fastest, so elements are
 * gathered and scattered; coordinates lie element after element. */
#include "language/load/maps.h"

enum { LARGEST = 4096 }; /* values of one element */

/* Value k of element e. */
static size_t place(const tm_array_map *a, size_t e, size_t k) {
  return a->element[e] + k * a->count;
}

static void gather(const tm_array_map *a, size_t e, const double *x,
                   double *one) {
  for (size_t k = 0; k < a->each.size; k++)
    one[k] = x[place(a, e, k)];
}

static double array_constrain(const tempera_map *m, const double *u,
                              double *x) {
  const tm_array_map *a = m->context;
  double one[LARGEST], log_jacobian = 0;
  for (size_t e = 0; e < a->count; e++) {
    log_jacobian +=
        a->each.constrain(&a->each, u + e * a->each.unconstrained_size, one);
    for (size_t k = 0; k < a->each.size; k++)
      x[place(a, e, k)] = one[k];
  }
  return log_jacobian;
}

static void array_unconstrain(const tempera_map *m, const double *x,
                              double *u) {
  const tm_array_map *a = m->context;
  double one[LARGEST];
  for (size_t e = 0; e < a->count; e++) {
    gather(a, e, x, one);
    a->each.unconstrain(&a->each, one, u + e * a->each.unconstrained_size);
  }
}

static bool array_inside(const tempera_map *m, const double *x) {
  const tm_array_map *a = m->context;
  double one[LARGEST];
  for (size_t e = 0; e < a->count; e++) {
    gather(a, e, x, one);
    if (!a->each.inside(&a->each, one))
      return false;
  }
  return true;
}

static void array_pull(const tempera_map *m, const double *u, const double *x,
                       const double *g, bool jacobian, double *out) {
  const tm_array_map *a = m->context;
  double one[LARGEST], slope[LARGEST];
  for (size_t e = 0; e < a->count; e++) {
    size_t at = e * a->each.unconstrained_size;
    gather(a, e, x, one);
    gather(a, e, g, slope);
    a->each.pull_back(&a->each, u + at, one, slope, jacobian, out + at);
  }
}

bool tm_array_map_of(const tm_array_map *array, tempera_map *map) {
  if (array->each.size > LARGEST)
    return false;
  *map = (tempera_map){.unconstrained_size =
                           array->count * array->each.unconstrained_size,
                       .constrain = array_constrain,
                       .unconstrain = array_unconstrain,
                       .inside = array_inside,
                       .pull_back = array_pull,
                       .size = array->count * array->each.size,
                       .context = array};
  return true;
}

const tm_array_map *tm_map_array(const tempera_map *map) {
  return map && map->constrain == array_constrain ? map->context : NULL;
}
