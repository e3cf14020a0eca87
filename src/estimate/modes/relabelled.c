/* relabelled.c - components that can change places (mu[1..K], sigma2[1..K],
 * p[1..K] of a mixture), by the density's word (model/labels.h). Their own
 * means and R-hats say how often labels changed, not what the components are;
 * so each draw is moved to one labelling, the same for all, and mixing is
 * judged there: a draw relabelled is as good a draw of a posterior that is the
 * same under any labelling. */
#include "estimate/modes/relabelled.h"

#include "estimate/estimate.h"
#include "estimate/findings.h"
#include "estimate/summary.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
  POINTS = 2 * TM_LABELS_POINTS, /* some may not be able to tell */
  MOST_LEARNED = 4000            /* draws the pivot is learned from */
};

typedef struct labelling {
  const tempera_model *model;
  const tempera_draws *draws;
  tm_arena *arena;
  tm_evaluator evaluator;
  tm_labels labels;
  tm_label_pivot pivot;
  size_t rows, count;
  unsigned char *order;       /* order[draw * K + place] is a label */
  double *carried, **columns; /* of a block: see make_columns */
  int threads;
} labelling;

/* Draw i of all, chain after chain. */
static void read_draw(const tempera_draws *draws, size_t i, double *theta) {
  tm_draws_take(draws, TEMPERA_TARGET, i / draws->count, i % draws->count,
                draws->size, theta);
}

/* `most` draws, or fewer, spread over all. */
static double *some_draws(const tempera_draws *draws, size_t most,
                          tm_arena *arena, size_t *taken) {
  size_t count = draws->count * draws->chains;
  size_t step = count > most ? (count + most - 1) / most : 1;
  double *theta = TM_NEW(arena, double, (count / step + 1) * draws->size);
  *taken = 0;
  for (size_t i = step / 2; theta && i < count; i += step)
    read_draw(draws, i, theta + (*taken)++ * draws->size);
  return theta;
}

tempera_status tm_draw_labels_find(tm_evaluator *evaluator,
                                   const tempera_draws *draws, tm_arena *arena,
                                   tm_labels *labels, tempera_error *error) {
  tm_point point;
  size_t taken;
  double *theta = some_draws(draws, POINTS, arena, &taken);
  if (!theta)
    return tm_fail_memory(error);
  TM_TRY(tm_point_create(evaluator->model, arena, &point, error));
  return tm_labels_find(evaluator, &point, theta, taken, arena, labels, error);
}

/* ---- one labelling of every draw ---------------------------------------- */

/* The blocks that permute, of draw i. */
static void read_labelled(const labelling *l, size_t i, double *theta) {
  size_t K = l->labels.count;
  for (size_t b = 0; b < l->model->block_count; b++) {
    size_t first = l->model->blocks[b].theta;
    for (size_t j = first; l->labels.block[b] && j < first + K; j++)
      theta[j] = tm_draws_column(l->draws, TEMPERA_TARGET, i / l->rows,
                                 j)[i % l->rows];
  }
}

static tempera_status put_in_order(labelling *l, tempera_error *error) {
  size_t K = l->labels.count, taken;
  double *some = some_draws(l->draws, MOST_LEARNED, l->arena, &taken);
  double *theta = TM_NEW(l->arena, double, l->draws->size);
  l->order = TM_NEW(l->arena, unsigned char, l->count *K);
  if (!some || !theta || !l->order)
    return tm_fail_memory(error);
  TM_TRY(
      tm_label_pivot_create(l->model, &l->labels, l->arena, &l->pivot, error));
  tm_label_pivot_learn(&l->pivot, some, taken, 0);
  for (size_t i = 0; i < l->count; i++) {
    read_labelled(l, i, theta);
    tm_label_pivot_order(&l->pivot, theta, l->order + i * K);
  }
  return TEMPERA_OK;
}

/* Room for a block's values in that order, place after place. */
static bool make_columns(labelling *l) {
  size_t K = l->labels.count;
  l->carried = TM_NEW(l->arena, double, K * l->count);
  l->columns = TM_NEW(l->arena, double *, l->draws->chains *K);
  if (!l->carried || !l->columns)
    return false;
  for (size_t c = 0; c < l->draws->chains; c++)
    for (size_t k = 0; k < K; k++)
      l->columns[c * K + k] = l->carried + k * l->count + c * l->rows;
  return true;
}

static void carry(labelling *l, const tm_block *block) {
  size_t K = l->labels.count;
  const double *x[TM_LABELS_MOST];
  for (size_t c = 0; c < l->draws->chains; c++) {
    for (size_t k = 0; k < K; k++)
      x[k] = tm_draws_column(l->draws, TEMPERA_TARGET, c, block->theta + k);
    for (size_t k = 0; k < K; k++)
      for (size_t row = 0; row < l->rows; row++)
        l->columns[c * K + k][row] =
            x[l->order[(c * l->rows + row) * K + k]][row];
  }
}

/* ---- what is reported --------------------------------------------------- */

