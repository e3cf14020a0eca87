/* power_files.h - draws at chosen tau as files of a run's folder:
 * at-tau-X-N.csv, Stan CSV like target-N.csv. */
#ifndef TM_FOLDER_POWER_FILES_H
#define TM_FOLDER_POWER_FILES_H

#include "run/sampler.h"

TEMPERA_CHECKED tempera_status tm_power_files_write(
    const char *folder, const char *data_path, const tempera_sampler *sampler,
    tempera_error *error);

#endif
