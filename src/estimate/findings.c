/* findings.c - the table of findings; see findings.h. */
#include "estimate/findings.h"

#include "base/locale.h"
#include "base/memory.h"
#include "base/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { NOTE = TEMPERA_NOTE, ROUGH, UNRELIABLE, WITHDRAWN };

/* In `words`, {v} is the value, {l} the limit ({v.2}: with two decimals) and
 * {a} what it is about. `problem` and `advice` are the verdict's. */
typedef struct row {
  const char *code;
  int severity;
  bool judged; /* made by the verdict from the summary's numbers */
  bool lasts;  /* more draws would not change it */
  const char *words, *problem, *advice;
} row;

#define CONTRADICT "the estimates of the evidence contradict each other"
#define LONGER TM_RUN_LONGER
#define NO_TRIPS "too few round trips between the prior and the posterior"
#define TOO_ROUGH                                                              \
  "means and quantiles are rough, and sharper with more iterations"

static const row TABLE[TM_FIND_CODES] = {
    [TM_FIND_NO_DRAWS] = {"no-draws", UNRELIABLE, true, false,
                          "There are no draws.", "there are no draws", LONGER},
    [TM_FIND_NO_LIKELIHOOD] =
        {"no-likelihood", UNRELIABLE, false, true,
         "Nothing in the model is likelihood: no statement that was reached "
         "has data for its outcome. The draws are the prior's, and there is no "
         "evidence.",
         "nothing in the model is likelihood, so there is no evidence",
         "look at the sides of its statements with tempera check"},
    [TM_FIND_UNVISITED_BASIN] =
        {"unvisited-basin", UNRELIABLE, false, false,
         "A basin that may hold {v.0} % of the posterior ({l.0} % matters) is "
         "known, and no draw is in it: {a}.",
         "the draws have not visited a basin that is known and may matter",
         "run more iterations, or start chains there with --init"},
    [TM_FIND_SELDOM_BASIN] =
        {"seldom-basin", UNRELIABLE, false, false,
         "A basin has {v.1} % of the draws, and by its own mass should have "
         "{l.1} % of the evidence: {a}.",
         "a basin has too few of the draws",
         "run more iterations, or start chains there with --init"},
    [TM_FIND_MISSED_BASIN] =
        {"missed-basin", UNRELIABLE, false, false,
         "Near tau = {a} the best point known is {v} nats higher than the "
         "draws "
         "explain (at most {l} is allowed): they miss a basin.",
         "the draws miss a basin whose best point is known", LONGER},
    [TM_FIND_PRIOR_UNVOUCHED] =
        {"prior-unvouched", UNRELIABLE, false, true,
         "The model cannot draw from its prior, and exploring it did not "
         "settle: {a}",
         "the prior cannot be drawn from, and its normalising constant cannot "
         "be vouched for",
         "write the prior with distributions that tempera check can draw from"},
    [TM_FIND_SUPPORT_UNVOUCHED] =
        {"support-unvouched", UNRELIABLE, false, true,
         "The likelihood is zero on nearly all of the prior. Of the part where "
         "it is not: {a}.",
         "the likelihood is zero on nearly all of the prior, and the part "
         "where it is not cannot be vouched for",
         "state the constraint by bounds on the parameters"},
    [TM_FIND_ROUNDED] =
        {"rounded", UNRELIABLE, false, true,
         "Beside the posterior as it was drawn, {v.2} times its mass lies "
         "closer "
         "to the bound of {a} than numbers can tell (at most {l.3} is "
         "allowed): "
         "the draws and log Z leave it out.",
         "the posterior has mass closer to a bound than numbers can tell",
         "give that parameter a prior with less mass there, or write the model "
         "with its logarithm or logit"},
    [TM_FIND_PRIOR_UNEXPLORED] =
        {"prior-unexplored", WITHDRAWN, false, false,
         "The tempered chain has not explored the prior: {a}.",
         "the tempered chain has not explored the prior", LONGER},
    [TM_FIND_UNCONNECTED] =
        {"unconnected", WITHDRAWN, false, false,
         "No tempered state ever went from the prior to the posterior, so "
         "that tempering gives no estimate of the evidence.",
         NO_TRIPS, LONGER},
    [TM_FIND_FEW_TRIPS] =
        {"few-round-trips", UNRELIABLE, true, false,
         "Only {v.0} round trips ({a} restarts) between the prior and tau = 1; "
         "at least {l.0} are needed before modes can be trusted.",
         NO_TRIPS, LONGER},
    [TM_FIND_REFERENCE_TRIPS] =
        {"reference-trips", UNRELIABLE, true, false,
         "The reference leg cannot vouch instead: only {v.0} round trips on it "
         "({a} in one chain; {l.0}, and 10 in each chain, are needed).",
         NO_TRIPS, LONGER},
    [TM_FIND_REFERENCE_RHAT] =
        {"reference-rhat", UNRELIABLE, true, false,
         "The reference leg cannot vouch instead: R-hat of {a} is {v.3} (it "
         "must be below {l.2}).",
         NO_TRIPS, LONGER},
    [TM_FIND_REFERENCE_TAIL] =
        {"reference-tail", UNRELIABLE, true, false,
         "The reference leg cannot vouch instead: draws lie far outside of the "
         "density fitted to them (Pareto k {v.2}; it must be below {l.1}).",
         NO_TRIPS, LONGER},
    [TM_FIND_REFERENCE_ALONE] =
        {"reference-alone", UNRELIABLE, true, false,
         "The reference leg cannot vouch instead: {a} gives no estimate that "
         "could be compared.",
         NO_TRIPS, LONGER},
    [TM_FIND_FEW_STARTS] =
        {"few-starts", UNRELIABLE, true, true,
         "The reference leg cannot vouch instead: {v.0} states were annealed "
         "from the prior to look for other modes, {l.0} are needed{a}.",
         NO_TRIPS, LONGER},
    [TM_FIND_UNABSORBED] =
        {"unabsorbed", UNRELIABLE, true, true,
         "Of {l.0} states annealed from the prior only {v.0} found their way "
         "down the reference leg: the others may be in a mode that the draws "
         "miss.",
         "states annealed from the prior ended where the reference does not "
         "reach: there may be another mode",
         "run a longer warmup, in which the reference is fitted, or more "
         "chains"},
    [TM_FIND_LEVELS_APART] =
        {"levels-apart", UNRELIABLE, true, true,
         "{v.0} % of the exchanges between tau = {a} are rejected (at most "
         "{l.0} % should be): there are too few levels.",
         "neighbouring levels hardly exchange",
         "use more levels, or leave --levels out"},
    [TM_FIND_CHAINS_APART] =
        {"rhat", UNRELIABLE, true, false,
         "R-hat of {a} is {v.3} (it should be below {l.2}): the chains "
         "disagree.",
         "the chains have not mixed", LONGER},
    [TM_FIND_FEW_EFFECTIVE] =
        {"ess", UNRELIABLE, true, false,
         "Effective sample size of {a} is {v.0} (it should be above {l.0}): "
         "too few for means and quantiles.",
         "too few effective draws", LONGER},
    [TM_FIND_MIXING_UNKNOWN] = {"mixing-unknown", UNRELIABLE, true, false,
                                "There are too few draws to judge the mixing.",
                                "there are too few draws to judge the mixing",
                                LONGER},
    [TM_FIND_FROZEN] =
        {"frozen", UNRELIABLE, false, false,
         "{a} has the same value in every draw ({v.0} parameters have): it "
         "never moved.",
         "a parameter never moved", LONGER},
    [TM_FIND_TARGET_APART] =
        {"target-apart", UNRELIABLE, false, false,
         "The tempered chain and the target chain disagree at tau = 1: mean "
         "log likelihood {v} and {l}.",
         CONTRADICT, LONGER},
    [TM_FIND_REFERENCE_APART] =
        {"reference-apart", UNRELIABLE, false, false,
         "The reference leg and the target chain disagree at tau = 1: mean log "
         "density ratio {v} and {l}. The posterior has mass outside of the "
         "density fitted to it.",
         "the posterior has mass outside of the reference",
         "run a longer warmup, in which the reference is fitted"},
    [TM_FIND_ESTIMATES_APART] =
        {"estimates-apart", UNRELIABLE, false, false,
         "disagrees with {a} by {v}, more than their errors allow ({l})",
         CONTRADICT, LONGER},
    [TM_FIND_BRIDGE_COVER] =
        {"bridge-cover", UNRELIABLE, false, false,
         "the density fitted to the {a} covers it badly: its draws are worth "
         "{v.1} in effect; run longer, or trust other estimators",
         CONTRADICT, LONGER},
    [TM_FIND_BRIDGE_CHAINS] =
        {"bridge-chains", UNRELIABLE, false, false,
         "the chains disagree on where the {a} mass lies: run longer",
         CONTRADICT, LONGER},
    [TM_FIND_BRIDGE_HALVES] =
        {"bridge-halves", UNRELIABLE, false, false,
         "the first and second halves of the {a} draws give different values: "
         "the chains had not settled, run longer",
         CONTRADICT, LONGER},
    [TM_FIND_PATH_BOUNDED] =
        {"path-bounded", UNRELIABLE, true, false,
         "log Z by {a}: the tempered chain reached tau = {v} only; convexity "
         "bounds the rest.",
         "the tempered chain did not reach tau = 1, so the evidence is known "
         "within bounds only",
         LONGER},
    [TM_FIND_NO_EVIDENCE] =
        {"no-evidence", UNRELIABLE, true, false,
         "There is no trustworthy estimate of the evidence.",
         "there is no trustworthy estimate of the evidence", LONGER},
    [TM_FIND_IMPRECISE] =
        {"imprecise", UNRELIABLE, true, false,
         "The standard error of log Z is {v.2} (at most {l.1} is allowed): its "
         "interval spans more than a factor of e either way, and errors of "
         "this size are themselves rough.",
         "log Z is not known well enough", LONGER},
    [TM_FIND_MEMORY_ONLY] =
        {"memory-only", UNRELIABLE, true, true,
         "The equi-energy sampler has the posterior's law in the limit only; "
         "nothing in the run would show a mode that no chain has met.",
         "the chains agree with each other, but there are no round trips to "
         "vouch for it",
         "use --method pt-stwnc"},
    [TM_FIND_UNTEMPERED] =
        {"untempered", UNRELIABLE, true, true,
         "This method does not temper: nothing in the run would show a mode "
         "that no chain has met.",
         "the chains agree with each other, but without tempering they cannot "
         "know whether there are other modes",
         "use --method pt-stwnc"},
    [TM_FIND_MODES_FOUND] =
        {"modes-found", NOTE, true, true,
         "There were only {v.0} round trips to the prior ({l.0} would be "
         "enough), so this speaks of the modes found: {a} states annealed from "
         "the prior all led to them, which excludes at 95 % a basin that "
         "catches 5 % of such states, not a narrower one.",
         NULL, NULL},
    [TM_FIND_RIDGE_BEATEN] =
        {"ridge-beaten", NOTE, true, true,
         "{v.0} draws rose above the ridge: an optimum was not global, as "
         "where "
         "likelihoods have steps. The draws know of that place, and their law "
         "does not rest on the ridge.",
         NULL, NULL},
    [TM_FIND_TRIPS_ROUGH] =
        {"round-trips-rough", ROUGH, true, false,
         "{v.0} round trips ({a} restarts) between the prior and tau = 1 (it "
         "should be {l.0} or more): the weights of modes are rough.",
         NULL, NULL},
    [TM_FIND_RHAT_ROUGH] = {"rhat-rough", ROUGH, true, false,
                            "R-hat of {a} is {v.3} (it should be below "
                            "{l.2}): " TOO_ROUGH ".",
                            NULL, NULL},
    [TM_FIND_ESS_ROUGH] = {"ess-rough", ROUGH, true, false,
                           "Effective sample size of {a} is {v.0} (it should "
                           "be above {l.0}): " TOO_ROUGH ".",
                           NULL, NULL},
    [TM_FIND_LABELS_UNEVEN] =
        {"labels-uneven", NOTE, false, false,
         "Labels are visited unevenly: one of {a} equal components comes first "
         "in only {v.1} % of the draws ({l.1} % is fair), so the modes' "
         "weights are rough.",
         NULL, NULL},
    [TM_FIND_LABELS_PERMUTED] =
        {"labels-permuted", NOTE, false, false,
         "The components of {a} are interchangeable and their labels change: "
         "marginal means and R-hat of these are not to be read one by one; see "
         "the components.",
         NULL, NULL},
    [TM_FIND_PATH_CUT] =
        {"path-cut", NOTE, true, false,
         "log Z by {a}: the tempered chain reached tau = {v} only; convexity "
         "bounds the rest.",
         NULL, NULL},
    [TM_FIND_NO_ESTIMATE] = {"no-estimate", NOTE, false, false, "{a}", NULL,
                             NULL},
    [TM_FIND_FEW_FOR_EVIDENCE] = {"few-for-evidence", NOTE, false, false,
                                  "Too few draws ({v.0}) to estimate the "
                                  "evidence.",
                                  NULL, NULL},
    [TM_FIND_TAU_BOUNDED] =
        {"tau-bounded", NOTE, false, true,
         "tau is bounded below by {v}: the evidence needs tau down to 0.", NULL,
         NULL},
    [TM_FIND_IMPROPER] =
        {"improper-prior", NOTE, false, true,
         "log Z is undefined: the prior of {a} is improper. The draws are "
         "those of the posterior, if that is proper; give {a} a proper prior "
         "to compare models.",
         NULL, NULL},
    [TM_FIND_HOT_END_UNSEEN] =
        {"hot-end-unseen", NOTE, false, false,
         "The tempered chain hardly ever came near tau = 0, where log z is "
         "known: there is no estimate of the evidence.",
         NULL, NULL},
    [TM_FIND_BARREN_WARMUP] = {"barren-warmup", NOTE, false, true,
                               "Nothing came up from the prior to tau = 1 in "
                               "the last {v.0} sweeps of "
                               "warmup{a}: the tau prior may be poor.",
                               NULL, NULL},
    [TM_FIND_NO_RIDGE] = {"no-ridge", NOTE, false, true,
                          "There is no ridge ({a}); the run went on without "
                          "it.",
                          NULL, NULL},
    [TM_FIND_UNUSED_OPTION] = {"unused-option", NOTE, false, true, "{a}", NULL,
                               NULL},
    [TM_FIND_QUANTITIES_FAILED] =
        {"quantities-failed", NOTE, false, true,
         "Quantities could not be computed at {v.0} of {l.0} draws and are NaN "
         "there{a}.",
         NULL, NULL},
    [TM_FIND_NOT_NUMBERS] = {"not-numbers", NOTE, false, true,
                             "The model returned NaN or +infinity in {v.0} of "
                             "{l.0} calls, and those "
                             "points were rejected; the first: {a}. If such "
                             "points matter, draws and "
                             "evidence lack them.",
                             NULL, NULL},
    [TM_FIND_NO_TARGET] = {"no-target", NOTE, false, true,
                           "There is no target chain{a}.", NULL, NULL},
};

