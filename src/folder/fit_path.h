/* fit_path.h - the path estimate for a fit made elsewhere. */
#ifndef TM_FOLDER_FIT_PATH_H
#define TM_FOLDER_FIT_PATH_H

#include "model/model.h"
#include "numeric/mixture.h"

/* Adds the estimate "path" to a summary that has the bridge's: log of the
 * integral of f = L pi |J| by a short tempered run from a density fitted to
 * these draws (rows of u) to f, less the prior's own integral. highest_seen: of
 * log f/q over draws of the fit. */
TEMPERA_CHECKED tempera_status tm_fit_path(const tempera_model *model,
                                           const tm_points *u,
                                           double highest_seen, uint64_t seed,
                                           tempera_summary *summary,
                                           tempera_error *error);

#endif
