/* labels.c - components that can change places: mixtures whose posterior is
 * the same under any numbering (mu[1..K], sigma2[1..K], p[1..K]). Then the
 * mean and R-hat of mu[1] say how often labels changed, not what the
 * components are.
 *
 * Known from names and draws alone. A block of K values is the anchor when
 * putting each draw's values in order leaves far less spread than the same
 * for independent draws of its pooled values (components keep apart), and
 * every label holds every rank equally often, within the error of labels that
 * change as rarely as these. Blocks of the same size belong to it when their
 * values, carried along by the anchor's order, differ by rank but not by which
 * label had the rank. Quantities in that order do not depend on labels, so
 * these are what R-hat and ESS are taken of. */
#include "estimate/estimate.h"
#include "estimate/evidence/influence.h"
#include "estimate/findings.h"
#include "estimate/summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LABELS = 12, MOST_LOOKED = 20000 };
static const double APART = 0.5;   /* of the spread of independent values */
static const double ALIKE = 0.5;   /* standard deviations */
static const double MATTERS = 0.3; /* standard deviations between ranks */

/* Values first .. first + size - 1 are name[1] .. name[size]. */
typedef struct block {
  size_t first, size, letters;
} block;

typedef struct labelling {
  const tempera_draws *draws;
  tm_arena *arena;
  size_t rows, count;
  block *blocks;
  size_t block_count;
  block anchor;
  unsigned char *order; /* order[draw * K + rank] is a label */
  double *series;
  double *carried, **columns; /* of a block: see make_columns */
  int threads;
} labelling;

static double value_at(const labelling *l, size_t column, size_t draw) {
  return tm_draws_column(l->draws, TEMPERA_TARGET, draw / l->rows,
                         column)[draw % l->rows];
}

static size_t label_at(const labelling *l, size_t draw, size_t rank) {
  return l->order[draw * l->anchor.size + rank];
}

/* ---- blocks -------------------------------------------------------------- */

/* The length of NAME in NAME[i]; 0 for other names and for NAME[i,j]. */
static size_t letters_of(const char *name) {
  const char *open = strchr(name, '[');
  return open && !strchr(open, ',') ? (size_t)(open - name) : 0;
}

static bool find_blocks(labelling *l) {
  const char *const *names = l->draws->names;
  l->blocks = TM_NEW(l->arena, block, l->draws->size);
  if (!l->blocks)
    return false;
  for (size_t i = 0; i < l->draws->size;) {
    size_t letters = letters_of(names[i]), end = i + 1;
    while (letters && end < l->draws->size &&
           letters_of(names[end]) == letters &&
           !strncmp(names[i], names[end], letters))
      end++;
    if (letters && end - i >= 2 && end - i <= MOST_LABELS)
      l->blocks[l->block_count++] = (block){i, end - i, letters};
    i = end;
  }
  return true;
}

/* ---- the anchor ---------------------------------------------------------- */

/* Whole numbers without a pattern, the same every time. */
static size_t scatter(size_t i) {
  uint64_t k = (i + 1) * 0x9e3779b97f4a7c15u;
  k = (k ^ (k >> 30)) * 0xbf58476d1ce4e5b9u;
  return (size_t)((k ^ (k >> 27)) >> 8);
}

/* The variance of values within ranks, over all ranks: as drawn, or with all
 * values taken anywhere from the block, as if independent. MOST_LOOKED draws
 * know a variance to about a percent, and it is compared with half or double
 * of itself. */
static double spread_in_order(const labelling *l, const block *b,
                              bool independent) {
  double sum[MOST_LABELS] = {0}, squares[MOST_LABELS] = {0}, total = 0;
  double n = 0, centre = value_at(l, b->first, 0);
  size_t step = (l->count + MOST_LOOKED - 1) / MOST_LOOKED;
  for (size_t i = 0; i < l->count; i += step, n++) {
    double x[MOST_LABELS];
    for (size_t k = 0; k < b->size; k++) {
      size_t any = scatter(i * b->size + k), label = any % b->size;
      double v = independent
                     ? value_at(l, b->first + label, any / b->size % l->count)
                     : value_at(l, b->first + k, i);
      size_t j = k;
      for (; j > 0 && x[j - 1] > v - centre; j--)
        x[j] = x[j - 1];
      x[j] = v - centre;
    }
    for (size_t k = 0; k < b->size; k++) {
      sum[k] += x[k];
      squares[k] += x[k] * x[k];
    }
  }
  for (size_t k = 0; k < b->size; k++)
    total += squares[k] / n - sum[k] / n * (sum[k] / n);
  return total;
}

/* A block's columns of one chain. */
static void columns_of(const labelling *l, const block *b, size_t chain,
                       const double *columns[MOST_LABELS]) {
  for (size_t k = 0; k < b->size; k++)
    columns[k] = tm_draws_column(l->draws, TEMPERA_TARGET, chain, b->first + k);
}

