/* hierarchy_find.c - families are looked for in the slopes of the log prior
 * over u at one point. Coordinates whose slopes change with a positive value,
 * or with one that may be the logarithm of a scale, belong to its family, as
 * members or as what these lie about: of the latter are those outside of the
 * block that has most, with which its slopes change. How much of each is in m
 * tell the second derivatives, -d2/dx dc over d2/dx2. Guesses, all of it; what
 * decides is `holds`. */
#include "model/hierarchy.h"

#include <math.h>
#include <string.h>

enum {
  MOST_CENTRES = 32,
  MOST_TRIED = 500,   /* coordinates, whether they are centres */
  LEAST = 2,          /* members */
  MOST_LOGARITHMS = 8 /* of scales in one block: others are too many to ask */
};
static const double FAR = 0.3;   /* a step that shows what depends on what */
static const double NEAR = 1e-3; /* one for second derivatives */
static const double NOISE = 1e-9, WHOLE = 1e-5, ALIKE = 1e-7;
static const double POWERS[] = {1, 0.5, -0.5, -1, 2, -2};

typedef struct search {
  const tempera_model *model;
  tm_evaluator evaluator;
  tm_point point, other;
  tempera_random random;
  tm_arena *kept, *arena; /* the families'; and what goes with the search */
  double *u, *theta;      /* where it is made, and the slopes there */
  double *slope;
  double *home, *up, *down, *curvature, *cross;
  size_t scale;
  bool *met;    /* coordinates whose slopes change with the scale */
  size_t block; /* that has most of them */
  bool *member; /* of the guess, as ... */
  size_t centre[MOST_CENTRES], centres; /* ... its centres, coordinates of u; */
  size_t found;                         /* by their slopes so many */
  double size;                          /* of the numbers last compared */
} search;

static bool slope_at(search *s, const double *u, double *slope) {
  memcpy(s->point.u, u, s->model->dimension * sizeof(double));
  return tm_evaluate_prior_slope(&s->evaluator, &s->point, slope);
}

static bool differ(double a, double b) {
  return fabs(a - b) > NOISE * (fabs(a) + fabs(b) + 1e-3);
}

/* The place of u[j] in theta; `size` where it has none of its own. */
static size_t theta_of(const tempera_model *model, size_t j) {
  const tm_block *block = &model->blocks[model->block_of_u[j]];
  return block->form <= TM_FORM_BETWEEN ? block->theta + (j - block->u)
                                        : model->size;
}

/* ---- who depends on whom ------------------------------------------------ */

/* Sets `met` and `block`; how many were met. */
static size_t meet(search *s) {
  size_t count = 0, in_block = 0, most = 0;
  s->u[s->scale] += FAR;
  bool fine = slope_at(s, s->u, s->up);
  s->u[s->scale] -= FAR;
  for (size_t j = 0, b = 0; fine && j < s->model->dimension; j++) {
    in_block = s->model->block_of_u[j] == b ? in_block : 0;
    b = s->model->block_of_u[j];
    s->met[j] =
        j != s->scale && !s->model->integer[j] && differ(s->up[j], s->slope[j]);
    count += s->met[j];
    in_block += s->met[j];
    if (in_block > most) {
      most = in_block;
      s->block = b;
    }
  }
  return count;
}

/* The change of all slopes with coordinates j for which `moved` holds (NULL:
 * with u[j]), over that of the value of theta. */
static bool second(search *s, const bool *moved, size_t j, double *out) {
  size_t n = s->model->dimension, at = theta_of(s->model, j);
  double value[2] = {0, 2 * NEAR};
  for (int side = 0; side < 2; side++) {
    double step = side ? NEAR : -NEAR;
    memcpy(s->other.u, s->u, n * sizeof(double));
    for (size_t i = 0; moved && i < n; i++)
      s->other.u[i] += moved[i] ? step : 0;
    s->other.u[j] += moved ? 0 : step;
    if (!slope_at(s, s->other.u, side ? s->up : s->down))
      return false;
    value[side] = moved ? step : s->point.theta[at];
  }
  for (size_t i = 0; i < n; i++)
    out[i] = (s->up[i] - s->down[i]) / (value[1] - value[0]);
  return true;
}

static bool is_centre(search *s, size_t j) {
  if (theta_of(s->model, j) == s->model->size || !second(s, NULL, j, s->cross))
    return false;
  for (size_t i = 0; i < s->model->dimension; i++)
    if (s->met[i] && s->model->block_of_u[i] == s->block &&
        differ(s->up[i], s->down[i]))
      return true;
  return false;
}

static void find_centres(search *s) {
  size_t n = s->model->dimension, tried = 0;
  s->found = 0;
  for (size_t j = 0; j < n && s->found < MOST_CENTRES && tried < MOST_TRIED;
       j++) {
    bool asked = s->met[j] && s->model->block_of_u[j] != s->block;
    tried += asked;
    if (asked && is_centre(s, j))
      s->centre[s->found++] = j;
  }
}

