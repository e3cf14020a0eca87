/* load_prior.c - what a program's draws and its data tell of its prior: whether
 * draws are exact, what it integrates to, and what stands under conditions. */
#include "language/load/load_parts.h"

#include <string.h>

/* How the log prior minus the log density of a draw varies over draws. */
typedef struct spread {
  double least, most, size;
} spread;

static void spread_add(spread *s, double difference, double size) {
  s->least = fmin(s->least, difference);
  s->most = fmax(s->most, difference);
  s->size = fmax(s->size, size);
}

static bool is_constant(const spread *s) {
  return s->most - s->least <= 1e-7 + 1e-11 * s->size;
}

enum { PRIOR_PROBES = 64 };
/* Fewer draws kept than this: the prior is explored instead. */
static const double LEAST_KEPT = 0.02;

/* Draws, compared with the log prior: as they are, and but for the masses
 * between bounds, of which `kept` is the mean. False where one fails. */
static bool compare_draws(tm_loaded_chain *u, double *theta,
                          bool *rejected_some, spread *plain, spread *cut,
                          double *kept) {
  enum { TRIES = 20 * PRIOR_PROBES };
  tempera_random random = tm_random(0, 0, TM_PURPOSE_START);
  int good = 0;
  *kept = 0;
  for (int i = 0; i < TRIES && good < PRIOR_PROBES; i++) {
    double density = NAN, value = NAN;
    if (tm_loaded_draw(&random, theta, &density, &value, rejected_some, u))
      return false;
    if (value == INFINITY || tm_is_rounded(u->program, theta))
      continue; /* it is left out of runs, too */
    double difference = value - density, mass = u->cut;
    if (!isfinite(difference) || !(mass <= 1e-9))
      return false;
    spread_add(plain, difference, fabs(value) + fabs(density));
    spread_add(cut, difference - mass, fabs(value) + fabs(density));
    *kept += exp(mass) / PRIOR_PROBES;
    good++;
  }
  return good == PRIOR_PROBES;
}

/* So many draws and none where the prior is zero: it is zero on less than .001
 * of them, by which log Z may be off then, at 95 %. */
enum { LEAST_SPOTLESS = 3000, MOST_SPOTLESS = 20000 };
/* Numbers to work through for them: some 20 ms. */
static const double SPOTLESS_WORK = 3e7;

/* Does a condition that might fail (a transformed parameter's bound) hold at
 * all draws? Asked where that is cheap. */
static bool is_spotless(tm_loaded_chain *u, double *theta) {
  tempera_random random = tm_random(1, 0, TM_PURPOSE_START);
  double draws = SPOTLESS_WORK / (800 + tm_loaded_work(theta, u));
  double density, value;
  bool rejected = false;
  if (draws < LEAST_SPOTLESS)
    return false;
  for (int i = 0; i < fmin(draws, MOST_SPOTLESS) && !rejected; i++)
    if (tm_loaded_draw(&random, theta, &density, &value, &rejected, u))
      return false;
  return !rejected;
}

/* The log prior minus the log density of a draw must be the same at every
 * draw: it is the log of the prior's integral. Or it is but for the masses that
 * bounds cut off: then a draw is kept with this probability. Where it is
 * neither (a term that was not drawn from) there are no draws. */
tm_prior_law tm_prior_law_of(tm_loaded_chain *u, double *theta) {
  tm_prior_law law = {.drawn = u->program->entry->prior != NULL};
  spread plain = {INFINITY, -INFINITY, 0}, cut = plain;
  double kept = 0;
  bool watched = u->program->entry->rejects, rejected = false;
  u->program->watched = watched;
  law.drawn =
      law.drawn && compare_draws(u, theta, &rejected, &plain, &cut, &kept);
  u->tape.random = NULL;
  bool constant = is_constant(&plain);
  u->program->cuts =
      law.drawn && !constant && is_constant(&cut) && kept > LEAST_KEPT;
  law.drawn = law.drawn && (constant || u->program->cuts);
  law.known = law.drawn && !rejected && !u->program->cuts &&
              (!watched || is_spotless(u, theta));
  u->tape.random = NULL;
  u->program->watched = watched || rejected;
  law.log_integral = law.known ? (plain.least + plain.most) / 2 : 0;
  return law;
}

/* ---- what only the data decide ------------------------------------------ */

enum { PROBES = 3 };

/* Is no likelihood statement reached (`if (!prior_only)`)? */
static bool scores_nothing(tm_loaded_chain *u, const double *theta,
                           size_t size) {
  volatile bool seen = false; /* a whole pass was made */
  for (volatile int i = 0; i < PROBES; i++) {
    tm_tape_reset(&u->tape);
    if (!setjmp(u->guard.place)) {
      u->program->entry->explain(&u->tape, u->program->instance,
                                 theta + (size_t)i * size);
      seen = true;
    }
    if (u->tape.scored > 0)
      return false;
  }
  return seen;
}

/* Does some value of theta[from, to) leave the log prior as it is? */
static bool is_untouched(tm_loaded_chain *u, const double *theta, size_t size,
                         const size_t *range, double *touched) {
  for (size_t j = range[0]; j < range[1]; j++)
    touched[j] = 0;
  for (int i = 0; i < PROBES; i++) {
    double value, *gradient = touched + size;
    if (tm_loaded_gradient(u, 0, theta + (size_t)i * size, &value, gradient))
      return false; /* unknown */
    for (size_t j = range[0]; j < range[1]; j++)
      touched[j] = fmax(touched[j], fabs(gradient[j]));
  }
  for (size_t j = range[0]; j < range[1]; j++)
    if (touched[j] == 0)
      return true;
  return false;
}

/* "z" of z[1,2]. */
static void name_improper(tempera_model *model, const char *name) {
  model->improper = tm_arena_text(model->arena, name);
  if (model->improper)
    model->improper[strcspn(name, "[")] = '\0';
}

/* Priors and likelihoods that stand under conditions on data. */
void tm_look_closer(const tm_loaded *s, const tm_binding *b,
                    tempera_model *model) {
  tm_loaded_chain *u = model->spec.user;
  double none[2 * PROBES];
  double *theta = TM_NEW(b->arena, double, (PROBES + 2) * s->size + 1);
  if (b->improper)
    name_improper(model, b->parameters[b->first_improper].name);
  model->spec.no_likelihood = s->entry->likelihood == 0;
  bool settled = s->entry->likelihood != 1 && b->conditional_count == 0;
  if (settled || !theta ||
      tempera_model_probe(model, 1, PROBES, theta, none, none + PROBES, NULL))
    return;
  if (s->entry->likelihood == 1)
    model->spec.no_likelihood = scores_nothing(u, theta, s->size);
  for (size_t i = 0; i < b->conditional_count; i++)
    if (is_untouched(u, theta, s->size, b->conditional[i],
                     theta + PROBES * s->size)) {
      model->spec.prior_improper = true;
      name_improper(model, model->names[b->conditional[i][0]]);
    }
}
