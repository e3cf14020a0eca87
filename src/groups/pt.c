/* pt.c - see pt.h. */
#include "groups/pt.h"

#include <math.h>
#include <string.h>

static void begin_sweep(tm_group *group);
static void sweep_part(tm_group *group, size_t part);
static void end_sweep(tm_group *group);
static void archive(tm_group *group, tm_archive *archive);
static const tm_group_type PT = {.begin_sweep = begin_sweep,
                                 .sweep_part = sweep_part,
                                 .end_sweep = end_sweep,
                                 .archive = archive};

tempera_status tm_pt_create(const tempera_model *model,
                            const tm_pt_settings *settings, uint64_t seed,
                            uint32_t chain, const double *start, tm_pt **pt,
                            tempera_error *error) {
  tm_group *group = NULL;
  TM_TRY(tm_group_create(&PT, sizeof(tm_pt), model, settings->kernel, chain,
                         &group, error));
  tm_pt *made = (tm_pt *)group;
  made->settings = *settings;
  made->seed = seed;
  made->chain = chain;
  made->exchange_stream = tm_random(seed, chain, TM_PURPOSE_EXCHANGE);
  tempera_status status = tm_group_set_width(group, TEMPERA_TARGET, 1, error);
  /* The first change of levels takes every point from this one. */
  made->points = TM_NEW(group->arena, tm_point, 1);
  if (status == TEMPERA_OK && !made->points)
    status = tm_fail_memory(error);
  if (status == TEMPERA_OK)
    status = tm_group_point(group, start, made->points, error);
  if (status != TEMPERA_OK)
    tm_group_free(group);
  else
    *pt = made;
  return status;
}

/* ------------------------------------------------------------------------
 * Levels
 */

static tempera_status make_points(tm_pt *pt, size_t have, size_t count,
                                  tm_point **points, tempera_error *error) {
  tm_group *group = &pt->group;
  tm_point *made = TM_NEW(group->arena, tm_point, count);
  if (!made)
    return tm_fail_memory(error);
  for (size_t t = 0; t < count; t++)
    if (t < have)
      made[t] = (*points)[t];
    else
      TM_TRY(tm_point_create(group->model, group->arena, &made[t], error));
  *points = made;
  return TEMPERA_OK;
}

static tempera_status make_room(tm_pt *pt, size_t count, tempera_error *error) {
  tm_arena *arena = pt->group.arena;
  if (count <= pt->room)
    return TEMPERA_OK;
  double *tau = TM_NEW(arena, double, count);
  double *walker = TM_NEW(arena, double, count);
  double *accept = TM_NEW(arena, double, count);
  tempera_random *streams = TM_NEW(arena, tempera_random, count);
  if (!tau || !walker || !accept || !streams)
    return tm_fail_memory(error);
  TM_TRY(make_points(pt, pt->room ? pt->room : 1, count, &pt->points, error));
  TM_TRY(make_points(pt, pt->room, count, &pt->others, error));
  if (pt->count)
    memcpy(tau, pt->tau, pt->count * sizeof(double));
  pt->tau = tau;
  pt->walker = walker;
  pt->accept = accept;
  pt->streams = streams;
  pt->room = count;
  return TEMPERA_OK;
}

static size_t nearest(const double *place, size_t count, double wanted) {
  size_t best = 0;
  for (size_t t = 1; t < count; t++)
    if (fabs(place[t] - wanted) <= fabs(place[best] - wanted))
      best = t;
  return best;
}

/* A kernel holds about so many numbers for every pair of coordinates: of those
 * that there is room for in a chain, each has an equal share of the levels. */
enum { KERNEL_MATRICES = 49, KERNEL_NUMBERS = 1 << 22 };

static size_t parts_for(const tm_pt *pt, size_t count) {
  size_t d = pt->group.model->dimension;
  size_t parts = KERNEL_NUMBERS / (KERNEL_MATRICES * d * d);
  return parts < 1 ? 1 : parts < count ? parts : count;
}

