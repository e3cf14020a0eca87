/* mh.h - one chain at tau = 1: the kernels and nothing else, for contrast. */
#ifndef TM_SAMPLERS_MH_H
#define TM_SAMPLERS_MH_H

#include "groups/group.h"

TEMPERA_CHECKED tempera_status tm_mh_create(const tempera_model *model,
                                            tempera_kernel kernel,
                                            uint64_t seed, uint32_t chain,
                                            const double *start,
                                            tm_group **group,
                                            tempera_error *error);

#endif
