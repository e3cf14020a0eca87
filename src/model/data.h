/* data.h - what a run remembers of its data, and where they stood. */
#ifndef TM_MODEL_DATA_H
#define TM_MODEL_DATA_H

#include "base/status.h"

/* A mark for every readable variable, sorted by name; NULL when there is none.
 * Free with tm_data_marks_free. */
TEMPERA_CHECKED tempera_status tm_data_marks(const tempera_data *data,
                                             tempera_data_mark **marks,
                                             size_t *count,
                                             tempera_error *error);
void tm_data_marks_free(tempera_data_mark *marks, size_t count);
/* Where a variable's name stands in the text; zeros when it does not. */
void tm_data_place(const tempera_data *data, const char *name, int *line,
                   int *column);

/* A copy, and other values for one of its variables, which must be there with
 * as many of them. */
TEMPERA_CHECKED tempera_status tm_data_copy(const tempera_data *data,
                                            tempera_data **copy,
                                            tempera_error *error);
TEMPERA_CHECKED tempera_status tm_data_replace(tempera_data *data,
                                               const char *name, bool whole,
                                               const double *values,
                                               size_t count,
                                               tempera_error *error);

#endif
