/* tau_ladder.h - levels of tau for parallel and simulated tempering, placed by
 * the communication barrier (Syed et al. 2022, method 4.2 and 4.5).
 *
 * Between two levels with rejection rate r the barrier rises by about r; when
 * l is normal, r = erf(sqrt(pi)/2 rise), which also holds for large rises. */
#ifndef TM_NUMERIC_TAU_LADDER_H
#define TM_NUMERIC_TAU_LADDER_H

#include <stdbool.h>
#include <stddef.h>

/* tau_t = (t/T)^5, t = 1..T (the paper's), or t = 0..T-1 over T - 1 with
 * `from_zero`; from tau_min up. */
void tm_ladder_power(double *tau, size_t count, bool from_zero, double tau_min);
/* The rise of the barrier between two levels with this rejection rate. */
double tm_ladder_rise(double rejection);
/* The barrier at each of `count` levels from the count - 1 rejection rates
 * between them; the first is 0. */
void tm_ladder_barrier(const double *rejection, size_t count, double *barrier);
/* Levels for a barrier: twice, rounded up, plus one (method 4.5). */
size_t tm_ladder_count(double barrier);
/* `wanted` levels at equal steps of the barrier, which is taken as linear in
 * log tau between the old levels, or in tau where that begins at 0. `place`
 * (wanted numbers, or NULL) gets the barrier at them. */
void tm_ladder_respace(const double *tau, const double *barrier, size_t count,
                       double *fresh, size_t wanted, double *place);

#endif