static void put_in_order(labelling *l) {
  size_t K = l->anchor.size;
  const double *x[MOST_LABELS];
  unsigned char *order = l->order;
  for (size_t i = 0; i < l->count; i++, order += K) {
    size_t row = i % l->rows;
    if (row == 0)
      columns_of(l, &l->anchor, i / l->rows, x);
    for (size_t k = 0; k < K; k++) {
      double v = x[k][row];
      size_t j = k;
      for (; j > 0 && x[order[j - 1]][row] > v; j--)
        order[j] = order[j - 1];
      order[j] = (unsigned char)k;
    }
  }
}

/* Whether a label holds a rank one K-th of the time, as far as its changes
 * can tell: rare changes, and each visit counts once. */
static bool is_fair(labelling *l, size_t label, size_t rank) {
  double fair = 1 / (double)l->anchor.size;
  size_t visits = l->draws->chains, held = 0;
  for (size_t i = 0; i < l->count; i++) {
    bool here = label_at(l, i, rank) == label;
    l->series[i] = here;
    held += here;
  }
  for (size_t i = 1; i < l->count; i++)
    visits += l->series[i] != l->series[i - 1];
  for (size_t i = l->rows; i < l->count; i += l->rows)
    visits -= l->series[i] != l->series[i - 1]; /* another chain */
  double share = (double)held / (double)l->count;
  double se = tm_influence_error(l->series, l->draws->chains, l->rows).se;
  double rough = sqrt(fair * (1 - fair) / (double)visits);
  return fabs(share - fair) <= 4.5 * fmax(se, rough);
}

static bool labels_change(const labelling *l) {
  for (size_t i = 1; i < l->count; i++)
    if (memcmp(l->order, l->order + i * l->anchor.size, l->anchor.size) != 0)
      return true;
  return false;
}

static bool is_anchor(labelling *l) {
  put_in_order(l);
  if (!labels_change(l))
    return false;
  for (size_t label = 0; label < l->anchor.size; label++)
    for (size_t rank = 0; rank < l->anchor.size; rank++)
      if (!is_fair(l, label, rank))
        return false;
  return true;
}

/* ---- blocks that go along ------------------------------------------------ */

static void carry(const labelling *l, const block *b, size_t rank,
                  double *series) {
  const double *x[MOST_LABELS];
  for (size_t c = 0; c < l->draws->chains; c++) {
    columns_of(l, b, c, x);
    for (size_t row = 0; row < l->rows; row++)
      series[c * l->rows + row] = x[label_at(l, c * l->rows + row, rank)][row];
  }
}

/* Of l->series: mean and standard deviation, and whether the mean is the same
 * whichever label had the rank (labels that had it 1 % of the time). */
static bool is_alike(const labelling *l, size_t rank, double *mean,
                     double *sd) {
  double sum[MOST_LABELS] = {0}, n[MOST_LABELS] = {0}, squares = 0;
  for (size_t i = 0; i < l->count; i++) {
    size_t label = label_at(l, i, rank);
    sum[label] += l->series[i];
    n[label]++;
  }
  *mean = 0;
  for (size_t k = 0; k < l->anchor.size; k++)
    *mean += sum[k] / (double)l->count;
  for (size_t i = 0; i < l->count; i++)
    squares += (l->series[i] - *mean) * (l->series[i] - *mean);
  *sd = sqrt(squares / (double)l->count);
  for (size_t k = 0; k < l->anchor.size; k++)
    if (n[k] >= 0.01 * (double)l->count &&
        fabs(sum[k] / n[k] - *mean) > ALIKE * *sd + 1e-9 * fabs(*mean))
      return false;
  return true;
}

static bool goes_along(labelling *l, const block *b) {
  double low = INFINITY, high = -INFINITY, widest = 0;
  if (b->size != l->anchor.size)
    return false;
  for (size_t rank = 0; rank < b->size; rank++) {
    double mean, sd;
    carry(l, b, rank, l->series);
    if (!is_alike(l, rank, &mean, &sd))
      return false;
    low = fmin(low, mean);
    high = fmax(high, mean);
    widest = fmax(widest, sd);
  }
  return high - low > MATTERS * widest;
}

/* ---- the choice of the anchor ---------------------------------------------
 */

/* How much less components spread in order than independent values do. */
static double closeness(const labelling *l, const block *b) {
  double null = spread_in_order(l, b, true);
  return null > 0 ? spread_in_order(l, b, false) / null : INFINITY;
}

/* How many blocks go along with this one as the anchor; 0 if it is none. */
static size_t followers(labelling *l, const block *b) {
  size_t count = 0;
  l->anchor = *b;
  if (!is_anchor(l) || !goes_along(l, b))
    return 0;
  for (size_t k = 0; k < l->block_count; k++)
    count += goes_along(l, &l->blocks[k]);
  return count;
}

/* The first of the blocks that most blocks follow: an order by it is the
 * order of components. */
