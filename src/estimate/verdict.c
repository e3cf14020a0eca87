/* verdict.c - what the numbers of a summary mean: reliable, or what is wrong
 * and what to try. Every check adds its own warning; the verdict names the
 * gravest. */
#include "estimate/estimate.h"

#include "base/text.h"
#include "estimate/summary.h"

#include <math.h>
#include <string.h>

enum { FEWEST_TRIPS = 10 };

/* Mixing is good up to the first limit of each; past the second nothing can be
 * trusted. Between the two the run stands, and its parameters are rough. */
static const double GOOD_RHAT = 1.01, WORST_RHAT = 1.05;
static const double GOOD_ESS = 400, FEWEST_ESS = 100;

/* Findings from the gravest to the mildest; `problem` is the first found. */
typedef struct findings {
  tempera_summary *summary;
  const char *problem, *advice;
  bool rough;  /* the mixing is neither good nor a problem */
  bool failed; /* out of memory */
} findings;

static void blame(findings *f, const char *problem, const char *advice) {
  if (f->problem)
    return;
  f->problem = problem;
  f->advice = advice;
}

#define WARN(f, ...)                                                           \
  ((f)->failed |= tm_summary_warn((f)->summary, __VA_ARGS__) != TEMPERA_OK)

static bool has_draws(const tempera_summary *s) {
  for (size_t i = 0; i < s->value_count; i++)
    if (!isnan(s->values[i].mean))
      return true;
  return s->tau_bin_count > 0;
}

static bool is_checked(const tempera_estimate *e) {
  return !strcmp(e->name, "rb") || !strcmp(e->name, "ti") ||
         !strcmp(e->name, "ss") || !strcmp(e->name, "bridge") ||
         !strcmp(e->name, "st-weights");
}

static void check_evidence(findings *f) {
  tempera_summary *s = f->summary;
  if (s->estimate_count > 0 && !s->estimator)
    blame(f, "there is no trustworthy estimate of the evidence",
          "run more iterations");
  for (size_t i = 0; i < s->estimate_count; i++) {
    const tempera_estimate *e = &s->estimates[i];
    if (!is_checked(e) || !e->warning)
      continue;
    WARN(f, "log Z by %s: %s.", e->name, e->warning);
    if (!isfinite(e->log_z))
      continue; /* nothing to contradict */
    bool bounded = strstr(e->warning, "convexity");
    bool headline = s->estimator && !strcmp(e->name, s->estimator);
    if (bounded && headline)
      blame(f,
            "the tempered chain did not reach tau = 1, so the evidence is "
            "known within bounds only",
            "run longer, or use another tau prior than the profile, which "
            "collapses in several dimensions");
    if (!bounded)
      blame(f, "the estimates of the evidence contradict each other",
            "run more iterations or chains");
  }
}

static void check_trips(findings *f) {
  tempera_summary *s = f->summary;
  if (s->tau_bin_count == 0 || s->round_trips >= FEWEST_TRIPS)
    return;
  WARN(f,
       "Only %zu round trips (%zu restarts) between the prior and tau = 1; "
       "at least %d are needed before modes can be trusted.",
       s->round_trips, s->restarts, FEWEST_TRIPS);
  blame(f, "too few round trips between the prior and the posterior",
        "run more iterations, or a better kernel");
}

/* Levels that hardly exchange share too little for one to check the other: a
 * basin may be missing between them, however steady the estimates look. */
static void check_levels(findings *f) {
  const tempera_summary *s = f->summary;
  const double most = 0.9;
  size_t worst = s->level_count;
  for (size_t t = 0; t + 1 < s->level_count; t++)
    if (s->levels[t].rejection > most &&
        (worst == s->level_count ||
         s->levels[t].rejection > s->levels[worst].rejection))
      worst = t;
  if (worst == s->level_count)
    return;
  WARN(f,
       "%.0f %% of the exchanges between tau = %.3g and %.3g are rejected "
       "(at most 90 %% should be): there are too few levels.",
       100 * s->levels[worst].rejection, s->levels[worst].tau,
       s->levels[worst + 1].tau);
  blame(f, "neighbouring levels hardly exchange",
        "use more levels, or leave --levels out");
}

/* The worst R-hat and the smallest effective sample size, and of what. */
typedef struct worst {
  const char *slow, *thin; /* NULL: of nothing */
  double rhat, ess;
} worst;

static void consider(worst *w, const char *name, double rhat, double ess) {
  if (!isnan(rhat) && (!w->slow || rhat > w->rhat)) {
    w->slow = name;
    w->rhat = rhat;
  }
  if (!isnan(ess) && (!w->thin || ess < w->ess)) {
    w->thin = name;
    w->ess = ess;
  }
}

/* Values whose labels are permuted are judged once put in order: their own
 * R-hat only says how often labels changed. */
