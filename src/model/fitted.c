/* fitted.c - see fitted.h. */
#include "model/fitted.h"

#include "numeric/triangular.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
  MOST_COMPONENTS = 16, /* without integers */
  CELL_COMPONENTS = 4,
  SHARED_COMPONENTS = 8,
  CELL_FITS = 32,   /* integer vectors with a mixture of their own */
  CELL_POINTS = 30, /* and the fewest draws one needs */
  MOST_NEIGHBOURS = 20000
};

/* Draws' worth of mass on an unseen neighbour, and the share of all mass that
 * neighbours may take together. */
static const double NEIGHBOUR_DRAWS = 0.5, NEIGHBOUR_SHARE = 0.1;

/* A row's integer vector; `count` rows have it. */
typedef struct entry {
  const double *value;
  size_t integers, row, count;
} entry;

static int compare_values(const double *a, const double *b, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (a[i] != b[i])
      return a[i] < b[i] ? -1 : 1;
  return 0;
}

/* By value, then by row, so that a cell's draws stay in chain order. */
static int compare_entries(const void *a, const void *b) {
  const entry *x = a, *y = b;
  int order = compare_values(x->value, y->value, x->integers);
  return order ? order : (x->row > y->row) - (x->row < y->row);
}

typedef struct builder {
  tm_fitted *p;
  const double *u;
  size_t count;
  entry *rows;  /* sorted by integer vector */
  entry *cells; /* distinct; cells[i].row: first of its rows */
  size_t cell_count, seen;
  double *points; /* count x reals */
  tm_arena *arena, *scratch;
  tempera_random *random;
  tm_fitted_settings settings;
} builder;

static bool make_workspaces(tm_fitted *p, tm_arena *arena) {
  p->x = TM_NEW(arena, double, p->reals);
  p->key = TM_NEW(arena, double, p->integers);
  p->work =
      TM_NEW(arena, double, 2 * p->reals + (2 + p->reals) * MOST_COMPONENTS);
  return p->x && p->key && p->work;
}

tempera_status tm_fitted_copy(const tm_fitted *from, tm_arena *arena,
                              tm_fitted *to, tempera_error *error) {
  *to = *from;
  return make_workspaces(to, arena) ? TEMPERA_OK : tm_fail_memory(error);
}

static void count_coordinates(const tempera_model *model, tm_fitted *p) {
  p->integers = model->dimension - model->real_dimension;
  p->reals = model->real_dimension;
}

static bool index_coordinates(tm_fitted *p, tm_arena *arena) {
  const tempera_model *model = p->model;
  size_t reals = 0, integers = 0;
  count_coordinates(model, p);
  p->real = TM_NEW(arena, size_t, model->dimension);
  p->integer = TM_NEW(arena, size_t, model->dimension);
  if (!p->real || !p->integer)
    return false;
  for (size_t j = 0; j < model->dimension; j++)
    if (model->integer[j])
      p->integer[integers++] = j;
    else
      p->real[reals++] = j;
  p->slope = TM_NEW(arena, double, p->reals * p->integers);
  p->centre = TM_NEW(arena, double, p->integers);
  return p->slope && p->centre && make_workspaces(p, arena);
}

static bool sort_rows(builder *b) {
  tm_fitted *p = b->p;
  size_t width = p->integers;
  double *values = TM_NEW(b->scratch, double, b->count *width);
  b->rows = TM_NEW(b->scratch, entry, b->count);
  if (!values || !b->rows)
    return false;
  for (size_t r = 0; r < b->count; r++) {
    for (size_t i = 0; i < width; i++)
      values[r * width + i] = b->u[r * p->model->dimension + p->integer[i]];
    b->rows[r] = (entry){values + r * width, width, r, 1};
  }
  qsort(b->rows, b->count, sizeof *b->rows, compare_entries);
  return true;
}

