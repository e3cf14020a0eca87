/* method.h - what a method does at run level: make its groups, prepare before
 * the first sweep, learn between warmup rounds, freeze. Everything else
 * (starts, threads, rounds, draws, stopping, cost, summary) is the same for
 * all. */
#ifndef TM_RUN_METHOD_H
#define TM_RUN_METHOD_H

#include "groups/group.h"

/* The most levels a ladder can have. */
enum { TM_MOST_LEVELS = 200 };

/* Functions that may be NULL: then there is nothing to do. All but `keep` run
 * on one thread, with all groups at the same sweep; what is pooled over groups
 * is pooled in chain order. */
typedef struct tm_method {
  bool target, tempered; /* the roles of its draws */
  bool levels;           /* has it discrete levels (--levels)? */
  /* Are the rows of a sweep as many in warmup as later? Else the tempered
   * draws of the warmup cannot be saved. */
  bool steady_width;
  /* The group of one chain, started at `start` (natural scale; finite
   * densities) and, where it has one tau, at start_tau. */
  tempera_status (*make_group)(tempera_sampler *sampler, uint32_t chain,
                               const double *start, double start_tau,
                               tm_group **group, tempera_error *error);
  /* Before the first sweep: ridges, tau prior, levels. */
  tempera_status (*begin)(tempera_sampler *sampler, tempera_error *error);
  /* Note a warmup sweep; groups may do so concurrently. */
  void (*keep)(tempera_sampler *sampler, const tm_group *group);
  /* What it noted of these sweeps of a chain, to other ranks or from one. */
  void (*pass)(tempera_sampler *sampler, size_t chain, size_t from, size_t to,
               tm_archive *archive);
  /* A warmup round (sweeps round_start .. round_end) is over; the kernels have
   * been told. */
  tempera_status (*end_round)(tempera_sampler *sampler, bool last,
                              tempera_error *error);
  /* After the last round: nothing changes any more. Record in sampler->draws
   * what estimators must know (tau prior, levels, width). */
  tempera_status (*freeze)(tempera_sampler *sampler, tempera_error *error);
  /* The method's own numbers and warnings. */
  tempera_status (*describe)(const tempera_sampler *sampler,
                             tempera_summary *summary);
  void (*release)(tempera_sampler *sampler); /* of sampler->method_state */
  /* The method's own state, once begun, before the groups': a reader does what
   * `begin` does, from the archive, and hands out to the groups what they must
   * have. NULL: there is none. */
  tempera_status (*archive)(tempera_sampler *sampler, tm_archive *archive,
                            tempera_error *error);
} tm_method;

extern const tm_method tm_method_pt_stwnc;
extern const tm_method tm_method_stwnc;
extern const tm_method tm_method_mh;
extern const tm_method tm_method_st;
extern const tm_method tm_method_pt;
extern const tm_method tm_method_pawl;
extern const tm_method tm_method_ee;

const tm_method *tm_method_of(tempera_method method);

#endif
