/* run_answers.c - what a run's folder can be asked afterwards: the fractional
 * evidence at any b that its path covers, of one run or of several at one b. */
#include "estimate/answers/power.h"

#include "base/memory.h"

#include <math.h>

enum { MOST_DRAWS = 400000 };

tempera_status tempera_run_fractional(const char *folder, double b,
                                      tempera_path_answer *fractional,
                                      tempera_error *error) {
  tempera_draws *draws = NULL;
  tm_tempered view;
  tempera_path_answer made = {NAN, NAN, NAN};
  TM_TRY(tempera_draws_read(folder, &draws, error));
  tempera_status status = tm_tempered_create(draws, MOST_DRAWS, &view, error);
  if (status == TEMPERA_OK) {
    double *scratch = TM_NEW(view.arena, double, view.count + 1);
    if (scratch)
      made = tm_power_rise(&view, b, scratch);
    else
      status = tm_fail_memory(error);
    tm_tempered_free(&view);
  }
  double lowest = draws->tau_min;
  tempera_draws_free(draws);
  TM_TRY(status);
  if (!isfinite(made.value))
    return tm_fail(error, TEMPERA_ERROR_INPUT,
                   "%s: the tempered draws do not cover tau from %g to 1%s",
                   folder, b,
                   lowest > b ? " (run it with a smaller --tau-min)" : "");
  *fractional = made;
  return TEMPERA_OK;
}

/* All at one b: the largest is proper in every run. */
tempera_status tempera_runs_fractional(const char *const *folders,
                                       tempera_summary *const *summaries,
                                       size_t count, double b,
                                       tempera_error *error) {
  bool given = b > 0;
  for (size_t i = 0; i < count && !given; i++)
    b = fmax(b, summaries[i]->fractional.tau);
  if (!(b > 0 && b < 1))
    return tm_fail(error, TEMPERA_ERROR_ARGUMENT,
                   given ? "the fraction b is a number between 0 and 1"
                         : "all these priors are proper: compare by the "
                           "evidence, or say at which fraction b");
  for (size_t i = 0; i < count; i++)
    if (summaries[i]->fractional.tau != b)
      TM_TRY(tempera_run_fractional(folders[i], b, &summaries[i]->fractional,
                                    error));
  return TEMPERA_OK;
}
