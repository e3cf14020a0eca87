/* galaxy_study.h - the parts of the galaxy study. */
#ifndef TM_REPRODUCE_GALAXY_STUDY_H
#define TM_REPRODUCE_GALAXY_STUDY_H

#include "reproduce/evidence_table.h"

/* Figure 3. */
TEMPERA_CHECKED tempera_status tm_galaxy_figures(tm_paper *paper,
                                                 tempera_error *error);

#endif