/* ---- guesses ------------------------------------------------------------ */

/* In the order in which they are made. */
enum {
  ALL_MET,     /* members: all but the centres, or ... */
  ALL_SHIFTED, /* ... about m with a constant, as a normal's slopes have it */
  BLOCK_ALONE, /* those of the block only */
  BLOCK_SHIFTED,
  NO_CENTRES, /* all are members */
  A_WALK,     /* all lie about the first of the block */
  GUESSES
};

static size_t first_of_block(const search *s) {
  size_t j = s->model->blocks[s->block].u;
  while (!s->met[j])
    j++;
  return j;
}

static void choose_centres(search *s, int guess) {
  if (guess == NO_CENTRES)
    s->centres = 0;
  else if (guess == A_WALK) {
    s->centres = 1;
    s->centre[0] = first_of_block(s);
  } else
    s->centres = s->found;
}

/* Sets `member` for those of this guess; how many there are. */
static size_t choose_members(search *s, int guess) {
  bool alone = guess == BLOCK_ALONE || guess == BLOCK_SHIFTED;
  size_t count = 0;
  for (size_t j = 0; j < s->model->dimension; j++)
    s->member[j] = s->met[j] && (!alone || s->model->block_of_u[j] == s->block);
  for (size_t k = 0; k < s->centres; k++)
    s->member[s->centre[k]] = false;
  for (size_t j = 0; j < s->model->dimension; j++)
    count += s->member[j];
  return count;
}

static bool make_room(search *s, size_t members, tm_family *f) {
  const tm_block *block = &s->model->blocks[s->model->block_of_u[s->scale]];
  *f = (tm_family){.scale = s->scale,
                   .bounds = tm_block_between(block->lower, block->upper),
                   .count = members,
                   .centres = s->centres};
  f->member = TM_NEW(s->kept, size_t, members);
  f->centre = TM_NEW(s->kept, size_t, s->centres + 1);
  f->shift = TM_NEW(s->kept, double, members);
  f->weight = TM_NEW(s->kept, double, members * s->centres + 1);
  f->mover = TM_NEW(s->kept, size_t, s->centres + 1);
  return f->member && f->centre && f->shift && f->weight && f->mover;
}

static double rounded(double weight) {
  return fabs(weight - nearbyint(weight)) < WHOLE ? nearbyint(weight) : weight;
}

/* False where a slope cannot be had. */
static bool weigh(search *s, int guess, tm_family *f) {
  for (size_t k = 0; k < f->centres; k++) {
    size_t j = s->centre[k];
    const tm_block *block = &s->model->blocks[s->model->block_of_u[j]];
    f->centre[k] = theta_of(s->model, j);
    f->mover[k] = block->form == TM_FORM_FREE ? j : s->model->dimension;
    if (guess != A_WALK && !second(s, NULL, j, s->cross))
      return false;
    for (size_t i = 0; i < f->count; i++)
      f->weight[i * f->centres + k] =
          guess == A_WALK
              ? 1
              : rounded(-s->cross[f->member[i]] / s->curvature[f->member[i]]);
  }
  return true;
}

/* Of normals: x less the deviation that slope and curvature show. */
static void shift(search *s, tm_family *f) {
  for (size_t i = 0; i < f->count; i++) {
    size_t j = f->member[i];
    double m = s->u[j] - s->slope[j] / s->curvature[j];
    for (size_t k = 0; k < f->centres; k++)
      m -= f->weight[i * f->centres + k] * s->theta[f->centre[k]];
    f->shift[i] = rounded(m);
  }
}

static bool guess_family(search *s, int guess, tm_family *f) {
  bool shifted = guess == ALL_SHIFTED || guess == BLOCK_SHIFTED;
  choose_centres(s, guess);
  size_t count = choose_members(s, guess);
  if (count < LEAST || !make_room(s, count, f))
    return false;
  for (size_t j = 0, i = 0; j < s->model->dimension; j++)
    if (s->member[j])
      f->member[i++] = j;
  if ((shifted || (f->centres && guess != A_WALK)) &&
      !second(s, s->member, 0, s->curvature))
    return false;
  if (!weigh(s, guess, f))
    return false;
  if (shifted)
    shift(s, f);
  return true;
}

/* ---- what decides ------------------------------------------------------- */

/* By how much the log prior of deviations changes along the orbit of s->u. */
static bool change(search *s, const tm_family *f, double *out) {
  memcpy(s->point.u, s->u, s->model->dimension * sizeof(double));
  tm_evaluate_prior(&s->evaluator, &s->point);
  double before = tm_log_density(&s->point, 0);
  double gain = tm_family_rescale(f, s->model, &s->point, FAR, s->other.u);
  tm_evaluate_prior(&s->evaluator, &s->other);
  double after = tm_log_density(&s->other, 0);
  *out = after - before + gain;
  s->size = fabs(after) + fabs(before) + 1;
  return isfinite(*out);
}