static bool is_seen(const builder *b, const double *value) {
  size_t low = 0, high = b->seen;
  while (low < high) {
    size_t middle = (low + high) / 2;
    int order = compare_values(b->cells[middle].value, value, b->p->integers);
    if (order == 0)
      return true;
    if (order < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return false;
}

/* Integer vectors one step from a seen one, unseen and within bounds. */
static void add_neighbours(builder *b, double *values) {
  const tm_fitted *p = b->p;
  size_t width = p->integers;
  for (size_t c = 0; c < b->seen; c++)
    for (size_t e = 0; e < 2 * width; e++) {
      const tm_block *block =
          &p->model->blocks[p->model->block_of_u[p->integer[e / 2]]];
      memcpy(values, b->cells[c].value, width * sizeof(double));
      values[e / 2] += e % 2 ? 1 : -1;
      if (values[e / 2] < block->lower || values[e / 2] > block->upper ||
          is_seen(b, values))
        continue;
      b->cells[b->cell_count++] = (entry){values, width, 0, 0};
      values += width;
    }
}

/* Sort the neighbours, drop repeats. */
static void keep_distinct_neighbours(builder *b) {
  size_t kept = b->seen;
  qsort(b->cells + b->seen, b->cell_count - b->seen, sizeof *b->cells,
        compare_entries);
  for (size_t c = b->seen; c < b->cell_count; c++)
    if (kept == b->seen ||
        compare_values(b->cells[kept - 1].value, b->cells[c].value,
                       b->p->integers) != 0)
      b->cells[kept++] = b->cells[c];
  b->cell_count = kept;
}

static bool find_cells(builder *b) {
  size_t width = b->p->integers;
  size_t distinct = 0;
  for (size_t r = 0; r < b->count; r++)
    distinct += r == 0 || compare_values(b->rows[r - 1].value, b->rows[r].value,
                                         width) != 0;
  size_t room = 2 * width * distinct;
  if (room > MOST_NEIGHBOURS)
    room = 0;
  double *values = TM_NEW(b->scratch, double, (room + 1) * width);
  b->cells = TM_NEW(b->scratch, entry, distinct + room);
  if (!values || !b->cells)
    return false;
  for (size_t r = 0; r < b->count; r++) {
    if (r == 0 ||
        compare_values(b->rows[r - 1].value, b->rows[r].value, width) != 0)
      b->cells[b->seen++] = (entry){b->rows[r].value, width, r, 0};
    b->cells[b->seen - 1].count++;
  }
  b->cell_count = b->seen;
  if (room) {
    add_neighbours(b, values);
    keep_distinct_neighbours(b);
  }
  return true;
}

/* ---- The table ---- */

static bool fill_table(builder *b) {
  tm_fitted *p = b->p;
  size_t cells = b->cell_count, width = p->integers;
  p->cells = cells;
  p->value = TM_NEW(b->arena, double, cells *width);
  p->mass = TM_NEW(b->arena, double, cells);
  p->cumulative = TM_NEW(b->arena, double, cells);
  p->own = TM_NEW(b->arena, tm_mixture *, cells);
  if (!p->value || !p->mass || !p->cumulative || !p->own)
    return false;
  qsort(b->cells, cells, sizeof *b->cells, compare_entries);
  double n = (double)b->count, unseen = (double)(cells - b->seen);
  double extra = NEIGHBOUR_DRAWS;
  if (unseen * extra > NEIGHBOUR_SHARE * n)
    extra = NEIGHBOUR_SHARE * n / unseen;
  double total = n + unseen * extra, sum = 0;
  for (size_t c = 0; c < cells; c++) {
    if (width)
      memcpy(p->value + c * width, b->cells[c].value, width * sizeof(double));
    size_t draws = b->cells[c].count;
    p->mass[c] = (draws ? (double)draws : extra) / total;
    p->cumulative[c] = sum += p->mass[c];
  }
  return true;
}

/* ---- Reals given integers ---- */

static const double *row_of(const builder *b, size_t r) {
  return b->u + b->rows[r].row * b->p->model->dimension;
}

/* Least squares of each real on the integers, with a trace of a ridge. */
static bool regress(builder *b) {
  tm_fitted *p = b->p;
  size_t w = p->integers, d = p->reals;
  double *gram = TM_NEW(b->scratch, double, w *w);
  double *work = TM_NEW(b->scratch, double, w *w);
  double *mean = TM_NEW(b->scratch, double, d);
  if (!gram || !work || !mean)
    return false;
  for (size_t r = 0; r < b->count; r++) {
    for (size_t i = 0; i < w; i++)
      p->centre[i] += b->rows[r].value[i] / (double)b->count;
    for (size_t j = 0; j < d; j++)
      mean[j] += row_of(b, r)[p->real[j]] / (double)b->count;
  }
  for (size_t r = 0; r < b->count; r++)
    for (size_t i = 0; i < w; i++) {
      double x = b->rows[r].value[i] - p->centre[i];
      for (size_t k = 0; k <= i; k++)
        gram[i * w + k] += x * (b->rows[r].value[k] - p->centre[k]);
      for (size_t j = 0; j < d; j++)
        p->slope[j * w + i] += x * (row_of(b, r)[p->real[j]] - mean[j]);
    }
  for (size_t i = 0; i < w; i++)
    gram[i * w + i] = (1 + 1e-6) * gram[i * w + i] + 1;
  tm_cholesky_forced(gram, w, 1e-300, work);
  for (size_t j = 0; j < d; j++)
    tm_cholesky_solve(gram, w, p->slope + j * w, p->slope + j * w);
  return true;
}

/* What the integers predict of real j, relative to their mean. */
static double predicted(const tm_fitted *p, const double *integers, size_t j) {
  double sum = 0;
  for (size_t i = 0; i < p->integers; i++)
    sum += p->slope[j * p->integers + i] * (integers[i] - p->centre[i]);
  return sum;
}

static tempera_status fit_points(builder *b, size_t points, size_t most,
                                 tm_mixture *mixture, tempera_error *error) {
  tm_mixture_settings settings = {.most_components = most};
  if (b->p->integers == 0) {
    settings.round = b->settings.round;
    settings.shape = b->settings.shape;
  }
  tm_points data = {points, b->p->reals, b->points, NULL};
  return tm_mixture_fit(&data, &settings, b->random, b->arena, mixture, error);
}

static tempera_status fit_cell(builder *b, size_t c, tempera_error *error) {
  tm_fitted *p = b->p;
  tm_mixture *mixture = TM_NEW(b->arena, tm_mixture, 1);
  if (!mixture)
    return tm_fail_memory(error);
  for (size_t i = 0; i < b->cells[c].count; i++)
    for (size_t j = 0; j < p->reals; j++)
      b->points[i * p->reals + j] = row_of(b, b->cells[c].row + i)[p->real[j]];
  size_t most = p->integers ? CELL_COMPONENTS : MOST_COMPONENTS;
  if (b->settings.most && b->settings.most < most)
    most = b->settings.most;
  TM_TRY(fit_points(b, b->cells[c].count, most, mixture, error));
  p->own[c] = mixture;
  return TEMPERA_OK;
}

static size_t points_needed(const tm_fitted *p) {
  size_t need = 4 * (p->reals + 1);
  if (p->integers == 0)
    return 1;
  return need > CELL_POINTS ? need : CELL_POINTS;
}

/* The count below which a cell shares: few draws, or too many cells. */
static size_t own_threshold(const builder *b) {
  size_t need = points_needed(b->p);
  for (;;) {
    size_t fits = 0;
    for (size_t c = 0; c < b->cell_count; c++)
      fits += b->cells[c].count >= need;
    if (fits <= CELL_FITS)
      return need;
    need += 1 + need / 4;
  }
}

/* The shared mixture: of the draws in sharing cells, or of all when those are
 * few. */
static tempera_status fit_shared(builder *b, size_t threshold,
                                 tempera_error *error) {
  tm_fitted *p = b->p;
  size_t sharing = 0, points = 0;
  if (!regress(b))
    return tm_fail_memory(error);
  for (size_t c = 0; c < b->cell_count; c++)
    sharing += b->cells[c].count < threshold ? b->cells[c].count : 0;
  bool all = sharing < points_needed(p);
  for (size_t c = 0; c < b->cell_count; c++) {
    if (!all && b->cells[c].count >= threshold)
      continue;
    for (size_t i = 0; i < b->cells[c].count; i++, points++)
      for (size_t j = 0; j < p->reals; j++)
        b->points[points * p->reals + j] =
            row_of(b, b->cells[c].row + i)[p->real[j]] -
            predicted(p, b->cells[c].value, j);
  }
  return fit_points(b, points, SHARED_COMPONENTS, &p->shared, error);
}

static tempera_status fit_reals(builder *b, tempera_error *error) {
  tm_fitted *p = b->p;
  if (p->reals == 0)
    return TEMPERA_OK;
  size_t threshold = own_threshold(b);
  bool shared = false;
  for (size_t c = 0; c < b->cell_count; c++)
    if (b->cells[c].count >= threshold)
      TM_TRY(fit_cell(b, c, error));
    else
      shared = true;
  return shared ? fit_shared(b, threshold, error) : TEMPERA_OK;
}

tempera_status tm_fitted_fit(const tempera_model *model, const tm_points *u,
                             const tm_fitted_settings *settings,
                             tempera_random *random, tm_arena *arena,
                             tm_fitted *proposal, tempera_error *error) {
  tm_fitted made = {.model = model};
  builder b = {.p = &made,
               .u = u->values,
               .count = u->count,
               .settings = settings ? *settings : (tm_fitted_settings){0},
               .arena = arena,
               .scratch = tm_arena_create(),
               .random = random};
  tempera_status status = TEMPERA_OK;
  if (!b.scratch || !index_coordinates(&made, arena) || !sort_rows(&b) ||
      !find_cells(&b) || !fill_table(&b)) {
    status = tm_fail_memory(error);
    goto done;
  }
  b.points = TM_NEW(b.scratch, double, u->count *made.reals);
  if (!b.points) {
    status = tm_fail_memory(error);
    goto done;
  }
  TM_TRY_DONE(fit_reals(&b, error));
  *proposal = made;
done:
  tm_arena_free(b.scratch);
  return status;
}

tm_mixture_shape tm_fitted_shape(const tm_fitted *p) {
  tm_mixture_shape shape = {0};
  if (p->integers == 0 && p->reals)
    shape = (tm_mixture_shape){p->own[0]->components, p->own[0]->df};
  return shape;
}

tm_mixture *tm_fitted_single(const tm_fitted *p) {
  bool single = p->integers == 0 && p->reals && p->own[0]->components == 1;
  return single ? p->own[0] : NULL;
}

/* ---- Density and draws ---- */

/* The cell of these integers; p->cells when there is none. */
static size_t find_cell(const tm_fitted *p, const double *integers) {
  size_t low = 0, high = p->cells, w = p->integers;
  while (low < high) {
    size_t middle = (low + high) / 2;
    int order = compare_values(p->value + middle * w, integers, w);
    if (order == 0)
      return middle;
    if (order < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return p->cells;
}

/* Fills key and x; gives the cell, and the mixture for x. */
static size_t locate(const tm_fitted *p, const double *u,
                     const tm_mixture **mixture) {
  for (size_t i = 0; i < p->integers; i++)
    p->key[i] = u[p->integer[i]];
  size_t cell = find_cell(p, p->key);
  if (cell == p->cells || p->reals == 0)
    return cell;
  const tm_mixture *own = p->own[cell];
  for (size_t j = 0; j < p->reals; j++)
    p->x[j] = u[p->real[j]] - (own ? 0 : predicted(p, p->key, j));
  *mixture = own ? own : &p->shared;
  return cell;
}

double tm_fitted_log_density(const tm_fitted *p, const double *u) {
  const tm_mixture *mixture = NULL;
  size_t cell = locate(p, u, &mixture);
  if (cell == p->cells)
    return -INFINITY;
  double log_mass = log(p->mass[cell]);
  return mixture ? log_mass + tm_mixture_log_density(mixture, p->x, p->work)
                 : log_mass;
}

double tm_fitted_gradient(const tm_fitted *p, const double *u,
                          double *gradient) {
  const tm_mixture *mixture = NULL;
  size_t cell = locate(p, u, &mixture);
  memset(gradient, 0, p->model->dimension * sizeof(double));
  if (cell == p->cells)
    return -INFINITY;
  if (!mixture)
    return log(p->mass[cell]);
  double *work = p->work + p->reals;
  double log_density = tm_mixture_gradient(mixture, p->x, work, p->work);
  for (size_t j = 0; j < p->reals; j++)
    gradient[p->real[j]] = p->work[j];
  return log(p->mass[cell]) + log_density;
}

tm_normal tm_fitted_condition(const tm_fitted *p, const double *u,
                              tempera_random *random, double *mean) {
  const tm_mixture *mixture = NULL;
  size_t cell = locate(p, u, &mixture), d = p->reals;
  tm_normal normal = {mean, NULL, 0};
  if (cell == p->cells || !mixture)
    return normal;
  size_t k =
      tm_mixture_condition(mixture, p->x, random, p->work, &normal.stretch);
  normal.factor = mixture->factor + k * d * d;
  for (size_t j = 0; j < d; j++)
    mean[j] =
        mixture->mean[k * d + j] + (p->own[cell] ? 0 : predicted(p, p->key, j));
  return normal;
}

tempera_status tm_fitted_make_room(const tempera_model *model, tm_arena *arena,
                                   tm_fitted *room, tempera_error *error) {
  *room = (tm_fitted){.model = model};
  count_coordinates(model, room);
  return make_workspaces(room, arena) ? TEMPERA_OK : tm_fail_memory(error);
}

void tm_fitted_share(const tm_fitted *from, tm_fitted *room) {
  tm_fitted shared = *from;
  shared.x = room->x;
  shared.key = room->key;
  shared.work = room->work;
  *room = shared;
}

static size_t pick_cell(const tm_fitted *p, double uniform) {
  size_t low = 0, high = p->cells - 1;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (uniform < p->cumulative[middle])
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

void tm_fitted_draw(const tm_fitted *p, tempera_random *random, double *u) {
  size_t cell = 0;
  if (p->cells > 1)
    cell = pick_cell(p, tempera_random_uniform(random));
  const double *integers = p->value + cell * p->integers;
  for (size_t i = 0; i < p->integers; i++)
    u[p->integer[i]] = integers[i];
  if (p->reals == 0)
    return;
  const tm_mixture *own = p->own[cell];
  tm_mixture_draw(own ? own : &p->shared, random, p->x);
  for (size_t j = 0; j < p->reals; j++)
    u[p->real[j]] = p->x[j] + (own ? 0 : predicted(p, integers, j));
}
