/* fit_text.c - the evidence of a fit made elsewhere, in words, beside a
 * tempered run that looked for what the fit may have missed. */
#include "report/table.h"

#include <math.h>
#include <string.h>

static const double MIXED = 1.05; /* the verdict's limit for R-hat */

static void add_modes(tm_text *out, const tempera_summary *s) {
  tm_text_printf(out, "  modes seen %zu", s->mode_count);
  for (size_t i = 0; i < s->mode_count && i < 8; i++)
    tm_text_printf(out, "%s%.3g", i ? ", " : ": weights ", s->modes[i].weight);
  tm_text_add(out, "\n");
}

static void add_evidence(tm_text *out, const tempera_summary *s,
                         const char *note) {
  if (isfinite(s->log_z))
    tm_text_printf(out, "  log Z      %.4f, se %.4f (%s)\n", s->log_z, s->se,
                   note);
  else
    tm_text_add(out, "  log Z      none\n");
}

static void add_path(tm_text *out, const tempera_summary *s) {
  for (size_t i = 0; i < s->estimate_count; i++) {
    const tempera_estimate *e = &s->estimates[i];
    if (strcmp(e->name, "path"))
      continue;
    if (isfinite(e->log_z))
      tm_text_printf(out,
                     "             %.4f, se %.4f (path from the fitted "
                     "density)\n",
                     e->log_z, e->se);
    if (e->warning)
      tm_text_printf(out, "  - path: %s\n", e->warning);
  }
}

static void add_fit(tm_text *out, const tempera_summary *s) {
  double rhat = NAN, ess = NAN, k = s->reference ? s->reference->pareto_k : NAN;
  for (size_t i = 0; i < s->value_count; i++) {
    rhat = fmax(rhat, s->values[i].rhat);
    ess = fmin(ess, fmin(s->values[i].ess_bulk, s->values[i].ess_tail));
  }
  tm_text_printf(out, "%s: %zu chain%s of %zu draws made elsewhere\n", s->model,
                 s->chains, s->chains == 1 ? "" : "s", s->iterations);
  add_evidence(out, s, s->estimator ? s->estimator : "");
  add_path(out, s);
  tm_text_printf(out, "  Pareto k   %.2f%s\n", k,
                 k > 0.7 ? " (beyond 0.7: the fitted density misses tails)"
                         : "");
  tm_text_printf(out, "  worst R-hat %.3f, least ESS %.0f\n", rhat, ess);
  add_modes(out, s);
  if (rhat > MIXED && s->mode_count > 1)
    tm_text_add(out, "  - the chains have not mixed: these weights tell where "
                     "they were begun, and not\n    how much each mode "
                     "holds\n");
  else if (rhat > MIXED)
    tm_text_add(out, "  - the chains have not mixed: there is more to the "
                     "posterior than they have seen\n");
  for (size_t i = 0; i < s->warning_count; i++)
    tm_text_printf(out, "  - %s\n", s->warnings[i]);
}

static void add_search(tm_text *out, const tempera_summary *fit,
                       const tempera_summary *s) {
  double gap = s->log_z - fit->log_z, slack = 3 * hypot(s->se, fit->se) + 0.02;
  tm_text_add(out, "\nSearch by a tempered run:\n");
  add_evidence(out, s, s->reliable ? "reliable" : "not reliable");
  add_modes(out, s);
  tm_text_printf(
      out, "  %s\n",
      !isfinite(gap) ? "They cannot be compared."
      : gap > slack
          ? "The fit has missed part of the posterior: use this log Z."
      : gap < -slack ? "The search found less than the fit has: trust neither."
                     : "Nothing beyond what the fit has seen was found.");
}

tempera_status tempera_fit_text(const tempera_summary *fit,
                                const tempera_summary *search, char **text,
                                tempera_error *error) {
  tm_text out = {0};
  add_fit(&out, fit);
  tm_text_printf(
      &out,
      "  Modes that the fit has not seen are not in this number, and "
      "nothing in its draws\n  can tell whether there are any%s.\n",
      search ? "" : "; a tempered run (--search) looks for them");
  if (search)
    add_search(&out, fit, search);
  if (out.failed) {
    tm_text_clear(&out);
    return tm_fail_memory(error);
  }
  *text = out.data;
  return TEMPERA_OK;
}
