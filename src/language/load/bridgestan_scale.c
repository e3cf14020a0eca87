/* bridgestan_scale.c - Stan's unconstrained scale and ours. They differ in
 * two things: the elements of an array come one after another in Stan, while
 * ours lie as the values do, the first index fastest; and Stan's unit vector
 * of K values has K coordinates y, x = y / |y|, with -|y|^2 / 2 for a log
 * Jacobian, where ours has K - 1. */
#include "language/load/bridgestan_parts.h"
#include "language/load/load.h"
#include "language/load/maps.h"

#include <math.h>

enum { NOWHERE = -1 };

static void add_sphere(tm_bs_scale *scale, const tempera_map *map, size_t theta,
                       size_t step, size_t u) {
  scale->spheres[scale->sphere_count++] = (tm_bs_sphere){
      .map = map, .theta = theta, .step = step, .u = u, .stan = scale->size};
  scale->size += map->size;
}

static void add_block(tm_bs_scale *scale, const tm_block *block,
                      const size_t *order) {
  const tm_array_map *array = tm_map_array(block->map);
  if (array && tm_map_is_sphere(&array->each)) {
    for (size_t e = 0; e < array->count; e++)
      add_sphere(scale, &array->each, block->theta + array->element[e],
                 array->count, block->u + e * array->each.unconstrained_size);
  } else if (tm_map_is_sphere(block->map)) {
    add_sphere(scale, block->map, block->theta, 1, block->u);
  } else {
    for (size_t i = 0; i < block->u_count; i++)
      scale->place[block->u + i] =
          (long)(order[block->u + i] + scale->sphere_count);
    scale->size += block->u_count;
    return;
  }
  for (size_t i = 0; i < block->u_count; i++)
    scale->place[block->u + i] = NOWHERE;
}

bool tm_bs_scale_build(const tempera_model *model, tm_bs_scale *scale) {
  const size_t *order = tm_load_order(model);
  *scale = (tm_bs_scale){
      .place = tm_heap_alloc(model->dimension + 1, sizeof *scale->place),
      .spheres = tm_heap_alloc(model->dimension + 1, sizeof *scale->spheres)};
  if (!scale->place || !scale->spheres)
    return false;
  for (size_t i = 0; i < model->block_count; i++)
    add_block(scale, &model->blocks[i], order);
  return true;
}

void tm_bs_scale_clear(tm_bs_scale *scale) {
  tm_heap_free(scale->place);
  tm_heap_free(scale->spheres);
}

static double length_of(const double *y, size_t size) {
  double sum = 0;
  for (size_t i = 0; i < size; i++)
    sum += y[i] * y[i];
  return sqrt(sum);
}

double tm_bs_from_stan(const tempera_bs *bs, const double *stan, double *u,
                       double *room) {
  const tm_bs_scale *scale = &bs->scale;
  double extra = 0;
  for (size_t i = 0; i < bs->model->dimension; i++)
    if (scale->place[i] != NOWHERE)
      u[i] = stan[scale->place[i]];
  for (size_t k = 0; k < scale->sphere_count; k++) {
    const tm_bs_sphere *s = &scale->spheres[k];
    const double *y = stan + s->stan;
    double length = length_of(y, s->map->size);
    for (size_t i = 0; i < s->map->size; i++)
      room[i] = y[i] / length;
    s->map->unconstrain(s->map, room, u + s->u);
    extra -= 0.5 * length * length + s->map->constrain(s->map, u + s->u, room);
  }
  return extra;
}

void tm_bs_to_stan(const tempera_bs *bs, const double *u, const double *theta,
                   double *stan) {
  const tm_bs_scale *scale = &bs->scale;
  for (size_t i = 0; i < bs->model->dimension; i++)
    if (scale->place[i] != NOWHERE)
      stan[scale->place[i]] = u[i];
  for (size_t k = 0; k < scale->sphere_count; k++) {
    const tm_bs_sphere *s = &scale->spheres[k];
    for (size_t i = 0; i < s->map->size; i++)
      stan[s->stan + i] = theta[s->theta + i * s->step];
  }
}

void tm_bs_slope_to_stan(const tempera_bs *bs, const double *stan,
                         const double *slope, const double *natural,
                         bool jacobian, double *out) {
  const tm_bs_scale *scale = &bs->scale;
  for (size_t i = 0; i < bs->model->dimension; i++)
    if (scale->place[i] != NOWHERE)
      out[scale->place[i]] = slope[i];
  for (size_t k = 0; k < scale->sphere_count; k++) {
    const tm_bs_sphere *s = &scale->spheres[k];
    const double *y = stan + s->stan;
    double length = length_of(y, s->map->size), along = 0;
    for (size_t i = 0; i < s->map->size; i++)
      along += natural[s->theta + i * s->step] * y[i] / length;
    for (size_t i = 0; i < s->map->size; i++)
      out[s->stan + i] =
          (natural[s->theta + i * s->step] - along * y[i] / length) / length -
          (jacobian ? y[i] : 0);
  }
}
