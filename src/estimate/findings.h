/* findings.h - what a run found out about itself, as data: each finding has a
 * code, a severity, the number it is about and that number's limit, and words
 * for people. The verdict, the decision to stop, summary.json, the terminal
 * and the report all come from them.
 *
 * To add one: a code here, a row at the same place in findings.c, and a call
 * of tm_find where it is found. */
#ifndef TM_ESTIMATE_FINDINGS_H
#define TM_ESTIMATE_FINDINGS_H

#include "base/status.h"

/* From the gravest to the mildest: of several, the first gives the verdict. */
typedef enum tm_finding_code {
  TM_FIND_NO_DRAWS,
  TM_FIND_NO_LIKELIHOOD,
  TM_FIND_UNVISITED_BASIN,
  TM_FIND_SELDOM_BASIN,
  TM_FIND_MISSED_BASIN,
  TM_FIND_PRIOR_UNVOUCHED,
  TM_FIND_SUPPORT_UNVOUCHED,
  TM_FIND_ROUNDED,
  TM_FIND_PRIOR_UNEXPLORED,
  TM_FIND_UNCONNECTED,
  TM_FIND_FEW_TRIPS,
  TM_FIND_REFERENCE_TRIPS,
  TM_FIND_REFERENCE_RHAT,
  TM_FIND_REFERENCE_TAIL,
  TM_FIND_REFERENCE_ALONE,
  TM_FIND_FEW_STARTS,
  TM_FIND_UNABSORBED,
  TM_FIND_LEVELS_APART,
  TM_FIND_CHAINS_APART,
  TM_FIND_FEW_EFFECTIVE,
  TM_FIND_MIXING_UNKNOWN,
  TM_FIND_FROZEN,
  TM_FIND_TARGET_APART,
  TM_FIND_REFERENCE_APART,
  TM_FIND_ESTIMATES_APART,
  TM_FIND_BRIDGE_COVER,
  TM_FIND_BRIDGE_CHAINS,
  TM_FIND_BRIDGE_HALVES,
  TM_FIND_PATH_BOUNDED,
  TM_FIND_NO_EVIDENCE,
  TM_FIND_IMPRECISE,
  TM_FIND_MEMORY_ONLY,
  TM_FIND_UNTEMPERED,
  TM_FIND_TRIPS_ROUGH,
  TM_FIND_RHAT_ROUGH,
  TM_FIND_ESS_ROUGH,
  TM_FIND_MODES_FOUND,
  TM_FIND_RIDGE_BEATEN,
  TM_FIND_LABELS_UNEVEN,
  TM_FIND_LABELS_PERMUTED,
  TM_FIND_PATH_CUT,
  TM_FIND_NO_ESTIMATE,
  TM_FIND_FEW_FOR_EVIDENCE,
  TM_FIND_TAU_BOUNDED,
  TM_FIND_IMPROPER,
  TM_FIND_HOT_END_UNSEEN,
  TM_FIND_BARREN_WARMUP,
  TM_FIND_NO_RIDGE,
  TM_FIND_UNUSED_OPTION,
  TM_FIND_QUANTITIES_FAILED,
  TM_FIND_NOT_NUMBERS,
  TM_FIND_NO_TARGET,
  TM_FIND_CODES
} tm_finding_code;

/* Add a finding; NaN for a number that it does not have. `error` may be NULL;
 * it fails only when out of memory. The second fills in what it is about. */
tempera_status tm_find(tempera_summary *summary, tm_finding_code code,
                       double value, double limit, tempera_error *error);
tempera_status tm_find_about(tempera_summary *summary, tm_finding_code code,
                             double value, double limit, tempera_error *error,
                             const char *about, ...)
    __attribute__((format(printf, 6, 7)));
/* The same about one estimate of log Z, whose warning gets the words too.
 * Without a summary (NULL) only the estimate hears of it. */
tempera_status
tm_find_estimate(tempera_summary *summary, tempera_estimate *estimate,
                 tm_finding_code code, double value, double limit,
                 tempera_error *error, const char *about, ...)
    __attribute__((format(printf, 7, 8)));

/* A finding of this code, if there is one, is no more than a note. */
void tm_findings_pardon(tempera_summary *summary, tm_finding_code code);
/* The first finding of this code, or NULL. */
const tempera_finding *tm_finding_of(const tempera_summary *summary,
                                     tm_finding_code code);
/* The severest there is, TEMPERA_NOTE if there are none. */
tempera_severity tm_findings_worst(const tempera_summary *summary);
/* Is there one, rough or worse, that more draws may cure? */
bool tm_findings_open(const tempera_summary *summary);
/* Is all that is open about round trips, and what they would vouch for? */
bool tm_findings_only_trips(const tempera_summary *summary);
/* The words of a severity as in summary.json, and back. */
const char *tm_severity_word(tempera_severity severity);
tempera_severity tm_severity_read(const char *word);

/* For the verdict: forget those that it makes itself from the summary's
 * numbers; then bring all in order, the gravest first, and list their words in
 * summary->warnings. */
void tm_findings_begin(tempera_summary *summary);
TEMPERA_CHECKED tempera_status tm_findings_end(tempera_summary *summary,
                                               tempera_error *error);
/* Advice that run/advice.h replaces by what fits the run. */
#define TM_RUN_LONGER "run more iterations"
/* What the first, if it forbids "reliable", says is wrong and what to try;
 * false when none does. */
bool tm_findings_problem(const tempera_summary *summary, const char **problem,
                         const char **advice);
void tm_findings_free(tempera_summary *summary);

#endif
