/* run_overview.c - all parameters of a run's report at once: forests of their
 * intervals, and how well each is known. */
#include "report/run_page.h"

#include "base/json.h"
#include "report/value_groups.h"

#include <math.h>
#include <stdlib.h>

enum { FOREST_ROWS = 40, MOST_FORESTS = 8 };
/* Intervals narrower than this share of a forest's axis get one of their own.
 */
static const double NARROW = 0.02;

static void add_item(json_t *figure, const tempera_value_summary *v) {
  json_t *item = tm_figure_item(figure, v->name, v->q50, v->q5, v->q95);
  json_object_set_new(item, "doubtful", json_boolean(v->rhat > 1.05));
}

static json_t *new_forest(const char *title) {
  json_t *figure = tm_figure("forest", title);
  tm_figure_axis(figure, "x", "median and 90 % interval");
  return figure;
}

/* One interval alone says no more than its row in the table. */
static void add_forest(json_t *figures, json_t *figure) {
  if (json_array_size(json_object_get(figure, "items")) > 1)
    tm_figures_add(figures, figure);
  else
    json_decref(figure);
}

static bool has_interval(const tempera_value_summary *v) {
  return v->name && isfinite(v->q5) && isfinite(v->q50) && isfinite(v->q95);
}

/* ---- containers -----------------------------------------------------------
 */

static void add_container(json_t *figures, const tm_value_group *group) {
  char title[200], note[100];
  snprintf(title, sizeof title, "%.*s", group->name_length,
           group->values->name);
  json_t *figure = new_forest(title);
  size_t shown = group->count < FOREST_ROWS ? group->count : FOREST_ROWS;
  for (size_t i = 0; i < shown; i++)
    if (has_interval(&group->values[i]))
      add_item(figure, &group->values[i]);
  if (shown < group->count) {
    snprintf(note, sizeof note, "The first %zu of %zu.", shown, group->count);
    tm_figure_note(figure, note);
  }
  add_forest(figures, figure);
}

/* ---- single numbers -------------------------------------------------------
 */

static double width_of(const tempera_value_summary *v) {
  return v->q95 - v->q5;
}

static int wider_first(const void *a, const void *b) {
  double p = width_of(*(const tempera_value_summary *const *)a);
  double q = width_of(*(const tempera_value_summary *const *)b);
  return (p < q) - (p > q);
}

/* Numbers of one order of magnitude share a forest. */
static void add_singles(json_t *figures, const tempera_value_summary **list,
                        size_t count) {
  json_t *figure = NULL;
  double low = 0, high = 0;
  size_t forests = 0;
  qsort(list, count, sizeof *list, wider_first);
  for (size_t i = 0; i < count; i++) {
    const tempera_value_summary *v = list[i];
    double all = fmax(high, v->q95) - fmin(low, v->q5);
    if (!figure || width_of(v) < NARROW * all) {
      if (figure)
        add_forest(figures, figure);
      figure = NULL;
      if (forests++ == MOST_FORESTS)
        return;
      figure = new_forest(i ? "Parameters on another scale" : "Parameters");
      low = v->q5;
      high = v->q95;
    }
    low = fmin(low, v->q5);
    high = fmax(high, v->q95);
    add_item(figure, v);
  }
  if (figure)
    add_forest(figures, figure);
}

static void add_forests(json_t *figures, const tempera_value_summary *values,
                        size_t value_count) {
  const tempera_value_summary **singles =
      tm_heap_alloc(value_count, sizeof *singles);
  size_t count = 0, containers = 0;
  for (size_t i = 0; singles && i < value_count;) {
    tm_value_group group = tm_value_group_at(values, value_count, i);
    if (group.count > 1 && containers++ < MOST_FORESTS)
      add_container(figures, &group);
    else if (group.count == 1 && has_interval(group.values))
      singles[count++] = group.values;
    i += group.count;
  }
  if (count > 0)
    add_singles(figures, singles, count);
  tm_heap_free(singles);
}

/* ---- how well they are known ----------------------------------------------
 */

static json_t *mixing(const tempera_summary *s) {
  size_t n = s->value_count + s->quantity_count, used = 0;
  double *room = tm_heap_alloc(3 * n, sizeof *room);
  json_t *figure = tm_figure("plot", "Effective draws and R-hat");
  tm_figure_axis(figure, "x", "R-hat");
  tm_json_string(tm_figure_axis(figure, "y", "effective draws"), "scale",
                 "log");
  for (size_t i = 0; room && i < n; i++) {
    const tempera_value_summary *v =
        i < s->value_count ? &s->values[i] : &s->quantities[i - s->value_count];
    if (!isfinite(v->rhat) || !(v->ess_bulk > 0) || !(v->ess_tail > 0))
      continue;
    room[used] = v->rhat;
    room[n + used] = v->ess_bulk;
    room[2 * n + used++] = v->ess_tail;
  }
  if (used) {
    tm_figure_xy(figure, "points", "bulk", room, room + n, used);
    tm_figure_xy(figure, "points", "tails", room, room + 2 * n, used);
    tm_figure_rule(figure, "x", 1.01, "1.01");
    tm_figure_rule(figure, "y", 400, "400");
    tm_figure_note(figure, "A point for each parameter and quantity. Left of "
                           "1.01 and above 400 is good.");
  }
  tm_heap_free(room);
  return used ? figure : (json_decref(figure), NULL);
}

void tm_run_forests(json_t *section, const tempera_value_summary *values,
                    size_t count) {
  add_forests(tm_section_figures(section), values, count);
}

void tm_run_overview(json_t *section, const tempera_summary *summary) {
  json_t *figures = tm_section_figures(section);
  add_forests(figures, summary->values, summary->value_count);
  json_t *figure = mixing(summary);
  if (figure)
    tm_figures_add(figures, figure);
}
