/* bridge_leg.c - fit one half, bridge the other, and the reverse; see
 * bridge_leg.h. */
#include "estimate/bridge/bridge_leg.h"

#include "model/batch.h"
#include "model/fitted.h"
#include "parallel/ranks.h"

#include <math.h>
#include <string.h>

enum {
  MOST_FITTED = 4000,      /* draws a proposal is fitted to */
  MOST_BRIDGED = 20000,    /* target draws per half */
  SHUFFLED_COMPONENTS = 2, /* copies that overlap are one mode */
  SCORED = 300,            /* draws to compare two proposals on */
  INSIDE_DRAWS = 20,       /* draws of q per proposal, to learn its mass on D */
  MOST_PIECES = 256,       /* that proposals are evaluated in, over ranks */
  BATCH = 64               /* points at a time for a model that takes many */
};

/* How target draws meet exchangeable labels. */
typedef enum treatment {
  AS_DRAWN,   /* nothing is exchangeable */
  SHUFFLED,   /* each draw moved to a random copy: all are equally visited */
  RELABELLED, /* each draw moved to its copy in D; the proposal is cut to D */
  TREATMENTS
} treatment;

/* One half fitted, the other bridged. */
typedef struct direction {
  const tm_bridge_leg *leg;
  const tempera_model *model;
  tm_arena *arena;
  size_t fitted; /* 0 or 1 */
  tempera_random random;
  treatment treatment;
  tm_mixture_shape *shapes; /* that the half before has chosen, by treatment */
  tm_fitted proposal;
  double log_inside, inside_variance; /* mass of the proposal on D */
  tm_point point;
} direction;

/* ---- Rows ---- */

static size_t half_start(const tm_bridge_leg *leg, size_t half) {
  return half ? leg->length - leg->length / 2 : 0;
}

/* Every stride-th row of a half, so that at most `most` remain in all. */
static size_t stride_for(const tm_bridge_leg *leg, size_t most) {
  size_t all = leg->chains * (leg->length / 2);
  return all > most ? (all + most - 1) / most : 1;
}

static size_t rows_per_chain(const tm_bridge_leg *leg, size_t stride) {
  return (leg->length / 2 + stride - 1) / stride;
}

/* The index of row i of a chain in a half. */
static size_t row_index(const tm_bridge_leg *leg, size_t half, size_t stride,
                        size_t chain, size_t i) {
  return chain * leg->length + half_start(leg, half) + i * stride;
}

/* ---- Fitting ---- */

typedef struct rows {
  size_t count;
  double *theta, *u;
  double *log_density; /* natural scale */
  size_t best;         /* the row of highest density */
} rows;

static tempera_status take_rows(direction *d, rows *out, tempera_error *error) {
  const tm_bridge_leg *leg = d->leg;
  size_t stride = stride_for(leg, MOST_FITTED), size = d->model->size;
  size_t length = rows_per_chain(leg, stride);
  rows made = {.count = leg->chains * length};
  made.theta = TM_NEW(d->arena, double, made.count *size);
  made.u = TM_NEW(d->arena, double, made.count * d->model->dimension);
  made.log_density = TM_NEW(d->arena, double, made.count);
  if (!made.theta || !made.u || !made.log_density)
    return tm_fail_memory(error);
  double highest = -INFINITY;
  for (size_t r = 0; r < made.count; r++) {
    size_t row = row_index(leg, d->fitted, stride, r / length, r % length);
    memcpy(made.theta + r * size, leg->theta + row * size,
           size * sizeof(double));
    made.log_density[r] = leg->log_density[row];
    if (leg->log_density[row] > highest) {
      highest = leg->log_density[row];
      made.best = r;
    }
  }
  *out = made;
  return TEMPERA_OK;
}

/* Components and degrees of freedom are those of the half fitted first: to
 * choose them takes most of a fit, and either half tells as much of them. */
static tempera_status fit_rows(direction *d, rows *r, size_t most,
                               tempera_error *error) {
  tm_mixture_shape *shape = &d->shapes[d->treatment];
  const tm_fitted_settings settings = {.most = most, .shape = *shape};
  for (size_t i = 0; i < r->count; i++)
    tm_unconstrain(d->model, r->theta + i * d->model->size,
                   r->u + i * d->model->dimension);
  tm_points u = {r->count, d->model->dimension, r->u, NULL};
  TM_TRY(tm_fitted_fit(d->model, &u, &settings, &d->random, d->arena,
                       &d->proposal, error));
  *shape = tm_fitted_shape(&d->proposal);
  return TEMPERA_OK;
}

/* A draw of the proposal into d->point (u and theta); is it in D? */
static bool draw_inside(direction *d) {
  double log_jacobian;
  tm_fitted_draw(&d->proposal, &d->random, d->point.u);
  if (d->treatment != RELABELLED)
    return true;
  tm_constrain(d->model, d->point.u, d->point.theta, &log_jacobian);
  return tm_label_pivot_settle(d->leg->pivot, d->point.theta);
}

