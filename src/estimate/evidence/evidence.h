/* evidence.h - the estimators of log Z of method 4.4, each as a number and an
 * influence function per draw, from which evidence.c makes errors. */
#ifndef TM_ESTIMATE_EVIDENCE_H
#define TM_ESTIMATE_EVIDENCE_H

#include "estimate/evidence/influence.h"
#include "estimate/evidence/tempered.h"

typedef struct tm_evidence {
  double log_z;
  size_t chains, rows;
  double *psi;       /* influence of each row, chain after chain */
  double variance;   /* from outside of the draws (prior draws) */
  double half_range; /* half the width of what only convexity bounds */
  double top;        /* the tau from which on convexity bounds it */
} tm_evidence;

/* record.c: influences of zero for the view's rows (false: out of memory); the
 * standard error, all its parts together; and an entry of the summary made of
 * both. An estimate without a finite value and error is no estimate. */
bool tm_evidence_begin(const tm_tempered *view, tm_evidence *evidence);
double tm_evidence_se(const tm_evidence *evidence, tm_monte_carlo *mc);
/* No error is zero: what n draws have never shown may still have 3/n of the
 * mass (the rule of three), which log Z then misses. */
double tm_least_se(size_t draws);
TEMPERA_CHECKED tempera_status tm_evidence_record(tempera_summary *summary,
                                                  const char *name,
                                                  const tm_evidence *evidence,
                                                  tempera_estimate **made,
                                                  tempera_error *error);
/* Room for every estimate that a method can have; then entries by hand. */
TEMPERA_CHECKED tempera_status tm_estimates_reserve(tempera_summary *summary,
                                                    tempera_error *error);
tempera_estimate *tm_estimate_add(tempera_summary *summary, const char *name,
                                  double log_z, double se);
/* The entry of this name, or NULL. */
tempera_estimate *tm_estimate_find(const tempera_summary *summary,
                                   const char *name);
void tm_estimate_withdraw(tempera_estimate *estimate);
/* Takes the heap text over; NULL is out of memory. */
tempera_status tm_estimate_warn(tempera_estimate *estimate, char *warning,
                                tempera_error *error);
/* Make it the headline. */
TEMPERA_CHECKED tempera_status tm_estimate_take(tempera_summary *summary,
                                                const tempera_estimate *e,
                                                tempera_error *error);
/* phm, from the view's target draws, if it has any. */
TEMPERA_CHECKED tempera_status tm_evidence_add_phm(const tempera_draws *draws,
                                                   tm_tempered *view,
                                                   tempera_summary *summary,
                                                   tempera_error *error);
/* What draws at tau = 1 give alone: room for estimates, and phm. */
TEMPERA_CHECKED tempera_status tm_evidence_fill_untempered(
    const tempera_draws *draws, tempera_summary *summary, tempera_error *error);
/* When tau = 0 stood for the prior where L > 0 only: go on to all of it. */
void tm_evidence_from_support(const tempera_draws *draws,
                              tempera_summary *summary);
/* Prior mass of {L = 0}: by the view's draws at its atom, or by prior draws;
 * NaN when unknown. The view may be NULL. */
double tm_zero_likelihood(const tempera_draws *draws, tm_tempered *view);

/* Fewer round trips vouch for nothing. */
enum { TM_FEWEST_TRIPS = 10 };
/* From how many errors on two estimates disagree. Their errors are known as
 * well as the independent tours behind them let them be, so it is a quantile of
 * Student's t with a degree of freedom for each round trip but one: by chance
 * one comparison in a thousand goes past it. And differences that are never
 * called a disagreement. */
double tm_apart_limit(size_t round_trips);
static const double TM_LEAST_APART = 0.02;

/* Draws sorted into bins of tau: bin j is order[first[j] .. first[j+1]) and
 * spans [edge[j], edge[j+1]]. Arrays are the arena's. */
typedef struct tm_bins {
  size_t count;
  size_t *first;
  double *edge;
  double *mean; /* of l under uniform tau in the bin */
} tm_bins;

/* Bins of equal counts over [tau_min, top], at least `fewest` draws in each
 * and at most `most` bins; draws of one tau are never parted. False when out
 * of memory. */
