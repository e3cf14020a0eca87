/* run_answers.c - what a run's folder can be asked afterwards: the fractional
 * evidence at any b that its path covers. */
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