static bool find_anchor(labelling *l) {
  const block *best = NULL;
  size_t most = 0;
  for (size_t b = 0; b < l->block_count; b++) {
    const block *k = &l->blocks[b];
    size_t count = closeness(l, k) < APART ? followers(l, k) : 0;
    if (count > most) {
      most = count;
      best = k;
    }
  }
  if (!best)
    return false;
  l->anchor = *best;
  put_in_order(l);
  return true;
}

/* ---- what is reported -----------------------------------------------------
 */

/* The worst mixing over values in the anchor's order. */
static bool judge(labelling *l, const block *b, tempera_summary *summary) {
  tempera_value_summary values[MOST_LABELS];
  for (size_t rank = 0; rank < b->size; rank++) {
    values[rank] =
        (tempera_value_summary){.rhat = NAN, .ess_bulk = NAN, .ess_tail = NAN};
    carry(l, b, rank, l->carried + rank * l->count);
  }
  if (tm_estimate_values(l->draws, l->columns, b->size, l->threads, values,
                         NULL) != TEMPERA_OK)
    return false;
  for (size_t rank = 0; rank < b->size; rank++) {
    const tempera_value_summary *v = &values[rank];
    summary->relabelled_rhat = fmax(summary->relabelled_rhat, v->rhat);
    summary->relabelled_ess =
        fmin(summary->relabelled_ess, fmin(v->ess_bulk, v->ess_tail));
  }
  return true;
}

/* Room for a block's values in the anchor's order, rank after rank. */
static bool make_columns(labelling *l) {
  size_t K = l->anchor.size;
  l->carried = TM_NEW(l->arena, double, K * l->count);
  l->columns = TM_NEW(l->arena, double *, l->draws->chains *K);
  if (!l->carried || !l->columns)
    return false;
  for (size_t c = 0; c < l->draws->chains; c++)
    for (size_t rank = 0; rank < K; rank++)
      l->columns[c * K + rank] = l->carried + rank * l->count + c * l->rows;
  return true;
}

static bool fill_shares(labelling *l, tempera_summary *summary) {
  summary->labels = tm_heap_alloc(l->anchor.size, sizeof(double));
  if (!summary->labels)
    return false;
  summary->label_count = l->anchor.size;
  for (size_t i = 0; i < l->count; i++)
    summary->labels[label_at(l, i, 0)]++;
  for (size_t k = 0; k < l->anchor.size; k++)
    summary->labels[k] /= (double)l->count;
  return true;
}

static bool warn(const labelling *l, const char *list,
                 tempera_summary *summary) {
  double least = 1, fair = 1 / (double)l->anchor.size;
  for (size_t k = 0; k < summary->label_count; k++)
    least = fmin(least, summary->labels[k]);
  if (tm_find_about(summary, TM_FIND_LABELS_PERMUTED, NAN, NAN, NULL, "%s",
                    list) != TEMPERA_OK)
    return false;
  return least >= fair / 2 ||
         tm_find_about(summary, TM_FIND_LABELS_UNEVEN, 100 * least, 100 * fair,
                       NULL, "%zu", l->anchor.size) == TEMPERA_OK;
}

/* "mu, sigma2, p" of the blocks marked as permuted. */
static char *add_name(char *list, const char *name, size_t letters) {
  char *longer = tm_heap_format("%s%s%.*s", list ? list : "", list ? ", " : "",
                                (int)letters, name);
  tm_heap_free(list);
  return longer;
}

static bool report(labelling *l, tempera_summary *summary) {
  char *list = NULL;
  if (!make_columns(l) || !fill_shares(l, summary))
    return false;
  for (size_t b = 0; b < l->block_count; b++) {
    const block *k = &l->blocks[b];
    if (!goes_along(l, k))
      continue;
    for (size_t i = 0; i < k->size; i++)
      summary->values[k->first + i].permuted = true;
    list = add_name(list, l->draws->names[k->first], k->letters);
    if (!list || !judge(l, k, summary)) {
      tm_heap_free(list);
      return false;
    }
  }
  bool done = !list || warn(l, list, summary);
  tm_heap_free(list);
  return done;
}

static bool find_labels(labelling *l, tempera_summary *summary) {
  l->order = TM_NEW(l->arena, unsigned char, l->count *MOST_LABELS);
  l->series = TM_NEW(l->arena, double, l->count);
  if (!l->order || !l->series || !find_blocks(l))
    return false;
  if (!find_anchor(l))
    return true;
  return report(l, summary);
}

tempera_status tm_estimate_labels(const tempera_draws *draws, int threads,
                                  tempera_summary *summary,
                                  tempera_error *error) {
  if (summary->mode_count < 2) /* labels that matter make modes */
    return TEMPERA_OK;
  labelling l = {.draws = draws,
                 .rows = draws->count,
                 .threads = threads,
                 .count = draws->count * draws->chains,
                 .arena = tm_arena_create()};
  bool found = l.arena && find_labels(&l, summary);
  tm_arena_free(l.arena);
  return found ? TEMPERA_OK : tm_fail_memory(error);
}
