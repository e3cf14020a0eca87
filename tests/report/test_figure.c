/* Facts about figures and pages: every kind is drawn without a browser, and
 * text stays text in the files. */
#include "base/file.h"
#include "base/memory.h"
#include "report/page.h"

#include "cmocka_all.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

enum { N = 24 };

static json_t *plot_figure(void) {
  json_t *figure = tm_figure("plot", "All layers");
  double x[N], y[N], low[N], high[N];
  for (size_t i = 0; i < N; i++) {
    x[i] = 0.01 + (double)i / N;
    y[i] = sin(6 * x[i]);
    low[i] = y[i] - 0.2;
    high[i] = y[i] + 0.2;
  }
  y[3] = NAN;
  tm_figure_axis(figure, "x", "tau");
  tm_figure_axis(figure, "y", "log z");
  json_t *band = tm_figure_xy(figure, "band", "interval", x, y, N);
  tm_set_numbers(band, "lower", low, N);
  tm_set_numbers(band, "upper", high, N);
  tm_figure_xy(figure, "line", "curve", x, y, N);
  tm_figure_xy(figure, "area", "area", x, y, N);
  tm_figure_xy(figure, "points", "draws", x, y, N);
  json_t *errors = tm_figure_xy(figure, "errors", "estimates", x, y, N);
  tm_set_numbers(errors, "lower", low, N);
  tm_set_numbers(errors, "upper", high, N);
  tm_figure_histogram(figure, "histogram", x, N, 0, 1.1, 10);
  tm_figure_rule(figure, "y", 1.7, "exact");
  return figure;
}

static json_t *grid_figure(const char *kind) {
  json_t *figure = tm_figure(kind, kind);
  double x[N], z[N * N];
  for (size_t i = 0; i < N; i++)
    x[i] = -2 + 4.0 * (double)i / (N - 1);
  for (size_t j = 0; j < N; j++)
    for (size_t i = 0; i < N; i++)
      z[j * N + i] = exp(-x[i] * x[i] - x[j] * x[j]);
  tm_figure_axis(figure, "x", "mu");
  tm_figure_axis(figure, "y", "tau");
  json_t *grid = tm_figure_grid("density", x, N, x, N, z);
  if (strcmp(kind, "surface") == 0)
    json_object_set_new(figure, "grid", grid);
  else
    tm_figure_add_grid(figure, grid);
  return figure;
}

static json_t *forest_figure(void) {
  json_t *figure = tm_figure("forest", "Evidence");
  tm_figure_item(figure, "rb", -38.25, -38.27, -38.23);
  tm_figure_item(figure, "phm", -35, NAN, NAN);
  return figure;
}

static json_t *matrix_figure(void) {
  return json_pack("{s:s, s:s, s:[ss], s:[ss], s:[[nf],[fn]]}", "kind",
                   "matrix", "title", "Bayes factors", "rows", "a", "b",
                   "columns", "a", "b", "values", 1.5, -1.5);
}

static json_t *pairs_figure(void) {
  return json_pack("{s:s, s:s, s:[{s:s, s:[ffff]}, {s:s, s:[ffff]}], "
                   "s:[iiii], s:[ss]}",
                   "kind", "pairs", "title", "Pairs", "columns", "name", "a",
                   "values", 1.0, 2.0, 3.0, 4.0, "name", "b", "values", 0.5,
                   0.25, 1.0, 2.0, "groups", 0, 0, 1, 1, "group_names",
                   "mode 1", "mode 2");
}

static size_t count_of(const char *text, const char *word) {
  size_t count = 0;
  for (; (text = strstr(text, word)); text++)
    count++;
  return count;
}

static void every_kind_is_drawn(void **state) {
  (void)state;
  tm_drawing *drawing = NULL;
  tempera_error error = {0};
  json_t *figures[] = {plot_figure(),          forest_figure(),
                       matrix_figure(),        grid_figure("contour"),
                       grid_figure("surface"), pairs_figure()};
  assert_int_equal(tm_drawing_open(&drawing, &error), TEMPERA_OK);
  for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
    char *text = NULL;
    tempera_status status =
        tm_drawing_svg(drawing, figures[i], 640, 420, &text, &error);
    if (status != TEMPERA_OK)
      fail_msg("figure %zu: %s", i, error.message);
    assert_memory_equal(text, "<svg ", 5);
    assert_true(count_of(text, "<path") >= 4);
    assert_null(strstr(text, "NaN"));
    assert_non_null(
        strstr(text, json_string_value(json_object_get(figures[i], "title"))));
    tm_heap_free(text);
    json_decref(figures[i]);
  }
  tm_drawing_close(drawing);
}