static const char *const SEVERITIES[] = {[NOTE] = "note",
                                         [ROUGH] = "rough",
                                         [UNRELIABLE] = "unreliable",
                                         [WITHDRAWN] = "evidence-withdrawn"};

const char *tm_severity_word(tempera_severity severity) {
  return SEVERITIES[severity];
}

tempera_severity tm_severity_read(const char *word) {
  tempera_severity severity = TEMPERA_NOTE;
  for (int k = NOTE; k <= WITHDRAWN; k++)
    if (word && !strcmp(word, SEVERITIES[k]))
      severity = (tempera_severity)k;
  return severity;
}

/* ---- words -------------------------------------------------------------- */

typedef struct filling {
  double value, limit;
  const char *about;
} filling;

/* "v}", "l.2}" or "a}" after a brace: what it stands for; returns its end. */
static const char *add_field(tm_text *out, const char *field,
                             const filling *with) {
  const char *end = strchr(field, '}') + 1;
  double number = field[0] == 'v' ? with->value : with->limit;
  if (field[0] == 'a')
    tm_text_add(out, with->about);
  else if (field[1] == '.')
    tm_text_printf(out, "%.*f", field[2] - '0', number);
  else
    tm_text_printf(out, "%.4g", number);
  return end;
}

static void add_words(tm_text *out, const char *words, const filling *with) {
  while (*words) {
    size_t plain = strcspn(words, "{");
    tm_text_add_bytes(out, words, plain);
    words += plain;
    if (*words)
      words = add_field(out, words + 1, with);
  }
}

