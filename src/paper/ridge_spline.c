/* ridge_spline.c - the paper's acceleration (method 2): optima at 301
 * log10-uniform taus in [1e-15, 1], m(tau) fitted coordinate by coordinate by
 * cubic B-splines on 60 log10-uniform knots, one set per integer value.
 *
 * The height is tau*l + log pi at the fitted m(tau). A spline cannot follow a
 * jump of m(tau); the lines of the 301 optima, which are there anyway, hold
 * the height up around it. All of it is tabulated once: on a log-spaced grid,
 * then with intervals subdivided where chord and lines differ by more than
 * TM_RIDGE_GAP. */
#include "paper/paper_ridge.h"

#include "numeric/spline.h"
#include "parallel/ranks.h"

#include <math.h>
#include <string.h>

enum { TAUS = 301, SPLINE_KNOTS = 60, GRID = 601, PIECES = 16 };
static const double LOWEST = 1e-15;
static const double NEAR_BEST = 1; /* nats: values worth a spline */

/* One integer value's curve. */
typedef struct tau_curve {
  const tm_value *value;
  tm_optimum *optima; /* TAUS of them, the last at tau = 1 */
  double log_tau[TAUS];
  tm_spline spline;
  tm_optimum *rows; /* the best line at each tau of the table */
  tm_climb climb;   /* its own memory */
  size_t optimisations;
} tau_curve;

typedef struct splines {
  tm_ridge *ridge;
  tau_curve *curves;
  size_t count, first; /* first: of the wave that is running */
  tm_arena *arena;     /* for what the table does not keep */
  double *tau;         /* of the table, without tau = 0 */
  size_t rows;
} splines;

static double lowest_tau(const tm_ridge *ridge) {
  return fmax(LOWEST, ridge->settings.tau_min);
}

static double spread_log(const tm_ridge *ridge, size_t i, size_t count) {
  double low = log10(lowest_tau(ridge));
  return low * (1 - (double)i / (double)(count - 1));
}

static double spread_tau(const tm_ridge *ridge, size_t i, size_t count) {
  return i + 1 == count ? 1 : pow(10, spread_log(ridge, i, count));
}

/* ---- optima along tau */

static void optimise_at(tm_climber *climber, tau_curve *curve, size_t i,
                        const double *u) {
  tm_optimum *at = &curve->optima[i];
  tm_climb *climb = &curve->climb;
  *climb = (tm_climb){
      .tau = at->tau, .measure = TM_NATURAL, .u = u, .spot = climb->spot};
  tm_climb_run(climber, climb);
  curve->optimisations++;
  if (climb->outcome == TM_ASCENT_DEAD ||
      tm_spot_height(&climb->spot, at->tau) < tm_optimum_height(at, at->tau))
    return;
  memcpy(at->u, climb->spot.u, climber->model->dimension * sizeof(double));
  at->log_likelihood = climb->spot.l;
  at->log_prior = climb->spot.p;
}

/* Downwards from tau = 1, each from the last one or from a known line if that
 * is higher; then let neighbours' lines challenge each optimum. */
static void follow(tm_climber *climber, tau_curve *curve) {
  for (size_t i = TAUS; i-- > 0;) {
    double tau = curve->optima[i].tau;
    const tm_optimum *from = tm_value_line(curve->value, tau);
    const tm_optimum *last = i + 1 < TAUS ? &curve->optima[i + 1] : from;
    if (tm_optimum_height(last, tau) > tm_optimum_height(from, tau))
      from = last;
    optimise_at(climber, curve, i, from->u);
  }
  for (size_t i = 1; i < TAUS; i++) {
    tm_optimum *at = &curve->optima[i], *before = at - 1;
    if (tm_optimum_height(before, at->tau) >
        tm_optimum_height(at, at->tau) + TM_RIDGE_NOISE)
      optimise_at(climber, curve, i, before->u);
  }
}

static void follow_piece(size_t piece, void *context) {
  splines *all = context;
  follow(&all->ridge->store->climbers[piece], &all->curves[all->first + piece]);
}

/* ---- splines and the grid */

static tempera_status fit(splines *all, tau_curve *curve,
                          tempera_error *error) {
  tm_ridge *ridge = all->ridge;
  size_t size = ridge->model->size;
  double *theta = tm_heap_alloc(TAUS * size, sizeof(double));
  if (!theta)
    return tm_fail_memory(error);
  for (size_t i = 0; i < TAUS; i++)
    tm_constrain(ridge->model, curve->optima[i].u, theta + i * size, NULL);
  curve->spline = (tm_spline){.left = log10(lowest_tau(ridge)),
                              .right = 0,
                              .knots = SPLINE_KNOTS,
                              .curves = size};
  tempera_status status = tm_spline_fit(&curve->spline, all->arena,
                                        curve->log_tau, theta, TAUS, error);
  tm_heap_free(theta);
  return status;
}

