/* trajectory.c - see trajectory.h.
 *
 * A stretch turns when its momenta no longer point along their sum, at either
 * end; so must the halves together with the neighbour across the joint, or a
 * stretch of a whole period would go unnoticed. Stretches that turn inside, or
 * diverge, are thrown away whole: from any of their points the same would have
 * happened. Within a new stretch points are drawn by weight; the stretch takes
 * over from what was there with its weight over the old one's, at most 1. */
#include "kernels/trajectory.h"

#include "numeric/sums.h"
#include "numeric/triangular.h"

#include <math.h>
#include <string.h>

static const double DIVERGENT = 1000;

static tempera_status create_branch(const tm_shared *shared, tm_arena *arena,
                                    tm_branch *b, tempera_error *error) {
  size_t d = shared->real_count;
  double *room = TM_NEW(arena, double, 3 * d + shared->model->dimension);
  if (!room)
    return tm_fail_memory(error);
  b->momenta = room;
  b->first = room + d;
  b->last = room + 2 * d;
  b->gradient = room + 3 * d;
  return tm_point_create(shared->model, arena, &b->point, error);
}

tempera_status tm_trajectory_create(const tm_shared *shared, tm_arena *arena,
                                    tm_trajectory *t, tempera_error *error) {
  size_t d = shared->real_count;
  TM_TRY(tm_leapfrog_create(shared, arena, &t->leapfrog, error));
  TM_TRY(create_branch(shared, arena, &t->whole, error));
  for (size_t k = 0; k < TM_DOUBLINGS; k++)
    for (size_t side = 0; side < 2; side++)
      TM_TRY(create_branch(shared, arena, &t->halves[k][side], error));
  double *room = TM_NEW(arena, double, 7 * d);
  if (!room)
    return tm_fail_memory(error);
  t->sum = room;
  for (size_t e = 0; e < 2; e++)
    t->ends[e] = (tm_end){room + (1 + 3 * e) * d, room + (2 + 3 * e) * d,
                          room + (3 + 3 * e) * d};
  return TEMPERA_OK;
}

static size_t dimension(const tm_trajectory *t) {
  return t->leapfrog.shared->real_count;
}

static void copy(const tm_trajectory *t, const double *from, double *to) {
  memcpy(to, from, dimension(t) * sizeof(double));
}

static void save(const tm_trajectory *t, const tm_end *end) {
  copy(t, t->leapfrog.v, end->v);
  copy(t, t->leapfrog.p, end->p);
  copy(t, t->leapfrog.slope, end->slope);
}

static void restore(const tm_trajectory *t, const tm_end *end) {
  copy(t, end->v, t->leapfrog.v);
  copy(t, end->p, t->leapfrog.p);
  copy(t, end->slope, t->leapfrog.slope);
}

static bool straight(const tm_trajectory *t, const double *a, const double *b,
                     const double *sum) {
  return tm_dot(a, sum, dimension(t)) > 0 && tm_dot(b, sum, dimension(t)) > 0;
}

/* The same, the sum given as two parts. */
static bool straight_over(tm_trajectory *t, const double *a, const double *b,
                          const double *part, const double *other) {
  for (size_t i = 0; i < dimension(t); i++)
    t->sum[i] = part[i] + other[i];
  return straight(t, a, b, t->sum);
}

/* Two stretches one after the other. */
static bool goes_on(tm_trajectory *t, const tm_branch *a, const tm_branch *b) {
  return straight_over(t, a->first, b->last, a->momenta, b->momenta) &&
         straight_over(t, a->first, b->first, a->momenta, b->first) &&
         straight_over(t, a->last, b->last, a->last, b->momenta);
}

static void take(const tm_trajectory *t, tm_branch *to, tm_branch *from) {
  (void)t;
  tm_point point = to->point;
  double *gradient = to->gradient;
  to->point = from->point;
  to->gradient = from->gradient;
  from->point = point;
  from->gradient = gradient;
}

