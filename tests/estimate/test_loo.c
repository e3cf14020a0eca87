/* Leave-one-out by importance weights against the exact one of a conjugate
 * model, y_i ~ normal(mu, 1), mu ~ normal(0, 2), from independent draws of the
 * exact posterior. */
#include "estimate/loo.h"

#include "base/random.h"
#include "cmocka_all.h"
#include "family_wise.h"

#include <math.h>

enum { TERMS = 8, CHAINS = 4, ROWS = 250, DRAWS = CHAINS * ROWS, RUNS = 200 };
static const double Y[TERMS] = {0.3, -0.8, 1.6, 2.4, 0.1, -0.2, 1.1, 0.7};

static double log_normal(double x, double mean, double variance) {
  return -0.5 * (log(2 * M_PI * variance) + (x - mean) * (x - mean) / variance);
}

/* Of mu, without term `left` (TERMS: with all). */
static void posterior(int left, double *mean, double *variance) {
  double sum = 0, n = 0;
  for (int i = 0; i < TERMS; i++)
    if (i != left) {
      sum += Y[i];
      n++;
    }
  *variance = 1 / (n + 0.25);
  *mean = *variance * sum;
}

static double exact(void) {
  double total = 0, m, v;
  for (int i = 0; i < TERMS; i++) {
    posterior(i, &m, &v);
    total += log_normal(Y[i], m, v + 1);
  }
  return total;
}

static tempera_loo *one_run(tm_arena *arena, uint64_t seed) {
  double m, v, *column = TM_NEW(arena, double, DRAWS);
  double *mu = TM_NEW(arena, double, DRAWS);
  tm_loo_work work;
  tm_loo_term terms[TERMS];
  tempera_loo *loo = NULL;
  tempera_random random = tm_random(seed, 0, TM_PURPOSE_TEST);
  assert_true(tm_loo_work_create(arena, DRAWS, &work));
  posterior(TERMS, &m, &v);
  for (int s = 0; s < DRAWS; s++)
    mu[s] = m + sqrt(v) * tempera_random_normal(&random);
  for (int i = 0; i < TERMS; i++) {
    for (int s = 0; s < DRAWS; s++)
      column[s] = log_normal(Y[i], mu[s], 1);
    terms[i] = tm_loo_term_of(column, CHAINS, ROWS, &work);
  }
  assert_int_equal(tm_loo_sum(terms, TERMS, DRAWS, &loo, NULL), TEMPERA_OK);
  return loo;
}

static void it_is_the_exact_one(void **state) {
  (void)state;
  tm_arena *arena = tm_arena_create();
  double sum = 0, squares = 0;
  for (int r = 0; r < RUNS; r++) {
    tempera_loo *loo = one_run(arena, (uint64_t)r + 1);
    assert_int_equal(loo->k_bad, 0);
    assert_true(loo->p > 0.5 && loo->p < 1.5 &&
                fabs(loo->waic - loo->elpd) < 1);
    sum += loo->elpd;
    squares += loo->elpd * loo->elpd;
    tm_loo_free(loo);
  }
  double mean = sum / RUNS;
  double sd = sqrt((squares - RUNS * mean * mean) / (RUNS - 1));
  print_message("elpd %.5f, exactly %.5f, se %.5f\n", mean, exact(),
                sd / sqrt(RUNS));
  assert_true(fabs(mean - exact()) < 4 * sd / sqrt(RUNS));
  tm_arena_free(arena);
}

