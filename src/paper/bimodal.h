/* bimodal.h - the parts of the bimodal study. */
#ifndef TM_PAPER_BIMODAL_H
#define TM_PAPER_BIMODAL_H

#include "paper/draw_set.h"
#include "paper/evidence.h"
#include "paper/theory.h"

/* The exact law for one of the data files. */
TEMPERA_CHECKED tempera_status tm_bimodal_theory(const char *file,
                                                 bool variance_known,
                                                 tm_theory *theory,
                                                 tempera_error *error);
/* Figures 1 and 2. */
TEMPERA_CHECKED tempera_status tm_bimodal_figures(tm_paper *paper,
                                                  tempera_error *error);

#endif