/* One leapfrog step is a stretch. */
static bool step_once(tm_trajectory *t, double epsilon, tm_branch *out) {
  tm_leapfrog *leapfrog = &t->leapfrog;
  const tempera_model *model = leapfrog->shared->model;
  tm_leapfrog_step(leapfrog, epsilon);
  double rise = tm_leapfrog_energy(leapfrog) - t->start_energy;
  rise = isnan(rise) ? INFINITY : rise;
  t->steps++;
  t->acceptance += rise <= 0 ? 1 : exp(-rise);
  t->diverged = t->diverged || rise > DIVERGENT;
  out->log_weight = -rise;
  if (rise > DIVERGENT)
    return false;
  copy(t, leapfrog->p, out->momenta);
  copy(t, leapfrog->p, out->first);
  copy(t, leapfrog->p, out->last);
  tm_point_copy(model, leapfrog->point, &out->point);
  memcpy(out->gradient, leapfrog->gradient, model->dimension * sizeof(double));
  return true;
}

/* 2^doublings steps; false when they turn or diverge on the way. */
static bool walk(tm_trajectory *t, tempera_random *random, double epsilon,
                 unsigned doublings, tm_branch *out) {
  if (doublings == 0)
    return step_once(t, epsilon, out);
  tm_branch *a = &t->halves[doublings - 1][0];
  tm_branch *b = &t->halves[doublings - 1][1];
  if (!walk(t, random, epsilon, doublings - 1, a) ||
      !walk(t, random, epsilon, doublings - 1, b) || !goes_on(t, a, b))
    return false;
  out->log_weight = tm_log_add(a->log_weight, b->log_weight);
  for (size_t i = 0; i < dimension(t); i++)
    out->momenta[i] = a->momenta[i] + b->momenta[i];
  copy(t, a->first, out->first);
  copy(t, b->last, out->last);
  bool later = log(tm_random_uniform(random)) < b->log_weight - out->log_weight;
  take(t, out, later ? b : a);
  return true;
}

/* The whole as it is seen from one of its ends: `first` is the far one. */
static void face(tm_branch *whole, size_t side, size_t *facing) {
  if (side == *facing)
    return;
  double *held = whole->first;
  whole->first = whole->last;
  whole->last = held;
  *facing = side;
}

static void begin(tm_trajectory *t, tempera_random *random) {
  tm_leapfrog *leapfrog = &t->leapfrog;
  tm_random_normals(random, dimension(t), leapfrog->p);
  t->start_energy = tm_leapfrog_energy(leapfrog);
  t->steps = 0;
  t->acceptance = 0;
  t->diverged = false;
  t->whole.log_weight = 0;
  copy(t, leapfrog->p, t->whole.momenta);
  copy(t, leapfrog->p, t->whole.first);
  copy(t, leapfrog->p, t->whole.last);
  save(t, &t->ends[0]);
  save(t, &t->ends[1]);
}

bool tm_trajectory_run(tm_trajectory *t, tempera_random *random, double epsilon,
                       unsigned most_doublings) {
  bool moved = false, on = true;
  size_t facing = 1;
  begin(t, random);
  for (unsigned k = 0; k < most_doublings && on; k++) {
    size_t side = tm_random_uniform(random) < 0.5;
    tm_branch *added = &t->halves[TM_DOUBLINGS - 1][1];
    restore(t, &t->ends[side]);
    if (!walk(t, random, side ? epsilon : -epsilon, k, added))
      break;
    save(t, &t->ends[side]);
    face(&t->whole, side, &facing);
    on = goes_on(t, &t->whole, added);
    if (log(tm_random_uniform(random)) <
        added->log_weight - t->whole.log_weight) {
      take(t, &t->whole, added);
      moved = true;
    }
    t->whole.log_weight = tm_log_add(t->whole.log_weight, added->log_weight);
    for (size_t i = 0; i < dimension(t); i++)
      t->whole.momenta[i] += added->momenta[i];
    copy(t, added->last, t->whole.last);
  }
  return moved;
}