static void mend_simplex(double *values, size_t count) {
  double sum = 0;
  for (size_t i = 0; i < count; i++)
    sum += values[i] = fmax(0, values[i]);
  for (size_t i = 0; i < count; i++)
    values[i] = sum > 0 ? values[i] / sum : 1 / (double)count;
}

/* Splines overshoot: clamp to bounds, rescale simplexes, keep integers. */
static void mend(const tempera_model *model, const tm_value *value,
                 double *theta) {
  for (size_t b = 0; b < model->block_count; b++) {
    const tm_block *block = &model->blocks[b];
    double *values = theta + block->theta;
    if (block->transform == TEMPERA_SIMPLEX) {
      mend_simplex(values, block->theta_count);
      continue;
    }
    for (size_t i = 0; i < block->theta_count; i++)
      values[i] = block->kind == TEMPERA_INTEGER
                      ? value->integers[block->u + i]
                      : fmax(block->lower, fmin(block->upper, values[i]));
  }
}

static void raise_row(const tempera_model *model, tm_optimum *row, double tau,
                      const tm_optimum *line) {
  if (!(tm_optimum_height(line, tau) <= tm_optimum_height(row, tau)))
    tm_optimum_copy(model, line, row);
}

/* The height at tau, as a line: of the spline's m(tau) or of the optima on
 * either side. */
static void tabulate_row(tm_climber *climber, const tau_curve *curve,
                         double tau, tm_optimum *row) {
  const tempera_model *model = climber->model;
  double log_tau = log10(tau), *theta = climber->trial.theta;
  tm_optimum line;
  double share = 1 - log_tau / curve->log_tau[0];
  size_t k = (size_t)fmax(0, fmin(TAUS - 2, floor((TAUS - 1) * share)));
  raise_row(model, row, tau, &curve->optima[k]);
  raise_row(model, row, tau, &curve->optima[k + 1]);
  tm_spline_at(&curve->spline, log_tau, theta);
  mend(model, curve->value, theta);
  tm_unconstrain(model, theta, climber->trial.u);
  if (tm_ridge_look_at(climber, &line))
    raise_row(model, row, tau, &line);
}

static void tabulate_piece(size_t piece, void *context) {
  splines *all = context;
  tau_curve *curve = &all->curves[all->first + piece];
  for (size_t i = 0; i < all->rows; i++)
    tabulate_row(&all->ridge->store->climbers[piece], curve, all->tau[i],
                 &curve->rows[i]);
}

/* The highest of the values at a row. */
static const tm_optimum *best_row(const splines *all, size_t i) {
  double tau = all->tau[i];
  const tm_optimum *best = &all->curves[0].rows[i];
  for (size_t c = 1; c < all->count; c++)
    if (tm_optimum_height(&all->curves[c].rows[i], tau) >
        tm_optimum_height(best, tau))
      best = &all->curves[c].rows[i];
  return best;
}

/* Into how many pieces an interval is cut, chord minus lines falling with the
 * square of the width; and where its end lines meet, in case of a kink. */
static size_t pieces_of(const splines *all, size_t i, double *kink) {
  const tm_optimum *a = best_row(all, i), *b = best_row(all, i + 1);
  double left = all->tau[i], right = all->tau[i + 1];
  double tau = tm_ridge_meet(a, b, left, right);
  *kink = right;
  if (isnan(tau))
    return 1;
  double low = tm_optimum_height(a, left), high = tm_optimum_height(b, right);
  double gap = low + (high - low) * (tau - left) / (right - left) -
               tm_optimum_height(a, tau);
  if (gap > TM_RIDGE_GAP)
    *kink = tau;
  return (size_t)fmin(PIECES, ceil(sqrt(fmax(1, gap / TM_RIDGE_GAP))));
}

/* ---- all values */

static bool near_best(const tm_ridge *ridge, const tm_value *value) {
  for (size_t k = 0; k < ridge->knot_count; k++) {
    const tm_optimum *line = tm_value_line(value, ridge->knots[k].tau);
    if (line && tm_optimum_height(line, ridge->knots[k].tau) >
                    ridge->knots[k].height - NEAR_BEST)
      return true;
  }
  return false;
}

static tm_optimum *new_optima(const splines *all, size_t count) {
  size_t n = all->ridge->model->dimension;
  double *room = TM_NEW(all->arena, double, count *n);
  tm_optimum *optima = TM_NEW(all->arena, tm_optimum, count);
  for (size_t i = 0; room && optima && i < count; i++)
    optima[i] = (tm_optimum){.log_prior = -INFINITY, .u = room + i * n};
  return room ? optima : NULL;
}

static tempera_status start_curve(const splines *all, tau_curve *curve,
                                  const tm_value *value, tempera_error *error) {
  curve->value = value;
  curve->optima = new_optima(all, TAUS);
  if (!curve->optima)
    return tm_fail_memory(error);
  for (size_t i = 0; i < TAUS; i++) {
    curve->optima[i].tau = spread_tau(all->ridge, i, TAUS);
    curve->log_tau[i] = spread_log(all->ridge, i, TAUS);
  }
  return tm_spot_create(all->ridge->model, all->arena, &curve->climb.spot,
                        error);
}

