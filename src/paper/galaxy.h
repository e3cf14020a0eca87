/* galaxy.h - the parts of the galaxy study. */
#ifndef TM_PAPER_GALAXY_H
#define TM_PAPER_GALAXY_H

#include "paper/evidence.h"

/* Figure 3. */
TEMPERA_CHECKED tempera_status tm_galaxy_figures(tm_paper *paper,
                                                 tempera_error *error);

#endif
