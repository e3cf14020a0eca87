/* method.c - the methods by their names; see method.h. */
#include "run/methods/method.h"

static const tm_method *const METHODS[] = {
    [TEMPERA_PT_STWNC] = &tm_method_pt_stwnc,
    [TEMPERA_STWNC] = &tm_method_stwnc,
    [TEMPERA_MH] = &tm_method_mh,
    [TEMPERA_ST] = &tm_method_st,
    [TEMPERA_PT] = &tm_method_pt,
    [TEMPERA_PAWL] = &tm_method_pawl,
    [TEMPERA_EE] = &tm_method_ee,
};

const tm_method *tm_method_of(tempera_method method) { return METHODS[method]; }