bool tm_bins_make(const tm_tempered *view, double top, size_t fewest,
                  size_t most, tm_bins *bins);

/* rb: Rao-Blackwell, log of the ratio of mean weights. */
void tm_evidence_rb(tm_tempered *view, tm_evidence *evidence);
/* The first step of ti and ss, from tau = 0 on, added to the evidence: gives
 * the bin to go on from. */
size_t tm_evidence_hot_end(const tempera_draws *draws, tm_tempered *view,
                           const tm_bins *bins, tm_evidence *evidence);
/* ti: means of l over all draws in the bins from `from` on, holds counted.
 * Fills bins->mean. `scratch` holds view->count doubles. False when out of
 * memory. */
bool tm_evidence_ti(const tm_tempered *view, tm_bins *bins, size_t from,
                    double *scratch, tm_evidence *evidence);
/* ti-paper: as published (method 2), one chain after the other. se is the
 * printed variance's. False when out of memory. */
bool tm_evidence_ti_paper(const tm_tempered *view, double *log_z, double *se,
                          double *between);
/* The printed sum, of (tau_(t) - tau_(t-1)) E_(t-1) over the distinct taus, the
 * last interval reaching 1, and the printed variance, of the squared widths
 * times Var(E_t). `order` lists the draws by tau. */
double tm_evidence_left_sum(const double *tau, const double *l,
                            const size_t *order, size_t count,
                            double *variance);
/* ss: steppingstone in bins from `from` on; needs the tau prior. */
void tm_evidence_ss(const tm_tempered *view, const tm_bins *bins, size_t from,
                    double *scratch, tm_evidence *evidence);
/* ladder.c, for draws on levels with weights: st-weights, by the visits; ss,
 * between neighbours. */
void tm_evidence_visits(const tm_tempered *view, tm_evidence *evidence);
void tm_evidence_ladder(const tm_tempered *view, tm_evidence *evidence);
/* log of the sum over levels of w_t e^{tau_t l}. */
double tm_levels_log_mass(const tm_draws_levels *levels, double l);
/* phm: harmonic mean of the target draws. */
void tm_evidence_phm(const tm_tempered *view, tm_evidence *evidence);

/* Bins as ti and ss want them. */
bool tm_bins_ti(const tm_tempered *view, tm_bins *bins);
bool tm_bins_ss(const tm_tempered *view, tm_bins *bins);

/* Carry an estimate of log z(tau) on to tau = 1. E_u[l] increases with u, so
 * the rest lies between (1-tau) E_tau[l] and (1-tau) E_1[l]: take the middle,
 * and half the range as error. `lower` is E_tau[l] with its influence. */
void tm_evidence_extend(const tm_tempered *view, double tau, double lower,
                        const double *lower_psi, tm_evidence *evidence);

/* log P(L > 0), which integrals over tau > 0 miss (method 3.7): from the atom
 * when there is one, else from the prior draws. */
void tm_evidence_add_support(const tempera_draws *draws, tm_tempered *view,
                             tm_evidence *evidence);

/* The evidence part of a summary, its curve and its warnings. */
TEMPERA_CHECKED tempera_status tm_evidence_fill(const tempera_draws *draws,
                                                tm_tempered *view,
                                                tempera_summary *summary,
                                                tempera_error *error);

/* The target chain and the tempered draws weighted to tau = 1 sample the same
 * law; do their mean log likelihoods differ? Then one of them is not there, and
 * the weights are trusted only as far up as draws were seen (weight_top).
 * `scratch` holds view->count doubles. */
bool tm_evidence_target_apart(tm_tempered *view, double *scratch,
                              double *tempered, double *target);

/* headline.c: with the reference leg's estimates. */
TEMPERA_CHECKED tempera_status
tm_estimate_weigh_reference(tempera_summary *summary, tempera_error *error);

/* A curve of log z and E_tau[l], by weights. */
TEMPERA_CHECKED tempera_status tm_curve_by_weights(tm_tempered *view,
                                                   tempera_curve_point **curve,
                                                   size_t *count,
                                                   tempera_error *error);
/* Fills the curve of log z and E_tau[l]. */
TEMPERA_CHECKED tempera_status tm_curve_fill(tm_tempered *view,
                                             tempera_summary *summary,
                                             tempera_error *error);

#endif
