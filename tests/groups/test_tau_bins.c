/* Facts about bins of tau and the flat histogram: tau_bins.c, wang_landau.c. */
#include "groups/tau_bins.h"
#include "groups/wang_landau.h"

#include "cmocka_all.h"

#include <math.h>

static tm_tau_bins make(tm_arena *arena, size_t capacity) {
  tm_tau_bins bins;
  assert_int_equal(tm_tau_bins_create(arena, capacity, &bins, NULL),
                   TEMPERA_OK);
  bins.count = 2;
  bins.edge[0] = 0;
  bins.edge[1] = 0.25;
  bins.edge[2] = 1;
  bins.log_density[0] = 2;
  bins.log_density[1] = -1;
  bins.log_atom = 0.5;
  return bins;
}

static void a_halved_bin_keeps_its_density(void **state) {
  (void)state;
  tm_arena *arena = tm_arena_create();
  tm_tau_bins bins = make(arena, 3);
  assert_true(tm_tau_bins_split(&bins, 0, 0));
  assert_int_equal(bins.count, 3);
  assert_true(bins.edge[1] == 0.125 && bins.edge[2] == 0.25);
  assert_true(bins.log_density[0] == 2 && bins.log_density[1] == 2 &&
              bins.log_density[2] == -1);
  assert_false(tm_tau_bins_split(&bins, 0, 0)); /* no room */
  const double at[] = {0, 0.1249, 0.125, 0.2, 0.25, 1};
  const size_t bin[] = {0, 0, 1, 1, 2, 2};
  for (size_t i = 0; i < 6; i++)
    assert_int_equal(tm_tau_bins_find(&bins, at[i]), bin[i]);
  tm_arena_free(arena);
}

/* z = e^{-8 tau}: halves of equal mass where the bin's was all in one. */
static void the_lighter_half_is_raised(void **state) {
  (void)state;
  tm_arena *arena = tm_arena_create();
  tm_tau_bins down = make(arena, 3), up = make(arena, 3);
  assert_true(tm_tau_bins_split(&down, 1, -8));
  assert_true(down.log_density[1] == -1 && down.log_density[2] == -1 + 3);
  assert_true(tm_tau_bins_split(&up, 1, 8));
  assert_true(up.log_density[1] == -1 + 3 && up.log_density[2] == -1);
  tm_arena_free(arena);
}

static void the_table_has_the_bins_masses(void **state) {
  (void)state;
  tm_arena *arena = tm_arena_create();
  tm_tau_bins bins = make(arena, 2);
  tm_tau_prior prior;
  tm_tau_bins_tabulate(&bins, &prior);
  double exact = exp(0.5) + 0.25 * exp(2) + 0.75 * exp(-1);
  assert_true(fabs(tm_loglinear_log_mass(&prior.log_prior, 0) - log(exact)) <
              1e-8);
  assert_true(tm_loglinear_at(&prior.log_prior, 0.1) == 2);
  assert_true(tm_loglinear_at(&prior.log_prior, 0.3) == -1);
  tm_arena_free(arena);
}

static void an_average_has_all_edges(void **state) {
  (void)state;
  tm_arena *arena = tm_arena_create();
  tm_tau_bins a = make(arena, 8), b = make(arena, 8), mean, narrow;
  tm_tau_bins *both[] = {&a, &b};
  assert_true(tm_tau_bins_split(&a, 0, 0) && tm_tau_bins_split(&b, 1, 0));
  a.log_density[0] = 4;
  a.log_density[2] = 7; /* b has two bins there: they count */
  b.log_atom += 10;     /* at another level */
  for (size_t i = 0; i < b.count; i++)
    b.log_density[i] += 10;
  assert_int_equal(tm_tau_bins_create(arena, 8, &mean, NULL), TEMPERA_OK);
  tm_tau_bins_average(both, 2, &mean);
  const double edge[] = {0, 0.125, 0.25, 0.625, 1};
  const double density[] = {4, 2, -1, -1}; /* before centring */
  double centre = (4 + 2 - 1 - 1 + 0.5) / 5;
  assert_int_equal(mean.count, 4);
  for (size_t i = 0; i <= 4; i++)
    assert_true(mean.edge[i] == edge[i]);
  for (size_t i = 0; i < 4; i++)
    assert_true(fabs(mean.log_density[i] + centre - density[i]) < 1e-12);
  assert_true(fabs(mean.log_atom + centre - 0.5) < 1e-12);
  /* Too many edges: those of the first. */
  assert_int_equal(tm_tau_bins_create(arena, 3, &narrow, NULL), TEMPERA_OK);
  tm_tau_bins_average(both, 2, &narrow);
  assert_int_equal(narrow.count, 3);
  assert_true(narrow.edge[1] == 0.125 && narrow.edge[3] == 1);
  tm_arena_free(arena);
}

static void the_gain_falls_when_visits_are_flat(void **state) {
  (void)state;
  tm_arena *arena = tm_arena_create();
  tm_wang_landau w;
  assert_int_equal(tm_wang_landau_create(arena, 3, &w, NULL), TEMPERA_OK);
  w.bins = 3;
  assert_true(tm_wang_landau_visit(&w, 0, 1, 1) == log1p(1));
  assert_false(tm_wang_landau_settle(&w));
  for (int i = 0; i < 100; i++) {
    tm_wang_landau_visit(&w, 1, 1, 1);
    tm_wang_landau_visit(&w, 2, 1, 1);
  }
  assert_false(tm_wang_landau_settle(&w)); /* bin 0 is behind */
  for (int i = 0; i < 60; i++)
    tm_wang_landau_visit(&w, 0, 1, 1);
  assert_true(tm_wang_landau_settle(&w));
  assert_int_equal(w.total, 0);
  assert_true(tm_wang_landau_visit(&w, 0, 2, 4) == log1p(0.25));
  tm_arena_free(arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_halved_bin_keeps_its_density),
      cmocka_unit_test(the_lighter_half_is_raised),
      cmocka_unit_test(the_table_has_the_bins_masses),
      cmocka_unit_test(an_average_has_all_edges),
      cmocka_unit_test(the_gain_falls_when_visits_are_flat),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
