/* predictions_files.h - a run's predictions as files of its folder: loo.csv,
 * predictive.csv and prior.csv. */
#ifndef TM_FOLDER_PREDICTIONS_FILES_H
#define TM_FOLDER_PREDICTIONS_FILES_H

#include "estimate/predictions.h"

/* Those that can be had; others of an earlier run are removed. */
TEMPERA_CHECKED tempera_status
tm_predictions_write(const char *folder, const tempera_model *model,
                     const tempera_summary *summary, tempera_error *error);

#endif
