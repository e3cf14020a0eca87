/* paper_models.h - the paper's models and data, the exact answers and the
 * published numbers, all carried by the library itself. */
#ifndef TM_REPRODUCE_PAPER_MODELS_H
#define TM_REPRODUCE_PAPER_MODELS_H

#include "base/json.h"

typedef struct tm_paper_file {
  const char *name, *text;
} tm_paper_file;
/* models/paper/NAME.json, ended by a NULL name. */
extern const tm_paper_file tm_paper_files[];

/* A model of models/paper with one of its data files ("galaxy",
 * "galaxy-3.json"). Free with tempera_model_free. */
TEMPERA_CHECKED tempera_status tm_paper_model(const char *name,
                                              const char *data,
                                              tempera_model **model,
                                              tempera_error *error);
/* One of the JSON files, parsed; free with json_decref. */
TEMPERA_CHECKED tempera_status tm_paper_json(const char *name, json_t **root,
                                             tempera_error *error);
/* The number at a path of names and indices ("table1/mu/0/1"); NaN when there
 * is none. */
double tm_paper_number(const json_t *root, const char *path);

#endif
