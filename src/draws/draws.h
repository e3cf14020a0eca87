/* draws.h - append-only columns in memory: the contract between samplers and
 * estimators, which know nothing of each other.
 *
 * Every chain has target draws, tempered draws, or both; each role has one
 * column per natural-scale value and one per entry of tm_column. Sweeps are
 * appended in lockstep over chains, so `count` holds for all of them. A sweep
 * leaves one target row and `width` tempered rows, which lie together: row k
 * of sweep i is at i * width + k. */
#ifndef TM_DRAWS_DRAWS_H
#define TM_DRAWS_DRAWS_H

#include "base/archive.h"

typedef enum tm_column {
  TM_TAU,
  TM_LOG_LIKELIHOOD,
  TM_LOG_PRIOR,    /* natural scale */
  TM_LOG_JACOBIAN, /* lp__ = tau*l + log prior + log Jacobian */
  TM_ACCEPT,       /* mean acceptance probability of this sweep's kernel */
  TM_TAU_ACCEPT,   /* acceptance probability of the tau move; NaN if none */
  TM_EXCHANGE,     /* 0 none proposed, 1 proposed and rejected, 2 accepted */
  TM_RENEWED,      /* 1 when theta was redrawn from the prior this sweep */
  TM_WALKER,       /* which of the sweep's thetas this is, through exchanges */
  TM_EXCESS,       /* of the reference leg: density of q's fitted part over
                      q's, less 1: of mean 0 under q; 0 elsewhere */
  TM_COLUMNS
} tm_column;

/* The tau prior the draws were made under: log P(tau) is piecewise linear on
 * these knots (method 4.2), first knot tau_min, last 1; with an atom of log
 * mass log_atom at tau = 0 (-infinity: none). knots 0: no such function, so
 * no Rao-Blackwell estimates. */
typedef struct tm_draws_prior {
  size_t knots;
  const double *tau, *log_prior;
  double log_atom;
  bool steps; /* constant on bins (pawl): no slope says anything of log z */
} tm_draws_prior;

/* Discrete levels of tau, ascending, the last 1; count 0: tau is continuous.
 * Without weights every sweep leaves one row per level, in their order (pt);
 * with them a row is at level t with prior weight e^{log_weight[t]} (st). */
typedef struct tm_draws_levels {
  size_t count;
  const double *tau, *log_weight; /* the latter NULL: one row per level */
} tm_draws_levels;

/* The natural-scale ridge s(tau) as a table, for the ridge diagnostic; knots
 * 0: there is none. */
typedef struct tm_draws_ridge {
  size_t knots;
  const double *tau, *height;
  /* How far that is above all basins that hold mass at this tau; NULL: none. A
   * narrow peak may be the highest point long before it holds any. */
  const double *idle;
  /* At tau = 1: log of the mass of all basins known, by Laplace, with the prior
   * normalised; false: not known. */
  bool weighed;
  double log_mass;
} tm_draws_ridge;

struct tempera_draws {
  tm_arena *arena;
  size_t chains, size; /* natural-scale values */
  const char *const *names;
  const bool *integer; /* per value */
  const bool *fixed;   /* by its type (tm_fixed_values); NULL: none is */
  bool has_role[2];    /* indexed by tempera_role */
  bool bare[2];        /* roles without values: their columns are NULL */
  size_t count;        /* sweeps kept in every chain */
  size_t capacity;     /* of sweeps */
  size_t width;        /* tempered rows of a sweep; set before there is room */
  double **columns; /* [role][chain][size + TM_COLUMNS], see tm_draws_column */
  double *slab;     /* all of them */
  tm_draws_prior prior;
  tm_draws_levels levels;
  tm_draws_ridge ridge;
  double tau_min;
  bool evidence;   /* false: the prior is improper, no evidence exists */
  bool likelihood; /* false: the model has none */
  /* Prior mass of {L > 0}: n prior draws, of which `zero` had L = 0; and
   * their log likelihoods, which must outlive the draws (or NULL). */
  size_t prior_draws, prior_zero;
  const double *prior_log_likelihood;
  /* When all of these, tau = 0 included, are of the prior where L > 0, or
   * without what rounds to a bound: the log of that part's mass, and its error;
   * else 0. The mass by rounding alone. */
  double log_support, support_se, log_kept;
  size_t confined; /* values between two bounds, or of a simplex or map */
};

/* names and integer must outlive the draws. */
TEMPERA_CHECKED tempera_status tm_draws_create(
    size_t chains, size_t size, const char *const *names, const bool *integer,
    bool target, bool tempered, tempera_draws **draws, tempera_error *error);
void tm_draws_free(tempera_draws *draws);
/* What a kept sweep of all chains takes. */
size_t tm_draws_row_bytes(const tempera_draws *draws);
/* Make room for this many sweeps in all; called outside of sweeps. */
TEMPERA_CHECKED tempera_status tm_draws_reserve(tempera_draws *draws,
                                                size_t sweeps,
                                                tempera_error *error);
/* Copy the knots in. */
TEMPERA_CHECKED tempera_status tm_draws_set_prior(tempera_draws *draws,
                                                  const tm_draws_prior *prior,
                                                  tempera_error *error);

TEMPERA_CHECKED tempera_status tm_draws_set_levels(
    tempera_draws *draws, const tm_draws_levels *levels, tempera_error *error);

TEMPERA_CHECKED tempera_status tm_draws_set_ridge(tempera_draws *draws,
                                                  const tm_draws_ridge *ridge,
                                                  tempera_error *error);

/* State (base/archive.h): counts and what the rows are draws of; and some rows,
 * for which there must be room. */
void tm_draws_archive_law(tempera_draws *draws, tm_archive *archive);
void tm_draws_archive_rows(tempera_draws *draws, size_t first, size_t last,
                           tm_archive *archive);
/* Those of one chain alone. */
void tm_draws_archive_chain(tempera_draws *draws, size_t chain, size_t first,
                            size_t last, tm_archive *archive);

/* merge.c: copies of the names, instead of the caller's. */
TEMPERA_CHECKED tempera_status tm_draws_keep_names(tempera_draws *draws,
                                                   const char *const *names,
                                                   tempera_error *error);

/* Rows that a sweep leaves of a role, and that a chain has so far. */
size_t tm_draws_width(const tempera_draws *draws, tempera_role role);
size_t tm_draws_rows(const tempera_draws *draws, tempera_role role);
/* Column c of a role and chain: c < size is a value, size + tm_column the
 * rest. NULL when the role is absent. */
double *tm_draws_column(const tempera_draws *draws, tempera_role role,
                        size_t chain, size_t c);
/* The first `count` values of a row. */
void tm_draws_take(const tempera_draws *draws, tempera_role role, size_t chain,
                   size_t row, size_t count, double *values);
/* lp__ as Stan has it: tempered likelihood, prior and Jacobian. At tau = 0 the
 * likelihood does not count, even where it is zero (method 1). */
double tm_draws_log_density(const tempera_draws *draws, tempera_role role,
                            size_t chain, size_t row);
/* Write row `row` of a role (there is room for it); theta may be NULL when
 * `size` is 0. Chains may write their rows concurrently; then `count` is
 * raised. */
void tm_draws_put(tempera_draws *draws, tempera_role role, size_t chain,
                  size_t row, const double *theta,
                  const double extra[TM_COLUMNS]);

#endif
