/* config.h - config.json: what a run was asked for. */
#ifndef TM_FOLDER_CONFIG_H
#define TM_FOLDER_CONFIG_H

#include "base/status.h"

/* Its text; free with tm_heap_free. */
TEMPERA_CHECKED tempera_status tm_config_json(
    const tempera_run_request *request, const tempera_sampler *sampler,
    char **text, tempera_error *error);
/* Is the run in the request's folder of this version, this model file and these
 * data? */
TEMPERA_CHECKED tempera_status
tm_config_check(const tempera_run_request *request, tempera_error *error);
/* Write it again with the options now in force. */
TEMPERA_CHECKED tempera_status tm_config_renew(const char *folder,
                                               const tempera_sampler *sampler,
                                               tempera_error *error);

#endif
