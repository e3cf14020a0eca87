/* optimise.c - see optimise.h. NLopt minimises; the sign is turned here, and
 * nowhere else. */
#include "numeric/optimise.h"

#include "base/memory.h"

#include <math.h>
#include <nlopt.h>

struct tm_optimiser {
  nlopt_opt nlopt;
  size_t dimension;
  tm_objective_fn objective;
  void *context;
  double worst; /* what NLopt is told where the objective is -infinity */
};

/* Far below anything seen, yet finite: line searches interpolate values. */
static const double DROP = 1e6;

static double minimised(unsigned n, const double *x, double *gradient,
                        void *context) {
  tm_optimiser *optimiser = context;
  double value = optimiser->objective(x, gradient, optimiser->context);
  if (!(value > -INFINITY)) {
    for (unsigned i = 0; gradient && i < n; i++)
      gradient[i] = 0;
    return optimiser->worst;
  }
  optimiser->worst = fmax(optimiser->worst, DROP - value);
  for (unsigned i = 0; gradient && i < n; i++)
    gradient[i] = -gradient[i];
  return -value;
}

static nlopt_algorithm algorithm(const tm_optimiser_settings *settings) {
  switch (settings->method) {
  case TM_OPTIMISER_LBFGS:
    return NLOPT_LD_LBFGS;
  case TM_OPTIMISER_SLSQP:
    return NLOPT_LD_SLSQP;
  case TM_OPTIMISER_SIMPLEX:
  default:
    return settings->dimension <= 5 ? NLOPT_LN_NELDERMEAD : NLOPT_LN_SBPLX;
  }
}

static bool configure(tm_optimiser *optimiser,
                      const tm_optimiser_settings *settings) {
  nlopt_opt opt =
      nlopt_create(algorithm(settings), (unsigned)settings->dimension);
  optimiser->nlopt = opt;
  return opt && nlopt_set_min_objective(opt, minimised, optimiser) > 0 &&
         nlopt_set_lower_bounds(opt, settings->lower) > 0 &&
         nlopt_set_upper_bounds(opt, settings->upper) > 0 &&
         nlopt_set_ftol_abs(opt, settings->tolerance) > 0 &&
         nlopt_set_maxeval(opt, settings->evaluations) > 0;
}

tempera_status tm_optimiser_create(const tm_optimiser_settings *settings,
                                   tm_optimiser **optimiser,
                                   tempera_error *error) {
  tm_optimiser *made = tm_heap_alloc(1, sizeof *made);
  if (!made)
    return tm_fail_memory(error);
  made->dimension = settings->dimension;
  if (made->dimension > 0 && !configure(made, settings)) {
    tm_optimiser_free(made);
    return tm_fail(error, TEMPERA_ERROR_MEMORY,
                   "the optimiser could not be created");
  }
  *optimiser = made;
  return TEMPERA_OK;
}

void tm_optimiser_free(tm_optimiser *optimiser) {
  if (!optimiser)
    return;
  nlopt_destroy(optimiser->nlopt); /* NULL is fine */
  tm_heap_free(optimiser);
}

bool tm_optimiser_run(tm_optimiser *optimiser, tm_objective_fn objective,
                      void *context, const double *step, double *x) {
  if (optimiser->dimension == 0)
    return true;
  optimiser->objective = objective;
  optimiser->context = context;
  optimiser->worst = -INFINITY;
  optimiser->worst = minimised(0, x, NULL, optimiser) + DROP;
  if (!isfinite(optimiser->worst) ||
      nlopt_set_initial_step(optimiser->nlopt, step) < 0)
    return false;
  double value;
  return nlopt_optimize(optimiser->nlopt, x, &value) > 0;
}

void tm_optimiser_stop(tm_optimiser *optimiser) {
  if (optimiser->nlopt)
    nlopt_force_stop(optimiser->nlopt);
}