/* The first level of a part; of the one behind the last, all. */
static size_t first_level(size_t part, size_t parts, size_t count) {
  return part * count / parts;
}

static size_t part_of_level(size_t level, size_t parts, size_t count) {
  size_t part = 0;
  while (part + 1 < parts && first_level(part + 1, parts, count) <= level)
    part++;
  return part;
}

/* `from`: the level that each new one goes on from. */
static tempera_status divide(tm_pt *pt, size_t count, const size_t *from,
                             tempera_error *error) {
  size_t parts = parts_for(pt, count), old = pt->group.part_count;
  if (!pt->count)
    return tm_group_divide(&pt->group, parts, NULL, error);
  size_t *like = tm_heap_alloc(parts, sizeof *like);
  if (!like)
    return tm_fail_memory(error);
  for (size_t k = 1; k < parts; k++)
    like[k] = part_of_level(from[first_level(k, parts, count)], old, pt->count);
  tempera_status status = tm_group_divide(&pt->group, parts, like, error);
  tm_heap_free(like);
  return status;
}

/* Streams are named by the sweep, too, at which their level began. */
static void begin_levels(tm_pt *pt, size_t count, const size_t *from) {
  for (size_t t = 0; t < count; t++) {
    tm_point_copy(pt->group.model, &pt->points[from[t]], &pt->others[t]);
    pt->walker[t] = (double)t;
    pt->streams[t] =
        tm_random_part(pt->seed, pt->chain, (tm_purpose)(TM_PURPOSE_LEVEL + t),
                       (uint32_t)pt->group.done);
  }
  tm_point *held = pt->points;
  pt->points = pt->others;
  pt->others = held;
}

static tempera_status change_levels(tm_pt *pt, const double *tau, size_t count,
                                    const double *place, const double *wanted,
                                    tempera_error *error) {
  size_t *from = tm_heap_alloc(count, sizeof *from);
  if (!from)
    return tm_fail_memory(error);
  for (size_t t = 0; t < count; t++) {
    from[t] = pt->count ? nearest(place, pt->count, wanted[t]) : 0;
    /* Zero likelihood belongs to tau = 0 only. */
    while (tau[t] > 0 && pt->points[from[t]].log_likelihood == -INFINITY)
      from[t]++;
  }
  tempera_status status = divide(pt, count, from, error);
  if (status == TEMPERA_OK)
    begin_levels(pt, count, from);
  tm_heap_free(from);
  return status == TEMPERA_OK
             ? tm_group_set_width(&pt->group, TEMPERA_TEMPERED, count, error)
             : status;
}

tempera_status tm_pt_set_levels(tm_pt *pt, const double *tau, size_t count,
                                const double *place, const double *wanted,
                                tempera_error *error) {
  TM_TRY(make_room(pt, count, error));
  if (count != pt->count)
    TM_TRY(change_levels(pt, tau, count, place, wanted, error));
  memcpy(pt->tau, tau, count * sizeof(double));
  memset(pt->accept, 0, count * sizeof(double));
  pt->count = count;
  pt->sweeps = 0;
  return TEMPERA_OK;
}

/* ------------------------------------------------------------------------
 * Sweeps
 */

static double log_ratio(const tm_pt *pt, size_t a, size_t b) {
  return tm_exchange_log_ratio(pt->tau[a], pt->points[a].log_likelihood,
                               pt->tau[b], pt->points[b].log_likelihood);
}

static void exchange(tm_pt *pt, size_t a, size_t b) {
  double uniform = tm_random_uniform(&pt->exchange_stream);
  bool accepted = log(uniform) < log_ratio(pt, a, b);
  pt->group.rows[TEMPERA_TEMPERED][a].extra[TM_EXCHANGE] = accepted ? 2 : 1;
  if (!accepted)
    return;
  tm_point_swap(&pt->points[a], &pt->points[b]);
  double held = pt->walker[a];
  pt->walker[a] = pt->walker[b];
  pt->walker[b] = held;
}