static void set_inside(direction *d, size_t inside, size_t draws) {
  double share = (double)inside / (double)draws;
  d->log_inside = log(share);
  d->inside_variance = (1 - share) / (share * (double)draws);
}

/* log of (target density over proposal density) at theta, whose natural-scale
 * log density is given; u is overwritten. */
static double log_weight(direction *d, const double *theta,
                         double log_density) {
  double *u = d->point.u, log_jacobian;
  tm_unconstrain(d->model, theta, u);
  tm_constrain(d->model, u, d->point.theta, &log_jacobian);
  double log_q = tm_fitted_log_density(&d->proposal, u);
  double copies = 0;
  if (d->treatment == RELABELLED)
    copies = d->leg->pivot->labels->log_factorial + d->log_inside;
  return log_density + log_jacobian + copies - log_q;
}

/* Mean log density of the proposal at these draws, up to what all proposals
 * have in common; and how it falls short of the target's: the variance of the
 * difference. */
static double score(direction *d, const rows *r, double *spread) {
  size_t step = r->count > SCORED ? r->count / SCORED : 1, count = 0;
  double sum = 0, mean = 0, squares = 0;
  for (size_t i = 0; i < r->count; i += step) {
    double short_of = log_weight(d, r->theta + i * d->model->size, 0);
    sum -= short_of;
    double off = short_of + r->log_density[i] - mean;
    mean += off / (double)++count;
    squares += off * (short_of + r->log_density[i] - mean);
  }
  *spread = squares / (double)count;
  return sum / (double)count;
}

/* No density fits better than by about half the spread, in nats: less than
 * this is not worth another fit. */
static const double LITTLE_SPREAD = 0.1;

/* Cut to D or not? A posterior whose copies overlap (one mode) is fitted
 * better whole, from shuffled draws; separate copies are better cut. */
static tempera_status fit_labelled(direction *d, rows *r,
                                   tempera_error *error) {
  const tm_label_pivot *pivot = d->leg->pivot;
  for (size_t i = 0; i < r->count; i++)
    tm_label_pivot_shuffle(pivot, &d->random, r->theta + i * d->model->size);
  d->treatment = SHUFFLED;
  TM_TRY(fit_rows(d, r, SHUFFLED_COMPONENTS, error));
  double spread, whole = score(d, r, &spread);
  if (spread < LITTLE_SPREAD)
    return TEMPERA_OK;
  tm_fitted shuffled = d->proposal;
  tm_label_pivot_learn(pivot, r->theta, r->count, r->best);
  d->treatment = RELABELLED;
  TM_TRY(fit_rows(d, r, 0, error));
  size_t inside = 0, draws = MOST_FITTED;
  for (size_t i = 0; i < draws; i++)
    inside += draw_inside(d);
  set_inside(d, inside ? inside : 1, draws);
  if (inside > draws / 1000 && score(d, r, &spread) > whole)
    return TEMPERA_OK;
  d->treatment = SHUFFLED;
  d->proposal = shuffled;
  d->log_inside = d->inside_variance = 0; /* those were the cut proposal's */
  return TEMPERA_OK;
}

static tempera_status fit_direction(direction *d, tempera_error *error) {
  rows r = {0};
  TM_TRY(take_rows(d, &r, error));
  d->treatment = AS_DRAWN;
  if (d->leg->pivot)
    return fit_labelled(d, &r, error);
  return fit_rows(d, &r, 0, error);
}

/* ---- Bridging ---- */

/* Proposals that were drawn, to be evaluated in pieces: all that the model is
 * asked for here, so that ranks share it. */
typedef struct piece {
  tm_evaluator *evaluator, own;
  tm_point point;
} piece;

typedef struct drawn {
  direction *d;
  size_t count, pieces;
  double *u;
  double *values; /* log q; then l */
  piece *piece;
} drawn;

static void evaluate_piece(size_t k, void *context) {
  const drawn *p = context;
  piece *with = &p->piece[k];
  size_t dimension = p->d->model->dimension;
  size_t first = k * p->count / p->pieces;
  size_t last = (k + 1) * p->count / p->pieces;
  for (size_t i = first; i < last; i++) {
    memcpy(with->point.u, p->u + i * dimension, dimension * sizeof(double));
    p->d->leg->evaluate(with->evaluator, &with->point);
    p->values[i] = tm_log_density(&with->point, 1) - p->values[i];
  }
}

/* Counts, and the first failure, as if one evaluator had done it all. */
static void gather_piece(const drawn *p, tm_evaluator *from) {
  tm_evaluator *to = p->d->leg->evaluator;
  to->likelihood_evaluations += from->likelihood_evaluations;
  if (to->status == TEMPERA_OK && from->status != TEMPERA_OK) {
    to->status = from->status;
    to->failure = from->failure;
    to->error = from->error;
  }
}

