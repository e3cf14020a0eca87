/* sir_study.h - the parts of the SIR study. */
#ifndef TM_REPRODUCE_SIR_STUDY_H
#define TM_REPRODUCE_SIR_STUDY_H

#include "reproduce/evidence_table.h"

enum { TM_SIR_ALPHA, TM_SIR_BETA, TM_SIR_I0, TM_SIR_VALUES };

/* sir_time.c: the cost of an iteration. */
TEMPERA_CHECKED tempera_status tm_sir_times(tm_paper *paper,
                                            const tempera_model *model,
                                            tempera_error *error);
/* sir_figures.c: Figures 4 to 7. */
TEMPERA_CHECKED tempera_status tm_sir_figures(tm_paper *paper,
                                              const tempera_model *model,
                                              tempera_error *error);

#endif
