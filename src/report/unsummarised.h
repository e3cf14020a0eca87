/* unsummarised.h - what can be told of a run that has left no summary. */
#ifndef TM_REPORT_UNSUMMARISED_H
#define TM_REPORT_UNSUMMARISED_H

#include "base/status.h"

/* From config.json and the CSV files. */
TEMPERA_CHECKED tempera_status tm_summary_from_draws(const char *folder,
                                                     tempera_summary **summary,
                                                     tempera_error *error);

#endif