static tempera_status evaluate_proposals(drawn *p, tempera_error *error) {
  direction *d = p->d;
  tempera_status status = TEMPERA_OK;
  size_t made = 0;
  int threads = tm_model_threads(
      d->model, d->model->in_batches ? BATCH : d->leg->threads);
  p->pieces = tm_shared_pieces(threads, MOST_PIECES);
  p->piece = TM_NEW(d->arena, piece, p->pieces);
  if (!p->piece)
    return tm_fail_memory(error);
  for (; made < p->pieces; made++) {
    piece *with = &p->piece[made];
    with->evaluator = p->pieces == 1 ? d->leg->evaluator : &with->own;
    TM_TRY_DONE(tm_point_create(d->model, d->arena, &with->point, error));
    if (p->pieces > 1)
      TM_TRY_DONE(tm_evaluator_create(d->model, d->arena, &with->own, error));
  }
  tm_shared_for(p->pieces, threads, evaluate_piece, p);
done:
  for (size_t k = 0; p->pieces > 1 && k < made; k++) {
    gather_piece(p, &p->piece[k].own);
    tm_evaluator_release(&p->piece[k].own);
  }
  return status;
}

/* l at draws of the proposal cut to D. The mass on D is learned from many
 * more draws than are evaluated: those cost no likelihood call. */
static tempera_status proposal_terms(direction *d, tm_bridge_terms *terms,
                                     tempera_error *error) {
  const tm_bridge_leg *leg = d->leg;
  size_t draws = 0, inside = 0, dimension = d->model->dimension;
  size_t least = INSIDE_DRAWS * leg->proposals, most = 50 * least;
  drawn p = {.d = d, .values = terms->proposal};
  p.u = TM_NEW(d->arena, double, leg->proposals *dimension);
  if (!p.u)
    return tm_fail_memory(error);
  if (d->treatment != RELABELLED)
    least = leg->proposals;
  while (draws < least || (inside < leg->proposals && draws < most)) {
    draws++;
    if (!draw_inside(d))
      continue;
    inside++;
    if (p.count == leg->proposals)
      continue;
    memcpy(p.u + p.count * dimension, d->point.u, dimension * sizeof(double));
    p.values[p.count++] = tm_fitted_log_density(&d->proposal, d->point.u);
  }
  TM_TRY(evaluate_proposals(&p, error));
  terms->proposals = p.count;
  if (d->treatment != RELABELLED)
    return TEMPERA_OK;
  set_inside(d, inside ? inside : 1, draws);
  for (size_t i = 0; i < p.count; i++)
    terms->proposal[i] += d->log_inside + leg->pivot->labels->log_factorial;
  return TEMPERA_OK;
}

static tempera_status target_terms(direction *d, tm_bridge_terms *terms,
                                   tempera_error *error) {
  const tm_bridge_leg *leg = d->leg;
  size_t stride = stride_for(leg, MOST_BRIDGED), size = d->model->size;
  double *theta = TM_NEW(d->arena, double, size);
  terms->chains = leg->chains;
  terms->length = rows_per_chain(leg, stride);
  terms->target = TM_NEW(d->arena, double, terms->chains * terms->length);
  if (!theta || !terms->target)
    return tm_fail_memory(error);
  for (size_t c = 0; c < terms->chains; c++)
    for (size_t i = 0; i < terms->length; i++) {
      size_t row = row_index(leg, 1 - d->fitted, stride, c, i);
      memcpy(theta, leg->theta + row * size, size * sizeof(double));
      if (d->treatment == SHUFFLED)
        tm_label_pivot_shuffle(leg->pivot, &d->random, theta);
      else if (d->treatment == RELABELLED)
        tm_label_pivot_settle(leg->pivot, theta);
      terms->target[c * terms->length + i] =
          log_weight(d, theta, leg->log_density[row]);
    }
  return TEMPERA_OK;
}

static tempera_status bridge_direction(direction *d, tm_bridge_ratio *ratio,
                                       tempera_error *error) {
  tm_bridge_terms terms = {.proposal =
                               TM_NEW(d->arena, double, d->leg->proposals)};
  if (!terms.proposal)
    return tm_fail_memory(error);
  TM_TRY(proposal_terms(d, &terms, error));
  if (d->leg->evaluator->status != TEMPERA_OK) {
    if (error)
      *error = d->leg->evaluator->error;
    return d->leg->evaluator->status;
  }
  TM_TRY(target_terms(d, &terms, error));
  double *work = TM_NEW(d->arena, double, terms.chains *terms.length);
  if (!work)
    return tm_fail_memory(error);
  *ratio = tm_bridge_ratio_solve(&terms, work);
  ratio->proposal_variance += d->inside_variance;
  return TEMPERA_OK;
}