static void perturb(search *s, const tm_family *f) {
  for (size_t j = 0; j < s->model->dimension; j++)
    if (s->member[j])
      s->u[j] += FAR * tm_random_normal(&s->random);
  for (size_t k = 0; k < f->centres; k++)
    s->u[s->centre[k]] += FAR * tm_random_normal(&s->random);
}

/* Does it depend on the scale alone? */
static bool holds(search *s, const tm_family *f) {
  double here, there;
  bool same = change(s, f, &here);
  memcpy(s->home, s->u, s->model->dimension * sizeof(double));
  for (int i = 0; i < 2 && same; i++) {
    perturb(s, f);
    same = change(s, f, &there) && fabs(there - here) < ALIKE * s->size;
  }
  memcpy(s->u, s->home, s->model->dimension * sizeof(double));
  return same;
}

static bool find_family(search *s, tm_family *f) {
  if (meet(s) < LEAST)
    return false;
  find_centres(s);
  for (int guess = 0; guess < GUESSES; guess++) {
    if (!guess_family(s, guess, f))
      continue;
    for (size_t p = 0; p < sizeof POWERS / sizeof *POWERS; p++) {
      f->power = POWERS[p];
      if (holds(s, f))
        return true;
    }
  }
  return false;
}

/* ---- the search --------------------------------------------------------- */

static bool may_scale(const tempera_model *model, size_t j) {
  const tm_block *block = &model->blocks[model->block_of_u[j]];
  if (model->integer[j])
    return false;
  if (block->form == TM_FORM_FREE)
    return block->u_count <= MOST_LOGARITHMS;
  return block->lower >= 0 &&
         (block->form == TM_FORM_ABOVE || block->form == TM_FORM_BETWEEN);
}

/* A place where nothing is zero or alike by chance: about the middle of the
 * unconstrained scale, since starts may lie where numbers do not tell slopes
 * from zero; or, where there is no prior, like the one given. */
static bool settle(search *s, const double *theta) {
  enum { TRIES = 8 };
  tm_unconstrain(s->model, theta, s->home);
  for (int i = 0; i < TRIES; i++) {
    for (size_t j = 0; j < s->model->dimension; j++)
      s->u[j] = s->model->integer[j] ? s->home[j]
                                     : (i < TRIES / 2 ? 0 : s->home[j]) +
                                           FAR * tm_random_normal(&s->random);
    if (slope_at(s, s->u, s->slope)) {
      memcpy(s->theta, s->point.theta, s->model->size * sizeof(double));
      return true;
    }
  }
  return false;
}

static tempera_status begin(search *s, tempera_error *error) {
  size_t n = s->model->dimension;
  TM_TRY(tm_evaluator_create(s->model, s->arena, &s->evaluator, error));
  TM_TRY(tm_point_create(s->model, s->arena, &s->point, error));
  TM_TRY(tm_point_create(s->model, s->arena, &s->other, error));
  double **rooms[] = {&s->u,    &s->home,      &s->slope, &s->up,
                      &s->down, &s->curvature, &s->cross};
  for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++)
    if (!(*rooms[i] = TM_NEW(s->arena, double, n + 1)))
      return tm_fail_memory(error);
  s->theta = TM_NEW(s->arena, double, s->model->size + 1);
  s->met = TM_NEW(s->arena, bool, n + 1);
  s->member = TM_NEW(s->arena, bool, n + 1);
  return s->theta && s->met && s->member ? TEMPERA_OK : tm_fail_memory(error);
}

static tempera_status look(search *s, const double *theta, tm_hierarchy *found,
                           tempera_error *error) {
  size_t most = 0;
  for (size_t j = 0; j < s->model->dimension; j++)
    most += may_scale(s->model, j);
  if (most == 0 || !tm_has_gradients(s->model))
    return TEMPERA_OK;
  TM_TRY(begin(s, error));
  found->families = TM_NEW(s->kept, tm_family, most);
  if (!found->families)
    return tm_fail_memory(error);
  if (!settle(s, theta))
    return TEMPERA_OK;
  for (size_t j = 0; j < s->model->dimension; j++) {
    s->scale = j;
    if (may_scale(s->model, j) &&
        find_family(s, &found->families[found->count]))
      found->count++;
  }
  return TEMPERA_OK;
}

tempera_status tm_hierarchy_find(const tempera_model *model,
                                 const double *theta, tm_arena *arena,
                                 tm_hierarchy *hierarchy,
                                 tempera_error *error) {
  *hierarchy = (tm_hierarchy){0};
  search s = {.model = model,
              .kept = arena,
              .arena = tm_arena_create(),
              .random = tm_random(0, 0, TM_PURPOSE_START)};
  if (!s.arena)
    return tm_fail_memory(error);
  tempera_status status = look(&s, theta, hierarchy, error);
  tm_evaluator_release(&s.evaluator);
  tm_arena_free(s.arena);
  return status;
}
