/* hypothesis_text.c - a tested hypothesis in words and as JSON. */
#include "base/json.h"
#include "report/table.h"

#include <math.h>

static void add_part(tm_text *out, const char *whose, double value, double se,
                     bool point) {
  int decimals = tm_decimals(se);
  if (!isfinite(value))
    tm_text_printf(out, "  %-9s none\n", whose);
  else if (point)
    tm_text_printf(out, "  %-9s log density %.*f, se %.*f\n", whose, decimals,
                   value, decimals, se);
  else
    tm_text_printf(out, "  %-9s probability %.4g, se %.2g\n", whose, exp(value),
                   exp(value) * se);
}

static void add_factor(tm_text *out, const tempera_hypothesis *h) {
  int decimals = tm_decimals(h->se);
  if (!isfinite(h->log_bf))
    return;
  tm_text_printf(out, "  log BF    %.*f, se %.*f: %s %s it%s\n", decimals,
                 h->log_bf, decimals, h->se, tempera_evidence_words(h->log_bf),
                 h->log_bf > 0 ? "for" : "against",
                 h->point ? " (Savage-Dickey)" : ", against its being false");
}

tempera_status tempera_hypothesis_text(const tempera_hypothesis *hypothesis,
                                       char **text, tempera_error *error) {
  const tempera_hypothesis *h = hypothesis;
  tm_text out = {0};
  tm_text_printf(&out, "%s\n", h->words);
  add_part(&out, "posterior", h->posterior, h->posterior_se, h->point);
  add_part(&out, "prior", h->prior, h->prior_se, h->point);
  add_factor(&out, h);
  if (h->point && isfinite(h->pareto_k))
    tm_text_printf(&out, "  Pareto k  %.2f\n", h->pareto_k);
  if (h->warning)
    tm_text_printf(&out, "  ! %s\n", h->warning);
  if (out.failed) {
    tm_text_clear(&out);
    return tm_fail_memory(error);
  }
  *text = out.data;
  return TEMPERA_OK;
}

tempera_status tempera_hypothesis_json(const tempera_hypothesis *hypothesis,
                                       char **text, tempera_error *error) {
  const tempera_hypothesis *h = hypothesis;
  (void)tm_json_watch();
  json_t *root = json_object();
  tm_json_string(root, "null", h->words);
  tm_json_string(root, "kind", h->point ? "savage-dickey" : "odds");
  tm_json_real(root, "log_bf", h->log_bf);
  tm_json_real(root, "se", h->se);
  tm_json_real(root, h->point ? "log_posterior_density"
                              : "log_posterior_probability",
               h->posterior);
  tm_json_real(root, "posterior_se", h->posterior_se);
  tm_json_real(root,
               h->point ? "log_prior_density" : "log_prior_probability",
               h->prior);
  tm_json_real(root, "prior_se", h->prior_se);
  tm_json_real(root, "pareto_k", h->pareto_k);
  tm_json_integer(root, "likelihood_evaluations", h->evaluations);
  tm_json_string(root, "warning", h->warning);
  return tm_json_dump(root, text, error);
}
