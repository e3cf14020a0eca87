/* compare_loo.c - models by what they predict: leave-one-out beside the
 * evidence. Terms are the same outcomes in every model, so differences are
 * taken term by term, and their error is that of the differences; so are those
 * chosen of very many. */
#include "report/compare.h"

#include "base/json.h"
#include "base/memory.h"
#include "report/table.h"

#include <math.h>

/* All have it, of equally many terms. */
static bool comparable(const tempera_summary *const *s, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (!s[i]->loo || s[i]->loo->terms != s[0]->loo->terms ||
        s[i]->loo->used != s[0]->loo->used)
      return false;
  return true;
}

static double difference_se(const tempera_loo *a, const tempera_loo *b) {
  if (!a->pointwise || !b->pointwise)
    return NAN;
  double n = (double)a->used, squares = 0, mean = 0;
  for (size_t i = 0; i < a->used; i++)
    mean += (a->pointwise[i] - b->pointwise[i]) / n;
  for (size_t i = 0; i < a->used; i++)
    squares += pow(a->pointwise[i] - b->pointwise[i] - mean, 2);
  return sqrt((double)a->terms * squares / (n - 1));
}

tempera_status tm_compare_loo(const tempera_summary *const *summaries,
                              tempera_comparison *c, tempera_error *error) {
  if (!comparable(summaries, c->count))
    return TEMPERA_OK;
  c->loo = tm_heap_alloc(c->count, sizeof *c->loo);
  if (!c->loo)
    return tm_fail_memory(error);
  size_t best = 0;
  for (size_t i = 0; i < c->count; i++) {
    const tempera_loo *l = summaries[i]->loo;
    c->loo[i] = (tempera_loo_row){l->elpd, l->se,    l->p,    0,
                                  0,       l->k_bad, l->waic, l->waic_se};
    best = l->elpd > summaries[best]->loo->elpd ? i : best;
  }
  for (size_t i = 0; i < c->count; i++) {
    c->loo[i].difference = c->loo[i].elpd - c->loo[best].elpd;
    c->loo[i].difference_se =
        i == best ? 0 : difference_se(summaries[i]->loo, summaries[best]->loo);
  }
  return TEMPERA_OK;
}

void tm_compare_loo_text(const tempera_comparison *c, bool colour,
                         tm_text *out) {
  static const char *const titles[] = {"run",          "elpd LOO",  "se",
                                       "vs best",      "se",        "p",
                                       "bad Pareto k", "elpd WAIC", "se"};
  enum { COLUMNS = sizeof titles / sizeof *titles };
  tm_table table = {.columns = COLUMNS};
  if (!c->loo)
    return;
  for (size_t i = 0; i < COLUMNS; i++)
    tm_table_cell(&table, titles[i]);
  for (size_t i = 0; i < c->count; i++) {
    const tempera_loo_row *l = &c->loo[i];
    char count[24];
    tm_table_cell(&table, c->names[i]);
    tm_table_number(&table, l->elpd, 2);
    tm_table_number(&table, l->se, 2);
    tm_table_number(&table, l->difference, 2);
    tm_table_number(&table, l->difference_se, 2);
    tm_table_number(&table, l->p, 2);
    snprintf(count, sizeof count, "%zu", l->k_bad);
    tm_table_cell(&table, count);
    tm_table_number(&table, l->waic, 2);
    tm_table_number(&table, l->waic_se, 2);
  }
  tm_text_add(out, "\n");
  tm_table_print(&table, colour, out);
  tm_text_add(
      out, "\n  elpd: log predictive density of the data, each outcome given "
           "the others; it asks\n  which model predicts such data best, the "
           "evidence which one predicted them all.\n");
}

void tm_compare_loo_json(const tempera_comparison *c, size_t i, void *object) {
  if (!c->loo) {
    json_object_set_new(object, "loo", json_null());
    return;
  }
  const tempera_loo_row *l = &c->loo[i];
  json_t *item = json_object();
  tm_json_real(item, "elpd", l->elpd);
  tm_json_real(item, "se", l->se);
  tm_json_real(item, "p", l->p);
  tm_json_integer(item, "k_bad", l->k_bad);
  tm_json_real(item, "difference", l->difference);
  tm_json_real(item, "difference_se", l->difference_se);
  tm_json_real(item, "waic", l->waic);
  tm_json_real(item, "waic_se", l->waic_se);
  json_object_set_new(object, "loo", item);
}
