/* fit_read.h - draws of a fit made elsewhere, from its CSV files. */
#ifndef TM_FOLDER_FIT_READ_H
#define TM_FOLDER_FIT_READ_H

#include "draws/draws.h"
#include "model/model.h"

/* One chain per file; target draws, whose densities are not filled in. lp__ is
 * in the column TM_TAU_ACCEPT (NaN: there is none). The model must outlive
 * them. Free with tm_draws_free. */
TEMPERA_CHECKED tempera_status
tm_fit_read(const tempera_model *model, const char *const *paths, size_t count,
            tempera_draws **draws, tempera_error *error);

#endif