static void an_unknown_kind_is_refused(void **state) {
  (void)state;
  tm_drawing *drawing = NULL;
  tempera_error error = {0};
  char *text = NULL;
  assert_int_equal(tm_drawing_open(&drawing, &error), TEMPERA_OK);
  json_t *figure = tm_figure("pie", "No");
  assert_int_equal(tm_drawing_svg(drawing, figure, 640, 420, &text, &error),
                   TEMPERA_ERROR_INPUT);
  assert_non_null(strstr(error.message, "unknown kind pie"));
  assert_null(text);
  json_decref(figure);
  tm_drawing_close(drawing);
}

static void a_histogram_is_a_density(void **state) {
  (void)state;
  json_t *figure = tm_figure("plot", "");
  double values[100];
  for (size_t i = 0; i < 100; i++)
    values[i] = (double)i / 99;
  json_t *steps = tm_figure_histogram(figure, NULL, values, 100, 0, 1, 4);
  double total = 0;
  json_t *heights = json_object_get(steps, "y");
  for (size_t i = 0; i < json_array_size(heights); i++)
    total += json_number_value(json_array_get(heights, i)) / 4;
  assert_true(fabs(total - 1) < 1e-3);
  assert_int_equal(json_array_size(json_object_get(steps, "edges")), 5);
  json_decref(figure);
}

static void numbers_keep_what_a_picture_shows(void **state) {
  (void)state;
  double values[] = {1000000.0012345, 1000000.0112345, NAN, INFINITY, 1000000};
  json_t *list = tm_numbers(values, 5);
  assert_true(fabs(json_number_value(json_array_get(list, 0)) - values[0]) <
              1e-6);
  assert_true(json_is_null(json_array_get(list, 2)));
  assert_true(json_is_null(json_array_get(list, 3)));
  assert_true(json_is_integer(json_array_get(list, 4)));
  char *text = json_dumps(list, JSON_COMPACT | JSON_REAL_PRECISION(15));
  assert_non_null(strstr(text, "[1000000.0012345,"));
  free(text);
  json_decref(list);
  /* Small beside the range, and all that an axis by the barrier shows. */
  double small[] = {-10537435.08, -59.48483068, 2.5118864e-6, 0};
  list = tm_numbers(small, 4);
  for (size_t i = 0; i < 4; i++)
    assert_true(fabs(json_number_value(json_array_get(list, i)) - small[i]) <=
                1e-4 * fabs(small[i]));
  json_decref(list);
}

static void names_cannot_end_the_script(void **state) {
  (void)state;
  static const char name[] = "</script><!--<b>&\xe2\x80\xa8";
  char path[] = "/tmp/tempera-page-XXXXXX";
  int file = mkstemp(path);
  assert_true(file >= 0);
  close(file);
  tempera_error error = {0};
  json_t *page = tm_page(name, "");
  json_t *table = tm_section_table(tm_page_section(page, name), NULL);
  tm_page_column(table, name, NULL, true);
  tm_row_text(tm_page_row(table, NULL), name);
  assert_int_equal(tm_page_write(page, path, &error), TEMPERA_OK);
  char *text = NULL;
  size_t length = 0;
  assert_int_equal(tm_file_read(path, &text, &length, &error), TEMPERA_OK);
  assert_int_equal(count_of(text, "</script>"), 2);
  assert_null(strstr(text, "<!--"));
  assert_null(strstr(text, "\xe2\x80\xa8"));
  assert_int_equal(count_of(text, "http://www.w3.org/"), /* namespaces */
                   count_of(text, "http://") + count_of(text, "https://"));
  tm_heap_free(text);
  json_decref(page);
  unlink(path);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_kind_is_drawn),
      cmocka_unit_test(an_unknown_kind_is_refused),
      cmocka_unit_test(a_histogram_is_a_density),
      cmocka_unit_test(numbers_keep_what_a_picture_shows),
      cmocka_unit_test(names_cannot_end_the_script),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
