/* bimodal_study.h - the parts of the bimodal study. */
#ifndef TM_REPRODUCE_BIMODAL_STUDY_H
#define TM_REPRODUCE_BIMODAL_STUDY_H

#include "reproduce/draw_set.h"
#include "reproduce/evidence_table.h"
#include "reproduce/theory.h"

/* The exact law for one of the data files. */
TEMPERA_CHECKED tempera_status tm_bimodal_theory(const char *file,
                                                 bool variance_known,
                                                 tm_theory *theory,
                                                 tempera_error *error);
/* Figures 1 and 2. */
TEMPERA_CHECKED tempera_status tm_bimodal_figures(tm_paper *paper,
                                                  tempera_error *error);

#endif