/* A tail that weights cannot cover is seen. */
static void heavy_tails_are_seen(void **state) {
  (void)state;
  tm_arena *arena = tm_arena_create();
  tm_loo_work work;
  double *column = TM_NEW(arena, double, DRAWS);
  tempera_random random = tm_random(5, 0, TM_PURPOSE_TEST);
  assert_true(tm_loo_work_create(arena, DRAWS, &work));
  for (int s = 0; s < DRAWS; s++)
    column[s] = -2 * tempera_random_exponential(&random); /* k = 2 */
  tm_loo_term t = tm_loo_term_of(column, CHAINS, ROWS, &work);
  assert_true(t.k > 1.2 && t.k < 3);
  for (int s = 0; s < DRAWS; s++)
    column[s] = -0.3 * tempera_random_exponential(&random);
  t = tm_loo_term_of(column, CHAINS, ROWS, &work);
  assert_true(t.k > 0 && t.k < 0.6);
  tm_arena_free(arena);
}

/* Of 4 000 terms 400 are left out: the sums are near those of all of them, within
 * the error of the choice, which is a small part of the whole one. */
static void some_of_many_stand_for_all(void **state) {
  (void)state;
  enum { MANY = 4000, SOME = 400, FEW = 200 };
  tm_arena *arena = tm_arena_create();
  tm_loo_work work;
  tm_loo_choice choice, again;
  double *column = TM_NEW(arena, double, FEW), mu[FEW];
  tm_loo_term *all = TM_NEW(arena, tm_loo_term, MANY);
  tm_loo_term *some = TM_NEW(arena, tm_loo_term, SOME);
  tempera_random random = tm_random(6, 0, TM_PURPOSE_TEST);
  assert_true(tm_loo_work_create(arena, FEW, &work));
  assert_true(tm_loo_choose(arena, MANY, SOME, &choice));
  assert_true(tm_loo_choose(arena, MANY, SOME, &again));
  assert_int_equal(choice.used, SOME);
  assert_memory_equal(choice.term, again.term, SOME * sizeof *choice.term);
  for (int s = 0; s < FEW; s++)
    mu[s] = 0.3 * tempera_random_normal(&random); /* wider than they tell */
  for (size_t i = 0, use = 0; i < MANY; i++) {
    double y = 1.5 * tempera_random_normal(&random), mean = 0, squares = 0;
    for (int s = 0; s < FEW; s++)
      mean += (column[s] = log_normal(y, mu[s], 1)) / FEW;
    for (int s = 0; s < FEW; s++)
      squares += (column[s] - mean) * (column[s] - mean);
    all[i] = tm_loo_term_of(column, CHAINS, FEW / CHAINS, &work);
    bool used = use < SOME && choice.term[use] == i;
    tm_loo_add_near(&choice, (tm_loo_near){mean, squares / (FEW - 1)},
                    used ? use : SIZE_MAX);
    if (used)
      some[use++] = all[i];
  }
  tempera_loo *whole = NULL, *part = NULL;
  assert_int_equal(tm_loo_sum(all, MANY, FEW, &whole, NULL), TEMPERA_OK);
  assert_int_equal(tm_loo_sum_chosen(some, &choice, FEW, &part, NULL),
                   TEMPERA_OK);
  print_message("elpd %.3f +- %.3f by %zu of %zu terms, %.3f +- %.3f by all\n",
                part->elpd, part->se, part->used, part->terms, whole->elpd,
                whole->se);
  assert_int_equal(part->terms, MANY);
  assert_true(fabs(part->elpd - whole->elpd) < 0.02 * whole->se);
  assert_true(fabs(part->waic - whole->waic) < 0.02 * whole->se);
  assert_true(fabs(part->p - whole->p) < 0.02 * whole->p);
  assert_true(fabs(part->waic_p - whole->waic_p) < 1e-8 * whole->p);
  assert_true(part->se > 0.9 * whole->se && part->se < 1.3 * whole->se);
  for (size_t i = 0; i < SOME; i++)
    assert_true(part->pointwise[i] == whole->pointwise[part->term[i]]);
  tm_loo_free(whole);
  tm_loo_free(part);
  tm_arena_free(arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(it_is_the_exact_one),
                                     cmocka_unit_test(heavy_tails_are_seen),
                                     cmocka_unit_test(
                                         some_of_many_stand_for_all)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
