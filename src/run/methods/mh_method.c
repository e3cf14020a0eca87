/* mh_method.c - mh at run level: nothing is learned but the kernels' scales
 * and, for jumps, where the basins are. */
#include "run/sampler.h"

#include "groups/mh.h"

static tempera_status make_group(tempera_sampler *s, uint32_t chain,
                                 const double *start, double start_tau,
                                 tm_group **group, tempera_error *error) {
  (void)start_tau;
  return tm_mh_create(s->model, s->options.kernel, s->options.seed, chain,
                      start, group, error);
}

const tm_method tm_method_mh = {.target = true,
                                .steady_width = true,
                                .make_group = make_group,
                                .begin = tm_landscape_begin,
                                .end_round = tm_landscape_end_round};