/* ---- adding ------------------------------------------------------------- */

/* Takes the words over. */
static tempera_status add(tempera_summary *summary, tm_finding_code code,
                          const filling *with, tm_text *words,
                          tempera_error *error) {
  tempera_finding *list =
      words->failed ? NULL
                    : tm_heap_resize(summary->findings,
                                     summary->finding_count + 1, sizeof *list);
  if (!list) {
    tm_text_clear(words);
    return tm_fail_memory(error);
  }
  summary->findings = list;
  tempera_finding *made = &list[summary->finding_count++];
  *made = (tempera_finding){.severity = (tempera_severity)TABLE[code].severity,
                            .value = with->value,
                            .limit = with->limit,
                            .words = words->data};
  snprintf(made->code, sizeof made->code, "%s", TABLE[code].code);
  return TEMPERA_OK;
}

static tempera_status add_filled(tempera_summary *summary, tm_finding_code code,
                                 const filling *with, tempera_error *error) {
  tm_text words = {0};
  add_words(&words, TABLE[code].words, with);
  return add(summary, code, with, &words, error);
}

static void format_into(tm_text *out, const char *format, va_list arguments) {
  char text[1024]; /* messages of models, among others; cut if longer */
  tm_vsnprintf(text, sizeof text, format, arguments);
  tm_text_add(out, text);
}

