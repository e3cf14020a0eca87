/* advice.c - see advice.h. The verdict knows the numbers alone; that a run was
 * told how long to be, or to use the profile's tau prior, only the sampler
 * knows. */
#include "run/advice.h"

#include "base/text.h"
#include "estimate/findings.h"
#include "estimate/summary.h"

#include <string.h>

static void add(tm_text *text, bool fits, const char *words) {
  if (!fits)
    return;
  tm_text_add(text, text->length ? "; or " : "");
  tm_text_add(text, words);
}

static void gather(const tempera_sampler *s, const tempera_summary *summary,
                   tm_text *text) {
  const tempera_options *asked = &s->asked;
  bool pair = tm_is_pair(asked);
  bool length = asked->iterations > 0 || asked->warmup_given;
  bool interrupted = atomic_load(&s->cancelled);
  bool late = asked->time_limit > 0 && !summary->complete && !interrupted;
  bool cut = interrupted || late;
  add(text, asked->paper, "leave --paper out");
  add(text, asked->levels > 0 && tm_finding_of(summary, TM_FIND_LEVELS_APART),
      "use more levels, or leave --levels out");
  add(text, !asked->paper && pair && asked->tau_prior == TEMPERA_PRIOR_PROFILE,
      "leave --tau-prior profile out, which collapses in several dimensions");
  add(text, asked->kernel != TEMPERA_KERNEL_AUTO, "leave --kernel out");
  add(text, interrupted, "go on with it (tempera resume)");
  add(text, late, "allow it more time (--time-limit)");
  add(text, length && !cut && !asked->paper,
      "leave --iterations and --warmup out, so that it takes as many as it "
      "needs");
  add(text, !length && !cut, "run more iterations (--iterations)");
}

tempera_status tm_advise(const tempera_sampler *sampler,
                         tempera_summary *summary, tempera_error *error) {
  const char *problem, *advice;
  tm_text text = {0};
  if (!tm_findings_problem(summary, &problem, &advice) ||
      strcmp(advice, TM_RUN_LONGER) != 0)
    return TEMPERA_OK;
  gather(sampler, summary, &text);
  char *verdict = text.failed || !text.data
                      ? NULL
                      : tm_heap_format("Not reliable: %s. Try this: %s.",
                                       problem, text.data);
  tm_text_clear(&text);
  if (!verdict)
    return tm_fail_memory(error);
  tm_heap_free(summary->verdict);
  summary->verdict = verdict;
  return TEMPERA_OK;
}