static void exchange_random_pair(tm_pt *pt) {
  size_t a = tempera_random_below(&pt->exchange_stream, pt->count);
  size_t b = tempera_random_below(&pt->exchange_stream, pt->count - 1);
  b += b >= a;
  exchange(pt, a < b ? a : b, a < b ? b : a);
}

static void exchange_neighbours(tm_pt *pt) {
  bool odd = pt->settings.swaps == TEMPERA_SWAPS_EVEN_ODD
                 ? pt->odd
                 : tm_random_uniform(&pt->exchange_stream) < 0.5;
  for (size_t t = odd; t + 1 < pt->count; t += 2)
    exchange(pt, t, t + 1);
  pt->odd = !pt->odd;
}

/* Neighbours are independent, each at its own tau: so this is the rejection
 * rate between them, whichever exchanges are tried. */
static void count_acceptance(tm_pt *pt) {
  for (size_t t = 0; t + 1 < pt->count; t++)
    pt->accept[t] += exp(fmin(0, log_ratio(pt, t, t + 1)));
  pt->sweeps++;
}

static void fill_rows(tm_pt *pt) {
  tm_row *row = pt->group.rows[TEMPERA_TEMPERED];
  tm_row *target = pt->group.rows[TEMPERA_TARGET];
  size_t last = pt->count - 1;
  for (size_t t = 0; t < pt->count; t++) {
    tm_row_fill(&row[t], &pt->points[t], pt->tau[t]);
    row[t].extra[TM_WALKER] = pt->walker[t];
  }
  tm_row_fill(target, &pt->points[last], 1);
  target->extra[TM_ACCEPT] = row[last].extra[TM_ACCEPT];
}

static bool is_printed(const tm_pt *pt) {
  return pt->settings.swaps == TEMPERA_SWAPS_RANDOM_PAIR;
}

static void begin_sweep(tm_group *group) {
  tm_pt *pt = (tm_pt *)group;
  pt->exchanging =
      pt->settings.exchange >= 1 ||
      tm_random_uniform(&pt->exchange_stream) < pt->settings.exchange;
}

static void sweep_part(tm_group *group, size_t part) {
  tm_pt *pt = (tm_pt *)group;
  tm_row *row = group->rows[TEMPERA_TEMPERED];
  size_t parts = group->part_count;
  if (is_printed(pt) && pt->exchanging)
    return;
  for (size_t t = first_level(part, parts, pt->count);
       t < first_level(part + 1, parts, pt->count); t++)
    tm_group_mutate(tm_group_part(group, part), &pt->streams[t], &pt->points[t],
                    pt->tau[t], &row[t]);
}

static void end_sweep(tm_group *group) {
  tm_pt *pt = (tm_pt *)group;
  if (pt->exchanging && is_printed(pt))
    exchange_random_pair(pt);
  else if (pt->exchanging)
    exchange_neighbours(pt);
  count_acceptance(pt);
  fill_rows(pt);
}

static void archive(tm_group *group, tm_archive *archive) {
  tm_pt *pt = (tm_pt *)group;
  size_t count = pt->count;
  tm_archive_size(archive, &count);
  if (count != pt->count) {
    tm_archive_fail(archive, "there are other levels than those handed out");
    return;
  }
  tm_archive_doubles(archive, pt->tau, count);
  for (size_t t = 0; t < count; t++)
    tm_point_archive(group->model, &pt->points[t], archive);
  tm_archive_doubles(archive, pt->walker, count);
  tm_archive_bool(archive, &pt->odd);
  for (size_t t = 0; t < count; t++)
    tm_archive_random(archive, &pt->streams[t]);
  tm_archive_random(archive, &pt->exchange_stream);
  tm_archive_doubles(archive, pt->accept, count);
  tm_archive_double(archive, &pt->sweeps);
}