tempera_status tm_find(tempera_summary *summary, tm_finding_code code,
                       double value, double limit, tempera_error *error) {
  filling with = {value, limit, ""};
  return add_filled(summary, code, &with, error);
}

tempera_status tm_find_about(tempera_summary *summary, tm_finding_code code,
                             double value, double limit, tempera_error *error,
                             const char *about, ...) {
  tm_text text = {0};
  va_list arguments;
  va_start(arguments, about);
  format_into(&text, about, arguments);
  va_end(arguments);
  filling with = {value, limit, text.data ? text.data : ""};
  tempera_status status = text.failed ? tm_fail_memory(error)
                                      : add_filled(summary, code, &with, error);
  tm_text_clear(&text);
  return status;
}

/* A second warning joins the first. */
static tempera_status warn(tempera_estimate *e, const char *words,
                           tempera_error *error) {
  tm_text warning = {0};
  if (e->warning)
    tm_text_printf(&warning, "%s; ", e->warning);
  tm_text_add(&warning, words);
  if (warning.failed) {
    tm_text_clear(&warning);
    return tm_fail_memory(error);
  }
  tm_heap_free(e->warning);
  e->warning = warning.data;
  return TEMPERA_OK;
}

tempera_status tm_find_estimate(tempera_summary *summary,
                                tempera_estimate *estimate,
                                tm_finding_code code, double value,
                                double limit, tempera_error *error,
                                const char *about, ...) {
  tm_text text = {0}, words = {0}, whole = {0};
  va_list arguments;
  va_start(arguments, about);
  format_into(&text, about, arguments);
  va_end(arguments);
  filling with = {value, limit, text.data ? text.data : ""};
  add_words(&words, TABLE[code].words, &with);
  tempera_status status = text.failed || words.failed
                              ? tm_fail_memory(error)
                              : warn(estimate, words.data, error);
  if (status == TEMPERA_OK && summary) {
    tm_text_printf(&whole, "log Z by %s: %s.", estimate->name, words.data);
    status = add(summary, code, &with, &whole, error);
  }
  tm_text_clear(&words);
  tm_text_clear(&text);
  return status;
}

