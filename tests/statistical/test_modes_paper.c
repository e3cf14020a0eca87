/* Modes of the paper's models from whole runs: weights and places against
 * exact answers (quadrature; symmetry). */
#include "estimate/findings.h"
#include "paper_support.h"
#include "whole_run.h"

static tempera_summary *run(const char *name, const char *data, uint64_t seed) {
  tempera_options o = tempera_options_default();
  o.seed = seed;
  tempera_model *model = paper_model(name, data);
  tempera_summary *summary = run_model(model, &o);
  tempera_model_free(model);
  return summary;
}

static void bimodal_has_two_modes_of_equal_weight(void **state) {
  (void)state;
  static const struct {
    const char *model;
    double place;
  } cases[] = {{"bimodal", 1.4097040573917219},
               {"bimodal2", 1.3994675286106193}};
  for (size_t k = 0; k < 2; k++)
    for (uint64_t seed = 1; seed <= 5; seed++) {
      tempera_summary *s = run(cases[k].model, "bimodal.json", seed);
      assert_int_equal(s->mode_count, 2);
      assert_int_equal(s->label_count, 0);
      for (size_t i = 0; i < 2; i++) {
        print_message("%s seed %d: %.4f +- %.4f at %.4f\n", cases[k].model,
                      (int)seed, s->modes[i].weight, s->modes[i].se,
                      s->modes[i].mean[0]);
        assert_true(s->modes[i].se > 0 && s->modes[i].se < 0.05);
        assert_true(fabs(s->modes[i].weight - 0.5) < 4 * s->modes[i].se);
        /* sd 0.2 (0.22) within a mode, a thousand effective draws. */
        assert_true(fabs(fabs(s->modes[i].mean[0]) - cases[k].place) < 0.03);
      }
      assert_true(s->modes[0].mean[0] * s->modes[1].mean[0] < 0);
      tempera_summary_free(s);
    }
}

static void galaxy_labels_are_permuted(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 3; seed++) {
    tempera_summary *s = run("galaxy", "galaxy-3.json", seed);
    double total = 0;
    assert_int_equal(s->mode_count, 6);
    for (size_t i = 0; i < 6; i++) {
      assert_true(fabs(s->modes[i].weight - 1.0 / 6) < 4 * s->modes[i].se);
      total += s->modes[i].weight;
    }
    assert_true(fabs(total - 1) < 1e-9);
    assert_int_equal(s->label_count, 3);
    print_message("galaxy seed %d: labels %.3f %.3f %.3f\n", (int)seed,
                  s->labels[0], s->labels[1], s->labels[2]);
    for (size_t j = 0; j < s->value_count; j++)
      assert_true(s->values[j].permuted);
    assert_true(s->relabelled_rhat < 1.02);
    assert_non_null(tm_finding_of(s, TM_FIND_LABELS_PERMUTED));
    tempera_summary_free(s);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bimodal_has_two_modes_of_equal_weight),
      cmocka_unit_test(galaxy_labels_are_permuted),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
