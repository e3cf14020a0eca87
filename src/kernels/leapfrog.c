/* leapfrog.c - the leapfrog integrator: volume-preserving, and reversible
 * when p changes sign, whatever the step, factor and slope; see leapfrog.h. */
#include "kernels/leapfrog.h"

#include "numeric/triangular.h"

#include <math.h>
#include <string.h>

tempera_status tm_leapfrog_create(const tm_shared *shared, tm_arena *arena,
                                  tm_leapfrog *leapfrog, tempera_error *error) {
  size_t d = shared->real_count, all = shared->model->dimension;
  tm_leapfrog made = {.shared = shared,
                      .origin = TM_NEW(arena, double, d),
                      .v = TM_NEW(arena, double, d),
                      .p = TM_NEW(arena, double, d),
                      .slope = TM_NEW(arena, double, d),
                      .gradient = TM_NEW(arena, double, all),
                      .work = TM_NEW(arena, double, d)};
  if (!made.origin || !made.v || !made.p || !made.slope || !made.gradient ||
      !made.work)
    return tm_fail_memory(error);
  *leapfrog = made;
  return TEMPERA_OK;
}

/* L' times the gradient. */
static void turn(tm_leapfrog *leapfrog) {
  const tm_shared *shared = leapfrog->shared;
  tm_reals_of(shared, leapfrog->gradient, leapfrog->work);
  tm_factor_transposed(&leapfrog->factor, leapfrog->work, leapfrog->slope);
}

/* The slope at the point: L' (tau grad l + grad log pi J). */
static void evaluate(tm_leapfrog *leapfrog) {
  tm_evaluate_slope(leapfrog->evaluator, leapfrog->point, leapfrog->tau,
                    leapfrog->gradient);
  turn(leapfrog);
}

void tm_leapfrog_start(tm_leapfrog *leapfrog, const tm_step *step,
                       tm_factor factor, const tm_point *from, tm_point *point,
                       const double *gradient) {
  const tm_shared *shared = leapfrog->shared;
  leapfrog->evaluator = step->evaluator;
  leapfrog->tau = step->tau;
  leapfrog->factor = factor;
  leapfrog->point = point;
  tm_point_copy(shared->model, from, point);
  tm_reals_of(shared, from->u, leapfrog->origin);
  memset(leapfrog->v, 0, shared->real_count * sizeof(double));
  if (!gradient) {
    evaluate(leapfrog);
    return;
  }
  memcpy(leapfrog->gradient, gradient,
         shared->model->dimension * sizeof(double));
  turn(leapfrog);
}

static void kick(tm_leapfrog *leapfrog, double time) {
  for (size_t i = 0; i < leapfrog->shared->real_count; i++)
    leapfrog->p[i] += time * leapfrog->slope[i];
}

static void drift(tm_leapfrog *leapfrog, double time) {
  const tm_shared *shared = leapfrog->shared;
  for (size_t i = 0; i < shared->real_count; i++)
    leapfrog->v[i] += time * leapfrog->p[i];
  tm_factor_times(&leapfrog->factor, leapfrog->v, leapfrog->work);
  for (size_t i = 0; i < shared->real_count; i++)
    leapfrog->point->u[shared->reals[i]] =
        leapfrog->origin[i] + leapfrog->work[i];
}

void tm_leapfrog_step(tm_leapfrog *leapfrog, double epsilon) {
  kick(leapfrog, epsilon / 2);
  drift(leapfrog, epsilon);
  tm_constrain_point(leapfrog->shared->model, leapfrog->point);
  evaluate(leapfrog);
  kick(leapfrog, epsilon / 2);
}

double tm_leapfrog_energy(const tm_leapfrog *leapfrog) {
  double kinetic =
      0.5 * tm_dot(leapfrog->p, leapfrog->p, leapfrog->shared->real_count);
  return kinetic - tm_log_density(leapfrog->point, leapfrog->tau);
}
