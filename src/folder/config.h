/* config.h - config.json: what a run was asked for. */
#ifndef TM_FOLDER_CONFIG_H
#define TM_FOLDER_CONFIG_H

#include "base/status.h"

/* Its text; free with tm_heap_free. */
TEMPERA_CHECKED tempera_status tm_config_json(
    const tempera_run_request *request, const tempera_sampler *sampler,
    char **text, tempera_error *error);

#endif
