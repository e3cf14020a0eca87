/* Facts about draws outside of their run: a folder read back is what the
 * sampler had, and the chains of several processes become one set. */
#include "gaussian_model.h"
#include "whole_run.h"

#include <stdio.h>
#include <unistd.h>

enum { SWEEPS = 200, CHAINS = 2 };

static tempera_sampler *sampled(const tempera_model *model, size_t offset) {
  tempera_options o = tempera_options_default();
  o.iterations = SWEEPS;
  o.chains = CHAINS;
  o.chain_offset = offset;
  o.seed = 5;
  return make_sampler(model, &o);
}

static void a_folder_gives_the_draws_back(void **state) {
  (void)state;
  char work[] = "/tmp/tempera-read-XXXXXX", folder[64], command[64];
  assert_non_null(mkdtemp(work));
  snprintf(folder, sizeof folder, "%s/run", work);
  tempera_model_spec spec = two_gaussians();
  tempera_model *model = make_model(&spec);
  tempera_sampler *sampler = sampled(model, 0);
  const tempera_run_request request = {.folder = folder};
  assert_int_equal(
      tempera_run_sample(&request, sampler, NULL, NULL, NULL, NULL), 0);
  const tempera_draws *had = tempera_sampler_draws(sampler);
  tempera_draws *read = NULL;
  assert_int_equal(tempera_draws_read(folder, &read, NULL), TEMPERA_OK);
  assert_int_equal(tempera_draws_chains(read), CHAINS);
  assert_int_equal(tempera_draws_count(read), SWEEPS);
  assert_int_equal(tempera_draws_size(read), 2);
  assert_string_equal(tempera_draws_name(read, 1), "x[2]");
  for (int role = 0; role < 2; role++)
    for (size_t c = 0; c < CHAINS; c++) {
      size_t bytes = SWEEPS * sizeof(double);
      tempera_role r = (tempera_role)role;
      for (size_t i = 0; i < 2; i++)
        assert_memory_equal(tempera_draws_values(read, r, c, i),
                            tempera_draws_values(had, r, c, i), bytes);
      assert_memory_equal(tempera_draws_tau(read, r, c),
                          tempera_draws_tau(had, r, c), bytes);
      assert_memory_equal(tempera_draws_log_prior(read, r, c),
                          tempera_draws_log_prior(had, r, c), bytes);
    }
  tempera_error error = {0};
  tempera_draws *none = NULL;
  assert_int_not_equal(tempera_draws_read(work, &none, &error), TEMPERA_OK);
  assert_null(none);
  tempera_draws_free(read);
  tempera_sampler_free(sampler);
  tempera_model_free(model);
  snprintf(command, sizeof command, "rm -rf %s", work);
  assert_int_equal(system(command), 0);
}

static void variables_come_as_arrays(void **state) {
  (void)state;
  tempera_model_spec spec = two_gaussians();
  tempera_model *model = make_model(&spec);
  tempera_sampler *sampler = sampled(model, 0);
  assert_int_equal(tempera_sampler_run(sampler, NULL, NULL, NULL), 0);
  const tempera_draws *draws = tempera_sampler_draws(sampler);
  size_t elements = 0;
  static double x[CHAINS][SWEEPS][2], second[CHAINS][SWEEPS];
  assert_int_equal(tempera_draws_variable(draws, TEMPERA_TARGET, "x",
                                          &x[0][0][0], &elements, NULL),
                   0);
  assert_int_equal(elements, 2);
  assert_int_equal(tempera_draws_variable(draws, TEMPERA_TARGET, "x[2]",
                                          &second[0][0], &elements, NULL),
                   0);
  assert_int_equal(elements, 1);
  const double *column = tempera_draws_values(draws, TEMPERA_TARGET, 1, 1);
  for (size_t i = 0; i < SWEEPS; i++)
    assert_true(x[1][i][1] == column[i] && second[1][i] == column[i]);
  assert_int_equal(tempera_draws_variable(draws, TEMPERA_TARGET, "xx", NULL,
                                          &elements, NULL),
                   TEMPERA_ERROR_ARGUMENT);
  tempera_sampler_free(sampler);
  tempera_model_free(model);
}

static void chains_of_other_processes_differ_and_merge(void **state) {
  (void)state;
  tempera_model_spec spec = two_gaussians();
  tempera_model *model = make_model(&spec);
  tempera_sampler *a = sampled(model, 0), *b = sampled(model, CHAINS);
  assert_int_equal(tempera_sampler_run(a, NULL, NULL, NULL), 0);
  assert_int_equal(tempera_sampler_run(b, NULL, NULL, NULL), 0);
  const tempera_draws *parts[] = {tempera_sampler_draws(a),
                                  tempera_sampler_draws(b)};
  tempera_draws *all = NULL;
  assert_int_equal(tempera_draws_merge(parts, 2, &all, NULL), 0);
  assert_int_equal(tempera_draws_chains(all), 2 * CHAINS);
  for (size_t c = 0; c < 2 * CHAINS; c++) {
    const double *x = tempera_draws_values(all, TEMPERA_TARGET, c, 0);
    const double *from =
        tempera_draws_values(parts[c / CHAINS], TEMPERA_TARGET, c % CHAINS, 0);
    assert_memory_equal(x, from, SWEEPS * sizeof(double));
    for (size_t other = 0; other < c; other++)
      assert_memory_not_equal(
          x, tempera_draws_values(all, TEMPERA_TARGET, other, 0),
          SWEEPS * sizeof(double));
  }
  tempera_draws *none = NULL;
  assert_int_equal(tempera_draws_merge(parts, 0, &none, NULL),
                   TEMPERA_ERROR_INPUT);
  tempera_draws_free(all);
  tempera_sampler_free(a);
  tempera_sampler_free(b);
  tempera_model_free(model);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_folder_gives_the_draws_back),
      cmocka_unit_test(variables_come_as_arrays),
      cmocka_unit_test(chains_of_other_processes_differ_and_merge)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