/* ---- asking ------------------------------------------------------------- */

/* Its row; findings read from a file may have none. */
static const row *row_of(const tempera_finding *finding) {
  for (size_t k = 0; k < TM_FIND_CODES; k++)
    if (!strcmp(finding->code, TABLE[k].code))
      return &TABLE[k];
  return NULL;
}

const tempera_finding *tm_finding_of(const tempera_summary *summary,
                                     tm_finding_code code) {
  for (size_t i = 0; i < summary->finding_count; i++)
    if (!strcmp(summary->findings[i].code, TABLE[code].code))
      return &summary->findings[i];
  return NULL;
}

void tm_findings_pardon(tempera_summary *summary, tm_finding_code code) {
  for (size_t i = 0; i < summary->finding_count; i++)
    if (!strcmp(summary->findings[i].code, TABLE[code].code))
      summary->findings[i].severity = TEMPERA_NOTE;
}

tempera_severity tm_findings_worst(const tempera_summary *summary) {
  tempera_severity worst = TEMPERA_NOTE;
  for (size_t i = 0; i < summary->finding_count; i++)
    if (summary->findings[i].severity > worst)
      worst = summary->findings[i].severity;
  return worst;
}

bool tm_findings_open(const tempera_summary *summary) {
  for (size_t i = 0; i < summary->finding_count; i++) {
    const row *r = row_of(&summary->findings[i]);
    if (r && (int)summary->findings[i].severity >= ROUGH && !r->lasts)
      return true;
  }
  return false;
}

