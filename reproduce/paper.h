/* paper.h - running the studies of the paper: what they share.
 *
 * A study runs batches of replicates, puts numbers into sheets (tables) and
 * figures, and hands both to the document, which is written out after every
 * study, so that nothing already computed can be lost. */
#ifndef TM_REPRODUCE_PAPER_H
#define TM_REPRODUCE_PAPER_H

#include "reproduce/paper_models.h"
#include "reproduce/sheet.h"

typedef struct tm_reproduce_request {
  const char *study;  /* bimodal, galaxy, sir or all */
  const char *folder; /* made if absent; refused if it holds results */
  bool quick;         /* short runs: minutes become seconds */
  uint64_t seed;      /* of the first replicate */
  int threads;        /* 0: all cores */
  bool colour;        /* in the text given back */
} tm_reproduce_request;

/* `what` is the batch under way, `done` of `total` its replicates. */
typedef void (*tm_reproduce_progress_fn)(const char *what, size_t done,
                                         size_t total, double seconds,
                                         void *user);

/* Run the studies and write index.html, results.json, a CSV file per table and
 * an SVG file per figure into the folder, after each study anew. *text is the
 * tables as text; free it with tempera_text_free. */
TEMPERA_CHECKED tempera_status tm_reproduce(const tm_reproduce_request *request,
                                            tm_reproduce_progress_fn progress,
                                            void *user, char **text,
                                            tempera_error *error);

/* The paper's lengths (method 2), or shorter ones with --quick. */
typedef struct tm_paper_lengths {
  size_t long_warmup, long_kept;   /* bimodal figures and Table 1 */
  size_t short_warmup, short_kept; /* log Z runs, galaxy, SIR */
  size_t bimodal_replicates, galaxy_replicates, sir_replicates;
  size_t timed; /* iterations to time */
} tm_paper_lengths;

typedef struct tm_paper {
  const tm_reproduce_request *request;
  tm_reproduce_progress_fn progress;
  void *progress_user;
  double started; /* seconds of a clock that only goes on */
  tm_paper_lengths lengths;
  int threads;
  json_t *truth, *published;
  json_t *sheets, *figures;  /* arrays, in order */
  json_t *page;              /* report/page.h */
  json_t *section, *gallery; /* of the page, under way; borrowed */
  size_t drawn;              /* figures that have their file already */
} tm_paper;

/* One group of runs that differ in their seeds only: the request's seed, the
 * next one, ... */
typedef struct tm_batch {
  const char *what; /* for the progress line */
  const tempera_model *model;
  tempera_options options;
  size_t count;
  /* Called (when given) with every finished run, by several threads at once. */
  tempera_status (*inspect)(const tempera_sampler *sampler, size_t replicate,
                            void *context, tempera_error *error);
  void *context;
} tm_batch;

/* Run a batch, one replicate per thread; fills `summaries` (count of them,
 * each to be freed; all NULL after a failure). */
TEMPERA_CHECKED tempera_status tm_batch_run(tm_paper *paper,
                                            const tm_batch *batch,
                                            tempera_summary **summaries,
                                            tempera_error *error);
void tm_batch_free(tempera_summary **summaries, size_t count);

/* How long runs are; TM_LENGTH_AUTOMATIC is decided by Tempera itself. */
typedef enum tm_length {
  TM_LENGTH_AUTOMATIC,
  TM_LENGTH_LONG,
  TM_LENGTH_SHORT
} tm_length;
/* Set the length and options by their command-line words: name, value, ...,
 * NULL. */
TEMPERA_CHECKED tempera_status tm_batch_options(const tm_paper *paper,
                                                tm_length length,
                                                const char *const *words,
                                                tm_batch *batch,
                                                tempera_error *error);
/* The paper's algorithm and settings; and nothing but the model. */
extern const char *const tm_as_printed[];
extern const char *const tm_by_default[];

/* A number over replicates. */
typedef struct tm_replicated {
  size_t count;
  double mean, sd;       /* sd: over the replicates; NaN for one */
  double se;             /* the mean standard error that the runs state */
  size_t runs, reliable; /* of log Z: the runs, and those called reliable */
} tm_replicated;
tm_replicated tm_replicated_of(const double *values, const double *se,
                               size_t count);
/* Of an estimator of log Z by name; NULL stands for the headline. */
tm_replicated tm_replicated_estimate(tempera_summary *const *summaries,
                                     size_t count, const char *estimator);
/* The error of spread->mean: from the replicates where there are several. */
double tm_replicated_error(const tm_replicated *spread);

/* The studies. */
TEMPERA_CHECKED tempera_status tm_study_bimodal(tm_paper *paper,
                                                tempera_error *error);
TEMPERA_CHECKED tempera_status tm_study_galaxy(tm_paper *paper,
                                               tempera_error *error);
TEMPERA_CHECKED tempera_status tm_study_sir(tm_paper *paper,
                                            tempera_error *error);

/* document.c: hand over a heading with text, a sheet, a figure (all owned by
 * the document then); and write everything handed over so far. */
void tm_document_heading(tm_paper *paper, const char *title, const char *text);
void tm_document_sheet(tm_paper *paper, json_t *sheet);
void tm_document_figure(tm_paper *paper, const char *name, json_t *figure);
TEMPERA_CHECKED tempera_status tm_document_write(tm_paper *paper,
                                                 tempera_error *error);

#endif