/* Of what a density over d coordinates can be fitted to in location and
 * spread, the share that relabelling leaves alone: where B blocks permute and r
 * coordinates do not, B + r means, and for the spread two numbers for a pair of
 * blocks (within a label, between labels), one for a block and one of the rest,
 * one for a pair of the rest. */
static double symmetric_share(const tempera_model *model,
                              const tm_labels *labels) {
  double d = (double)model->dimension, rest = d, blocks = 0;
  for (size_t b = 0; b < model->block_count; b++)
    if (labels->block[b]) {
      blocks++;
      rest -= (double)model->blocks[b].u_count;
    }
  double kept = blocks + rest + blocks * (blocks + 1) + blocks * rest +
                rest * (rest + 1) / 2;
  return kept / (d + d * (d + 1) / 2);
}

/* Target draws of the two directions: when the fitted family can match the
 * target, what remains is the mismatch of one half's fit with the other half's
 * draws, which to first order is the same number in both directions (bilinear
 * in the two halves' deviations); when it cannot, the two are independent. Over
 * replicates of Gaussian and two-mode targets the correlation of the target's
 * parts was between one half and one. Draws that are moved to random copies are
 * so anew in each direction: of their deviations only what is symmetric is the
 * same. See intervals_cover_95_percent. */
static const double TARGET_CORRELATION = 0.75;

static double target_correlation(const direction *d) {
  if (d->treatment != SHUFFLED)
    return TARGET_CORRELATION;
  return TARGET_CORRELATION * symmetric_share(d->model, d->leg->pivot->labels);
}

/* One direction's estimate, and how its target part is correlated with that of
 * a direction of the same treatment. */
typedef struct half_estimate {
  tm_bridge_ratio ratio;
  double correlation;
} half_estimate;

static tempera_status one_direction(const tm_bridge_leg *leg, size_t fitted,
                                    tm_mixture_shape *shapes,
                                    half_estimate *made, tempera_error *error) {
  direction d = {.leg = leg,
                 .model = leg->evaluator->model,
                 .arena = tm_arena_create(),
                 .fitted = fitted,
                 .shapes = shapes,
                 .random = tm_random(leg->seed, leg->stream + (uint32_t)fitted,
                                     TM_PURPOSE_BRIDGE)};
  tempera_status status = TEMPERA_OK;
  if (!d.arena)
    return tm_fail_memory(error);
  TM_TRY_DONE(tm_point_create(d.model, d.arena, &d.point, error));
  TM_TRY_DONE(fit_direction(&d, error));
  TM_TRY_DONE(bridge_direction(&d, &made->ratio, error));
  made->correlation = target_correlation(&d);
done:
  tm_arena_free(d.arena);
  return status;
}

/* ---- Both directions ---- */

static double square(double x) { return x * x; }

/* Proposal draws are independent between the halves, target draws are not. */
static tm_bridge_integral combine(const tm_bridge_ratio r[2],
                                  double correlation, size_t proposals) {
  double proposal = (r[0].proposal_variance + r[1].proposal_variance) / 4;
  double target =
      (r[0].target_variance + r[1].target_variance) / 4 +
      correlation / 2 * sqrt(r[0].target_variance * r[1].target_variance);
  double gap = r[0].log_r - r[1].log_r;
  double spread = r[0].proposal_variance + r[1].proposal_variance +
                  r[0].target_variance + r[1].target_variance;
  double variance = proposal + target;
  double df = square(variance) / (square(proposal) / (2 * (double)proposals) +
                                  square(target) / (r[0].df + r[1].df));
  return (tm_bridge_integral){
      .log_z = (r[0].log_r + r[1].log_r) / 2,
      .variance = variance,
      .df = df,
      .between =
          sqrt((r[0].between_variance + r[1].between_variance) / 4 + proposal),
      .overlap = fmin(r[0].overlap, r[1].overlap),
      .disagreement = fmin(r[0].disagreement, r[1].disagreement),
      .halves = spread > 0 ? fabs(gap) / sqrt(spread) : 0,
  };
}

tempera_status tm_bridge_leg_integrate(const tm_bridge_leg *leg,
                                       tm_bridge_integral *integral,
                                       tempera_error *error) {
  half_estimate halves[2];
  tm_mixture_shape shapes[TREATMENTS] = {{0}};
  for (size_t half = 0; half < 2; half++)
    TM_TRY(one_direction(leg, half, shapes, &halves[half], error));
  const tm_bridge_ratio ratios[] = {halves[0].ratio, halves[1].ratio};
  *integral =
      combine(ratios, fmax(halves[0].correlation, halves[1].correlation),
              leg->proposals);
  return TEMPERA_OK;
}