bool tm_findings_only_trips(const tempera_summary *summary) {
  static const tm_finding_code about[] = {
      TM_FIND_FEW_TRIPS,       TM_FIND_TRIPS_ROUGH,     TM_FIND_UNCONNECTED,
      TM_FIND_REFERENCE_TRIPS, TM_FIND_REFERENCE_RHAT,  TM_FIND_REFERENCE_TAIL,
      TM_FIND_REFERENCE_ALONE, TM_FIND_FEW_STARTS,      TM_FIND_UNABSORBED,
      TM_FIND_NO_EVIDENCE,     TM_FIND_PRIOR_UNEXPLORED};
  for (size_t i = 0; i < summary->finding_count; i++) {
    const row *r = row_of(&summary->findings[i]);
    bool trips = false;
    for (size_t k = 0; k < sizeof about / sizeof *about; k++)
      trips = trips || r == &TABLE[about[k]];
    if (r && !trips && (int)summary->findings[i].severity >= ROUGH)
      return false;
  }
  return true;
}

bool tm_findings_problem(const tempera_summary *summary, const char **problem,
                         const char **advice) {
  for (size_t i = 0; i < summary->finding_count; i++) {
    const row *r = row_of(&summary->findings[i]);
    if (!r || (int)summary->findings[i].severity < UNRELIABLE)
      continue;
    *problem = r->problem;
    *advice = r->advice;
    return true;
  }
  return false;
}

/* ---- the whole list ----------------------------------------------------- */

void tm_findings_begin(tempera_summary *summary) {
  size_t kept = 0;
  for (size_t i = 0; i < summary->finding_count; i++) {
    tempera_finding *f = &summary->findings[i];
    const row *r = row_of(f);
    if (r && r->judged)
      tm_heap_free(f->words);
    else
      summary->findings[kept++] = *f;
  }
  summary->finding_count = kept;
}

/* Those of one row stay as they came. */
static void bring_in_order(tempera_summary *s) {
  for (size_t i = 1; i < s->finding_count; i++) {
    tempera_finding moved = s->findings[i];
    size_t j = i;
    for (; j > 0 && row_of(&s->findings[j - 1]) > row_of(&moved); j--)
      s->findings[j] = s->findings[j - 1];
    s->findings[j] = moved;
  }
}

static void free_warnings(tempera_summary *s) {
  for (size_t i = 0; i < s->warning_count; i++)
    tm_heap_free(s->warnings[i]);
  tm_heap_free(s->warnings);
  s->warnings = NULL;
  s->warning_count = 0;
}

tempera_status tm_findings_end(tempera_summary *summary, tempera_error *error) {
  bring_in_order(summary);
  free_warnings(summary);
  if (!summary->finding_count)
    return TEMPERA_OK;
  summary->warnings =
      tm_heap_alloc(summary->finding_count, sizeof *summary->warnings);
  if (!summary->warnings)
    return tm_fail_memory(error);
  for (size_t i = 0; i < summary->finding_count; i++) {
    char *words = tm_heap_text(summary->findings[i].words);
    if (!words)
      return tm_fail_memory(error);
    summary->warnings[summary->warning_count++] = words;
  }
  return TEMPERA_OK;
}

void tm_findings_free(tempera_summary *summary) {
  for (size_t i = 0; i < summary->finding_count; i++)
    tm_heap_free(summary->findings[i].words);
  tm_heap_free(summary->findings);
  free_warnings(summary);
}
