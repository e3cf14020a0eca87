/* sensitivity.c - power-scaling sensitivity; see sensitivity.h.
 *
 * With the prior (or the likelihood) raised to the power alpha, the
 * distribution function F of a parameter moves by log(alpha) h(x), h(x) =
 * Cov(1[theta <= x], s), s the log prior (or likelihood): no weights are
 * needed. The cumulative Jensen-Shannon distance between the two, over the root
 * of its bound, is then |log2 alpha| sqrt(log(2)/8 * integral of h^2/F /
 * integral of F), and the diagnostic is its slope in log2 alpha, for x or for
 * -x, whichever is larger. The jackknife over batches of draws takes off the
 * bias, which noise in h makes of squares, and gives the error. */
#include "estimate/answers/sensitivity.h"

#include "numeric/sort.h"

#include <math.h>

enum { MOST_DRAWS = 4000, BATCHES = 20, FEWEST = 100 };

typedef struct work {
  size_t count;
  tm_ranked *sorted, *room; /* a parameter's draws */
  double *scale;            /* log prior or log likelihood, in their order */
  unsigned char *batch;     /* likewise */
  double *inverse;          /* 1/k, at k */
} work;

/* The square of the slope without one batch (BATCHES: with all). */
static double square_of(const work *w, unsigned without) {
  size_t n = 0, below = 0;
  double mean = 0, covariance = 0;
  double up = 0, up_bound = 0, down = 0, down_bound = 0;
  for (size_t k = 0; k < w->count; k++)
    if (w->batch[k] != without) {
      mean += w->scale[k];
      n++;
    }
  mean /= (double)n;
  double last = NAN;
  for (size_t k = 0; k < w->count; k++) {
    if (w->batch[k] == without)
      continue;
    if (below) {
      double width = w->sorted[k].value - last;
      double moved = width * covariance * covariance;
      up += moved * w->inverse[below];
      down += moved * w->inverse[n - below];
      up_bound += width * (double)below;
      down_bound += width * (double)(n - below);
    }
    below++;
    covariance += w->scale[k] - mean;
    last = w->sorted[k].value;
  }
  if (!(up_bound > 0 && down_bound > 0))
    return 0; /* it never moves */
  return M_LN2 / 8 * fmax(up / up_bound, down / down_bound);
}

static void measure(const work *w, double *value, double *se) {
  double all = square_of(w, BATCHES), mean = 0, squares = 0, part[BATCHES];
  for (unsigned b = 0; b < BATCHES; b++)
    mean += (part[b] = square_of(w, b)) / BATCHES;
  for (unsigned b = 0; b < BATCHES; b++)
    squares += (part[b] - mean) * (part[b] - mean);
  double square = BATCHES * all - (BATCHES - 1) * mean;
  double error = sqrt(squares * (BATCHES - 1) / BATCHES);
  *value = sqrt(fmax(0, square));
  *se = *value > 0 ? fmin(error / (2 * *value), sqrt(error)) : sqrt(error);
}

static void fill_value(work *w, const tempera_draws *draws, size_t value,
                       size_t stride, size_t rows, tempera_sensitivity *made) {
  for (size_t i = 0; i < w->count; i++) {
    const double *x = tm_draws_column(draws, TEMPERA_TARGET, i / rows, value);
    w->sorted[i] = (tm_ranked){x[i % rows * stride], i};
    if (!isfinite(w->sorted[i].value))
      return;
  }
  tm_ranked_sort(w->sorted, w->room, w->count);
  for (size_t k = 0; k < w->count; k++)
    w->batch[k] = (unsigned char)(w->sorted[k].index * BATCHES / w->count);
  for (int prior = 0; prior < 2; prior++) {
    size_t column = draws->size + (prior ? TM_LOG_PRIOR : TM_LOG_LIKELIHOOD);
    for (size_t k = 0; k < w->count; k++) {
      size_t i = w->sorted[k].index;
      w->scale[k] = tm_draws_column(draws, TEMPERA_TARGET, i / rows,
                                    column)[i % rows * stride];
    }
    measure(w, prior ? &made->prior : &made->likelihood,
            prior ? &made->prior_se : &made->likelihood_se);
  }
}

static tempera_status fill(work *w, tm_arena *arena, const tempera_draws *draws,
                           size_t stride, size_t rows, tempera_summary *s,
                           tempera_error *error) {
  w->count = draws->chains * rows;
  w->scale = TM_NEW(arena, double, w->count);
  w->batch = TM_NEW(arena, unsigned char, w->count);
  w->inverse = TM_NEW(arena, double, w->count + 1);
  w->sorted = TM_NEW(arena, tm_ranked, w->count);
  w->room = TM_NEW(arena, tm_ranked, w->count);
  if (!w->scale || !w->batch || !w->inverse || !w->sorted || !w->room)
    return tm_fail_memory(error);
  for (size_t k = 1; k <= w->count; k++)
    w->inverse[k] = 1 / (double)k;
  for (size_t v = 0; v < s->value_count; v++)
    if (!(draws->fixed && draws->fixed[v]))
      fill_value(w, draws, v, stride, rows, &s->sensitivity[v]);
  return TEMPERA_OK;
}

tempera_status tm_estimate_sensitivity(const tempera_draws *draws,
                                       tempera_summary *summary,
                                       tempera_error *error) {
  tempera_summary *s = summary;
  size_t total = draws->chains * draws->count;
  size_t stride = total / MOST_DRAWS + 1, rows = draws->count / stride;
  if (s->sensitivity || !draws->has_role[TEMPERA_TARGET] ||
      !draws->likelihood || draws->chains * rows < FEWEST || !s->value_count)
    return TEMPERA_OK;
  s->sensitivity = tm_heap_alloc(s->value_count, sizeof *s->sensitivity);
  tm_arena *arena = tm_arena_create();
  work w = {0};
  for (size_t v = 0; s->sensitivity && v < s->value_count; v++)
    s->sensitivity[v] = (tempera_sensitivity){NAN, NAN, NAN, NAN};
  tempera_status status = arena && s->sensitivity
                              ? fill(&w, arena, draws, stride, rows, s, error)
                              : tm_fail_memory(error);
  tm_arena_free(arena);
  return status;
}

const char *tempera_sensitivity_words(const tempera_sensitivity *sensitivity) {
  const double much = 0.05;
  if (!(sensitivity->prior >= much))
    return NULL;
  return sensitivity->likelihood >= much ? "prior-data conflict"
                                         : "weak likelihood";
}