static void in_waves(splines *all, tm_piece_fn piece) {
  for (all->first = 0; all->first < all->count;
       all->first += TM_STORE_WORKERS) {
    size_t left = all->count - all->first;
    tm_shared_for(left < TM_STORE_WORKERS ? left : TM_STORE_WORKERS,
                  all->ridge->store->settings.threads, piece, all);
  }
}

static tempera_status optimise_and_fit(splines *all, tempera_error *error) {
  tm_ridge *ridge = all->ridge;
  for (size_t v = 0; v < ridge->value_count; v++)
    if (near_best(ridge, &ridge->values[v]))
      TM_TRY(start_curve(all, &all->curves[all->count++], &ridge->values[v],
                         error));
  in_waves(all, follow_piece);
  TM_TRY(tm_store_check(ridge->store, error));
  for (size_t c = 0; c < all->count; c++) {
    tau_curve *curve = &all->curves[c];
    ridge->values[curve->value - ridge->values].optimisations +=
        curve->optimisations;
    ridge->store->optimisations += curve->optimisations;
    ridge->view.optimisations += curve->optimisations;
    TM_TRY(fit(all, curve, error));
  }
  return TEMPERA_OK;
}

static tempera_status tabulate(splines *all, tempera_error *error) {
  for (size_t c = 0; c < all->count; c++)
    if (!(all->curves[c].rows = new_optima(all, all->rows)))
      return tm_fail_memory(error);
  in_waves(all, tabulate_piece);
  return tm_store_check(all->ridge->store, error);
}

static tempera_status first_grid(splines *all, tempera_error *error) {
  all->rows = GRID;
  all->tau = TM_NEW(all->arena, double, GRID);
  if (!all->tau)
    return tm_fail_memory(error);
  for (size_t i = 0; i < GRID; i++)
    all->tau[i] = spread_tau(all->ridge, i, GRID);
  all->tau[0] = lowest_tau(all->ridge);
  return TEMPERA_OK;
}

static tempera_status finer_grid(splines *all, tempera_error *error) {
  double *tau = TM_NEW(all->arena, double, all->rows *PIECES);
  size_t rows = 0;
  if (!tau)
    return tm_fail_memory(error);
  for (size_t i = 0; i + 1 < all->rows; i++) {
    double kink;
    size_t pieces = pieces_of(all, i, &kink);
    double width = (all->tau[i + 1] - all->tau[i]) / (double)pieces;
    for (size_t k = 0; k < pieces; k++) {
      double left = all->tau[i] + width * (double)k;
      tau[rows++] = left;
      if (kink > left + 1e-6 * width && kink < left + width * (1 - 1e-6))
        tau[rows++] = kink;
    }
  }
  tau[rows++] = all->tau[all->rows - 1];
  all->tau = tau;
  all->rows = rows;
  return TEMPERA_OK;
}

/* tau = 0 has no logarithm: there the knot stands. */
static tempera_status fill_table(const splines *all, tempera_error *error) {
  tm_ridge *ridge = all->ridge;
  size_t extra = ridge->settings.tau_min < all->tau[0];
  TM_TRY(tm_ridge_table_alloc(ridge, all->rows + extra, error));
  if (extra)
    tm_ridge_table_row(ridge, 0, ridge->settings.tau_min,
                       &ridge->knots[0].best);
  for (size_t i = 0; i < all->rows; i++)
    tm_ridge_table_row(ridge, i + extra, all->tau[i], best_row(all, i));
  return TEMPERA_OK;
}

static tempera_status build(splines *all, tempera_error *error) {
  if (!all->arena || !all->curves)
    return tm_fail_memory(error);
  TM_TRY(optimise_and_fit(all, error));
  TM_TRY(first_grid(all, error));
  TM_TRY(tabulate(all, error));
  TM_TRY(finer_grid(all, error));
  TM_TRY(tabulate(all, error));
  return fill_table(all, error);
}

static tempera_status splined(tm_ridge *ridge, tempera_error *error) {
  splines all = {.ridge = ridge,
                 .arena = tm_arena_create(),
                 .curves =
                     tm_heap_alloc(ridge->value_count, sizeof(tau_curve))};
  tempera_status status = build(&all, error);
  tm_heap_free(all.curves);
  tm_arena_free(all.arena);
  return status;
}

tempera_status tm_paper_ridge(tm_ridge *ridge, tempera_ridge kind,
                              tempera_error *error) {
  if (ridge->view.absent || kind == TEMPERA_RIDGE_CONVEX)
    return TEMPERA_OK;
  ridge->view.gap = NAN; /* the certificate is the knots' own */
  if (kind == TEMPERA_RIDGE_SPLINE)
    return splined(ridge, error);
  return TEMPERA_OK;
}
