/* st.c - see st.h. */
#include "groups/st.h"

#include <math.h>
#include <string.h>

/* log of w_t e^{tau_t l}; 0 * -infinity is 0 at tau = 0. */
static double log_mass(const tm_st *st, size_t t) {
  double tau = st->tau[t];
  return st->log_weight[t] + (tau > 0 ? tau * st->point.log_likelihood : 0);
}

/* p(t | theta) into `conditional`. */
static void condition(tm_st *st) {
  double most = -INFINITY, total = 0, *p = st->conditional;
  for (size_t t = 0; t < st->settings.levels; t++) {
    p[t] = log_mass(st, t);
    most = fmax(most, p[t]);
  }
  for (size_t t = 0; t < st->settings.levels; t++)
    total += p[t] = exp(p[t] - most);
  for (size_t t = 0; t < st->settings.levels; t++)
    p[t] /= total;
}

static double gibbs(tm_st *st) {
  double left = tm_random_uniform(&st->level_stream);
  size_t t = 0;
  condition(st);
  while (t + 1 < st->settings.levels && left > st->conditional[t])
    left -= st->conditional[t++];
  while (st->conditional[t] == 0) /* rounding left over: no such level */
    t--;
  st->level = t;
  return 1;
}

/* Go to level `to` with Metropolis' probability, which is given back; a level
 * off the ladder has mass zero. */
static double decide(tm_st *st, size_t to) {
  double log_ratio = to < st->settings.levels
                         ? log_mass(st, to) - log_mass(st, st->level)
                         : -INFINITY;
  bool accepted = log(tm_random_uniform(&st->level_stream)) < log_ratio;
  if (accepted)
    st->level = to;
  else
    st->downward = !st->downward;
  return exp(fmin(0, log_ratio));
}

static double move_level(tm_st *st) {
  tempera_random *random = &st->level_stream;
  switch (st->settings.move) {
  case TEMPERA_TAU_UNIFORM:
    return decide(st, tempera_random_below(random, st->settings.levels));
  case TEMPERA_TAU_NEIGHBOUR:
    st->downward = tm_random_uniform(random) < 0.5;
    /* fall through */
  case TEMPERA_TAU_LIFTED: /* 0 - 1 is off the ladder too */
    return decide(st, st->downward ? st->level - 1 : st->level + 1);
  default:
    return gibbs(st);
  }
}

static void learn(tm_st *st) {
  st->log_weight[st->level] -=
      tm_wang_landau_visit(&st->visits, st->level, 1, 1);
  tm_wang_landau_settle(&st->visits);
}

static void sweep(tm_group *group) {
  tm_st *st = (tm_st *)group;
  tm_row *row = group->rows[TEMPERA_TEMPERED];
  tm_group_mutate(group, &st->theta_stream, &st->point, st->tau[st->level],
                  row);
  row->extra[TM_TAU_ACCEPT] = move_level(st);
  tm_row_fill(row, &st->point, st->tau[st->level]);
  if (st->learning)
    learn(st);
}

static void archive(tm_group *group, tm_archive *archive) {
  tm_st *st = (tm_st *)group;
  size_t levels = st->settings.levels;
  tm_point_archive(group->model, &st->point, archive);
  tm_archive_index(archive, &st->level, levels);
  for (size_t t = 0; t < levels; t++)
    tm_archive_unit(archive, &st->tau[t]);
  tm_archive_doubles(archive, st->log_weight, levels);
  tm_archive_bool(archive, &st->downward);
  tm_archive_bool(archive, &st->learning);
  tm_wang_landau_archive(&st->visits, levels, archive);
  tm_archive_random(archive, &st->theta_stream);
  tm_archive_random(archive, &st->level_stream);
}

static const tm_group_type ST = {.sweep = sweep, .archive = archive};

static tempera_status fill(tm_st *st, const double *start,
                           tempera_error *error) {
  size_t levels = st->settings.levels;
  tm_arena *arena = st->group.arena;
  st->tau = TM_NEW(arena, double, levels);
  st->log_weight = TM_NEW(arena, double, levels);
  st->conditional = TM_NEW(arena, double, levels);
  if (!st->tau || !st->log_weight || !st->conditional)
    return tm_fail_memory(error);
  TM_TRY(tm_wang_landau_create(arena, levels, &st->visits, error));
  st->visits.bins = levels;
  TM_TRY(tm_group_set_width(&st->group, TEMPERA_TEMPERED, 1, error));
  return tm_group_point(&st->group, start, &st->point, error);
}

tempera_status tm_st_create(const tempera_model *model,
                            const tm_st_settings *settings, uint64_t seed,
                            uint32_t chain, const double *start, tm_st **st,
                            tempera_error *error) {
  tm_group *group = NULL;
  TM_TRY(tm_group_create(&ST, sizeof(tm_st), model, settings->kernel, chain,
                         &group, error));
  tm_st *made = (tm_st *)group;
  made->settings = *settings;
  made->level = settings->levels / 2; /* tau > 0: starts have L > 0 */
  made->theta_stream = tm_random(seed, chain, TM_PURPOSE_TEMPERED);
  made->level_stream = tm_random(seed, chain, TM_PURPOSE_TAU);
  tempera_status status = fill(made, start, error);
  if (status != TEMPERA_OK)
    tm_group_free(group);
  else
    *st = made;
  return status;
}

void tm_st_set_ladder(tm_st *st, const double *tau, const double *log_weight) {
  memcpy(st->tau, tau, st->settings.levels * sizeof(double));
  memcpy(st->log_weight, log_weight, st->settings.levels * sizeof(double));
}
