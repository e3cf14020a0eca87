/* run_page.h - the parts of a run's report, one file each. */
#ifndef TM_REPORT_RUN_PAGE_H
#define TM_REPORT_RUN_PAGE_H

#include "report/page.h"
#include "report/run_files.h"

/* Each adds its section, or nothing where the run has no such thing. */
/* Charts of all parameters together. */
void tm_run_overview(json_t *section, const tempera_summary *summary);
void tm_run_forests(json_t *section, const tempera_value_summary *values,
                    size_t count);
void tm_run_evidence(json_t *page, const tempera_summary *summary);
void tm_run_tempering(json_t *page, const tm_run_files *files);
void tm_run_reference(json_t *page, const tm_run_files *files);
void tm_run_predictive(json_t *page, const tm_run_files *files);
void tm_run_answers(json_t *page, const tm_run_files *files);
void tm_run_pairs(json_t *page, const tm_run_files *files);
TEMPERA_CHECKED tempera_status tm_run_values(json_t *page,
                                             const tm_run_files *files,
                                             tempera_error *error);

/* The draws that stand for the posterior: the target's where there are any. */
const tm_run_draws *tm_run_posterior(const tm_run_files *files);
/* A chain's column. */
const double *tm_run_values_of(const tm_run_draws *draws, size_t chain,
                               size_t column);
/* A line of `points` evenly spaced draws of each chain against their numbers;
 * by `from` and `step`. */
void tm_run_trace(json_t *figure, const tm_run_draws *draws, size_t column,
                  size_t points, size_t thin);
/* Every how many draws a trace of so many points takes one. */
size_t tm_run_step(size_t rows, size_t points);

#endif