static worst worst_mixing(const tempera_summary *s) {
  worst w = {0};
  for (size_t i = 0; i < s->value_count; i++) {
    const tempera_value_summary *v = &s->values[i];
    if (!v->permuted)
      consider(&w, v->name, v->rhat, fmin(v->ess_bulk, v->ess_tail));
  }
  if (s->label_count)
    consider(&w, "the components in order", s->relabelled_rhat,
             s->relabelled_ess);
  return w;
}

static const char ROUGH[] =
    "means and quantiles are rough, and sharper with more iterations";

static void check_rhat(findings *f, const worst *w) {
  if (!w->slow || !(w->rhat > GOOD_RHAT))
    return;
  bool mixed = w->rhat <= WORST_RHAT;
  WARN(f, "R-hat of %s is %.3f (it should be below %.2f): %s.", w->slow,
       w->rhat, GOOD_RHAT, mixed ? ROUGH : "the chains disagree");
  f->rough = f->rough || mixed;
  if (!mixed)
    blame(f, "the chains have not mixed", "run more iterations");
}

static void check_ess(findings *f, const worst *w) {
  if (!w->thin || !(w->ess < GOOD_ESS))
    return;
  bool enough = w->ess >= FEWEST_ESS;
  WARN(f, "Effective sample size of %s is %.0f (it should be above %.0f): %s.",
       w->thin, w->ess, GOOD_ESS,
       enough ? ROUGH : "too few for means and quantiles");
  f->rough = f->rough || enough;
  if (!enough)
    blame(f, "too few effective draws", "run more iterations");
}

static void check_mixing(findings *f) {
  worst w = worst_mixing(f->summary);
  if (!w.slow && !w.thin && f->summary->value_count > 0)
    blame(f, "there are too few draws to judge the mixing",
          "run more iterations");
  check_rhat(f, &w);
  check_ess(f, &w);
}

static void check_ridge(findings *f) {
  tempera_summary *s = f->summary;
  if (s->ridge_beaten == 0)
    return;
  WARN(f,
       "%zu draws rose above the ridge: an optimum was not global. The "
       "sampler is still correct, but it spends its time badly over tau.",
       s->ridge_beaten);
  blame(f,
        "draws rose above the ridge, so there is a higher optimum than those "
        "found, and perhaps a basin that was missed",
        "run a longer warmup, which looks for it");
}

/* Equi-energy jumps reach far, but only as far as a finite memory. */
static void check_jumps(findings *f) {
  WARN(f, "The equi-energy sampler has the posterior's law in the limit only; "
          "nothing in the run would show a mode that no chain has met.");
  blame(f,
        "the chains agree with each other, but there are no round trips to "
        "vouch for it",
        "use --method pt-stwnc");
}

/* Chains at tau = 1 that agree may all sit in the same mode. */
static void check_tempering(findings *f) {
  if (f->summary->tau_bin_count > 0 || f->problem)
    return;
  if (f->summary->method && !strcmp(f->summary->method, "ee")) {
    check_jumps(f);
    return;
  }
  WARN(f, "This method does not temper: nothing in the run would show a mode "
          "that no chain has met.");
  blame(f,
        "the chains agree with each other, but without tempering they cannot "
        "know whether there are other modes",
        "use --method pt-stwnc");
}

static char *words(const findings *f) {
  const tempera_summary *s = f->summary;
  if (f->problem)
    return tm_heap_format("Not reliable: %s. Try this: %s.", f->problem,
                          f->advice);
  const char *rough =
      f->rough ? " Means and quantiles of the parameters are rough." : "";
  int decimals = tm_decimals(s->se);
  if (s->estimator && s->tau_bin_count)
    return tm_heap_format("Reliable: log Z = %.*f +- %.*f, %zu round trips, "
                          "and the checks agree.%s",
                          decimals, s->log_z, decimals, s->se, s->round_trips,
                          rough);
  return tm_heap_format("Reliable: the chains have mixed; no evidence was "
                        "estimated.%s",
                        rough);
}

tempera_status tm_estimate_verdict(tempera_summary *summary,
                                   tempera_error *error) {
  findings f = {.summary = summary};
  if (!has_draws(summary)) {
    blame(&f, "there are no draws", "run more iterations");
  } else {
    bool tempered = summary->tau_bin_count > 0;
    if (!tempered) /* the bridge is only as good as the chains */
      check_mixing(&f);
    check_evidence(&f);
    check_trips(&f);
    check_levels(&f);
    if (tempered)
      check_mixing(&f);
    check_ridge(&f);
    check_tempering(&f);
  }
  char *verdict = words(&f);
  if (f.failed || !verdict) {
    tm_heap_free(verdict);
    return tm_fail_memory(error);
  }
  tm_heap_free(summary->verdict);
  summary->verdict = verdict;
  summary->reliable = !f.problem;
  return TEMPERA_OK;
}