/* A block's values in order, and the worst mixing over them. */
static tempera_status judge(labelling *l, const tm_block *block,
                            tempera_value_summary *values,
                            tempera_summary *summary, tempera_error *error) {
  for (size_t k = 0; k < block->theta_count; k++)
    summary->values[block->theta + k].permuted = true;
  carry(l, block);
  TM_TRY(tm_estimate_values(l->draws, l->columns, block->theta_count,
                            l->threads, values, error));
  for (size_t k = 0; k < block->theta_count; k++) {
    const tempera_value_summary *v = &values[k];
    summary->relabelled_rhat = fmax(summary->relabelled_rhat, v->rhat);
    summary->relabelled_ess =
        fmin(summary->relabelled_ess, fmin(v->ess_bulk, v->ess_tail));
  }
  return TEMPERA_OK;
}

/* How often each label comes first. */
static tempera_status fill_shares(const labelling *l, tempera_summary *summary,
                                  tempera_error *error) {
  size_t K = l->labels.count;
  tm_heap_free(summary->labels);
  summary->labels = tm_heap_alloc(K, sizeof(double));
  if (!summary->labels)
    return tm_fail_memory(error);
  summary->label_count = K;
  for (size_t i = 0; i < l->count; i++)
    summary->labels[l->order[i * K]] += 1 / (double)l->count;
  return TEMPERA_OK;
}

/* Room for every value that permutes, under its name. */
static tempera_status name_components(const labelling *l,
                                      tempera_summary *summary,
                                      tempera_error *error) {
  const char **names = TM_NEW(l->arena, const char *, l->draws->size);
  size_t count = 0;
  if (!names)
    return tm_fail_memory(error);
  for (size_t b = 0; b < l->model->block_count; b++)
    for (size_t k = 0; l->labels.block[b] && k < l->labels.count; k++)
      names[count++] = l->model->names[l->model->blocks[b].theta + k];
  tm_values_free(summary->components, summary->component_count);
  summary->components = NULL;
  summary->component_count = 0;
  return tm_estimate_name_values(names, count, &summary->components,
                                 &summary->component_count, error);
}

static tempera_status report(labelling *l, tempera_summary *summary,
                             tempera_error *error) {
  if (!make_columns(l))
    return tm_fail_memory(error);
  TM_TRY(fill_shares(l, summary, error));
  TM_TRY(name_components(l, summary, error));
  tempera_value_summary *values = summary->components;
  for (size_t b = 0; b < l->model->block_count; b++) {
    if (!l->labels.block[b])
      continue;
    TM_TRY(judge(l, &l->model->blocks[b], values, summary, error));
    values += l->labels.count;
  }
  return TEMPERA_OK;
}

static tempera_status find_labels(labelling *l, tempera_summary *summary,
                                  tempera_error *error) {
  TM_TRY(tm_evaluator_create(l->model, l->arena, &l->evaluator, error));
  TM_TRY(tm_draw_labels_find(&l->evaluator, l->draws, l->arena, &l->labels,
                             error));
  if (l->evaluator.status != TEMPERA_OK || l->labels.count == 0)
    return TEMPERA_OK; /* a model that fails somewhere has no such word */
  TM_TRY(put_in_order(l, error));
  return report(l, summary, error);
}

tempera_status tm_estimate_labels(const tempera_model *model,
                                  const tempera_draws *draws, int threads,
                                  tempera_summary *summary, uint64_t *calls,
                                  tempera_error *error) {
  if (!draws->has_role[TEMPERA_TARGET] || draws->count == 0)
    return TEMPERA_OK;
  labelling l = {.model = model,
                 .draws = draws,
                 .rows = draws->count,
                 .threads = threads,
                 .count = draws->count * draws->chains,
                 .arena = tm_arena_create()};
  if (!l.arena)
    return tm_fail_memory(error);
  tempera_status status = find_labels(&l, summary, error);
  *calls += l.evaluator.likelihood_evaluations;
  tm_evaluator_release(&l.evaluator);
  tm_arena_free(l.arena);
  return status;
}

/* ---- what is said ------------------------------------------------------- */

/* "mu, sigma2, p": the names of values marked as permuted, once each. */
static void list_names(const tempera_summary *s, char *list, size_t size) {
  const char *last = "";
  size_t used = 0, letters = 0;
  for (size_t i = 0; i < s->value_count && used + 1 < size; i++) {
    const char *name = s->values[i].name;
    size_t length = strcspn(name, "[.");
    if (!s->values[i].permuted ||
        (length == letters && !strncmp(name, last, length)))
      continue;
    int wrote = snprintf(list + used, size - used, "%s%.*s", used ? ", " : "",
                         (int)length, name);
    used += wrote > 0 ? (size_t)wrote : 0;
    last = name;
    letters = length;
  }
}

tempera_status tm_estimate_label_findings(tempera_summary *summary,
                                          tempera_error *error) {
  char list[256] = "";
  double least = 1, fair = 1 / (double)summary->label_count;
  if (!summary->label_count)
    return TEMPERA_OK;
  for (size_t k = 0; k < summary->label_count; k++)
    least = fmin(least, summary->labels[k]);
  list_names(summary, list, sizeof list);
  if (summary->mode_count > 1)
    TM_TRY(tm_find_about(summary, TM_FIND_LABELS_PERMUTED, NAN, NAN, error,
                         "%s", list));
  return least >= fair / 2
             ? TEMPERA_OK
             : tm_find_about(summary, TM_FIND_LABELS_UNEVEN, 100 * least,
                             100 * fair, error, "%zu", summary->label_count);
}
