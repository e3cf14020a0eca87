/* pt.c - see pt.h. */
#include "groups/pt.h"

#include <math.h>
#include <string.h>

static void sweep(tm_group *group);
static void archive(tm_group *group, tm_archive *archive);
static const tm_group_type PT = {.sweep = sweep, .archive = archive};

tempera_status tm_pt_create(const tempera_model *model,
                            const tm_pt_settings *settings, uint64_t seed,
                            uint32_t chain, const double *start, tm_pt **pt,
                            tempera_error *error) {
  tm_group *group = NULL;
  TM_TRY(tm_group_create(&PT, sizeof(tm_pt), model, settings->kernel, chain,
                         &group, error));
  tm_pt *made = (tm_pt *)group;
  made->settings = *settings;
  made->stream = tm_random(seed, chain, TM_PURPOSE_TEMPERED);
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
  if (!tau || !walker || !accept)
    return tm_fail_memory(error);
  TM_TRY(make_points(pt, pt->room ? pt->room : 1, count, &pt->points, error));
  TM_TRY(make_points(pt, pt->room, count, &pt->others, error));
  if (pt->count)
    memcpy(tau, pt->tau, pt->count * sizeof(double));
  pt->tau = tau;
  pt->walker = walker;
  pt->accept = accept;
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

tempera_status tm_pt_set_levels(tm_pt *pt, const double *tau, size_t count,
                                const double *place, const double *wanted,
                                tempera_error *error) {
  TM_TRY(make_room(pt, count, error));
  if (count != pt->count) {
    for (size_t t = 0; t < count; t++) {
      size_t from = pt->count ? nearest(place, pt->count, wanted[t]) : 0;
      /* Zero likelihood belongs to tau = 0 only. */
      while (tau[t] > 0 && pt->points[from].log_likelihood == -INFINITY)
        from++;
      tm_point_copy(pt->group.model, &pt->points[from], &pt->others[t]);
    }
    tm_point *held = pt->points;
    pt->points = pt->others;
    pt->others = held;
    for (size_t t = 0; t < count; t++)
      pt->walker[t] = (double)t;
    TM_TRY(tm_group_set_width(&pt->group, TEMPERA_TEMPERED, count, error));
  }
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

static void mutate(tm_pt *pt) {
  tm_row *row = pt->group.rows[TEMPERA_TEMPERED];
  for (size_t t = 0; t < pt->count; t++)
    tm_group_mutate(&pt->group, &pt->stream, &pt->points[t], pt->tau[t],
                    &row[t]);
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

static void sweep(tm_group *group) {
  tm_pt *pt = (tm_pt *)group;
  bool printed = pt->settings.swaps == TEMPERA_SWAPS_RANDOM_PAIR;
  bool exchanging =
      pt->settings.exchange >= 1 ||
      tm_random_uniform(&pt->exchange_stream) < pt->settings.exchange;
  if (!(printed && exchanging))
    mutate(pt);
  if (exchanging && printed)
    exchange_random_pair(pt);
  else if (exchanging)
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
  tm_archive_random(archive, &pt->stream);
  tm_archive_random(archive, &pt->exchange_stream);
  tm_archive_doubles(archive, pt->accept, count);
  tm_archive_double(archive, &pt->sweeps);
}
