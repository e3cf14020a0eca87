/* estimate.h - everything computed from draws: evidence with honest errors,
 * summaries of the parameters, and how well the run mixed (method 4.4, 4.8).
 *
 * Estimators know the draws and nothing of the samplers that made them. Where
 * they are given threads, results do not depend on their number. */
#ifndef TM_ESTIMATE_ESTIMATE_H
#define TM_ESTIMATE_ESTIMATE_H

#include "draws/draws.h"
#include "estimate/bridge/bridge.h"
#include "model/model.h"

/* Fill the evidence, values, curve, tau bins and mixing numbers of a zeroed
 * summary; numbers that cannot be had are NaN. Model, method, seed, cost and
 * ridge fields are the caller's. What was filled before a failure is freed by
 * tempera_summary_free. */
TEMPERA_CHECKED tempera_status tm_estimate_summary(const tempera_draws *draws,
                                                   int threads,
                                                   tempera_summary *summary,
                                                   tempera_error *error);
/* The same, and at the same time the mixing of the reference leg (NULL: there
 * is none). What was seen of it, in *leg, is to be freed (also after a
 * failure) by tm_leg_evidence_free; NULL: there is nothing to see. */
typedef struct tm_leg_evidence tm_leg_evidence;
TEMPERA_CHECKED tempera_status tm_estimate_both(
    const tempera_draws *draws, const tempera_draws *reference, int threads,
    tempera_summary *summary, tm_leg_evidence **leg, tempera_error *error);
/* The modes of the target draws, by weight. */
TEMPERA_CHECKED tempera_status tm_estimate_modes(const tempera_draws *draws,
                                                 tempera_summary *summary,
                                                 tempera_error *error);
/* After the summary: components that can change places, by the density's word,
 * and their mixing once each draw is moved to one labelling. The calls of the
 * likelihood are added to *calls. After the modes as well: what to say of it.
 */
TEMPERA_CHECKED tempera_status tm_estimate_labels(
    const tempera_model *model, const tempera_draws *draws, int threads,
    tempera_summary *summary, uint64_t *calls, tempera_error *error);
TEMPERA_CHECKED tempera_status
tm_estimate_label_findings(tempera_summary *summary, tempera_error *error);
/* Named summaries without numbers; names and list are freed with the
 * summary. */
TEMPERA_CHECKED tempera_status tm_estimate_name_values(
    const char *const *names, size_t count, tempera_value_summary **values,
    size_t *value_count, tempera_error *error);
/* Summarise values that were computed from the draws at tau = 1 (else the
 * tempered ones): columns[chain * count + i] has a number for every row. */
TEMPERA_CHECKED tempera_status tm_estimate_values(const tempera_draws *draws,
                                                  double *const *columns,
                                                  size_t count, int threads,
                                                  tempera_value_summary *values,
                                                  tempera_error *error);
/* Add the bridge estimate (it calls the likelihood, whence the model; the
 * calls are counted) and choose the headline: the sharper
 * of bridge and rb where both stand and agree, else the one chosen before, with
 * a warning. */
TEMPERA_CHECKED tempera_status tm_estimate_add_bridge(
    const tempera_model *model, const tempera_draws *draws,
    const tm_bridge_settings *settings, tempera_summary *summary,
    uint64_t *likelihood_evaluations, tempera_error *error);
/* Checks of the draws against what is known apart from them: round trips, plain
 * draws from the prior, and the ridge (draws that stay far below the best point
 * known at some tau miss a basin; every estimate then gets an error that allows
 * for it). */
TEMPERA_CHECKED tempera_status tm_estimate_cross_check(
    const tempera_draws *draws, tempera_summary *summary, tempera_error *error);
/* The headline and every estimate reach `distance` further, and say why. */
TEMPERA_CHECKED tempera_status tm_estimates_reach(tempera_summary *summary,
                                                  double distance,
                                                  const char *why,
                                                  tempera_error *error);
/* The part of the verdict that needs no more than tm_estimate_summary: adds
 * what it finds on round trips and mixing. */
TEMPERA_CHECKED tempera_status
tm_estimate_judge_mixing(tempera_summary *summary, tempera_error *error);
/* The reference leg in three steps. Its mixing, before anything that costs
 * more; its curve and, where there is `evidence` to be had, estimates, which
 * touches nothing of the summary but summary->reference; and after all others:
 * these into the summary, and the headline, which may be theirs. */
TEMPERA_CHECKED tempera_status
tm_leg_evidence_make(const tempera_draws *reference, tempera_summary *summary,
                     tm_leg_evidence **leg, tempera_error *error);
TEMPERA_CHECKED tempera_status tm_reference_weigh(tm_leg_evidence *leg,
                                                  bool evidence,
                                                  tempera_error *error);
TEMPERA_CHECKED tempera_status tm_estimate_add_reference(
    tm_leg_evidence *leg, tempera_summary *summary, tempera_error *error);
void tm_leg_evidence_free(tm_leg_evidence *leg);
/* The last step, once the ridge fields are in: adds what the numbers tell to
 * the findings, and sets `reliable`, `verdict` and `warnings`. */
TEMPERA_CHECKED tempera_status tm_estimate_verdict(tempera_summary *summary,
                                                   tempera_error *error);
/* The headline estimate alone, for progress lines and --until-se; NaN until
 * it can be known. It has the error of the full summary, the bounded part of
 * an unvisited stretch included. */
void tm_estimate_headline(const tempera_draws *draws, double *log_z,
                          double *se);
/* The same from the first eighth of the draws, the first quarter, and so on:
 * summary->history. */
TEMPERA_CHECKED tempera_status tm_estimate_history(const tempera_draws *draws,
                                                   int threads,
                                                   tempera_summary *summary,
                                                   tempera_error *error);
/* Round trips and restarts over all chains (method 4.8). */
TEMPERA_CHECKED tempera_status
tm_estimate_round_trips(const tempera_draws *draws, size_t *round_trips,
                        size_t *restarts, tempera_error *error);

#endif
